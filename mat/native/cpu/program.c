/* Programs of element-wise kernels, block by block, and of reductions, unit by unit. */
#include "mat.h"

#include <stdlib.h>

#include "call.h"
#include "elementwise.h"
#include "program.h"

#include "direct_inline.h"

/* Bytes of a line, and at most of a block that is streamed; and how many times shorter blocks are
   if all loops are called directly: for more than FEW elements of MANY operands, which come from
   memory, so short that operands are read by turns as by one loop, and therefore fetched ahead. */
enum { LINE = 64, PIECE = 4096, SHORT = 4, SHORTEST = 16, FEW = 1 << 18, MANY = 4 };
/* Bytes that each thread keeps: `cpu/program.py` counts on 128 KB, of which a step has one. The
   stacks of threads can be as small. */
enum { KEPT = (1 << 17) + 2 * PIECE };
static _Thread_local char kept[KEPT];
_Static_assert(sizeof(mat_direct) <= 1024, "a step needs too much memory");

typedef struct {
    const mat_program *program;
    char *const *operands;
    const double *numbers;
    double *result;
    char *buffer, *piece; /* of temporary elements, and of a block that is to be streamed */
    mat_direct *direct;   /* of each step */
    int64_t unit, block; /* the elements that these begin with */
} state;

static char *place(const state *s, int64_t k) {
    const mat_slot *slot = s->program->slots + k;
    if (slot->operand >= 0) return s->operands[slot->operand];
    return s->buffer + slot->at - (slot->whole ? s->unit : s->block) * slot->size;
}

/* Find out how the loops of steps can be called directly; return how many elements a block has. */
static int64_t describe(state *s) {
    const mat_program *p = s->program;
    int all = 1;
    uint64_t operands = 0; /* as bits; of more than 64, several have one */
    for (int64_t k = 0; k < p->steps; k++) {
        const mat_step *step = p->step + k;
        mat_direct *direct = s->direct + k;
        char *at[16];
        for (int64_t j = 0; j < step->count; j++) at[j] = place(s, step->slot[j]);
        direct->loop = NULL, direct->streams = -1;
        step->kernel(step->frame, at, s->numbers, (double *)direct, -1, -1);
        all = all && direct->loop;
        for (int64_t j = 0; j < step->count; j++) {
            const mat_slot *slot = p->slots + step->slot[j];
            if (slot->operand < 0 && !slot->whole) direct->stride[j] = 0; /* each block is there */
            if (slot->operand >= 0 && direct->loop && direct->stride[j])
                operands |= (uint64_t)1 << (slot->operand & 63);
        }
    }
    for (int64_t k = 0; k < p->steps && !all; k++)
        if (s->direct[k].streams >= 0) s->direct[k].loop = NULL; /* its blocks are no pieces */
    const int many = p->count > FEW && __builtin_popcountll(operands) >= MANY;
    const int64_t block = all && !p->fixed ? p->block / (many ? SHORTEST : SHORT) : p->block;
    return block ? block : 1;
}

/* Let a loop do n elements from the block's first one on. */
static void do_directly(const state *s, const mat_direct *direct, int64_t operands, int64_t n) {
    char *at[16], *to = NULL;
    for (int64_t j = 0; j < operands; j++) at[j] = direct->at[j] + s->block * direct->stride[j];
    const int64_t k = direct->streams, bytes = k < 0 ? 0 : n * direct->stride[k];
    if (bytes && bytes <= PIECE && bytes % LINE == 0 && (uintptr_t)at[k] % LINE == 0)
        to = at[k], at[k] = s->piece;
    direct->loop(n, at, direct->step, s->numbers);
    if (to) mat_stream(to, s->piece, bytes);
}

/* Carry out the steps for the elements of a block, up to stop. */
static void do_block(const state *s, int64_t stop) {
    const mat_program *p = s->program;
    for (int64_t k = 0; k < p->steps; k++) {
        const mat_step *step = p->step + k;
        if (s->direct[k].loop) {
            do_directly(s, s->direct + k, step->count, stop - s->block);
            continue;
        }
        char *at[16];
        for (int64_t j = 0; j < step->count; j++) at[j] = place(s, step->slot[j]);
        step->kernel(step->frame, at, s->numbers, s->result, s->block, stop);
    }
}

/* Let loops find the elements of the unit in places that have room for it. */
static void begin_unit(const state *s) {
    const mat_program *p = s->program;
    for (int64_t k = 0; k < p->steps; k++)
        for (int64_t j = 0; j < p->step[k].count; j++)
            if (p->slots[p->step[k].slot[j]].whole)
                s->direct[k].at[j] = place(s, p->step[k].slot[j]);
}

static char *parts_of(const mat_fold *fold, char *const *operands) {
    return fold->finish ? operands[fold->parts] + fold->at : NULL;
}

/* Reduce the elements of unit k. */
static void do_fold(const state *s, const mat_fold *fold, int64_t k) {
    char *at[3] = {place(s, fold->slot), s->operands[fold->out], parts_of(fold, s->operands)};
    const int64_t start = k * fold->each, stop = start + fold->each;
    fold->kernel(fold->frame, at, s->numbers, s->result, start,
                 stop < fold->total ? stop : fold->total);
}

void mat_run_program(const void *frame, char *const *operands, const double *numbers,
                     double *result, int64_t start, int64_t stop) {
    const mat_program *p = frame, *composed = __atomic_load_n(&p->composed, __ATOMIC_ACQUIRE);
    if (composed) p = composed;
    const size_t temporary = ((size_t)p->room + LINE - 1) / LINE * LINE;
    const size_t needed = LINE + temporary + PIECE + (size_t)p->steps * sizeof(mat_direct);
    char *const room = needed <= KEPT ? kept : malloc(needed);
    if (!room) {
        result[0] = 1;
        return;
    }
    char *buffer = (char *)(((uintptr_t)room + LINE - 1) & ~(uintptr_t)(LINE - 1));
    char *piece = buffer + temporary;
    state s = {p, operands, numbers, result, buffer, piece, (mat_direct *)(piece + PIECE), 0, 0};
    const int64_t block = describe(&s);
    for (int64_t k = start; k < stop; k++) {
        s.unit = k * p->unit;
        const int64_t end = s.unit + p->unit < p->count ? s.unit + p->unit : p->count;
        if (p->folds) begin_unit(&s);
        for (s.block = s.unit; s.block < end; s.block += block)
            do_block(&s, s.block + block < end ? s.block + block : end);
        for (int64_t j = 0; j < p->folds; j++) do_fold(&s, p->fold + j, k);
    }
    mat_stream_end();
    if (room != kept) free(room);
}

void mat_finish_program(const void *frame, char *const *operands, const double *numbers,
                        double *result, int64_t start, int64_t stop) {
    const mat_program *p = frame;
    for (const mat_fold *fold = p->fold; fold < p->fold + p->folds; fold++) {
        char *at[3] = {NULL, operands[fold->out], parts_of(fold, operands)};
        const int64_t end = stop < fold->results ? stop : fold->results;
        if (fold->finish && start < end)
            fold->finish(fold->frame, at, numbers, result, start, end);
    }
}

void mat_replace_program(mat_program *program, const mat_program *composed) {
    __atomic_store_n(&program->composed, composed, __ATOMIC_RELEASE);
}
