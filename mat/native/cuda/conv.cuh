/* Convolution of images with channels and its derivatives on the device, as products of matrices of
   which no copy exists: the elements of a tile are found by their indices when it is loaded.

   A product has m rows, n columns, and k terms in each sum, of one group:

     mode          row      column                  term                  right factor
     CV_FORWARD    output   point of an image       tap of a channel      x
     CV_TO_X       channel  position of an image    tap of an output      yd
     CV_TO_W       output   tap of a channel        point of an image     x

   The left factor is w, or yd for CV_TO_W. There are three spatial axes; missing ones come first,
   with one point. */
#ifndef MAT_CONV_CUH
#define MAT_CONV_CUH
#include "nn.cuh"

enum { CV_FORWARD, CV_TO_X, CV_TO_W };
enum { CV_TILE = 64, CV_TERMS = 16, CV_EACH = 4 }; /* a tile; terms at once; rows of a thread */

struct cv_axis {
    int64_t n, nx, k, step, dilation, off, x, y, w; /* x, y, w: strides */
};

/* across, down  tiles along columns and rows
   pieces, each  parts of the sums, and how many terms they have
   channels, outputs  of a group */
struct cv_loop {
    int64_t m, n, k, across, down, pieces, each, groups, channels, outputs, x_image, x_channel,
        y_image, y_channel, w_output, w_channel;
    cv_axis axes[3];
};

/* A point or position of an image: where the image begins in the operand of the right factor, and
   for a point of CV_TO_W where its element is in yd, from that of the first output. */
struct cv_spot {
    int64_t base, left;
    int32_t at[3];
};

/* A tap: where its channel begins in that operand, where its weight is from the first one, and how
   far it is from tap 0. */
struct cv_tap {
    int64_t base, left;
    int32_t place[3];
};

template <int MODE> INLINE cv_spot cv_spot_of(const cv_loop &f, int64_t number) {
    cv_spot found;
    found.left = 0;
#pragma unroll
    for (int k = 2; k >= 0; k--) {
        int64_t n = MODE == CV_TO_X ? f.axes[k].nx : f.axes[k].n;
        found.at[k] = (int32_t)(number % n);
        found.left += found.at[k] * f.axes[k].y;
        number /= n;
    }
    found.left += number * f.y_image;
    found.base = number * (MODE == CV_TO_X ? f.y_image : f.x_image);
    return found;
}

template <int MODE> INLINE cv_tap cv_tap_of(const cv_loop &f, int64_t number) {
    cv_tap found;
    found.left = 0;
#pragma unroll
    for (int k = 2; k >= 0; k--) {
        int64_t p = number % f.axes[k].k;
        found.place[k] = (int32_t)(p * f.axes[k].dilation);
        found.left += p * f.axes[k].w;
        number /= f.axes[k].k;
    }
    found.left += number * (MODE == CV_TO_X ? f.w_output : f.w_channel);
    found.base = number * (MODE == CV_TO_X ? f.y_channel : f.x_channel);
    return found;
}

/* The element of the right factor; NULL if it is outside. */
template <class T, int MODE>
INLINE const T *cv_right(const cv_loop &f, const T *from, const cv_spot &spot, const cv_tap &tap) {
    int64_t place = spot.base + tap.base;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const cv_axis &a = f.axes[k];
        int32_t step = (int32_t)a.step;
        if (MODE == CV_TO_X) {
            int32_t reach = spot.at[k] - (int32_t)a.off - tap.place[k], i = reach / step;
            if (reach < 0 || reach != i * step || i >= (int32_t)a.n)
                return 0;
            place += i * a.y;
        } else {
            int32_t at = spot.at[k] * step + (int32_t)a.off + tap.place[k];
            if (at < 0 || at >= (int32_t)a.nx)
                return 0;
            place += at * a.x;
        }
    }
    return from + place;
}

/* The operands of a group: those of the left factor, by rows, and of the right one. */
template <class T> struct cv_group {
    const T *left, *right;
    int64_t row; /* distance of rows of the left factor */
};

template <class T, int MODE>
INLINE cv_group<T> cv_group_of(const cv_loop &f, const mat_call &call, int64_t g) {
    const T *first = (const T *)call.at[0], *second = (const T *)call.at[1];
    if (MODE == CV_FORWARD)
        return {second + g * f.outputs * f.w_output, first + g * f.channels * f.x_channel,
                f.w_output};
    if (MODE == CV_TO_X)
        return {second + g * f.outputs * f.w_output, first + g * f.outputs * f.y_channel,
                f.w_channel};
    return {second + g * f.outputs * f.y_channel, first + g * f.channels * f.x_channel,
            f.y_channel};
}

/* One sum again, of the elements inside only: another factor is not finite. */
template <class T, class A, int MODE>
INLINE A cv_plainly(const cv_loop &f, const cv_group<T> &of, int64_t row, int64_t column,
                    int64_t begin, int64_t end) {
    A sum = 0;
#pragma unroll 1
    for (int64_t k = begin; k < end; k++) {
        cv_spot spot = cv_spot_of<MODE>(f, MODE == CV_TO_W ? k : column);
        cv_tap tap = cv_tap_of<MODE>(f, MODE == CV_TO_W ? column : k);
        const T *seen = cv_right<T, MODE>(f, of.right, spot, tap);
        if (seen)
            sum += mat_summand(*seen) *
                   mat_summand(of.left[row * of.row + (MODE == CV_TO_W ? spot.left : tap.left)]);
    }
    return sum;
}

/* Where the sums of a column go, from those of the first one of their group and row. */
template <int MODE> INLINE int64_t cv_column(const cv_loop &f, int64_t column) {
    if (MODE == CV_TO_W)
        return column;
    cv_spot spot = cv_spot_of<MODE>(f, column);
    if (MODE == CV_FORWARD)
        return spot.left;
    int64_t image = column, found = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        image /= f.axes[k].nx;
        found += spot.at[k] * f.axes[k].x;
    }
    return found + image * f.x_image;
}

/* Write or add one sum of group g. */
template <class T, class A, int MODE>
INLINE void cv_put(const cv_loop &f, const mat_call &call, int64_t g, int64_t piece, int64_t row,
                   int64_t column, A sum) {
    typedef typename nn_wide<A>::type W;
    T *to = (T *)call.at[2] + column;
    if (MODE == CV_TO_W)
        ((W *)call.at[3])[((piece * f.groups + g) * f.m + row) * f.n + column] = sum;
    else if (MODE == CV_FORWARD)
        to[(g * f.outputs + row) * f.y_channel] = mat_element<T>(sum);
    else
        nn_add(to + (g * f.channels + row) * f.x_channel, sum);
}

template <class T, int MODE> INLINE void cv_product(const cv_loop &f, const mat_call &call) {
    typedef mat_summed<T> A;
    MAT_SHARED(A, left, [CV_TERMS * CV_TILE]);
    MAT_SHARED(A, right, [CV_TERMS * CV_TILE]);
    MAT_SHARED(cv_spot, spots, [CV_TERMS]);
    MAT_SHARED(cv_tap, taps, [CV_TERMS]);
    int64_t block = blockIdx.x, across = block % f.across, rest = block / f.across;
    int64_t row0 = rest % f.down * CV_TILE, g = rest / f.down % f.groups, piece = 0, begin = 0,
            end = f.k;
    if (MODE == CV_TO_W) {
        piece = rest / f.down / f.groups;
        begin = piece * f.each;
        end = begin + f.each < f.k ? begin + f.each : f.k;
    }
    uint32_t number = threadIdx.x, lane = number % CV_TILE;
    int64_t column = across * CV_TILE + lane;
    cv_group<T> of = cv_group_of<T, MODE>(f, call, g);
    cv_spot spot = {};
    cv_tap tap = {};
    if (column < f.n && MODE == CV_TO_W)
        tap = cv_tap_of<MODE>(f, column);
    if (column < f.n && MODE != CV_TO_W)
        spot = cv_spot_of<MODE>(f, column);
    A sums[CV_EACH][CV_EACH] = {};
#pragma unroll 1
    for (int64_t first = begin; first < end; first += CV_TERMS) {
        if (number < CV_TERMS && first + number < end) {
            if (MODE == CV_TO_W)
                spots[number] = cv_spot_of<MODE>(f, first + number);
            else
                taps[number] = cv_tap_of<MODE>(f, first + number);
        }
        __syncthreads();
#pragma unroll
        for (uint32_t term = number / CV_TILE; term < CV_TERMS; term += 4) {
            A a = 0, b = 0;
            if (first + term < end) {
                const cv_spot &at = MODE == CV_TO_W ? spots[term] : spot;
                const cv_tap &by = MODE == CV_TO_W ? tap : taps[term];
                const T *seen = column < f.n ? cv_right<T, MODE>(f, of.right, at, by) : 0;
                if (seen)
                    b = mat_summand(*seen);
                if (row0 + lane < f.m)
                    a = mat_summand(of.left[(row0 + lane) * of.row +
                                           (MODE == CV_TO_W ? at.left : by.left)]);
            }
            left[term * CV_TILE + lane] = a;
            right[term * CV_TILE + lane] = b;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t term = 0; term < CV_TERMS; term++) {
            const A *a = left + term * CV_TILE + number / 16 * CV_EACH,
                    *b = right + term * CV_TILE + number % 16;
#pragma unroll
            for (int i = 0; i < CV_EACH; i++)
#pragma unroll
                for (int j = 0; j < CV_EACH; j++)
                    sums[i][j] += a[i] * b[16 * j];
        }
        __syncthreads();
    }
    const int64_t top = row0 + number / 16 * CV_EACH, edge = across * CV_TILE + number % 16;
    uint32_t again = 0; /* sums that are not finite: there is code for one */
#pragma unroll
    for (int j = 0; j < CV_EACH; j++) {
        if (edge + 16 * j >= f.n)
            continue;
        int64_t to = cv_column<MODE>(f, edge + 16 * j);
#pragma unroll
        for (int i = 0; i < CV_EACH; i++) {
            if (top + i >= f.m)
                continue;
            if (mat_finite(sums[i][j]))
                cv_put<T, A, MODE>(f, call, g, piece, top + i, to, sums[i][j]);
            else
                again |= 1u << (CV_EACH * j + i);
        }
    }
#pragma unroll 1
    for (; again; again &= again - 1) {
        uint32_t which = (uint32_t)__ffs((int)again) - 1;
        int64_t row = top + which % CV_EACH, at = edge + 16 * (which / CV_EACH);
        A sum = cv_plainly<T, A, MODE>(f, of, row, at, begin, end);
        cv_put<T, A, MODE>(f, call, g, piece, row, cv_column<MODE>(f, at), sum);
    }
}

/* The second stage of CV_TO_W: each thread adds up the pieces of one weight, in their order. */
template <class T> INLINE void cv_gather(const cv_loop &f, const mat_call &call) {
    typedef mat_summed<T> A;
    typedef typename nn_wide<A>::type W;
    int64_t number = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, size = f.groups * f.m * f.n;
    if (number >= size)
        return;
    W sum = 0;
#pragma unroll 1
    for (int64_t piece = 0; piece < f.pieces; piece++)
        sum += ((const W *)call.at[3])[piece * size + number];
    cv_tap tap = cv_tap_of<CV_TO_W>(f, number % f.n);
    nn_add((T *)call.at[2] + number / f.n * f.w_output + tap.left, (A)sum);
}

#endif
