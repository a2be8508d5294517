// y = x @ w with w given as its transpose (n, k), as a linear layer stores it: its tile
// is read across, and the exchange of columns keeps that free of bank conflicts.
extern "C" __global__ void matmul_swizzled(const float *x, const float *wt, float *y,
                                           int n, int k)
{
    __shared__ float xs[32][32], ws[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.y;
    int out = blockIdx.x * 32 + threadIdx.x;
    float total = 0.0f;
    for (int first = 0; first < k; first += 32) {
        xs[threadIdx.y][threadIdx.x] = x[row * k + first + threadIdx.x];
        ws[threadIdx.y][threadIdx.x ^ threadIdx.y] = wt[column * k + first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 32; j++)
            total += xs[threadIdx.y][j] * ws[threadIdx.x][j ^ threadIdx.x];
        __syncthreads();
    }
    y[row * n + out] = total;
}
