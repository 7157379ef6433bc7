/* Moving the elements of a line that a mask selects together: with AVX-512 by vectors of 64 bytes,
   with AVX2 by vectors of 32 bytes, and a table of shuffles, which has one for each choice among
   the elements of a vector; of 16 elements by the instruction for that, which takes twice as long
   as a shuffle. For elements of 4 and 8 bytes; `get_line_by_vectors` does what it can, and the rest
   is for others. */
#ifndef MAT_COMPRESS_INLINE_H
#define MAT_COMPRESS_INLINE_H

#include "mat.h"

#if defined(__GNUC__) && defined(__x86_64__) && !defined(MAT_NO_CLONES)
#include <immintrin.h>
#define MAT_COMPRESSES

#define VECTORS __attribute__((target("avx2,popcnt")))
#define WIDE_VECTORS __attribute__((target("avx512f,avx512bw,popcnt")))

/* Of each choice among 8 words of 4 bytes, or among 4 of 8, the numbers of the words, those that
   are chosen first. */
static uint64_t words_of_8[256], words_of_4[16];

__attribute__((constructor)) static void fill_tables(void) {
    for (int bits = 0; bits < 256; bits++) {
        uint8_t words[16] = {0};
        int8_t n = 0, m = 0;
        for (uint8_t j = 0; j < 8; j++)
            if (bits >> j & 1) words[n++] = j;
        memcpy(&words_of_8[bits], words, 8);
        for (uint8_t j = 0; j < 4; j++)
            if (bits >> j & 1) words[m++] = (uint8_t)(2 * j), words[m++] = (uint8_t)(2 * j + 1);
        if (bits < 16) memcpy(&words_of_4[bits], words, 8);
    }
}

VECTORS INLINE __m256i chosen(const char *from, uint64_t words) {
    const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)words));
    return _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)from), order);
}

/* The 8 elements of a vector in an order with those first that are chosen. */
WIDE_VECTORS INLINE __m512i chosen_of_8(__m512i x, unsigned these) {
    const __m128i words = _mm_cvtsi64_si128((int64_t)words_of_8[these]);
    return _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(words), x);
}

/* Copies elements of `size` bytes, adjacent in `from`, while a whole vector fits in what is left
   before `end`; moves `to`, and returns how many bytes of the mask it has done, 64 at a time. What
   is chosen is moved together in a register: the store that does both takes longer. */
WIDE_VECTORS static int64_t get_line_by_wide_vectors(char **to, const char *end, const char *from,
                                                     const uint8_t *mask, int64_t n, int64_t size) {
    char *y = *to;
    int64_t i = 0;
    for (; i + 64 <= n && end - y >= 64 * size; i += 64) {
        const __m512i bytes = _mm512_loadu_si512(mask + i);
        const uint64_t bits = _mm512_test_epi8_mask(bytes, bytes);
        if (!bits) continue;
        const int64_t step = 64 / size;
        for (int64_t k = 0; k < 64; k += step) {
            const unsigned these = (unsigned)(bits >> k) & ((1u << step) - 1);
            const __m512i x = _mm512_loadu_si512(from + size * (i + k));
            _mm512_storeu_si512(y, size == 8 ? chosen_of_8(x, these)
                                             : _mm512_maskz_compress_epi32((__mmask16)these, x));
            y += size * _mm_popcnt_u32(these);
        }
    }
    *to = y;
    return i;
}

/* The same by AVX2, 16 bytes of the mask at a time. */
VECTORS static int64_t get_line_by_short_vectors(char **to, const char *end, const char *from,
                                                 const uint8_t *mask, int64_t n, int64_t size) {
    const __m128i zero = _mm_setzero_si128();
    char *y = *to;
    int64_t i = 0;
    for (; i + 16 <= n && end - y >= 16 * size; i += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(mask + i));
        const unsigned bits =
            ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, zero)) & 0xFFFFu;
        if (!bits) continue;
        if (size == 8) {
            for (int k = 0; k < 16; k += 4) {
                const unsigned four = bits >> k & 15;
                _mm256_storeu_si256((__m256i *)y, chosen(from + 8 * (i + k), words_of_4[four]));
                y += 8 * _mm_popcnt_u32(four);
            }
        } else {
            for (int k = 0; k < 16; k += 8) {
                const unsigned eight = bits >> k & 255;
                _mm256_storeu_si256((__m256i *)y, chosen(from + 4 * (i + k), words_of_8[eight]));
                y += 4 * _mm_popcnt_u32(eight);
            }
        }
    }
    *to = y;
    return i;
}

/* How many of n bytes are not 0. */
WIDE_VECTORS static int64_t count_by_wide_vectors(const uint8_t *mask, int64_t n) {
    int64_t total = 0, i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i bytes = _mm512_loadu_si512(mask + i);
        total += _mm_popcnt_u64(_mm512_test_epi8_mask(bytes, bytes));
    }
    for (; i < n; i++) total += mask[i] != 0;
    return total;
}

/* The same by the vectors that the processor has. */
INLINE int64_t get_line_by_vectors(char **to, const char *end, const char *from,
                                   const uint8_t *mask, int64_t n, int64_t size) {
    int64_t i = 0;
    if (__builtin_cpu_supports("avx512bw"))
        i = get_line_by_wide_vectors(to, end, from, mask, n, size);
    if (__builtin_cpu_supports("avx2"))
        i += get_line_by_short_vectors(to, end, from + i * size, mask + i, n - i, size);
    return i;
}
#endif

#endif
