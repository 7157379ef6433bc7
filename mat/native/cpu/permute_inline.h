/* The functions that copy a block, for one kind of machine. permute.c includes this once for each
   kind, after its own definitions, with the parameters

   TARGET     the attribute that compiles for that machine
   NAME(x)    a name of its own for x
   WIDTH      the bytes of its widest vector: 16, 32 or 64 */

/* Units one by one: any strides. The compiler knows the unit, and the strides if they are frequent
   ones. */

#define LINES(T, DI, SI)                                                     \
    for (int64_t j = 0; j < nj; j++) {                                       \
        char *RESTRICT to = d + j * f->dj;                                   \
        const char *RESTRICT from = s + j * f->sj;                           \
        for (int64_t i = 0; i < ni; i++)                                     \
            *(T *)(to + i * (DI)) = *(const T *)(from + i * (SI));           \
    }

#define UNITS(U) \
    static TARGET void NAME(units_##U)(MOVER_ARGUMENTS) { \
        const int64_t di = f->di, si = f->si; \
        if (di == U && si == 0) { \
            LINES(unit_##U, U, 0) \
        } else if (di == U && si == -U) { \
            LINES(unit_##U, U, -U) \
        } else if (di == U && si == 2 * U) { \
            LINES(unit_##U, U, 2 * U) \
        } else { \
            LINES(unit_##U, di, si) \
        } \
    }

UNITS(1)
UNITS(2)
UNITS(4)
UNITS(8)
UNITS(16)

/* A long run, past the caches, but for the few bytes before and after whole cache lines. */

static TARGET void NAME(stream)(char *d, const char *s, int64_t n) {
    const int64_t head = -(intptr_t)d & 63, lines = (n - head) / 64;
    memcpy(d, s, head);
    d += head;
    s += head;
    for (int64_t k = 0; k < lines; k++) {
        v16_8 a, b, c, e;
        memcpy(&a, s + 64 * k, 16);
        memcpy(&b, s + 64 * k + 16, 16);
        memcpy(&c, s + 64 * k + 32, 16);
        memcpy(&e, s + 64 * k + 48, 16);
        FETCH(s + 64 * k + 1024);
        STREAM(16, d + 64 * k, a);
        STREAM(16, d + 64 * k + 16, b);
        STREAM(16, d + 64 * k + 32, c);
        STREAM(16, d + 64 * k + 48, e);
    }
    memcpy(d + 64 * lines, s + 64 * lines, n - head - 64 * lines);
}

/* One long run, of which ni bytes are this block. */

static TARGET void NAME(bytes)(MOVER_ARGUMENTS) {
    if (f->stream && ni > 64)
        NAME(stream)(d, s, ni);
    else
        memcpy(d, s, ni);
}

/* Runs of any length as units. */

/* A run of 64 bytes to NEAR_RUN, by whole lines, the last one overlapping: a call of memcpy takes
   as long. The run that is needed soon is prefetched, since hardware does not predict where short
   runs begin. */
static inline TARGET void NAME(near_run)(char *to, const char *from, const char *soon,
                                         int64_t size) {
    int64_t k = 0;
    for (; k + 64 <= size; k += 64) {
        FETCH(soon + k);
        memcpy(to + k, from + k, 64);
    }
    memcpy(to + size - 64, from + size - 64, 64);
}

static TARGET void NAME(runs)(MOVER_ARGUMENTS) {
    const int64_t di = f->di, si = f->si, size = f->unit;
    for (int64_t j = 0; j < nj; j++) {
        char *to = d + j * f->dj;
        const char *from = s + j * f->sj;
        if (f->stream)
            for (int64_t i = 0; i < ni; i++)
                NAME(stream)(to + i * di, from + i * si, size);
        else if (size > NEAR_RUN)
            for (int64_t i = 0; i < ni; i++)
                memcpy(to + i * di, from + i * si, size);
        else if (size > 64)
            for (int64_t i = 0; i < ni; i++)
                NAME(near_run)(to + i * di, from + i * si, from + (i + AHEAD) * si, size);
        else if (size > 32)
            for (int64_t i = 0; i < ni; i++)
                move_ends_32(to + i * di, from + i * si, size);
        else if (size > 16)
            for (int64_t i = 0; i < ni; i++)
                move_ends_16(to + i * di, from + i * si, size);
        else if (size > 8)
            for (int64_t i = 0; i < ni; i++)
                move_ends_8(to + i * di, from + i * si, size);
        else if (size > 4)
            for (int64_t i = 0; i < ni; i++)
                move_ends_4(to + i * di, from + i * si, size);
        else
            for (int64_t i = 0; i < ni; i++)
                move_ends_2(to + i * di, from + i * si, size);
    }
}

/* Very short axes, of which the compiler makes shuffles: K rows into one, and one into K rows. */

#define FEW(U, K) \
    static TARGET void NAME(zip_##U##_##K)(MOVER_ARGUMENTS) { \
        const int64_t si = f->si; \
        const unit_##U *RESTRICT a = (const unit_##U *)s, \
                                 *RESTRICT b = (const unit_##U *)(s + si); \
        const unit_##U *RESTRICT c = (const unit_##U *)(s + (K > 2 ? 2 : 0) * si); \
        const unit_##U *RESTRICT e = (const unit_##U *)(s + (K > 3 ? 3 : 0) * si); \
        unit_##U *RESTRICT to = (unit_##U *)d; \
        for (int64_t j = 0; j < nj; j++) { \
            to[j * K] = a[j]; \
            to[j * K + 1] = b[j]; \
            if (K > 2) to[j * K + 2] = c[j]; \
            if (K > 3) to[j * K + 3] = e[j]; \
        } \
    } \
    static TARGET void NAME(unzip_##U##_##K)(MOVER_ARGUMENTS) { \
        const int64_t dj = f->dj; \
        unit_##U *RESTRICT a = (unit_##U *)d, *RESTRICT b = (unit_##U *)(d + dj); \
        unit_##U *RESTRICT c = (unit_##U *)(d + (K > 2 ? 2 : 0) * dj); \
        unit_##U *RESTRICT e = (unit_##U *)(d + (K > 3 ? 3 : 0) * dj); \
        const unit_##U *RESTRICT from = (const unit_##U *)s; \
        for (int64_t i = 0; i < ni; i++) { \
            a[i] = from[i * K]; \
            b[i] = from[i * K + 1]; \
            if (K > 2) c[i] = from[i * K + 2]; \
            if (K > 3) e[i] = from[i * K + 3]; \
        } \
    }

#define FEWS(U) FEW(U, 2) FEW(U, 4)
FEWS(1)
FEWS(2)
FEWS(4)
FEWS(8)
FEW(8, 3)
#if WIDTH < 32
FEW(1, 3)
FEW(2, 3)
FEW(4, 3)
#else

/* Three rows of small units, for which the compiler finds no shuffles: n units of each at a time,
   by two shuffles for each vector, since one shuffle has two operands. */

#define THREE(U, n, LIST) \
    static TARGET void NAME(zip_##U##_3)(MOVER_ARGUMENTS) { \
        const int64_t si = f->si; \
        unit_##U *const to = (unit_##U *)d; \
        int64_t j = 0; \
        for (; j + n <= nj; j += n) { \
            v16_##U a, b, c; \
            memcpy(&a, s + j * U, 16); \
            memcpy(&b, s + j * U + si, 16); \
            memcpy(&c, s + j * U + 2 * si, 16); \
            const v16_##U x = __builtin_shufflevector(a, b, LIST(ZIP_AB, n, 0)); \
            const v16_##U y = __builtin_shufflevector(a, b, LIST(ZIP_AB, n, 1)); \
            const v16_##U z = __builtin_shufflevector(a, b, LIST(ZIP_AB, n, 2)); \
            const v16_##U first = __builtin_shufflevector(x, c, LIST(ZIP_C, n, 0)); \
            const v16_##U second = __builtin_shufflevector(y, c, LIST(ZIP_C, n, 1)); \
            const v16_##U third = __builtin_shufflevector(z, c, LIST(ZIP_C, n, 2)); \
            memcpy(to + j * 3, &first, 16); \
            memcpy(to + j * 3 + n, &second, 16); \
            memcpy(to + j * 3 + 2 * n, &third, 16); \
        } \
        for (; j < nj; j++) \
            for (int k = 0; k < 3; k++) to[j * 3 + k] = ((const unit_##U *)(s + k * si))[j]; \
    } \
    static TARGET void NAME(unzip_##U##_3)(MOVER_ARGUMENTS) { \
        const int64_t dj = f->dj; \
        const unit_##U *const from = (const unit_##U *)s; \
        int64_t i = 0; \
        for (; i + n <= ni; i += n) { \
            v16_##U first, second, third; \
            memcpy(&first, from + i * 3, 16); \
            memcpy(&second, from + i * 3 + n, 16); \
            memcpy(&third, from + i * 3 + 2 * n, 16); \
            const v16_##U x = __builtin_shufflevector(first, second, LIST(UNZIP_AB, n, 0)); \
            const v16_##U y = __builtin_shufflevector(first, second, LIST(UNZIP_AB, n, 1)); \
            const v16_##U z = __builtin_shufflevector(first, second, LIST(UNZIP_AB, n, 2)); \
            const v16_##U a = __builtin_shufflevector(x, third, LIST(UNZIP_C, n, 0)); \
            const v16_##U b = __builtin_shufflevector(y, third, LIST(UNZIP_C, n, 1)); \
            const v16_##U c = __builtin_shufflevector(z, third, LIST(UNZIP_C, n, 2)); \
            memcpy(d + i * U, &a, 16); \
            memcpy(d + i * U + dj, &b, 16); \
            memcpy(d + i * U + 2 * dj, &c, 16); \
        } \
        for (; i < ni; i++) \
            for (int k = 0; k < 3; k++) ((unit_##U *)(d + k * dj))[i] = from[i * 3 + k]; \
    }
THREE(1, 16, LIST_16)
THREE(2, 8, LIST_8)
THREE(4, 4, LIST_4)
#undef THREE
#endif

/* Transposing in registers, by square tiles of vectors of W bytes. A tile at the end of a block is
   moved back until it ends there. A block that is smaller than a tile is left to the next smaller
   tiles, at last to single units. */

#define TRANSPOSE(W, U, SMALLER) \
    static TARGET void NAME(transpose_##W##_##U)(MOVER_ARGUMENTS) { \
        enum { N = W / U }; \
        const int64_t dj = f->dj, si = f->si; \
        if (ni < N || nj < N) { \
            SMALLER(f, d, s, ni, nj, ahead); \
            return; \
        } \
        const int fetch = f->fetch, stream = f->stream && !(((intptr_t)d | dj) & 63); \
        const int along_j = stream && W == 64; \
        const int64_t outer = along_j ? ni : nj, inner = along_j ? nj : ni; \
        /* the second tile of a line overlaps the first, where vectors are aligned from it on */ \
        const int64_t off = -(intptr_t)d & (W - 1); \
        const int64_t head = \
            f->stream || inner == N || dj & (W - 1) || off % U ? 0 : off / U; \
        for (int64_t o = 0; o < outer; o += N) { \
            o = o > outer - N ? outer - N : o; \
            for (int64_t p = 0; p < inner; p = p || !head ? p + N : head) { \
                p = p > inner - N ? inner - N : p; \
                const int64_t i = along_j ? o : p, j = along_j ? p : o; \
                const char *const from = s + i * si + j * U; \
                char *const to = d + i * U + j * dj; \
                v##W##_8 t[N]; \
                if (fetch) { \
                    const char *const soon = !along_j             ? from + ahead \
                                             : o + 2 * N <= outer ? from + N * si \
                                                                  : s + ahead + j * U; \
                    for (int k = 0; k < N; k++) FETCH(soon + k * si); \
                } \
                transposed_##W##_##U(t, from, si); \
                /* lines that a last tile would write again must remain in the caches */ \
                const int64_t rest = ni - i - N; \
                if (stream && !((intptr_t)to & (W - 1)) && (rest >= N || rest == 0)) \
                    UNROLL for (int k = 0; k < N; k++) STREAM(W, to + k * dj, t[k]); \
                else \
                    UNROLL for (int k = 0; k < N; k++) KEEP(W, to + k * dj, t[k]); \
            } \
        } \
    }

TRANSPOSE(4, 1, NAME(units_1))
TRANSPOSE(8, 1, NAME(transpose_4_1))
TRANSPOSE(8, 2, NAME(units_2))
TRANSPOSE(16, 1, NAME(transpose_8_1))
TRANSPOSE(16, 2, NAME(transpose_8_2))
TRANSPOSE(16, 4, NAME(units_4))
TRANSPOSE(16, 8, NAME(units_8))
#if WIDTH >= 32
TRANSPOSE(32, 1, NAME(transpose_16_1))
TRANSPOSE(32, 2, NAME(transpose_16_2))
TRANSPOSE(32, 4, NAME(transpose_16_4))
TRANSPOSE(32, 8, NAME(transpose_16_8))
TRANSPOSE(32, 16, NAME(units_16))
#endif
#if WIDTH >= 64
TRANSPOSE(64, 1, NAME(transpose_32_1))
TRANSPOSE(64, 2, NAME(transpose_32_2))
TRANSPOSE(64, 4, NAME(transpose_32_4))
TRANSPOSE(64, 8, NAME(transpose_32_8))
TRANSPOSE(64, 16, NAME(transpose_32_16))
#endif

static mover *NAME(choose)(const permute_frame *f) {
    static mover *const few[6][4] = {
        {NAME(zip_1_2), NAME(zip_2_2), NAME(zip_4_2), NAME(zip_8_2)},
        {NAME(zip_1_3), NAME(zip_2_3), NAME(zip_4_3), NAME(zip_8_3)},
        {NAME(zip_1_4), NAME(zip_2_4), NAME(zip_4_4), NAME(zip_8_4)},
        {NAME(unzip_1_2), NAME(unzip_2_2), NAME(unzip_4_2), NAME(unzip_8_2)},
        {NAME(unzip_1_3), NAME(unzip_2_3), NAME(unzip_4_3), NAME(unzip_8_3)},
        {NAME(unzip_1_4), NAME(unzip_2_4), NAME(unzip_4_4), NAME(unzip_8_4)}};
    static mover *const units[5] = {NAME(units_1), NAME(units_2), NAME(units_4), NAME(units_8),
                                    NAME(units_16)};
    static mover *const transposes[3][5] = {
        {NAME(transpose_16_1), NAME(transpose_16_2), NAME(transpose_16_4), NAME(transpose_16_8),
         NAME(units_16)},
#if WIDTH >= 32
        {NAME(transpose_32_1), NAME(transpose_32_2), NAME(transpose_32_4), NAME(transpose_32_8),
         NAME(transpose_32_16)},
#endif
#if WIDTH >= 64
        {NAME(transpose_64_1), NAME(transpose_64_2), NAME(transpose_64_4), NAME(transpose_64_8),
         NAME(transpose_64_16)},
#endif
    };
    const int wide = f->width == 64 && WIDTH >= 64 ? 2 : f->width >= 32 && WIDTH >= 32 ? 1 : 0;
    const int of = f->unit == 1 ? 0 : f->unit == 2 ? 1 : f->unit == 4 ? 2 : f->unit == 8 ? 3 : 4;
    switch (f->kind) {
    case BYTES: return NAME(bytes);
    case RUNS: return NAME(runs);
    case UNITS_: return units[of];
    case ZIP: return few[f->ni - 2][of];
    case UNZIP: return few[f->nj + 1][of];
    default: return transposes[wide][of];
    }
}

#undef LINES
#undef UNITS
#undef FEW
#undef FEWS
#undef TRANSPOSE
#undef TARGET
#undef NAME
#undef WIDTH
