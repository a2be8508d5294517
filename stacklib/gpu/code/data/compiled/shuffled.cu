// Sum of each warp, by shuffles.
extern "C" __global__ void shuffled(const float *src, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total = src[i];
    for (int k = 16; k > 0; k = k / 2)
        total += __shfl_down_sync(0xffffffff, total, k);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = total;
}
