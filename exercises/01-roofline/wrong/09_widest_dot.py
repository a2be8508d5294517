# ---- no_tail: nothing adds the tail
def body(isa):
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


# ---- not_a_power: round to the nearest one
def lanes(scalar_s, vector_s):
    ratio = median(scalar_s) / median(vector_s)
    return ratio


# ---- one_lane: only lane 0 of the register is in it
def body(isa):
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
    t += part[0];
    for (; i < n; i++)
        t += x[i] * y[i];
    return t;
    """


# ---- overwrites: the sum is overwritten, not added to
def body(isa):
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
        s = {zero};
        s = {add};
    }}
    float part[{width}], t = 0;
    {store}(part, s);
    for (int j = 0; j < {width}; j++)
        t += part[j];
    for (; i < n; i++)
        t += x[i] * y[i];
    return t;
    """


# ---- past_the_end: you read behind element n - 1
def body(isa):
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
    for (; i < n; i += {width}) {{
        {register} a = {load}(x + i), b = {load}(y + i);
        s = {add};
    }}
    float part[{width}], t = 0;
    {store}(part, s);
    for (int j = 0; j < {width}; j++)
        t += part[j];
    for (; i < n; i++)
        t += x[i] * y[i];
    return t;
    """


# ---- upside_down: Upside down: the loop over registers is the quicker one.
def lanes(scalar_s, vector_s):
    ratio = median(vector_s) / median(scalar_s)
    return 2.0 ** round(math.log2(ratio))
