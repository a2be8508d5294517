// dst = 2 src, one element a thread.
extern "C" __global__ void twice(const float *src, float *dst, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dst[i] = 2.0f * src[i];
}
