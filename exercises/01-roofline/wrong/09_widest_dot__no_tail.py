# diagnosis: nothing adds the tail
def body(isa):
    """C text of the dot product's body, for the instruction set ``isa``."""
    if isa == "plain":
        return "float t = 0; for (long i = 0; i < n; i++) t += x[i] * y[i]; return t;"
    width, register, zero, load, add, store = {
        "avx512f": (16, "__m512", "_mm512_setzero_ps()", "_mm512_loadu_ps",
                    "_mm512_fmadd_ps(a, b, s)", "_mm512_storeu_ps"),
        "avx2": (8, "__m256", "_mm256_setzero_ps()", "_mm256_loadu_ps",
                 "_mm256_fmadd_ps(a, b, s)", "_mm256_storeu_ps"),
        "neon": (4, "float32x4_t", "vdupq_n_f32(0)", "vld1q_f32",
                 "vfmaq_f32(s, a, b)", "vst1q_f32"),
    }[isa]  # fmt: skip
    return f"""
    {register} s = {zero};
    long i = 0;
    for (; i + {width} <= n; i += {width}) {{
        {register} a = {load}(x + i), b = {load}(y + i);
        s = {add};
    }}
    float part[{width}], t = 0;
    {store}(part, s);
    for (int j = 0; j < {width}; j++)
        t += part[j];
    return t;
    """


def lanes(scalar_s, vector_s):
    """fp32 numbers in a register, from the times of the two loops."""
    ratio = median(scalar_s) / median(vector_s)
    return 2 ** round(math.log2(ratio))
