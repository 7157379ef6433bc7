/* What integers, masks and conditions select, on the device: copied from anywhere to anywhere, as
   bits in units of 1, 2, 4, 8 or 16 bytes.

   mat_gather_U      out[k] = x[k + what position k counts to]
   mat_scatter_U     the other way round; of several elements for one place the last one is written
   mat_wins_*        which elements these are, by a table of places
   mat_select_U      out[k] = condition[k] ? a[k] : b[k]
   mat_join_U        out is a, and along one axis after it b
   mat_mask_*        the positions of what is true, in order
   mat_pick_U        what a mask selects, without these positions
   mat_outside       whether any integer is out of range

   A position counts the items of some axes of x, which together are its chosen axes, by rows. It
   was checked before. */
#ifndef MAT_SELECT_CUH
#define MAT_SELECT_CUH

#include "strided_loop.cuh"

/* MAT_ROOM: the room is after three operands */
enum { MAT_CHOSEN = 8, MAT_ROOM = 3, MAT_EACH = 4, MAT_TILE = 16 * MAT_THREADS };

struct mat_moving { /* what the loops ask of a functor, of which only places are needed */
    typedef uint32_t result;
    enum { NUMBERS = 0, HEAVY = 0 };
};

/* The offsets in N operands of some elements of a thread, and whether these are there. */
template<int N, class I, int M>
INLINE void mat_seek_items(const mat_axes<N> &axes, int64_t (&at)[M][N], bool (&there)[M]) {
    typedef mat_walk<N, mat_strided_loop<N, 1, 2, uint32_t, uint32_t, mat_moving>> loop;
    const I start = (I)blockIdx.x * (I)(blockDim.x * M);
    I item[M];
    int64_t left[M];
#pragma unroll
    for (int m = 0; m < M; m++) {
        item[m] = start + m * blockDim.x + threadIdx.x;
        there[m] = item[m] < (uint64_t)axes.items;
    }
    loop::template places<M, 1>(axes, item, at, left);
}

/* Gathers and scatters */

struct mat_chosen_axes { /* outermost first; steps count elements */
    int64_t rank, length[MAT_CHOSEN], magic[MAT_CHOSEN], shift[MAT_CHOSEN], step[MAT_CHOSEN];
};

struct mat_gathering {
    mat_axes<3> axes; /* of x, of the positions, and of the other operand */
    mat_chosen_axes chosen;
};

/* The offset of a position, which may be negative where there is one axis; 0 of one that is out of
   range: another thread may have changed positions since they were checked. */
INLINE int64_t mat_offset(const mat_chosen_axes &chosen, int64_t position) {
    int64_t offset = 0;
#pragma unroll 1
    for (int k = (int)chosen.rank - 1; k > 0; k--) {
        const int64_t over =
            (int64_t)mat_over((uint64_t)position, chosen.magic[k], chosen.shift[k]);
        offset += (position - over * chosen.length[k]) * chosen.step[k];
        position = over;
    }
    position += position < 0 ? chosen.length[0] : 0;
    return (uint64_t)position < (uint64_t)chosen.length[0] ? offset + position * chosen.step[0] : 0;
}

template<class T, class I>
INLINE void mat_gather(const mat_gathering &frame, const mat_call &call) {
    int64_t at[MAT_EACH][3];
    bool there[MAT_EACH];
    mat_seek_items<3, I>(frame.axes, at, there);
    const T *x = (const T *)call.at[0];
    const int64_t *positions = (const int64_t *)call.at[1];
    T *out = (T *)call.at[2], found[MAT_EACH];
#pragma unroll
    for (int m = 0; m < MAT_EACH; m++)
        if (there[m]) found[m] = x[at[m][0] + mat_offset(frame.chosen, positions[at[m][1]])];
#pragma unroll
    for (int m = 0; m < MAT_EACH; m++)
        if (there[m]) out[at[m][2]] = found[m];
}

/* `wins` is null where each place is written once, or with one value only. */
template<class T, class I>
INLINE void mat_scatter(const mat_gathering &frame, const mat_call &call,
                        const uint8_t *wins) {
    int64_t at[MAT_EACH][3];
    bool there[MAT_EACH];
    mat_seek_items<3, I>(frame.axes, at, there);
    const int64_t *positions = (const int64_t *)call.at[0];
    const T *from = (const T *)call.at[1];
    T *x = (T *)call.at[2];
#pragma unroll
    for (int m = 0; m < MAT_EACH; m++)
        if (there[m] && (!wins || wins[at[m][1]]))
            x[at[m][0] + mat_offset(frame.chosen, positions[at[m][1]])] = from[at[m][2]];
}

#define MAT_GATHERING(U, T, way, I) \
    MAT_KERNEL(mat_gather_##U##_##way, mat_gathering, MAT_THREADS) { \
        mat_gather<T, I>(frame, call); \
    } \
    MAT_KERNEL(mat_scatter_##U##_##way, mat_gathering, MAT_THREADS) { \
        mat_scatter<T, I>(frame, call, 0); \
    } \
    MAT_KERNEL(mat_scatter_last_##U##_##way, mat_gathering, MAT_THREADS) { \
        mat_scatter<T, I>(frame, call, (const uint8_t *)call.at[MAT_ROOM]); \
    }

/* The last element for each place. The room has a byte for each position, whether it is that; and
   after them, the table: places, and the last element for each. */

struct mat_winning {
    int64_t n;      /* positions, packed */
    int64_t length; /* places */
    int64_t table;  /* where it begins in the room */
    int64_t slots, shift;
};

INLINE int64_t mat_place(const mat_winning &frame, const mat_call &call, int64_t k) {
    const int64_t position = ((const int64_t *)call.at[0])[k];
    return position < 0 ? position + frame.length : position;
}
INLINE int64_t *mat_places(const mat_winning &frame, const mat_call &call) {
    return (int64_t *)(call.at[MAT_ROOM] + frame.table);
}
INLINE int64_t mat_slot(const mat_winning &frame, int64_t place) {
    return (int64_t)((uint64_t)place * 0x9E3779B97F4A7C15ull >> (int)frame.shift);
}
INLINE int64_t mat_item() { return (int64_t)blockIdx.x * MAT_THREADS + threadIdx.x; }

#define MAT_WINS() \
    MAT_KERNEL(mat_wins_clear, mat_winning, MAT_THREADS) { \
        const int64_t k = mat_item(); \
        if (k < 2 * frame.slots) mat_places(frame, call)[k] = -1; \
    } \
    MAT_KERNEL(mat_wins_enter, mat_winning, MAT_THREADS) { \
        const int64_t k = mat_item(); \
        if (k < frame.n) mat_enter(frame, call, k); \
    } \
    MAT_KERNEL(mat_wins_decide, mat_winning, MAT_THREADS) { \
        const int64_t k = mat_item(); \
        if (k < frame.n) mat_decide(frame, call, k); \
    }

INLINE void mat_enter(const mat_winning &frame, const mat_call &call, int64_t k) {
    int64_t *places = mat_places(frame, call);
    const int64_t place = mat_place(frame, call, k), mask = frame.slots - 1;
    for (int64_t slot = mat_slot(frame, place);; slot = (slot + 1) & mask) {
        const int64_t found = (int64_t)atomicCAS((unsigned long long *)(places + slot), ~0ull,
                                                 (unsigned long long)place);
        if (found != -1 && found != place) continue;
        atomicMax((long long *)(places + frame.slots + slot), (long long)k);
        return;
    }
}

INLINE void mat_decide(const mat_winning &frame, const mat_call &call, int64_t k) {
    const int64_t *places = mat_places(frame, call);
    const int64_t place = mat_place(frame, call, k), mask = frame.slots - 1;
    int64_t slot = mat_slot(frame, place);
    while (places[slot] != place) slot = (slot + 1) & mask;
    ((uint8_t *)call.at[MAT_ROOM])[k] = places[frame.slots + slot] == k;
}

/* Conditions */

template<class T, class I>
INLINE void mat_select(const mat_axes<4> &frame, const mat_call &call) {
    int64_t at[MAT_EACH][4];
    bool there[MAT_EACH];
    mat_seek_items<4, I>(frame, at, there);
    const uint8_t *condition = (const uint8_t *)call.at[0];
    const T *a = (const T *)call.at[1], *b = (const T *)call.at[2];
    T *out = (T *)call.at[3], found[MAT_EACH];
#pragma unroll
    for (int m = 0; m < MAT_EACH; m++)
        if (there[m]) found[m] = *(condition[at[m][0]] ? a + at[m][1] : b + at[m][2]);
#pragma unroll
    for (int m = 0; m < MAT_EACH; m++)
        if (there[m]) out[at[m][3]] = found[m];
}

#define MAT_SELECT(U, T, way, I) \
    MAT_KERNEL(mat_select_##U##_##way, mat_axes<4>, MAT_THREADS) { \
        mat_select<T, I>(frame, call); \
    }

struct mat_joining {
    mat_axes<4> axes; /* of the places along the joined axis, of a, b and out */
    int64_t length;   /* of a along that axis */
    int64_t back;     /* the offset in b of its place `length` */
};

template<class T, class I>
INLINE void mat_join(const mat_joining &frame, const mat_call &call) {
    int64_t at[MAT_EACH][4];
    bool there[MAT_EACH];
    mat_seek_items<4, I>(frame.axes, at, there);
    const T *a = (const T *)call.at[0], *b = (const T *)call.at[1];
    T *out = (T *)call.at[2], found[MAT_EACH];
#pragma unroll
    for (int m = 0; m < MAT_EACH; m++)
        if (there[m])
            found[m] = *(at[m][0] < frame.length ? a + at[m][1] : b + (at[m][2] - frame.back));
#pragma unroll
    for (int m = 0; m < MAT_EACH; m++)
        if (there[m]) out[at[m][3]] = found[m];
}

#define MAT_JOIN(U, T, way, I) \
    MAT_KERNEL(mat_join_##U##_##way, mat_joining, MAT_THREADS) { mat_join<T, I>(frame, call); }

/* Masks: of each tile, 16 bytes for each thread, the number of bytes that are not 0, then the
   number of those in all tiles before it, and at last their positions. */

struct mat_masked {
    int64_t n, tiles;
};

/* The bits of the bytes of a word that are not 0 */
INLINE uint32_t mat_truths(uint32_t word) {
    return (((word & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | word) & 0x80808080u;
}

/* The bytes of a thread's part, as words, 0 where there are no more. */
INLINE void mat_part(const mat_masked &frame, const mat_call &call, int64_t start,
                     uint32_t (&words)[4]) {
    const uint8_t *mask = (const uint8_t *)call.at[0] + start;
    if (start + 16 <= frame.n && ((uint64_t)mask & 15) == 0) {
        const mat_pack<uint32_t, 4> all = *(const mat_pack<uint32_t, 4> *)mask;
#pragma unroll
        for (int w = 0; w < 4; w++) words[w] = all.at[w];
        return;
    }
#pragma unroll
    for (int w = 0; w < 4; w++) {
        words[w] = 0;
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (start + 4 * w + j < frame.n) words[w] |= (uint32_t)mask[4 * w + j] << 8 * j;
    }
}

INLINE uint32_t mat_count(const uint32_t (&words)[4]) {
    uint32_t count = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) count += __popc(mat_truths(words[w]));
    return count;
}

/* The sum of a number of all threads of the block before this one; `sums` has one for each warp,
   and at the end that of all. */
INLINE uint64_t mat_before(uint64_t mine, uint64_t *sums) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = MAT_THREADS / 32;
    uint64_t upto = mine;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const uint64_t other = __shfl_up_sync(0xFFFFFFFFu, upto, by);
        if (lane >= by) upto += other;
    }
    if (lane == 31) sums[warp] = upto;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint64_t total = 0;
        for (int w = 0; w < warps; w++) {
            const uint64_t one = sums[w];
            sums[w] = total, total += one;
        }
        sums[warps] = total;
    }
    __syncthreads();
    return sums[warp] + upto - mine;
}

#define MAT_MASKS() \
    MAT_KERNEL(mat_mask_count, mat_masked, MAT_THREADS) { \
        MAT_SHARED(uint64_t, sums, [MAT_THREADS / 32 + 1]); \
        uint32_t words[4]; \
        mat_part(frame, call, (int64_t)blockIdx.x * MAT_TILE + 16 * (int)threadIdx.x, words); \
        mat_before(mat_count(words), sums); \
        if (threadIdx.x == 0) \
            ((int64_t *)call.at[1])[blockIdx.x] = (int64_t)sums[MAT_THREADS / 32]; \
    } \
    MAT_KERNEL(mat_mask_sum, mat_masked, MAT_THREADS) { \
        MAT_SHARED(uint64_t, sums, [MAT_THREADS / 32 + 1]); \
        int64_t *starts = (int64_t *)call.at[1], total = 0; \
        for (int64_t done = 0; done < frame.tiles; done += MAT_THREADS) { \
            const int64_t tile = done + threadIdx.x; \
            const int64_t mine = tile < frame.tiles ? starts[tile] : 0; \
            const int64_t before = (int64_t)mat_before((uint64_t)mine, sums); \
            if (tile < frame.tiles) starts[tile] = total + before; \
            total += (int64_t)sums[MAT_THREADS / 32]; \
            __syncthreads(); \
        } \
        if (threadIdx.x == 0) starts[frame.tiles] = total; \
    } \
    MAT_KERNEL(mat_mask_positions, mat_masked, MAT_THREADS) { \
        MAT_SHARED(uint64_t, sums, [MAT_THREADS / 32 + 1]); \
        const int64_t start = (int64_t)blockIdx.x * MAT_TILE + 16 * (int)threadIdx.x; \
        uint32_t words[4]; \
        mat_part(frame, call, start, words); \
        const int64_t *counted = (const int64_t *)call.at[1] + blockIdx.x; \
        int64_t *out = (int64_t *)call.at[2] + counted[0] + mat_before(mat_count(words), sums); \
        const int64_t *end = (const int64_t *)call.at[2] + counted[1]; /* of a mask as it was */ \
        _Pragma("unroll") for (int w = 0; w < 4; w++) \
            for (uint32_t bits = mat_truths(words[w]); bits && out < end; bits &= bits - 1) \
                *out++ = start + 4 * w + (31 - __clz(bits & -bits)) / 8; \
    }

/* The items for which the mask is true: the blocks of a column share those of a tile, whose places
   in it each of them finds. */

struct mat_picking {
    mat_masked mask;
    int64_t rest, magic, shift; /* elements of an item, and the division by that */
    mat_chosen_axes chosen, other;
};

template<class T>
INLINE void mat_pick(const mat_picking &frame, const mat_call &call, uint64_t *sums,
                     uint16_t *places) {
    const int mine = 16 * (int)threadIdx.x;
    const int64_t first = (int64_t)blockIdx.x * MAT_TILE;
    uint32_t words[4];
    mat_part(frame.mask, call, first + mine, words);
    int item = (int)mat_before(mat_count(words), sums);
#pragma unroll
    for (int w = 0; w < 4; w++)
        for (uint32_t bits = mat_truths(words[w]); bits; bits &= bits - 1)
            places[item++] = (uint16_t)(mine + 4 * w + (31 - __clz(bits & -bits)) / 8);
    __syncthreads();
    const int64_t *counted = (const int64_t *)call.at[1] + blockIdx.x; /* of a mask as it was */
    const int64_t now = (int64_t)sums[MAT_THREADS / 32], room = counted[1] - counted[0];
    const int64_t count = (now < room ? now : room) * frame.rest;
    const T *x = (const T *)call.at[2];
    T *out = (T *)call.at[3] + counted[0] * frame.rest;
    for (int64_t k = (int64_t)blockIdx.y * MAT_THREADS + threadIdx.x; k < count;
         k += (int64_t)gridDim.y * MAT_THREADS) {
        const int64_t of =
            frame.rest == 1 ? k : (int64_t)mat_over((uint64_t)k, frame.magic, frame.shift);
        const int64_t at = mat_offset(frame.chosen, first + places[of]);
        out[k] = x[at + (frame.rest == 1 ? 0 : mat_offset(frame.other, k - of * frame.rest))];
    }
}

#define MAT_PICK(U, T) \
    MAT_KERNEL(mat_pick_##U, mat_picking, MAT_THREADS) { \
        MAT_SHARED(uint64_t, sums, [MAT_THREADS / 32 + 1]); \
        MAT_SHARED(uint16_t, places, [MAT_TILE]); \
        mat_pick<T>(frame, call, sums, places); \
    }

/* Ranges: each block leaves whether any of its integers is out of range. */

struct mat_range {
    int64_t n, low, high;
};

#define MAT_OUTSIDE() \
    MAT_KERNEL(mat_outside, mat_range, MAT_THREADS) { \
        const int64_t *at = (const int64_t *)call.at[0]; \
        bool bad = false; \
        for (int64_t k = mat_item(); k < frame.n; k += (int64_t)gridDim.x * MAT_THREADS) \
            bad |= at[k] < frame.low || at[k] >= frame.high; \
        const int any = __syncthreads_or(bad); \
        if (threadIdx.x == 0) ((int32_t *)call.at[1])[blockIdx.x] = any != 0; \
    }

#endif
