/* How a block is moved, for one kind of machine. Included by permute.c once for each, with

   TARGET     the attribute that compiles for it
   NAME(x)    a name of its own
   WIDTH      bytes of its widest vector: 16, 32 or 64 */

/* Units one by one: any strides. The compiler knows the unit, and for frequent strides these as well. */

#define LINES(T, DI, SI)                                                     \
    for (int64_t j = 0; j < nj; j++) {                                       \
        char *RESTRICT to = d + j * f->dj;                                   \
        const char *RESTRICT from = s + j * f->sj;                           \
        for (int64_t i = 0; i < ni; i++)                                     \
            *(T *)(to + i * (DI)) = *(const T *)(from + i * (SI));           \
    }

#define UNITS(U)                                                                                                     \
    static TARGET void NAME(units_##U)(MOVER_ARGUMENTS) {     \
        const int64_t di = f->di, si = f->si;                                                                        \
        if (di == U && si == 0) {                                                                                    \
            LINES(unit_##U, U, 0)                                                                                    \
        } else if (di == U && si == -U) {                                                                            \
            LINES(unit_##U, U, -U)                                                                                   \
        } else if (di == U && si == 2 * U) {                                                                         \
            LINES(unit_##U, U, 2 * U)                                                                                \
        } else {                                                                                                     \
            LINES(unit_##U, di, si)                                                                                  \
        }                                                                                                            \
    }

UNITS(1)
UNITS(2)
UNITS(4)
UNITS(8)
UNITS(16)

/* Runs of any length as units. */

static TARGET void NAME(runs)(MOVER_ARGUMENTS) {
    const int64_t di = f->di, si = f->si, size = f->unit;
    for (int64_t j = 0; j < nj; j++) {
        char *to = d + j * f->dj;
        const char *from = s + j * f->sj;
        if (size > 64)
            for (int64_t i = 0; i < ni; i++)
                memcpy(to + i * di, from + i * si, size);
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

/* One long run, of which ni bytes are this block. */

static TARGET void NAME(bytes)(MOVER_ARGUMENTS) {
    memcpy(d, s, ni);
}

/* Very short axes, which the compiler makes shuffles of: `few` rows into one, and one into `few` rows. */

#define FEW(U, K)                                                                                                    \
    static TARGET void NAME(zip_##U##_##K)(MOVER_ARGUMENTS) { \
        unit_##U *RESTRICT to = (unit_##U *)d;                                                                       \
        for (int64_t j = 0; j < nj; j++)                                                                             \
            for (int k = 0; k < K; k++)                                                                              \
                to[j * K + k] = ((const unit_##U *)(s + k * f->si))[j];                                              \
    }                                                                                                                \
    static TARGET void NAME(unzip_##U##_##K)(MOVER_ARGUMENTS) { \
        const unit_##U *RESTRICT from = (const unit_##U *)s;                                                         \
        for (int64_t i = 0; i < ni; i++)                                                                             \
            for (int k = 0; k < K; k++)                                                                              \
                ((unit_##U *)(d + k * f->dj))[i] = from[i * K + k];                                                  \
    }

#define FEWS(U) FEW(U, 2) FEW(U, 3) FEW(U, 4)
FEWS(1)
FEWS(2)
FEWS(4)
FEWS(8)

/* Transposing tiles in registers, by vectors of W bytes: as many rows of as many units. A tile at the end of a block is moved
   back until it ends there. Where a block is smaller than a tile, the next smaller ones do it, at last single units. */

#define TILES(W, U, SMALLER)                                                                      \
    static TARGET void NAME(tiles_##W##_##U)(MOVER_ARGUMENTS) {                                   \
        enum { N = W / U };                                                                       \
        const int64_t dj = f->dj, si = f->si;                                                     \
        if (ni < N || nj < N) {                                                                   \
            SMALLER(f, d, s, ni, nj, ahead);                                                      \
            return;                                                                               \
        }                                                                                         \
        const int fetch = f->fetch, stream = f->stream && !(((intptr_t)d | dj) & 63);             \
        const int along_j = stream && W == 64;                                                    \
        const int64_t outer = along_j ? ni : nj, inner = along_j ? nj : ni;                       \
        for (int64_t o = 0; o < outer; o += N) {                                                  \
            o = o > outer - N ? outer - N : o;                                                    \
            for (int64_t p = 0; p < inner; p += N) {                                              \
                p = p > inner - N ? inner - N : p;                                                \
                const int64_t i = along_j ? o : p, j = along_j ? p : o;                           \
                const char *const from = s + i * si + j * U;                                      \
                char *const to = d + i * U + j * dj;                                              \
                v##W##_8 t[N];                                                                    \
                if (fetch)                                                                        \
                    for (int k = 0; k < N; k++)                                                   \
                        FETCH(from + k * si + ahead);                                             \
                tile_##W##_##U(t, from, si);                                                      \
                if (stream && !((intptr_t)to & (W - 1)))                                          \
                    UNROLL for (int k = 0; k < N; k++) STREAM(W, to + k * dj, t[k]);              \
                else                                                                              \
                    UNROLL for (int k = 0; k < N; k++) KEEP(W, to + k * dj, t[k]);                \
            }                                                                                     \
        }                                                                                         \
    }

TILES(8, 1, NAME(units_1))
TILES(8, 2, NAME(units_2))
TILES(16, 1, NAME(tiles_8_1))
TILES(16, 2, NAME(tiles_8_2))
TILES(16, 4, NAME(units_4))
TILES(16, 8, NAME(units_8))
#if WIDTH >= 32
TILES(32, 1, NAME(tiles_16_1))
TILES(32, 2, NAME(tiles_16_2))
TILES(32, 4, NAME(tiles_16_4))
TILES(32, 8, NAME(tiles_16_8))
TILES(32, 16, NAME(units_16))
#endif
#if WIDTH >= 64
TILES(64, 1, NAME(tiles_32_1))
TILES(64, 2, NAME(tiles_32_2))
TILES(64, 4, NAME(tiles_32_4))
TILES(64, 8, NAME(tiles_32_8))
TILES(64, 16, NAME(tiles_32_16))
#endif

static mover *NAME(choose)(const permute_frame *f) {
    static mover *const few[6][4] = {
        {NAME(zip_1_2), NAME(zip_2_2), NAME(zip_4_2), NAME(zip_8_2)},
        {NAME(zip_1_3), NAME(zip_2_3), NAME(zip_4_3), NAME(zip_8_3)},
        {NAME(zip_1_4), NAME(zip_2_4), NAME(zip_4_4), NAME(zip_8_4)},
        {NAME(unzip_1_2), NAME(unzip_2_2), NAME(unzip_4_2), NAME(unzip_8_2)},
        {NAME(unzip_1_3), NAME(unzip_2_3), NAME(unzip_4_3), NAME(unzip_8_3)},
        {NAME(unzip_1_4), NAME(unzip_2_4), NAME(unzip_4_4), NAME(unzip_8_4)}};
    static mover *const units[5] = {NAME(units_1), NAME(units_2), NAME(units_4), NAME(units_8), NAME(units_16)};
    static mover *const tiles[3][5] = {
        {NAME(tiles_16_1), NAME(tiles_16_2), NAME(tiles_16_4), NAME(tiles_16_8), NAME(units_16)},
#if WIDTH >= 32
        {NAME(tiles_32_1), NAME(tiles_32_2), NAME(tiles_32_4), NAME(tiles_32_8), NAME(tiles_32_16)},
#endif
#if WIDTH >= 64
        {NAME(tiles_64_1), NAME(tiles_64_2), NAME(tiles_64_4), NAME(tiles_64_8), NAME(tiles_64_16)},
#endif
    };
    const int of = f->unit == 1 ? 0 : f->unit == 2 ? 1 : f->unit == 4 ? 2 : f->unit == 8 ? 3 : 4;
    switch (f->kind) {
    case BYTES: return NAME(bytes);
    case RUNS: return NAME(runs);
    case UNITS_: return units[of];
    case ZIP: return few[f->ni - 2][of];
    case UNZIP: return few[f->nj + 1][of];
    default: return tiles[f->width == 64 && WIDTH >= 64 ? 2 : f->width >= 32 && WIDTH >= 32 ? 1 : 0][of];
    }
}

#undef LINES
#undef UNITS
#undef FEW
#undef FEWS
#undef TILES
#undef TARGET
#undef NAME
#undef WIDTH
