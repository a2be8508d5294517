"""A dot product as wide as the machine.

level: build
project: P1.4

Write a dot product in C that works on a whole vector register at a time, and then
find the width of the register from nothing but a clock.

`body(isa)` gives C text: what stands between the braces of

    float dot(const float *x, const float *y, long n) { ... }

`isa` is the widest of `"avx512f"`, `"avx2"` and `"neon"` that your processor reports;
only that one is asked for. On a processor with none of them it is `"plain"`, and a
loop in plain C is enough. The right header is included. The arrays may start at
any element, `n` may be anything from 0, and what lies behind element n - 1 is not
yours.

| | avx512f | avx2 | neon |
|---|---|---|---|
| register | `__m512` | `__m256` | `float32x4_t` |
| zeros | `_mm512_setzero_ps()` | `_mm256_setzero_ps()` | `vdupq_n_f32(0)` |
| load from any address | `_mm512_loadu_ps(p)` | `_mm256_loadu_ps(p)` | `vld1q_f32(p)` |
| a b + s | `_mm512_fmadd_ps(a,b,s)` | `_mm256_fmadd_ps(a,b,s)` | `vfmaq_f32(s,a,b)` |
| store | `_mm512_storeu_ps(p, v)` | `_mm256_storeu_ps(p, v)` | `vst1q_f32(p, v)` |

`lanes(scalar_s, vector_s)` gives the number of fp32 numbers in a register, from
recorded times of the same loop over single numbers and over registers: lists of
seconds. Compare the medians; a width is a power of two.

Where no C compiler is found, the first part is not run and says so.

hint: Keep a register of running sums, step by a whole register while one still fits,
and add up what is left of the arrays one by one. At the end store the register to a
small array and add its parts. For the lanes: the ratio of the medians, then the
nearest power of two of that ratio: round its logarithm.
"""

import math
from statistics import median

from stacklib.evidence import results
from stacklib.grading import expect, native
from stacklib.roofline.host import simd as host_simd

# ---- your answer ----


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
    for (; i < n; i++)
        t += x[i] * y[i];
    return t;
    """


def lanes(scalar_s, vector_s):
    """fp32 numbers in a register, from the times of the two loops."""
    ratio = median(scalar_s) / median(vector_s)
    return 2 ** round(math.log2(ratio))


# ---- tests ----

LENGTHS = (0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 1000)
INTRINSIC = {"avx512f": "_mm512_", "avx2": "_mm256_", "neon": "q_f32"}
MAIN = """
#include <math.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

__attribute__((noinline)) float dot(const float *x, const float *y, long n) {
#line 1 "your C"
BODY
#line 1 "the test's C"
}

static _Alignas(64) float x[1200], y[1200];

int main(void) {
    long lengths[] = {LENGTHS};
    for (int at = 0; at < 2; at++)
        for (unsigned c = 0; c < sizeof lengths / sizeof lengths[0]; c++) {
            long n = lengths[c];
            for (int i = 0; i < 1200; i++)
                x[i] = y[i] = NAN;  /* a read beyond the end shows */
            for (long i = 0; i < n; i++) {
                x[at + i] = (float)(i * 7 % 13) - 6;
                y[at + i] = (float)(i * 5 % 11) - 4;
            }
            printf("%d %ld %.9g\\n", at, n, dot(x + at, y + at, n));
        }
    return 0;
}
"""


def products(n):
    """The n products, exact in fp32 and so is every sum of them."""
    return [(i * 7 % 13 - 6) * (i * 5 % 11 - 4) for i in range(n)]


def why(value, n, width):
    """The sentence for a wrong sum, where its number gives the mistake away."""
    each = products(n)
    whole = n - n % width
    if math.isnan(value):
        return "you read behind element n - 1, which is not yours"
    for step in (width, 2 * width, 4 * width, 8 * width):
        if n % step and value == sum(each[: n - n % step]):
            return f"the last n % {step} elements are missing: nothing adds the tail"
    if value in (sum(each[whole - width :]), sum(each[whole - width : whole])):
        return "only the last register counts: the sum is overwritten, not added to"
    if value in (sum(each[:whole:width]), sum(each[:whole:width]) + sum(each[whole:])):
        return "only lane 0 of the register is in it: add all lanes at the end"
    return "not the sum of the products"


def test_dot():
    isa = native.widest()
    text = body(isa)
    if not isinstance(text, str):
        raise expect.Mistake(f"{expect.clip(text)}: C text is asked for")
    if INTRINSIC.get(isa, "") not in text:
        raise expect.Mistake(
            f"no {INTRINSIC[isa]} in it: write the loop with the intrinsics of {isa}"
        )
    if reason := native.missing():
        expect.reading("not run", reason)
        return
    lengths = ", ".join(map(str, LENGTHS))
    said = native.run_c(MAIN.replace("LENGTHS", lengths).replace("BODY", text), isa)
    width, agree = host_simd.LANES.get(isa, 1), 0
    rows = [line.split() for line in said.splitlines()]
    for start, n, value in rows:
        right = sum(products(int(n)))
        if float(value) != right:
            where = "" if start == "0" else ", from an address that is not aligned"
            reason = why(float(value), int(n), width)
            raise expect.Mistake(f"n = {n}{where}: {value}, not {right}: {reason}")
        agree += 1
    expect.reading(f"cases that agree, {isa}", f"{agree} of {2 * len(LENGTHS)}")


def recorded():
    """Times of dot products on the book's machine, or of one that was made up."""
    found = results.load("host_simd") or {"rows": []}
    times = {row["id"]: row["times_s"] for row in found["rows"]}
    pairs = [("dot-scalar-1", f"dot-{isa}-1") for isa in host_simd.LANES]
    cases = [(times[s], times[v]) for s, v in pairs if s in times and v in times]
    return [*cases, ([8.1e-6, 7.9e-6, 9.5e-5], [1.1e-6, 1.0e-6, 1.02e-6])]


def test_lanes():
    expect.function_matches(
        lanes,
        lambda scalar_s, vector_s: host_simd.nearest_power(
            median(scalar_s) / median(vector_s)
        ),
        [{"scalar_s": s, "vector_s": v} for s, v in recorded()],
        rel=1e-9,
        mistakes={
            "A width is a power of two; round to the nearest one.": (
                lambda scalar_s, vector_s: median(scalar_s) / median(vector_s)
            ),
            "Upside down: the loop over registers is the quicker one.": (
                lambda scalar_s, vector_s: (
                    1 / host_simd.nearest_power(median(scalar_s) / median(vector_s))
                )
            ),
        },
    )
