// y = x @ w on the tensor cores: a warp a tile of 16 x 16, operands in TF32.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void matmul_tensor(const float *x, const float *w, float *y,
                                         int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> total;
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fill_fragment(total, 0.0f);
    for (int first = 0; first < k; first += 8) {
        wmma::load_matrix_sync(a, x + row * k + first, k);
        wmma::load_matrix_sync(b, w + first * n + column, n);
        for (int i = 0; i < a.num_elements; i++)
            a.x[i] = wmma::__float_to_tf32(a.x[i]);
        for (int i = 0; i < b.num_elements; i++)
            b.x[i] = wmma::__float_to_tf32(b.x[i]);
        wmma::mma_sync(total, a, b, total);
    }
    wmma::store_matrix_sync(y + row * n + column, total, n, wmma::mem_row_major);
}
