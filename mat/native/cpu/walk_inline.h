/* How the loop of an element-wise kernel is called for a range of elements of a frame. To be
   included by elementwise_inline.h. */
#ifndef MAT_WALK_INLINE_H
#define MAT_WALK_INLINE_H

#include "direct_inline.h"
#include "number_inline.h"

/* Moving elements between a piece and an operand */

typedef struct {
    uint64_t low, high;
} mat_pair;

/* Four are loaded before they are stored: one after another takes up to twice the time. */
#define MAT_MOVE(type) { \
    for (; n >= 4; n -= 4, to += 4 * to_step, from += 4 * from_step) { \
        type four[4]; \
        for (int64_t j = 0; j < 4; j++) memcpy(four + j, from + j * from_step, sizeof(type)); \
        for (int64_t j = 0; j < 4; j++) memcpy(to + j * to_step, four + j, sizeof(type)); \
    } \
    for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, sizeof(type)); \
    break; \
}

/* Copy n elements of `size` bytes, whatever their steps; a step of 0 reads one of them over and
   over. */
static inline void mat_move(char *to, int64_t to_step, const char *from, int64_t from_step,
                            int64_t size, int64_t n) {
    switch (size) {
    case 1: MAT_MOVE(uint8_t)
    case 2: MAT_MOVE(uint16_t)
    case 4: MAT_MOVE(uint32_t)
    case 8: MAT_MOVE(uint64_t)
    default: MAT_MOVE(mat_pair)
    }
}

/* Copy m elements in rows of `width`, the first of them in `column`; `to` and `from` are where its
   row begins. */
#define MAT_MOVE_ROWS(type) { \
    for (; m > 0; column = 0, to += to_apart, from += from_apart) { \
        const int64_t end = width - column < m ? width : column + m; \
        m -= end - column; \
        if (!from_step && to_step == sizeof(type)) { \
            type one; \
            memcpy(&one, from, sizeof(type)); \
            for (int64_t j = column; j < end; j++) \
                memcpy(to + j * sizeof(type), &one, sizeof(type)); \
        } else { \
            for (int64_t j = column; j < end; j++) \
                memcpy(to + j * to_step, from + j * from_step, sizeof(type)); \
        } \
    } \
    break; \
}

static inline void mat_move_rows(char *to, int64_t to_step, int64_t to_apart, const char *from,
                                 int64_t from_step, int64_t from_apart, int64_t size,
                                 int64_t width, int64_t column, int64_t m) {
    switch (size) {
    case 1: MAT_MOVE_ROWS(uint8_t)
    case 2: MAT_MOVE_ROWS(uint16_t)
    case 4: MAT_MOVE_ROWS(uint32_t)
    case 8: MAT_MOVE_ROWS(uint64_t)
    default: MAT_MOVE_ROWS(mat_pair)
    }
}

/* The loop over all axes */

/* Rows of at most MAT_SHORT elements, at least MAT_LEAST of them in all, are done together, if the
   loop cannot take each as it is, or they have at most MAT_SHORT_BYTES. */
enum { MAT_SHORT = 64, MAT_LEAST = 64, MAT_SHORT_BYTES = 192 };

typedef struct {
    const mat_strided *frame;
    const double *numbers;
    mat_loop *loop;
    int64_t reads, writes, stream; /* operands as bits */
    int64_t moved;                 /* those that go through a piece */
    int64_t piece;                 /* elements that one has room for */
    int64_t step[MAT_OPERANDS];    /* what the loop sees: 0 or 1 element */
    int64_t stride[MAT_OPERANDS];  /* on the innermost axis, in bytes */
    int64_t width;                 /* of short rows that are done together; 0: there are none */
    int64_t apart[MAT_OPERANDS];   /* how far their rows are, in bytes */
    char *at[MAT_OPERANDS];
    _Alignas(64) char numbers_at[MAT_OPERANDS][16];
    _Alignas(64) char pieces[MAT_OPERANDS][MAT_PIECE];
    _Alignas(64) char gathered[MAT_PIECE]; /* before they are converted */
} mat_state;

/* Decide which operands the loop takes from where they are. Elements that are all one remain one
   for a loop that can do that, for one operand. */
static inline void mat_plan(mat_state *s, int64_t spreads) {
    const mat_strided *w = s->frame;
    int64_t largest = 1, spread = 0;
    s->moved = 0;
    for (int64_t k = 0; k < w->count; k++) {
        int64_t stride = s->stride[k], size = w->size[k], bit = (int64_t)1 << k;
        const int is_one = !stride && !(s->width && s->apart[k]);
        const int adjacent = stride == size && !(s->width && s->apart[k] != s->width * size);
        largest = size > largest ? size : largest;
        s->step[k] = 1;
        if (w->walked & bit) {
            s->step[k] = stride;
        } else if (w->cast[k]) {
            largest = largest > 8 ? largest : 8;
            s->moved |= bit;
        } else if (is_one && (spreads & bit) && !spread) {
            spread = spreads & MAT_TOGETHER ? 0 : bit;
            s->step[k] = 0;
        } else if (!adjacent) {
            s->moved |= bit;
        }
    }
    s->piece = MAT_PIECE / largest;
    if (s->width) s->piece -= s->piece % s->width; /* each piece begins in the same column */
}

/* Decide whether short rows are done together. */
static inline void mat_plan_rows(mat_state *s, int64_t spreads) {
    const mat_strided *w = s->frame;
    const int64_t n = w->sizes[w->rank - 1], largest = MAT_PIECE / s->piece;
    if (n > MAT_SHORT || n * w->sizes[w->rank - 2] < MAT_LEAST || w->counters || w->walked) return;
    if (!s->moved && n * largest > MAT_SHORT_BYTES) return;
    for (int64_t k = 0; k < w->count; k++) {
        s->apart[k] = w->sizes[w->rank * (k + 2) - 2];
        /* a loop that takes several operands for one element each takes them so in every row */
        const int each = (spreads & MAT_TOGETHER) && spreads >> k & 1 && !s->stride[k];
        if (each && s->apart[k]) return;
    }
    s->width = n;
    mat_plan(s, spreads);
}

static inline void mat_advance(mat_state *s, char **at, int64_t n) {
    for (int64_t k = 0; k < s->frame->count; k++) at[k] += n * s->stride[k];
}

/* The loop over n elements of the innermost axis, all of them adjacent, with the operand `k`
   written past the caches: blocks of a few cache lines are computed and then streamed. Larger ones
   are slower, since then reading and writing take turns. */
static void mat_streaming(mat_state *s, int64_t n, int64_t k) {
    const int64_t size = s->frame->size[k], block = MAT_BLOCK / size;
    char *at[MAT_OPERANDS];
    memcpy(at, s->at, sizeof at);
    int64_t head = (int64_t)(-(uintptr_t)at[k] & 63) / size;
    head = head < n ? head : n;
    s->loop(head, at, s->step, s->numbers);
    mat_advance(s, at, head);
    int64_t done = head;
    for (; done + block <= n; done += block) {
        char *to = at[k];
        at[k] = s->pieces[k];
        s->loop(block, at, s->step, s->numbers);
        mat_stream(to, s->pieces[k], MAT_BLOCK);
        at[k] = to;
        mat_advance(s, at, block);
    }
    s->loop(n - done, at, s->step, s->numbers);
}

/* Have m elements of operand k, the first at `from`, in its piece, as the loop takes them. */
static inline void mat_load(mat_state *s, int64_t k, char *from, int64_t m) {
    const int64_t stride = s->stride[k], size = s->frame->size[k];
    mat_loop *const cast = s->frame->cast[k];
    if (!cast) {
        mat_move(s->pieces[k], size, from, stride, size, m);
        return;
    }
    if (stride != size) {
        mat_move(s->gathered, size, from, stride, size, m);
        from = s->gathered;
    }
    char *const at[2] = {from, s->pieces[k]};
    cast(m, at, NULL, NULL);
}

/* Have m elements of the piece of operand k, converted if they are others, where it is written. */
static inline void mat_store(mat_state *s, int64_t k, char *to, int64_t m) {
    const int64_t stride = s->stride[k], size = s->frame->size[k];
    mat_loop *const cast = s->frame->cast[k];
    if (!cast) {
        mat_move(to, stride, s->pieces[k], size, size, m);
        return;
    }
    char *const at[2] = {s->pieces[k], stride == size ? to : s->gathered};
    cast(m, at, NULL, NULL);
    if (stride != size) mat_move(to, stride, s->gathered, size, size, m);
}

/* The same, piece by piece, for what has to be gathered, converted, spread or scattered. */
static void mat_through_pieces(mat_state *s, int64_t n) {
    const mat_strided *w = s->frame;
    char *at[MAT_OPERANDS];
    for (int64_t done = 0; done < n; done += s->piece) {
        int64_t m = n - done < s->piece ? n - done : s->piece;
        for (int64_t k = 0; k < w->count; k++) {
            int64_t bit = (int64_t)1 << k, stride = s->stride[k];
            at[k] = s->at[k] + done * stride;
            if (!(s->moved & bit)) continue;
            if ((s->reads & bit) && (stride || !done)) mat_load(s, k, at[k], m);
            at[k] = s->pieces[k];
        }
        s->loop(m, at, s->step, s->numbers);
        for (int64_t k = 0; k < w->count; k++) {
            int64_t bit = (int64_t)1 << k;
            if (s->moved & s->writes & bit) mat_store(s, k, s->at[k] + done * s->stride[k], m);
        }
    }
}

/* The loop over n elements of the innermost axis. */
static inline void mat_row(mat_state *s, int64_t n) {
    if (s->moved) mat_through_pieces(s, n);
    else if (s->stream && n >= MAT_BLOCK) mat_streaming(s, n, __builtin_ctzll((uint64_t)s->stream));
    else s->loop(n, s->at, s->step, s->numbers);
}

/* Elements start to stop of more than one axis: row by row along the innermost one. */
static void mat_rows(mat_state *s, int64_t start, int64_t stop) {
    const mat_strided *w = s->frame;
    const int64_t rank = w->rank, *shape = w->sizes, *strides = w->sizes + rank;
    int64_t index[MAT_AXES], rest = start;
    for (int64_t axis = rank - 1; axis >= 0; axis--) {
        index[axis] = rest % shape[axis];
        rest /= shape[axis];
        for (int64_t k = 0; k < w->count; k++) s->at[k] += index[axis] * strides[k * rank + axis];
    }
    for (int64_t left = stop - start; left > 0;) {
        int64_t n = shape[rank - 1] - index[rank - 1], axis = rank - 1;
        n = n < left ? n : left;
        mat_row(s, n);
        left -= n;
        int64_t by = n;
        for (; axis >= 0 && left > 0; axis--, by = 1) {
            index[axis] += by;
            int64_t back = index[axis] == shape[axis] ? shape[axis] : 0;
            for (int64_t k = 0; k < w->count; k++)
                s->at[k] += (by - back) * strides[k * rank + axis];
            if (!back) break;
            index[axis] = 0;
        }
    }
}

/* Copy m elements of operand k to its piece, from `column` of the row at `from` on. */
static inline void mat_load_rows(mat_state *s, int64_t k, const char *from, int64_t column,
                                 int64_t m) {
    const int64_t size = s->frame->size[k], packed = s->width * size;
    mat_loop *const cast = s->frame->cast[k];
    char *const to = cast ? s->gathered : s->pieces[k];
    mat_move_rows(to - column * size, size, packed, from, s->stride[k], s->apart[k], size,
                  s->width, column, m);
    char *const at[2] = {to, s->pieces[k]};
    if (cast) cast(m, at, NULL, NULL);
}

/* Copy m elements of the piece of operand k to where it is written, from `column` of the row at
   `to` on. */
static inline void mat_store_rows(mat_state *s, int64_t k, char *to, int64_t column, int64_t m) {
    const int64_t size = s->frame->size[k], packed = s->width * size;
    mat_loop *const cast = s->frame->cast[k];
    char *const from = cast ? s->gathered : s->pieces[k], *const at[2] = {s->pieces[k], from};
    if (cast) cast(m, at, NULL, NULL);
    mat_move_rows(to, s->stride[k], s->apart[k], from - column * size, size, packed, size,
                  s->width, column, m);
}

/* The loop over n elements of short rows, from the one in that row and column on. */
static void mat_together(mat_state *s, char *const *first, int64_t row, int64_t column,
                         int64_t n) {
    const mat_strided *w = s->frame;
    char *at[MAT_OPERANDS], *rows[MAT_OPERANDS];
    for (int64_t done = 0; done < n; done += s->piece, row += s->piece / s->width) {
        const int64_t m = n - done < s->piece ? n - done : s->piece;
        for (int64_t k = 0; k < w->count; k++) {
            const int64_t bit = (int64_t)1 << k;
            rows[k] = first[k] + row * s->apart[k];
            at[k] = s->moved & bit ? s->pieces[k] : rows[k] + column * s->stride[k];
            if ((s->moved & s->reads & bit) && (s->apart[k] || !done))
                mat_load_rows(s, k, rows[k], column, m);
        }
        s->loop(m, at, s->step, s->numbers);
        for (int64_t k = 0; k < w->count; k++)
            if (s->moved & s->writes & (int64_t)1 << k) mat_store_rows(s, k, rows[k], column, m);
    }
}

/* Elements start to stop of more than one axis, with short rows. */
static void mat_short_rows(mat_state *s, int64_t start, int64_t stop) {
    const mat_strided *w = s->frame;
    const int64_t rank = w->rank, *shape = w->sizes, *strides = w->sizes + rank;
    const int64_t block = shape[rank - 2] * s->width;
    for (int64_t n, from = start; from < stop; from += n) {
        char *first[MAT_OPERANDS];
        memcpy(first, s->at, sizeof first);
        int64_t rest = from / block, within = from % block;
        n = block - within < stop - from ? block - within : stop - from;
        for (int64_t axis = rank - 3; axis >= 0; rest /= shape[axis--])
            for (int64_t k = 0; k < w->count; k++)
                first[k] += rest % shape[axis] * strides[k * rank + axis];
        mat_together(s, first, within / s->width, within % s->width, n);
    }
}

/* Store how the loop can be called for any range of elements, if all are adjacent and in memory. */
static void mat_describe(const mat_state *s, mat_direct *direct) {
    const mat_strided *w = s->frame;
    if (w->rank > 1 || s->moved || w->counters) return;
    for (int64_t k = 0; k < w->count; k++) {
        direct->step[k] = s->step[k], direct->stride[k] = s->stride[k], direct->at[k] = s->at[k];
        if (!w->number[k]) continue;
        memcpy(direct->numbers_at[k], s->numbers_at[k], sizeof s->numbers_at[k]);
        direct->at[k] = direct->numbers_at[k];
    }
    direct->streams = s->stream ? __builtin_ctzll((uint64_t)s->stream) : -1;
    direct->loop = s->loop;
}

/* Let `loop` do elements start to stop of the frame; from -1 on, only describe it. */
static void mat_strided_range(const void *frame, char *const *operands, const double *numbers,
                              double *result, int64_t start, int64_t stop, mat_loop *loop,
                              int64_t reads, int64_t writes, int64_t spreads) {
    const mat_strided *w = frame;
    if (start >= stop && start >= 0) return;
    mat_state s;
    s.frame = w, s.numbers = numbers, s.loop = loop;
    s.reads = reads, s.writes = writes, s.stream = w->stream & writes & ~reads;
    s.width = 0;
    const int64_t streamed = s.stream ? __builtin_ctzll((uint64_t)s.stream) : -1;
    for (int64_t k = 0; k < w->count; k++) {
        s.at[k] = k < w->count - w->counters ? operands[k] : (char *)(intptr_t)w->first[k];
        s.stride[k] = w->sizes[w->rank * (k + 2) - 1];
        if (w->number[k]) {
            mat_number(s.numbers_at[k], w->number[k], w->size[k], operands[k]);
            s.at[k] = s.numbers_at[k];
        }
        if (streamed >= 0 && k != streamed && s.at[k] == operands[streamed])
            s.stream = 0; /* its lines have been read into the caches */
    }
    mat_plan(&s, spreads);
    if (w->rank > 1) mat_plan_rows(&s, spreads);
    if (start < 0) {
        mat_describe(&s, (mat_direct *)result);
    } else if (s.width) {
        mat_short_rows(&s, start, stop);
    } else if (w->rank > 1) {
        mat_rows(&s, start, stop);
    } else {
        for (int64_t k = 0; k < w->count; k++) s.at[k] += start * s.stride[k];
        mat_row(&s, stop - start);
    }
    if (s.stream && start >= 0) mat_stream_end();
}

#endif
