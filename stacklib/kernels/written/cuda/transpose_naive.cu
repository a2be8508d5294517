// Transpose of a square: rows are read along, columns written across.
extern "C" __global__ void transpose_naive(const float *src, float *dst, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        dst[x * n + y + k] = src[(y + k) * n + x];
}
