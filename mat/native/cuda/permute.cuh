/* Moving elements on the device: from any strides to any strides, in units of 1, 2, 4, 8 or 16
   bytes.

   cuda/permute.py chooses the kernel, the unit and the order of the axes; all kernels have one
   frame. Axes are ordered innermost first. Positions are counted in 32 bits (a plan makes several
   launches of larger copies), offsets in 64, or, within the units of one thread, in 32 bits but for
   the kernels called _wide.

   permute_rows_T       runs of any length and alignment, by teams of T threads, 16 bytes at a time
   permute_gather_U_V   units of U bytes from anywhere, written V bytes at a time
   permute_tile_U_V_N   the fastest axes of both sides differ: through shared memory, in tiles of N
                        vectors of V bytes, V bytes at a time on both sides
   permute_zip_U_V_C    C planes become one with C channels
   permute_unzip_U_V_C  one plane with C channels becomes C planes
   permute_loose_U      several short axes: whatever part of both sides' fastest axes fits in
                        shared memory */
#ifndef MAT_PERMUTE_CUH
#define MAT_PERMUTE_CUH

#include "axes.cuh"

struct permute_frame {
    int64_t source, target; /* the numbers of the operands */
    int64_t from, to;       /* bytes from their addresses to the first unit */
    int64_t count;          /* units of work for threads, teams or blocks */

    /* The fastest axes, i of the destination and j of the source: units (of rows, bytes) and
       strides in bytes */
    int64_t ni, nj;
    int64_t di, si, dj, sj;

    /* loose: the distance of tiles along the first two axes, and the position of the last one;
       tile: the tiles along both fastest axes, and in last[0] the divisor for those of a band */
    int64_t step[2], last[2];

    /* loose: the axes of a tile and its units; the axes as the source orders them, and as the
       destination does, with the slot as s */
    int64_t inner, volume;
    struct strided_axis load[6], store[6];

    int64_t rank;
    struct strided_axis axes[12];
};

/* Vectors as 32-bit words */

template<int BYTES> using piece = typename mat_words<BYTES>::type;

template<int BYTES>
INLINE piece<BYTES> read_piece(const char *at) {
    return __ldg(reinterpret_cast<const piece<BYTES> *>(at));
}
template<int BYTES>
INLINE void write_piece(char *at, piece<BYTES> value) {
    *reinterpret_cast<piece<BYTES> *>(at) = value;
}

/* The words of a vector of that many bytes; one word for fewer than 4 bytes. */
template<int BYTES> struct words {
    unsigned w[BYTES < 4 ? 1 : BYTES / 4];
};
INLINE words<1> as_words(unsigned char v) { return {{v}}; }
INLINE words<2> as_words(unsigned short v) { return {{v}}; }
INLINE words<4> as_words(unsigned v) { return {{v}}; }
INLINE words<8> as_words(uint2 v) { return {{v.x, v.y}}; }
INLINE words<16> as_words(uint4 v) { return {{v.x, v.y, v.z, v.w}}; }
INLINE unsigned char as_piece(words<1> v) { return (unsigned char)v.w[0]; }
INLINE unsigned short as_piece(words<2> v) { return (unsigned short)v.w[0]; }
INLINE unsigned as_piece(words<4> v) { return v.w[0]; }
INLINE uint2 as_piece(words<8> v) { return make_uint2(v.w[0], v.w[1]); }
INLINE uint4 as_piece(words<16> v) {
    return make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
}

/* Word `k` of the row of units of U bytes that `unit(e)`, e = 0, 1, ..., gives as words, where the
   unit is in its low bytes. */
template<int U, class UNIT> INLINE unsigned joined(int k, UNIT unit) {
    if constexpr (U == 1)
        return __byte_perm(__byte_perm(unit(4 * k).w[0], unit(4 * k + 1).w[0], 0x0040),
                           __byte_perm(unit(4 * k + 2).w[0], unit(4 * k + 3).w[0], 0x0040), 0x5410);
    else if constexpr (U == 2)
        return __byte_perm(unit(2 * k).w[0], unit(2 * k + 1).w[0], 0x5410);
    else
        return unit(k / (U / 4)).w[k % (U / 4)];
}

/* The unit `e` of a row of words. */
template<int U> INLINE words<U> unit_of(const unsigned *row, int e) {
    words<U> found;
    if constexpr (U == 1) found.w[0] = __byte_perm(row[e / 4], 0, 0x4440 | e % 4);
    else if constexpr (U == 2) found.w[0] = __byte_perm(row[e / 2], 0, e % 2 ? 0x4432 : 0x4410);
    else
#pragma unroll
        for (int k = 0; k < U / 4; k++) found.w[k] = row[e * (U / 4) + k];
    return found;
}

/* V bytes, as units of U bytes that lie `step` bytes apart. */
template<int U, int V> INLINE words<V> gathered(const char *at, int64_t step) {
    words<U> units[V / U];
#pragma unroll
    for (int e = 0; e < V / U; e++) units[e] = as_words(read_piece<U>(at + e * step));
    words<V> found;
    if constexpr (U == V) found = units[0];
    else
#pragma unroll
        for (int k = 0; k < V / 4; k++) found.w[k] = joined<U>(k, [&](int e) { return units[e]; });
    return found;
}

/* Rows */

/* 16 * `vectors` bytes to `to`, which is aligned, by T threads, at most four vectors each; A: the
   alignment of `from`. */
template<int A, int T>
INLINE void copy_vectors(char *to, const char *from, unsigned vectors,
                         unsigned lane) {
    words<16> held[4];
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (lane + k * T < vectors) held[k] = gathered<A, 16>(from + 16 * (lane + k * T), A);
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (lane + k * T < vectors) write_piece<16>(to + 16 * (lane + k * T), as_piece(held[k]));
}

template<int T>
INLINE void copy_run(char *to, const char *from, unsigned bytes,
                     unsigned lane) {
    unsigned head = min(bytes, unsigned(-reinterpret_cast<uint64_t>(to) & 15)),
             vectors = (bytes - head) / 16;
    unsigned tail = bytes - 16 * vectors - head;
    if (lane < head) to[lane] = from[lane];
    to += head, from += head;
    unsigned off = unsigned(reinterpret_cast<uint64_t>(from));
    if (off % 16 == 0) copy_vectors<16, T>(to, from, vectors, lane);
    else if (off % 8 == 0) copy_vectors<8, T>(to, from, vectors, lane);
    else if (off % 4 == 0) copy_vectors<4, T>(to, from, vectors, lane);
    else if (off % 2 == 0) copy_vectors<2, T>(to, from, vectors, lane);
    else copy_vectors<1, T>(to, from, vectors, lane);
    to += 16 * vectors, from += 16 * vectors;
    if (lane < tail) to[lane] = from[lane];
}

/* The first axis is that of the pieces of a row, of 64 bytes for each thread of the team. */
template<int T>
INLINE void permute_rows(const permute_frame &frame, const mat_call &call) {
    unsigned place = blockIdx.x * (256 / T) + threadIdx.x / T, lane = threadIdx.x % T;
    if (place >= unsigned(frame.count)) return;
    unsigned piece = place - quotient(place, frame.axes[0]) * unsigned(frame.axes[0].n);
    int64_t left = frame.ni - int64_t(piece) * (64 * T), from = frame.from, to = frame.to;
    seek(frame.axes, int(frame.rank), place, from, to);
    copy_run<T>(call.at[frame.target] + to, call.at[frame.source] + from,
                unsigned(min(left, int64_t(64 * T))), lane);
}

/* Gathering */

/* Each thread writes K vectors, a block's width apart. The first axis is that of the vectors along
   the fastest one. */
template<int U, int V, class STEP>
INLINE void permute_gather(const permute_frame &frame, const mat_call &call) {
    const int K = V / U >= 8 ? 2 : V >= 8 ? 4 : 8;
    const char *source = call.at[frame.source] + frame.from;
    char *target = call.at[frame.target] + frame.to;
    unsigned place[K], first = blockIdx.x * (256 * K) + threadIdx.x, count = unsigned(frame.count);
    STEP from[K], to[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        place[k] = first + 256 * k < count ? first + 256 * k : 0;
        from[k] = to[k] = 0;
    }
    seek_all<STEP, K>(frame.axes, int(frame.rank), place, from, to);
    words<V> held[K];
#pragma unroll
    for (int k = 0; k < K; k++)
        if (first + 256 * k < count) held[k] = gathered<U, V>(source + from[k], frame.si);
#pragma unroll
    for (int k = 0; k < K; k++)
        if (first + 256 * k < count) write_piece<V>(target + to[k], as_piece(held[k]));
}

/* Tiles */

/* Transposes a square of E x E units of U bytes: vector c becomes the units c of all vectors. */
template<int U, int E> INLINE void transpose(words<U * E> (&square)[E]) {
    if constexpr (E > 1) {
        const int W = U * E / 4;
        words<U * E> transposed[E];
        if constexpr (U == 1) {
#pragma unroll
            for (int p = 0; p < E / 4; p++)
#pragma unroll
                for (int q = 0; q < W; q++) { /* four bytes of four vectors */
                    unsigned a = square[4 * p].w[q], b = square[4 * p + 1].w[q];
                    unsigned c = square[4 * p + 2].w[q], d = square[4 * p + 3].w[q];
                    unsigned ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
                    transposed[4 * q].w[p] = __byte_perm(ab, cd, 0x5410);
                    transposed[4 * q + 1].w[p] = __byte_perm(ab, cd, 0x7632);
                    ab = __byte_perm(a, b, 0x7362), cd = __byte_perm(c, d, 0x7362);
                    transposed[4 * q + 2].w[p] = __byte_perm(ab, cd, 0x5410);
                    transposed[4 * q + 3].w[p] = __byte_perm(ab, cd, 0x7632);
                }
        } else if constexpr (U == 2) {
#pragma unroll
            for (int p = 0; p < W; p++)
#pragma unroll
                for (int q = 0; q < W; q++) {
                    unsigned a = square[2 * p].w[q], b = square[2 * p + 1].w[q];
                    transposed[2 * q].w[p] = __byte_perm(a, b, 0x5410);
                    transposed[2 * q + 1].w[p] = __byte_perm(a, b, 0x7632);
                }
        } else {
#pragma unroll
            for (int r = 0; r < E; r++)
#pragma unroll
                for (int c = 0; c < E; c++)
#pragma unroll
                    for (int k = 0; k < U / 4; k++)
                        transposed[c].w[r * (U / 4) + k] = square[r].w[c * (U / 4) + k];
        }
#pragma unroll
        for (int c = 0; c < E; c++) square[c] = transposed[c];
    }
}

/* Keeps the compiler from computing a pointer anew for each access. */
template<class T> INLINE void settle(T *&pointer) {
#if !defined(MAT_ON_CPU)
    asm volatile("" : "+l"(pointer));
#endif
}

/* Copies one tile, for permute_tile; where it is not WHOLE, it has left_i and left_j vectors. */
template<int U, int V, int N, int THREADS, bool WHOLE>
INLINE void move_tile(const permute_frame &frame, piece<V> *room,
                      const char *source, char *target, unsigned left_i,
                      unsigned left_j) {
    const int E = V / U, SPREAD = V < 4 ? 4 / V : 1;
    /* lines at a time, how often, vectors in registers */
    const int STEP = THREADS / N, M = N / STEP, UNROLL = M * E > 16 ? 16 / E : M;
    const unsigned t = threadIdx.x, column = t % N, row = t / N;
    const int64_t across = frame.si, down = STEP * E * frame.si, on = STEP * frame.dj;
    source += column * (E > 1 ? V : frame.sj) + row * E * frame.si;
    target += column * (E > 1 ? V : frame.di) + row * frame.dj;
    const int lines = column < left_j ? int(left_i) - int(row) : 0,
              places = column < left_i ? int(left_j * E) - int(row) : 0;
    const unsigned shuffled = row ^ (column * SPREAD & (N - 1));
    settle(source), settle(target);
#pragma unroll
    for (int part = 0; part < M; part += UNROLL) {
        words<V> squares[UNROLL][E] = {};
#pragma unroll
        for (int m = 0; m < UNROLL; m++) {
            if (WHOLE || (part + m) * STEP < lines)
#pragma unroll
                for (int r = 0; r < E; r++)
                    squares[m][r] = as_words(read_piece<V>(source + r * across));
            source += down;
            settle(source);
        }
#pragma unroll
        for (int m = 0; m < UNROLL; m++) {
            transpose<U, E>(squares[m]);
#pragma unroll
            for (int c = 0; c < E; c++)
                room[(column * E + c) * N + (shuffled ^ (part + m) * STEP)] =
                    as_piece(squares[m][c]);
        }
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < M * E; part += UNROLL * E) {
        piece<V> held[UNROLL * E];
#pragma unroll
        for (int m = 0; m < UNROLL * E; m++) {
            /* a multiple of a number above `row`, so that adding it is an exclusive or */
            const int first = (part + m) * STEP;
            unsigned shuffle =
                STEP % E ? (row + first) / E * SPREAD : (row / E * SPREAD) ^ (first / E * SPREAD);
            held[m] = room[row * N + first * N + (column ^ (shuffle & (N - 1)))];
        }
#pragma unroll
        for (int m = 0; m < UNROLL * E; m++) {
            if (WHOLE || (part + m) * STEP < places) write_piece<V>(target, held[m]);
            target += on;
            settle(target);
        }
    }
}

/* A tile is N vectors of V bytes wide on both sides. It is cut into squares of as many units as a
   vector has: a thread reads one, as one vector of each of its lines, transposes it in its
   registers, and stores it in shared memory, where lines are those of the destination. The vectors
   of a line are shuffled there, so that neither writes nor reads conflict in a bank. The first axis
   is that of the tiles of one matrix. Their order is by bands of BAND tiles along the fastest axis
   of the destination, so that blocks that run at the same time use adjacent kilobytes. */
const unsigned BAND = 16;

template<int U, int V, int N, int THREADS>
INLINE void permute_tile(const permute_frame &frame, const mat_call &call) {
    const int E = V / U, LINES = N * E;
    MAT_SHARED(piece<V>, room, [LINES * N]);
    unsigned place = blockIdx.x - quotient(blockIdx.x, frame.axes[0]) * unsigned(frame.axes[0].n);
    unsigned band = quotient(place, frame.last[0]),
             wide = min(BAND, unsigned(frame.step[0]) - band * BAND);
    place -= band * BAND * unsigned(frame.step[1]);
    unsigned tile_j = wide == BAND ? place / BAND : place / wide,
             tile_i = band * BAND + place - tile_j * wide;
    unsigned left_i = unsigned(min(frame.ni / E - int64_t(tile_i) * N, int64_t(N)));
    unsigned left_j = unsigned(min(frame.nj / E - int64_t(tile_j) * N, int64_t(N)));
    int64_t from = frame.from + tile_i * LINES * frame.si + tile_j * LINES * frame.sj;
    int64_t to = frame.to + tile_i * LINES * frame.di + tile_j * LINES * frame.dj;
    seek(frame.axes, int(frame.rank), blockIdx.x, from, to);
    const char *source = call.at[frame.source] + from;
    char *target = call.at[frame.target] + to;
    if (left_i == N && left_j == N)
        move_tile<U, V, N, THREADS, true>(frame, room, source, target, N, N);
    else move_tile<U, V, N, THREADS, false>(frame, room, source, target, left_i, left_j);
}

/* Channels */

/* C vectors of the side where the C channels of one place are together hold V / U places. The first
   axis is that of the vectors. */
template<int U, int V, int C, bool ZIP>
INLINE void permute_channels(const permute_frame &frame, const mat_call &call) {
    const int E = V / U, W = V / 4;
    unsigned place = blockIdx.x * 256 + threadIdx.x;
    if (place >= unsigned(frame.count)) return;
    int64_t from = frame.from, to = frame.to;
    seek(frame.axes, int(frame.rank), place, from, to);
    const char *source = call.at[frame.source] + from;
    char *target = call.at[frame.target] + to;
    const int64_t read_step = ZIP ? frame.si : V, write_step = ZIP ? V : frame.dj;
    unsigned in[C * W], out[C * W];
#pragma unroll
    for (int c = 0; c < C; c++) {
        words<V> vector = as_words(read_piece<V>(source + c * read_step));
#pragma unroll
        for (int k = 0; k < W; k++) in[c * W + k] = vector.w[k];
    }
#pragma unroll
    for (int k = 0; k < C * W; k++)
        out[k] = joined<U>(
            k, [&](int e) { return unit_of<U>(in, ZIP ? e % C * E + e / C : e % E * C + e / E); });
#pragma unroll
    for (int c = 0; c < C; c++) {
        words<V> vector;
#pragma unroll
        for (int k = 0; k < W; k++) vector.w[k] = out[c * W + k];
        write_piece<V>(target + c * write_step, as_piece(vector));
    }
}

/* Short axes */

/* A thread computes once where its units are in a tile, in the source and in the destination, and
   then copies several tiles. The last tile along an axis ends with the axis, and may write units of
   the tile before again, with the same values. A gap after each 128 bytes keeps powers of two out
   of one bank. */
template<int U> INLINE unsigned gapped(unsigned slot) {
    return slot + slot / (128 / U) * (U < 4 ? 4 / U : 1);
}

/* Sets the offsets from the addresses of source and target to the units of a tile. */
INLINE void begin_tile(const permute_frame &frame, unsigned tile, int64_t &from,
                       int64_t &to) {
    from = frame.from, to = frame.to;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        unsigned over = quotient(tile, frame.axes[k]);
        int64_t start =
            min(int64_t(tile - over * unsigned(frame.axes[k].n)) * frame.step[k], frame.last[k]);
        from += start * frame.axes[k].s, to += start * frame.axes[k].d;
        tile = over;
    }
    seek(frame.axes + 2, int(frame.rank) - 2, tile, from, to);
}

template<int U>
INLINE void permute_loose(const permute_frame &frame, const mat_call &call) {
    const int K = U > 4 ? 4 : 8, ROOM = 256 * K;
    MAT_SHARED(piece<U>, room, [ROOM + ROOM / (128 / U) * (U < 4 ? 4 / U : 1)]);
    const unsigned volume = unsigned(frame.volume), count = unsigned(frame.count);
    int from[K], to[K];
    unsigned slot[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        unsigned place = threadIdx.x + 256 * k;
        int64_t f = 0, unused = 0, t = 0, s = 0;
        seek(frame.load, int(frame.inner), place, f, unused);
        seek(frame.store, int(frame.inner), place, s, t);
        from[k] = int(f), to[k] = int(t), slot[k] = gapped<U>(unsigned(s));
    }
    piece<U> held[K];
    int64_t source, target, next;
    begin_tile(frame, blockIdx.x, source, target);
#pragma unroll
    for (int k = 0; k < K; k++)
        if (threadIdx.x + 256 * k < volume)
            held[k] = read_piece<U>(call.at[frame.source] + source + from[k]);
    for (unsigned tile = blockIdx.x; tile < count; tile += gridDim.x) {
        __syncthreads(); /* all have read the tile before from shared memory */
#pragma unroll
        for (int k = 0; k < K; k++)
            if (threadIdx.x + 256 * k < volume) room[gapped<U>(threadIdx.x + 256 * k)] = held[k];
        __syncthreads();
        char *at = call.at[frame.target] + target;
        if (tile + gridDim.x < count) { /* it is read while this one is written */
            begin_tile(frame, tile + gridDim.x, next, target);
#pragma unroll
            for (int k = 0; k < K; k++)
                if (threadIdx.x + 256 * k < volume)
                    held[k] = read_piece<U>(call.at[frame.source] + next + from[k]);
        }
#pragma unroll
        for (int k = 0; k < K; k++)
            if (threadIdx.x + 256 * k < volume) write_piece<U>(at + to[k], room[slot[k]]);
    }
}

/* The kernels of a program */

#define PERMUTE_KERNEL(name, threads, body) \
    MAT_KERNEL(name, permute_frame, threads) { body(frame, call); }
#define PERMUTE_ROWS \
    PERMUTE_KERNEL(permute_rows_32, 256, permute_rows<32>) \
    PERMUTE_KERNEL(permute_rows_256, 256, permute_rows<256>)
#define PERMUTE_GATHER(U, V)                                                             \
    PERMUTE_KERNEL(permute_gather_##U##_##V, 256, (permute_gather<U, V, int>))           \
    PERMUTE_KERNEL(permute_gather_##U##_##V##_wide, 256, (permute_gather<U, V, int64_t>))
#define PERMUTE_TILE(U, V, N, threads) \
    PERMUTE_KERNEL(permute_tile_##U##_##V##_##N, threads, (permute_tile<U, V, N, threads>))
#define PERMUTE_LOOSE(U) PERMUTE_KERNEL(permute_loose_##U, 256, permute_loose<U>)
#define PERMUTE_CHANNELS(U, V, C)                                                        \
    PERMUTE_KERNEL(permute_zip_##U##_##V##_##C, 256, (permute_channels<U, V, C, true>))  \
    PERMUTE_KERNEL(permute_unzip_##U##_##V##_##C, 256, (permute_channels<U, V, C, false>))
#define PERMUTE_FEW(U, V) \
    PERMUTE_CHANNELS(U, V, 2) PERMUTE_CHANNELS(U, V, 3) PERMUTE_CHANNELS(U, V, 4)

#endif
