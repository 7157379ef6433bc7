/* Products of matrices of the element types that cuBLAS lacks, with any strides, for stacks of
   them: ``C = alpha A B + beta C``.

   A block of 256 threads computes a tile of C, 64 x 64 for each of G x G groups; a thread computes
   4 x 4 elements of each group in registers. Tiles of A and B pass through shared memory, converted
   to T, the type of the sums: uint32_t for integers of up to 32 bits, uint64_t for longer ones, so
   that sums wrap, and float for narrower floats. While one pair of tiles is multiplied, the next is
   read.
   `whichever` stands for a type that the frame names; the branch on it is taken once for a tile,
   not for each element.

   Where C has few tiles and the inner axis is long, the axis is split among blocks: each writes
   its sums to the call's memory, and mat_integer_matmul_sum adds them up, always in the same
   order. */
#ifndef MAT_INTEGER_MATMUL_CUH
#define MAT_INTEGER_MATMUL_CUH

#include "elements.cuh"

struct matmul_frame {
    int64_t m, n, k;
    int64_t a_row, a_column, b_row, b_column, c_row, c_column; /* steps, in elements */
    int64_t a_type, b_type, c_type;
    int64_t tiles_n, tiles; /* of a row of tiles, and of a matrix */
    /* 0: alpha is 1 and beta 0; 1: they are numbers of the call; 2: they are the next two */
    int64_t factors;
    int64_t alpha, beta;
    int64_t splits, depth; /* the parts of the inner axis, and how long one is */
    int64_t each;          /* the elements of C with its stack */
    int64_t rank, batch[8], a_batch[8], b_batch[8], c_batch[8];
};

/* The types, as NUMBERED of mat/cpu/integer_matmul.py. */
enum { BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, E4M3, E5M2, F32 };

template <typename T> struct alignas(4 * sizeof(T)) four {
    T x[4];
};

struct whichever {};

/* The four elements that a thread copies of a tile, which is DEEP positions of the inner axis
   deep and 64 G elements wide. Consecutive threads copy adjacent elements: along the inner axis,
   or across it. */
template <int G> struct piece {
    enum { WIDE = 64 * G, DEEP = 16 / G };
    int64_t at, along; /* of its first element; a step on the inner axis */
    int64_t next;      /* from one of its elements to the next */
    int wide, deep, more_wide, more_deep;

    INLINE piece(int64_t across, int64_t along_, int64_t first)
        : along(along_) {
        const int id = threadIdx.x;
        const bool inner =
            along == 1 || (across != 1 && along != 0 &&
                           (along < 0 ? -along : along) < (across < 0 ? -across : across));
        deep = inner ? id % DEEP : id / WIDE;
        wide = inner ? id / DEEP : id % WIDE;
        more_deep = inner ? 0 : 256 / WIDE;
        more_wide = inner ? 256 / DEEP : 0;
        at = (first + wide) * across + deep * along;
        next = more_wide * across + more_deep * along;
    }
};

template<typename T, typename S, int G>
INLINE void fetch_as(T (&values)[4], const char *base, const piece<G> &p, int64_t start,
                     int64_t width, int64_t depth) {
    const S *from = (const S *)base + p.at + start * p.along;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const bool inside =
            p.wide + i * p.more_wide < width && start + p.deep + i * p.more_deep < depth;
        values[i] = inside ? (T)mat_plain(from[i * p.next]) : (T)0;
    }
}

/* Read the elements that this thread copies of the tile at `start` on the inner axis; `width`
   elements are left across. */
template <typename T, typename S> struct source {
    template<int G>
    static INLINE void fetch(T (&values)[4], const char *base, int,
                             const piece<G> &p, int64_t start, int64_t width,
                             int64_t depth) {
        fetch_as<T, S>(values, base, p, start, width, depth);
    }
};

template <typename T> struct source<T, whichever> {
    template<int G>
    static INLINE void fetch(T (&values)[4], const char *base, int type,
                             const piece<G> &p, int64_t start, int64_t width,
                             int64_t depth) {
        switch (type) {
        case I8: return fetch_as<T, int8_t>(values, base, p, start, width, depth);
        case BOOL: return fetch_as<T, mat_b1>(values, base, p, start, width, depth);
        case U8: return fetch_as<T, uint8_t>(values, base, p, start, width, depth);
        case I16: return fetch_as<T, int16_t>(values, base, p, start, width, depth);
        case U16: return fetch_as<T, uint16_t>(values, base, p, start, width, depth);
        case I32: return fetch_as<T, int32_t>(values, base, p, start, width, depth);
        case U32: return fetch_as<T, uint32_t>(values, base, p, start, width, depth);
        default: return fetch_as<T, uint64_t>(values, base, p, start, width, depth);
        }
    }
};

/* one column more, so that the elements of a column are in different banks */
template<typename T, int G> using tile = four<T>[16 / G][16 * G + 1];

template<typename T, int G>
INLINE void put(tile<T, G> &to, const T (&values)[4], const piece<G> &p) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int wide = p.wide + i * p.more_wide;
        to[p.deep + i * p.more_deep][wide / 4].x[wide % 4] = values[i];
    }
}

template<typename T, int G>
INLINE void multiply(T (&sums)[4 * G][4 * G], const tile<T, G> &a, const tile<T, G> &b,
                     int y, int x) {
#pragma unroll
    for (int p = 0; p < 16 / G; p++) {
        four<T> left[G], right[G];
#pragma unroll
        for (int g = 0; g < G; g++) {
            left[g] = a[p][16 * g + y];
            right[g] = b[p][16 * g + x];
        }
#pragma unroll
        for (int i = 0; i < 4 * G; i++)
#pragma unroll
            for (int j = 0; j < 4 * G; j++)
                sums[i][j] += left[i / 4].x[i % 4] * right[j / 4].x[j % 4];
    }
}

/* One element of C, with its factors; where beta is 0 it is not read. */
template<typename T, typename S>
INLINE void finish(char *c, int64_t at, T sum, T alpha, T beta) {
    S *to = (S *)c + at;
    sum *= alpha;
    if (beta != 0) sum += beta * (T)mat_plain(*to);
    *to = mat_element<S>(sum);
}

template <typename T, typename S> struct target {
    static INLINE void store(char *c, int, int64_t at, T sum, T alpha, T beta) {
        finish<T, S>(c, at, sum, alpha, beta);
    }
};

template <> struct target<uint32_t, whichever> {
    static INLINE void store(char *c, int type, int64_t at, uint32_t sum,
                             uint32_t alpha, uint32_t beta) {
        switch (type) {
        case I8:
        case U8: return finish<uint32_t, uint8_t>(c, at, sum, alpha, beta);
        case I16:
        case U16: return finish<uint32_t, uint16_t>(c, at, sum, alpha, beta);
        default: return finish<uint32_t, uint32_t>(c, at, sum, alpha, beta);
        }
    }
};

template<typename T>
INLINE T factor(const matmul_frame &frame, const mat_call &call, int which) {
    if (frame.factors == 2) return (T)(which ? frame.beta : frame.alpha);
    return frame.factors ? (T)call.numbers[2 * which] : (T)!which;
}

/* The offsets of the matrices of a stack. `frame` and `call` are in the constant bank, where
   lengths and steps can be read by an index that is computed. */
struct places {
    int64_t a, b, c;
};

INLINE places places_of(const matmul_frame &frame, int64_t matrix) {
    places at = {0, 0, 0};
    for (int d = (int)frame.rank - 1; d >= 0; d--) {
        const int64_t i = matrix % frame.batch[d];
        matrix /= frame.batch[d];
        at.a += i * frame.a_batch[d], at.b += i * frame.b_batch[d], at.c += i * frame.c_batch[d];
    }
    return at;
}

template <typename T, typename A, typename B, typename C, int G>
INLINE void matmul(const matmul_frame &frame, const mat_call &call) {
    MAT_SHARED(four<T>, left, [2][16 / G][16 * G + 1]);
    MAT_SHARED(four<T>, right, [2][16 / G][16 * G + 1]);
    const int a_type = (int)frame.a_type, b_type = (int)frame.b_type, c_type = (int)frame.c_type;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    const int64_t within = blockIdx.x % frame.tiles, part = blockIdx.x / frame.tiles % frame.splits;
    const int64_t from = part * frame.depth,
                  k = frame.k - from < frame.depth ? frame.k : from + frame.depth;
    const int64_t top = within / frame.tiles_n * (64 * G),
                  first = within % frame.tiles_n * (64 * G);
    const int64_t matrix = blockIdx.x / frame.tiles / frame.splits;
    const places at = places_of(frame, matrix);
    piece<G> one(frame.a_row, frame.a_column, top), other(frame.b_column, frame.b_row, first);
    one.at += at.a, other.at += at.b;
    const int64_t high = frame.m - top, wide = frame.n - first;

    T sums[4 * G][4 * G] = {}, a[4], b[4];
    int now = 0;
    /* the first time there is nothing to multiply */
    for (int64_t start = from - 16 / G; start < k; start += 16 / G, now ^= 1) {
        const int64_t next = start + 16 / G;
        if (next < k) {
            source<T, A>::fetch(a, call.at[0], a_type, one, next, high, k);
            source<T, B>::fetch(b, call.at[1], b_type, other, next, wide, k);
        }
        if (start >= from) multiply<T, G>(sums, left[now], right[now], y, x);
        if (mat_same<C, bool>::as) /* so that no sum wraps to 0 */
#pragma unroll
            for (int i = 0; i < 16 * G * G; i++)
                sums[i / (4 * G)][i % (4 * G)] = sums[i / (4 * G)][i % (4 * G)] != 0;
        if (next < k) {
            put<T, G>(left[now ^ 1], a, one);
            put<T, G>(right[now ^ 1], b, other);
        }
        __syncthreads();
    }

    const T alpha = factor<T>(frame, call, 0), beta = factor<T>(frame, call, 1);
#pragma unroll
    for (int i = 0; i < 4 * G; i++)
#pragma unroll
        for (int j = 0; j < 4 * G; j++) {
            const int64_t row = i / 4 * 64 + y * 4 + i % 4, column = j / 4 * 64 + x * 4 + j % 4;
            if (row >= high || column >= wide) continue;
            if (G == 1 && frame.splits > 1) /* large tiles are for large C */
                ((T *)call.at[3])[part * frame.each + (matrix * frame.m + top + row) * frame.n +
                                  first + column] = sums[i][j];
            else
                target<T, C>::store(call.at[2], c_type,
                                    at.c + (top + row) * frame.c_row +
                                        (first + column) * frame.c_column,
                                    sums[i][j], alpha, beta);
        }
}

/* Compute an element of C from the sums of all parts. */
template<typename T, typename C>
INLINE void add_up(const matmul_frame &frame, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (k >= frame.each) return;
    T sum = 0;
    for (int64_t part = 0; part < frame.splits; part++)
        sum += ((const T *)call.at[3])[part * frame.each + k];
    const int64_t column = k % frame.n, row = k / frame.n % frame.m,
                  at = places_of(frame, k / frame.n / frame.m).c;
    target<T, C>::store(call.at[2], (int)frame.c_type,
                        at + row * frame.c_row + column * frame.c_column, sum,
                        factor<T>(frame, call, 0), factor<T>(frame, call, 1));
}

#define MAT_INTEGER_MATMUL(T, A, B, C, G) \
    MAT_KERNEL(mat_integer_matmul, matmul_frame, 256) { matmul<T, A, B, C, G>(frame, call); } \
    MAT_KERNEL(mat_integer_matmul_sum, matmul_frame, 256) { add_up<T, C>(frame, call); }

/* ``C <- beta C``, which remains of a product over an empty axis: C is not read where beta is 0. */

struct scale_frame {
    int64_t rows, columns, batches;
    int64_t row, column, batch; /* steps */
    int64_t triangle;           /* 0: all of it; -1: the lower triangle, 1: the upper one */
    int64_t at, number;         /* which operand, which number */
};

template <typename T> INLINE void scale(const scale_frame &frame, const mat_call &call) {
    const int64_t k = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (k >= frame.rows * frame.columns * frame.batches) return;
    const int64_t j = k % frame.columns, i = k / frame.columns % frame.rows,
                  b = k / frame.columns / frame.rows;
    if ((frame.triangle < 0 && j > i) || (frame.triangle > 0 && j < i)) return;
    T *c = (T *)call.at[frame.at] + (i * frame.row + j * frame.column + b * frame.batch);
    const T beta = mat_number<T>(call.numbers + 2 * frame.number);
    *c = beta != 0 ? beta * *c : T(0);
}

#define MAT_SCALE(type) \
    MAT_KERNEL(mat_scale_##type, scale_frame, 256) { scale<mat_##type>(frame, call); }

/* Sums times the scales of their rows and of their columns, in float; `out` may be where they are.
   The operands are sums, scales of rows, scales of columns, and out. */
struct sums_frame {
    int64_t rows, columns, count;
    int64_t row, column, out_row, out_column; /* steps of the sums, and of the result */
    int64_t scale_row, scale_column;          /* of the scales; 0 where there is one for all */
    int64_t rank, batch[8], sums_batch[8], out_batch[8], rows_batch[8], columns_batch[8];
};

template<typename S, typename I>
INLINE void scale_sums(const sums_frame &frame, const mat_call &call) {
    I at = (I)blockIdx.x * 256 + threadIdx.x;
    if (at >= (I)frame.count) return;
    I over = at / (I)frame.columns;
    const int64_t j = (int64_t)(at - over * (I)frame.columns);
    at = over, over = at / (I)frame.rows;
    const int64_t i = (int64_t)(at - over * (I)frame.rows);
    int64_t from = i * frame.row + j * frame.column, to = i * frame.out_row + j * frame.out_column;
    int64_t one = i * frame.scale_row, other = j * frame.scale_column;
#pragma unroll 1
    for (int d = (int)frame.rank - 1; d >= 0; d--) {
        at = over, over = at / (I)frame.batch[d];
        const int64_t k = (int64_t)(at - over * (I)frame.batch[d]);
        from += k * frame.sums_batch[d], to += k * frame.out_batch[d];
        one += k * frame.rows_batch[d], other += k * frame.columns_batch[d];
    }
    const float sum = (float)((const S *)call.at[0])[from];
    ((float *)call.at[3])[to] =
        sum * ((const float *)call.at[1])[one] * ((const float *)call.at[2])[other];
}

#define MAT_SCALE_SUMS(type) \
    MAT_KERNEL(mat_scale_sums_##type, sums_frame, 256) { \
        if (frame.count < ((int64_t)1 << 31)) scale_sums<mat_##type, uint32_t>(frame, call); \
        else scale_sums<mat_##type, uint64_t>(frame, call); \
    }

#endif
