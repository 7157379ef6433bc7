/* Sorting long lines of elements of up to 8 bytes, but for complex numbers: digit by digit of 8
   bits of a key, the lowest one first. Each pass is stable.

       counts   how many elements of each digit a tile has
       starts   for each digit, how many elements tiles before each have of it, and all have
       moves    puts the elements of a tile where they belong

   Passes go from x to the workspace, between its areas and to y, as those of sort.cuh; after the
   areas are the counts: for each line 256 of each tile, and 256 in all. */
#ifndef MAT_RADIX_CUH
#define MAT_RADIX_CUH

#include "sort.cuh"

enum { MAT_DIGITS = 256, MAT_RADIX_WARPS = 8, MAT_RADIX_TILE = 4096 };

struct mat_radix {
    mat_sort sort;  /* `width`: how far the digit is to be shifted; `from` -1: from x */
    int64_t counts; /* bytes of the workspace before these */
};

template <int BYTES> struct mat_key {};
template <> struct mat_key<1> { typedef uint8_t type; };
template <> struct mat_key<2> { typedef uint16_t type; };
template <> struct mat_key<4> { typedef uint32_t type; };
template <> struct mat_key<8> { typedef uint64_t type; };

/* A digit of the key, an unsigned integer in the order of the elements: 0 and -0 have the same one,
   what is not a number has the largest one in both directions. */
template <class T> INLINE uint32_t mat_digit(T x, int shift, bool descending) {
    typedef typename mat_key<sizeof(T)>::type K;
    constexpr K top = (K)((K)1 << (8 * sizeof(T) - 1));
    union {
        T element;
        K bits;
    } key = {x};
    if constexpr (mat_kind<T>::of == MAT_FLOATING) {
        if (mat_nan(mat_widen(x))) return MAT_DIGITS - 1;
        if (!(K)(key.bits << 1)) key.bits = 0;
        key.bits = (K)(key.bits & top ? ~key.bits : key.bits | top);
    } else if constexpr ((T)-1 < (T)0) {
        key.bits ^= top;
    }
    if (descending) key.bits = (K)~key.bits;
    return (uint32_t)(key.bits >> shift) & (MAT_DIGITS - 1);
}

/* A tile of a line, and where its elements are. */
template <class T, bool INDICES> struct mat_radix_tile {
    const T *x;
    const uint32_t *indices;
    int64_t step, line, number, y;
    int n;

    INLINE mat_radix_tile(const mat_radix &f, const mat_call &call) {
        const mat_sort &s = f.sort;
        line = (int64_t)blockIdx.x / s.tiles, number = (int64_t)blockIdx.x - line * s.tiles;
        int64_t from = number * MAT_RADIX_TILE, left = s.length - from;
        n = (int)(left < MAT_RADIX_TILE ? left : MAT_RADIX_TILE);
        mat_place_of at = mat_placed(s.others, (int)s.others.rank, line);
        y = at.y, step = 1, indices = 0;
        if (s.from < 0) {
            x = (const T *)call.at[0] + at.x + from * s.step_x, step = s.step_x;
        } else {
            mat_sort_areas<T> area = mat_sort_area<T, INDICES>(s, call, s.from, line);
            x = area.values + from;
            if (INDICES) indices = area.indices + from;
        }
    }
    INLINE uint32_t index(int k) const {
        return indices ? indices[k] : (uint32_t)(number * MAT_RADIX_TILE + k);
    }
};

INLINE uint32_t *mat_radix_counts(const mat_radix &f, const mat_call &call, int64_t line) {
    return (uint32_t *)(call.at[2] + f.counts) + line * MAT_DIGITS * (f.sort.tiles + 1);
}

/* What the threads of a block before each have together, of 256 threads. */
INLINE uint32_t mat_before_thread(uint32_t own) {
    MAT_SHARED(uint32_t, sums, [2][MAT_DIGITS]);
    uint32_t t = threadIdx.x, from = 0, sum = own;
    sums[0][t] = sum;
    __syncthreads();
    for (uint32_t by = 1; by < MAT_DIGITS; by *= 2) {
        if (t >= by) sum += sums[from][t - by];
        sums[from = 1 - from][t] = sum;
        __syncthreads();
    }
    return sum - own;
}

template <class T, bool INDICES>
INLINE void mat_radix_counts_of_tile(const mat_radix &f, const mat_call &call) {
    MAT_SHARED(uint32_t, counts, [MAT_DIGITS]);
    mat_radix_tile<T, INDICES> tile(f, call);
    int t = (int)threadIdx.x;
    counts[t] = 0;
    __syncthreads();
#pragma unroll 4
    for (int k = t; k < tile.n; k += MAT_SORT_THREADS)
        atomicAdd(counts + mat_digit(tile.x[k * tile.step], (int)f.sort.width,
                                     f.sort.descending != 0), 1u);
    __syncthreads();
    mat_radix_counts(f, call, tile.line)[t * f.sort.tiles + tile.number] = counts[t];
}

/* A block for a digit of a line, a thread for adjacent tiles. */
INLINE void mat_radix_starts(const mat_radix &f, const mat_call &call) {
    int64_t line = blockIdx.x / MAT_DIGITS, digit = blockIdx.x % MAT_DIGITS, tiles = f.sort.tiles;
    uint32_t *all = mat_radix_counts(f, call, line), *counts = all + digit * tiles, total = 0;
    int64_t each = (tiles + MAT_SORT_THREADS - 1) / MAT_SORT_THREADS, from = threadIdx.x * each;
    int64_t to = from + each < tiles ? from + each : tiles;
    for (int64_t k = from; k < to; k++) total += counts[k];
    uint32_t before = mat_before_thread(total);
    if (threadIdx.x == MAT_SORT_THREADS - 1) all[MAT_DIGITS * tiles + digit] = before + total;
    for (int64_t k = from; k < to; k++) {
        uint32_t count = counts[k];
        counts[k] = before;
        before += count;
    }
}

/* Each warp ranks the elements of its part of the tile among those of equal digits there, 32 at a
   time; then the counts of warps become the places of their first elements. */
template <class T, bool INDICES>
INLINE void mat_radix_moves(const mat_radix &f, const mat_call &call) {
    enum { W = MAT_RADIX_WARPS, PART = MAT_RADIX_TILE / W };
    MAT_SHARED(uint32_t, places, [W][MAT_DIGITS]);
    MAT_SHARED(uint16_t, ranks, [MAT_RADIX_TILE]);
    mat_radix_tile<T, INDICES> tile(f, call);
    int t = (int)threadIdx.x, lane = t % 32, shift = (int)f.sort.width;
    uint32_t *own = places[t / 32];
    bool descending = f.sort.descending != 0;
    for (int w = 0; w < W; w++) places[w][t] = 0;
    __syncthreads();
    for (int k = t / 32 * PART + lane, end = k - lane + PART; k < end; k += 32) {
        bool there = k < tile.n;
        uint32_t digit = there ? mat_digit(tile.x[k * tile.step], shift, descending) : 0;
        uint32_t equal = __ballot_sync(~0u, there);
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
            uint32_t ones = __ballot_sync(~0u, (digit >> bit & 1) != 0);
            equal &= digit >> bit & 1 ? ones : ~ones;
        }
        uint32_t before = (uint32_t)__popc(equal & ((1u << lane) - 1)), first = own[digit];
        __syncwarp();
        if (there && !before) own[digit] = first + (uint32_t)__popc(equal);
        __syncwarp();
        if (there) ranks[k] = (uint16_t)(first + before);
    }
    __syncthreads();
    const uint32_t *counts = mat_radix_counts(f, call, tile.line);
    uint32_t place = mat_before_thread(counts[MAT_DIGITS * f.sort.tiles + t]);
    place += counts[t * f.sort.tiles + tile.number];
    for (int w = 0; w < W; w++) {
        uint32_t count = places[w][t];
        places[w][t] = place;
        place += count;
    }
    __syncthreads();
    mat_sort_areas<T> to = mat_sort_area<T, INDICES>(f.sort, call, f.sort.to, tile.line);
    for (int k = t; k < tile.n; k += MAT_SORT_THREADS) {
        T value = tile.x[k * tile.step];
        int64_t at = places[k / PART][mat_digit(value, shift, descending)] + ranks[k];
        mat_sort_put<T, INDICES>(f.sort, call, to, tile.y, at, value,
                                 INDICES ? tile.index(k) : 0);
    }
}

#define MAT_RADIX_KERNEL(name, kind) \
    MAT_KERNEL(name##_##kind, mat_radix, MAT_SORT_THREADS)
#define MAT_RADIX_OF(name, T, INDICES) \
    MAT_RADIX_KERNEL(name, counts) { mat_radix_counts_of_tile<T, INDICES>(frame, call); } \
    MAT_RADIX_KERNEL(name, starts) { mat_radix_starts(frame, call); } \
    MAT_RADIX_KERNEL(name, moves) { mat_radix_moves<T, INDICES>(frame, call); }
#define MAT_RADIX(name, T) \
    MAT_RADIX_OF(radix_##name, T, false) \
    MAT_RADIX_OF(argradix_##name, T, true)

#endif
