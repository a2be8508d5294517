/* Dot products, copies and a chain of multiply-adds at each vector width.
 *
 * One file, compiled twice (host_simd.py): once so that the compiler vectorises
 * nothing by itself, once so that it vectorises what it can. What is written with
 * intrinsics is the same in both. A multiply and an add are kept apart in the dot
 * products, so that every width runs the same two operations.
 */
#include <stddef.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define FOR(isa) __attribute__((target(isa)))
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef const float *restrict In;

/* -- dot product: the C that anyone would write ---------------------------- */

float dot_plain(In x, In y, long n) {
    float sum = 0;
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* -- dot product, LANES at a time: one running sum, and eight --------------- */

#define DOT(name, attribute, V, LANES, ZERO, LOAD, MUL, ADD, STORE)                  \
    attribute static inline float name##_total(V v) {                                \
        float part[LANES], sum = 0;                                                  \
        STORE(part, v);                                                              \
        for (int j = 0; j < LANES; j++)                                              \
            sum += part[j];                                                          \
        return sum;                                                                  \
    }                                                                                \
    attribute float name##1(In x, In y, long n) {                                    \
        V s = ZERO;                                                                  \
        long i = 0;                                                                  \
        for (; i + LANES <= n; i += LANES)                                           \
            s = ADD(s, MUL(LOAD(x + i), LOAD(y + i)));                               \
        float sum = name##_total(s);                                                 \
        for (; i < n; i++)                                                           \
            sum += x[i] * y[i];                                                      \
        return sum;                                                                  \
    }                                                                                \
    attribute float name##8(In x, In y, long n) {                                    \
        V s0 = ZERO, s1 = ZERO, s2 = ZERO, s3 = ZERO;                                \
        V s4 = ZERO, s5 = ZERO, s6 = ZERO, s7 = ZERO;                                \
        long i = 0;                                                                  \
        for (; i + 8 * LANES <= n; i += 8 * LANES) {                                 \
            In a = x + i, b = y + i;                                                 \
            s0 = ADD(s0, MUL(LOAD(a), LOAD(b)));                                     \
            s1 = ADD(s1, MUL(LOAD(a + LANES), LOAD(b + LANES)));                     \
            s2 = ADD(s2, MUL(LOAD(a + 2 * LANES), LOAD(b + 2 * LANES)));             \
            s3 = ADD(s3, MUL(LOAD(a + 3 * LANES), LOAD(b + 3 * LANES)));             \
            s4 = ADD(s4, MUL(LOAD(a + 4 * LANES), LOAD(b + 4 * LANES)));             \
            s5 = ADD(s5, MUL(LOAD(a + 5 * LANES), LOAD(b + 5 * LANES)));             \
            s6 = ADD(s6, MUL(LOAD(a + 6 * LANES), LOAD(b + 6 * LANES)));             \
            s7 = ADD(s7, MUL(LOAD(a + 7 * LANES), LOAD(b + 7 * LANES)));             \
        }                                                                            \
        V s = ADD(ADD(ADD(s0, s1), ADD(s2, s3)), ADD(ADD(s4, s5), ADD(s6, s7)));     \
        float sum = name##_total(s);                                                 \
        for (; i < n; i++)                                                           \
            sum += x[i] * y[i];                                                      \
        return sum;                                                                  \
    }

/* -- multiply-adds in registers: twelve chains, no memory ------------------- */

#define PEAK(name, attribute, V, SET, FMA, TOTAL)                                    \
    attribute float name(In x, In y, long n) {                                       \
        V a = SET(x[0]), b = SET(y[0]), s[12];                                       \
        for (int j = 0; j < 12; j++)                                                 \
            s[j] = SET((float)j);                                                    \
        for (long i = 0; i < n; i++) {                                               \
            s[0] = FMA(s[0], a, b), s[1] = FMA(s[1], a, b), s[2] = FMA(s[2], a, b);  \
            s[3] = FMA(s[3], a, b), s[4] = FMA(s[4], a, b), s[5] = FMA(s[5], a, b);  \
            s[6] = FMA(s[6], a, b), s[7] = FMA(s[7], a, b), s[8] = FMA(s[8], a, b);  \
            s[9] = FMA(s[9], a, b), s[10] = FMA(s[10], a, b);                        \
            s[11] = FMA(s[11], a, b);                                                \
        }                                                                            \
        float sum = 0;                                                               \
        for (int j = 0; j < 12; j++)                                                 \
            sum += TOTAL(s[j]);                                                      \
        return sum;                                                                  \
    }

/* -- copy: stores that go through the cache, and stores that pass it by ----- */

#define COPY(name, attribute, LANES, LOAD, STORE)                                    \
    attribute void name(float *restrict to, In from, long n) {                       \
        long i = 0;                                                                  \
        for (; i + LANES <= n; i += LANES)                                           \
            STORE(to + i, LOAD(from + i));                                           \
        for (; i < n; i++)                                                           \
            to[i] = from[i];                                                         \
    }

#define ONE_LOAD(p) (*(p))
#define ONE_STORE(p, v) (*(p) = (v))
#define ONE_MUL(a, b) ((a) * (b))
#define ONE_ADD(a, b) ((a) + (b))
DOT(dot_scalar_, , float, 1, 0, ONE_LOAD, ONE_MUL, ONE_ADD, ONE_STORE)
#if defined(__x86_64__)
DOT(dot_sse2_, FOR("sse2"), __m128, 4, _mm_setzero_ps(), _mm_loadu_ps, _mm_mul_ps,
    _mm_add_ps, _mm_storeu_ps)
DOT(dot_avx2_, FOR("avx2"), __m256, 8, _mm256_setzero_ps(), _mm256_loadu_ps,
    _mm256_mul_ps, _mm256_add_ps, _mm256_storeu_ps)
DOT(dot_avx512f_, FOR("avx512f"), __m512, 16, _mm512_setzero_ps(), _mm512_loadu_ps,
    _mm512_mul_ps, _mm512_add_ps, _mm512_storeu_ps)
PEAK(peak_avx2, FOR("avx2,fma"), __m256, _mm256_set1_ps, _mm256_fmadd_ps,
     dot_avx2__total)
PEAK(peak_avx512f, FOR("avx512f"), __m512, _mm512_set1_ps, _mm512_fmadd_ps,
     dot_avx512f__total)
COPY(copy_sse2, FOR("sse2"), 4, _mm_loadu_ps, _mm_storeu_ps)
COPY(copy_avx2, FOR("avx2"), 8, _mm256_loadu_ps, _mm256_storeu_ps)
COPY(copy_avx512f, FOR("avx512f"), 16, _mm512_loadu_ps, _mm512_storeu_ps)
COPY(stream_sse2, FOR("sse2"), 4, _mm_loadu_ps, _mm_stream_ps)
COPY(stream_avx2, FOR("avx2"), 8, _mm256_loadu_ps, _mm256_stream_ps)
COPY(stream_avx512f, FOR("avx512f"), 16, _mm512_loadu_ps, _mm512_stream_ps)
#elif defined(__aarch64__)
#define NEON_FMA(s, a, b) vfmaq_f32(b, s, a)
DOT(dot_neon_, , float32x4_t, 4, vdupq_n_f32(0), vld1q_f32, vmulq_f32, vaddq_f32,
    vst1q_f32)
PEAK(peak_neon, , float32x4_t, vdupq_n_f32, NEON_FMA, dot_neon__total)
COPY(copy_neon, , 4, vld1q_f32, vst1q_f32)
#endif

/* -- matrix product: C (n, n) += A B, the loop order that walks along rows --- */

void matmul_plain(In a, In b, float *restrict c, long n) {
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++) {
            float x = a[i * n + k];
            for (long j = 0; j < n; j++)
                c[i * n + j] += x * b[k * n + j];
        }
}

/* -- many calls of one, so that the caller's cost does not count ------------ */

typedef float (*Dot)(In, In, long);
typedef void (*Copy)(float *restrict, In, long);

float repeat_dot(Dot dot, In x, In y, long n, long repeats) {
    volatile float sum = 0;
    for (long r = 0; r < repeats; r++)
        sum = dot(x, y, n);
    return sum;
}

void repeat_copy(Copy copy, float *to, In from, long n, long repeats) {
    for (long r = 0; r < repeats; r++)
        copy(to, from, n);
}
