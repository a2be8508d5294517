// Counts by value, every thread adding in global memory.
extern "C" __global__ void histogram(const int *src, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[src[i]], 1);
}
