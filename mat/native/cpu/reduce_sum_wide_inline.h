/* Sums of adjacent elements T by AVX-512, in the order of `sum` in reduce_sum_inline.h, which
   includes this: the totals of a block stay in registers, what is short is loaded by masks, and
   the four totals are added at once. */
#ifdef SINGLE
#define WIDTH 16
#define VECTOR __m512
#define LOAD(from) _mm512_loadu_ps(from)
#define LOAD_SOME(from, n) _mm512_mask_loadu_ps(nothing, (__mmask16)FIRST(n), from)
#define NOTHING_IN _mm512_set1_ps(-0.0F)
#else
#define WIDTH 8
#define VECTOR __m512d
#define LOAD(from) _mm512_loadu_pd(from)
#define LOAD_SOME(from, n) _mm512_mask_loadu_pd(nothing, (__mmask8)FIRST(n), from)
#define NOTHING_IN _mm512_set1_pd(-0.0)
#endif
#define LINE ((int64_t)(64 / sizeof(T))) /* of a cache */
#define FIRST(n) ((n) >= WIDTH ? 0xFFFF : (n) <= 0 ? 0 : (1 << (n)) - 1) /* bits of a mask */

WIDE static void N(sum_wide)(mat_pair *total, const T *p, int64_t n) {
    const VECTOR nothing = NOTHING_IN;
    __m256d hi = {total[0].hi, total[1].hi, total[2].hi, total[3].hi};
    __m256d lo = {total[0].lo, total[1].lo, total[2].lo, total[3].lo};
    while (n > 0) {
        VECTOR a = nothing, b = nothing, c = nothing, d = nothing;
        int64_t times = n / LANES < BLOCK ? n / LANES : BLOCK;
        n -= times * LANES;
        const int many = times == BLOCK; /* there may be more blocks */
        for (; times > 0; times--, p += LANES) {
            for (int64_t at = 0; many && at < LANES; at += LINE)
                __builtin_prefetch(p + BLOCK * LANES + at);
            a += LOAD(p), b += LOAD(p + WIDTH);
            c += LOAD(p + 2 * WIDTH), d += LOAD(p + 3 * WIDTH);
        }
        if (n < LANES && n > 0) {
            a += LOAD_SOME(p, n), b += LOAD_SOME(p + WIDTH, n - WIDTH);
            c += LOAD_SOME(p + 2 * WIDTH, n - 2 * WIDTH);
            d += LOAD_SOME(p + 3 * WIDTH, n - 3 * WIDTH);
            n = 0;
        }
        a = (a + c) + (b + d);
#ifdef SINGLE
        __m256 half = _mm512_castps512_ps256(a) + _mm512_extractf32x8_ps(a, 1);
        hi += _mm256_cvtps_pd(_mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1));
#else
        __m256d x = _mm512_castpd512_pd256(a) + _mm512_extractf64x4_pd(a, 1);
        __m256d sum = hi + x, part = sum - hi;
        lo += (hi - (sum - part)) + (x - part);
        hi = sum;
#endif
    }
    EACH(j, 4) total[j].hi = hi[j], total[j].lo = lo[j];
}

#undef WIDTH
#undef VECTOR
#undef LOAD
#undef LOAD_SOME
#undef NOTHING_IN
#undef FIRST
#undef LINE
