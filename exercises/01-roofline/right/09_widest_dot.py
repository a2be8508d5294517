# ---- tail_first: the odd elements first, by a pointer
from itertools import count


def body(isa):
    if isa == "plain":
        return "float t = 0; while (n--) t += *x++ * *y++; return t;"
    width, register, zero, load, add, store = {
        "avx512f": (16, "__m512", "_mm512_setzero_ps()", "_mm512_loadu_ps",
                    "_mm512_fmadd_ps(a, b, s)", "_mm512_storeu_ps"),
        "avx2": (8, "__m256", "_mm256_setzero_ps()", "_mm256_loadu_ps",
                 "_mm256_fmadd_ps(a, b, s)", "_mm256_storeu_ps"),
        "neon": (4, "float32x4_t", "vdupq_n_f32(0)", "vld1q_f32",
                 "vfmaq_f32(s, a, b)", "vst1q_f32"),
    }[isa]  # fmt: skip
    return f"""
    float t = 0, part[{width}];
    while (n % {width}) {{ t += *x++ * *y++; n--; }}
    {register} s = {zero};
    while (n) {{
        {register} a = {load}(x), b = {load}(y);
        s = {add};
        x += {width}; y += {width}; n -= {width};
    }}
    {store}(part, s);
    for (int j = {width}; j--;) t += part[j];
    return t;
    """


def lanes(scalar_s, vector_s):
    ratio = median(scalar_s) / median(vector_s)
    return next(2**k for k in count() if ratio < 2 ** (k + 0.5))


# ---- sums_each_time: every register is added up at once
def body(isa):
    if isa == "plain":
        return (
            "float s = 0, t = 0; long i = 0;"
            "for (; i + 2 <= n; i += 2) { s += x[i] * y[i]; t += x[i + 1] * y[i + 1]; }"
            "return i < n ? s + t + x[i] * y[i] : s + t;"
        )
    width, register, zero, load, add, store = {
        "avx512f": (16, "__m512", "_mm512_setzero_ps()", "_mm512_loadu_ps",
                    "_mm512_fmadd_ps(a, b, s)", "_mm512_storeu_ps"),
        "avx2": (8, "__m256", "_mm256_setzero_ps()", "_mm256_loadu_ps",
                 "_mm256_fmadd_ps(a, b, s)", "_mm256_storeu_ps"),
        "neon": (4, "float32x4_t", "vdupq_n_f32(0)", "vld1q_f32",
                 "vfmaq_f32(s, a, b)", "vst1q_f32"),
    }[isa]  # fmt: skip
    return f"""
    float t = 0, part[{width}];
    long whole = n - n % {width};
    for (long i = 0; i < whole; i += {width}) {{
        {register} s = {zero}, a = {load}(x + i), b = {load}(y + i);
        s = {add};
        {store}(part, s);
        for (int j = 0; j < {width}; j++) t += part[j];
    }}
    for (long i = whole; i < n; i++) t += x[i] * y[i];
    return t;
    """


def lanes(scalar_s, vector_s):
    ratio = sorted(scalar_s)[len(scalar_s) // 2] / sorted(vector_s)[len(vector_s) // 2]
    widths = [1, 2, 4, 8, 16, 32, 64]
    return float(min(widths, key=lambda n: abs(math.log(ratio / n))))
