// y = x @ w by tiles of 16 x 16 in shared memory; a thread computes one element.
extern "C" __global__ void matmul_tiled(const float *x, const float *w, float *y,
                                        int n, int k)
{
    __shared__ float xs[16][16], ws[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float total = 0.0f;
    for (int first = 0; first < k; first += 16) {
        xs[threadIdx.y][threadIdx.x] = x[row * k + first + threadIdx.x];
        ws[threadIdx.y][threadIdx.x] = w[(first + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            total += xs[threadIdx.y][j] * ws[j][threadIdx.x];
        __syncthreads();
    }
    y[row * n + column] = total;
}
