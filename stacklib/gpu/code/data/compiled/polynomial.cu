// A polynomial of x by Horner's rule, so many terms; grid-stride over n elements.
extern "C" __global__ void polynomial(const float *x, const float *c, float *y, int terms, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float total = 0.0f;
#pragma unroll 1
        for (int k = 0; k < terms; k++)
            total = total * x[i] + c[k];
        y[i] = total;
    }
}
