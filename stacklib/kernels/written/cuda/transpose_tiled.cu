// Through a tile in shared memory, a column wider than it need be.
extern "C" __global__ void transpose_tiled(const float *src, float *dst, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = src[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        dst[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
