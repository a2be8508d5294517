// Sum of each block: the first half adds, then the first quarter.
extern "C" __global__ void reduce(const float *src, float *out)
{
    __shared__ float s[1024];
    int i = threadIdx.x;
    s[i] = src[blockIdx.x * blockDim.x + i];
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k = k / 2) {
        if (i < k)
            s[i] += s[i + k];
        __syncthreads();
    }
    if (i == 0)
        out[blockIdx.x] = s[0];
}
