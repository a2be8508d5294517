// dst[i] = src[i * stride]: loads that do not coalesce.
extern "C" __global__ void strided_copy(const float *src, float *dst, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dst[i] = src[i * stride];
}
