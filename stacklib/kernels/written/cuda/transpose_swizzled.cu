// Through a tile whose columns are exchanged row by row: nothing is padded.
extern "C" __global__ void transpose_swizzled(const float *src, float *dst, int n)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        int row = threadIdx.y + k;
        tile[row][threadIdx.x ^ row] = src[(y + k) * n + x];
    }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        int column = threadIdx.y + k;
        dst[(y + k) * n + x] = tile[threadIdx.x][column ^ threadIdx.x];
    }
}
