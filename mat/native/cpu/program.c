/* Programs of element-wise kernels, block by block, and of a reduction, unit by unit. */
#include "mat.h"

#include <stdlib.h>

#include "call.h"
#include "program.h"

enum { LINE = 64 };

typedef struct {
    const mat_program *program;
    char *const *operands;
    const double *numbers;
    double *result;
    char *buffer;
    int64_t unit, block; /* the elements that these begin with */
} state;

static char *place(const state *s, int64_t k) {
    const mat_slot *slot = s->program->slots + k;
    if (slot->operand >= 0) return s->operands[slot->operand];
    return s->buffer + slot->at - (slot->whole ? s->unit : s->block) * slot->size;
}

/* Carry out the steps for the elements of a block, up to stop. */
static void do_block(const state *s, int64_t stop) {
    const mat_program *p = s->program;
    for (int64_t k = 0; k < p->steps; k++) {
        const mat_step *step = p->step + k;
        char *at[16];
        for (int64_t j = 0; j < step->count; j++) at[j] = place(s, step->slot[j]);
        step->kernel(step->frame, at, s->numbers, s->result, s->block, stop);
    }
}

/* Reduce the elements of unit k. */
static void do_fold(const state *s, int64_t k) {
    const mat_fold *fold = s->program->fold;
    char *at[3] = {place(s, fold->slot), s->operands[fold->out], s->operands[fold->parts]};
    const int64_t start = k * fold->each, stop = start + fold->each;
    fold->kernel(fold->frame, at, s->numbers, s->result, start,
                 stop < fold->total ? stop : fold->total);
}

void mat_run_program(const void *frame, char *const *operands, const double *numbers,
                     double *result, int64_t start, int64_t stop) {
    const mat_program *p = frame;
    char *room = malloc((size_t)p->room + LINE);
    if (!room) {
        result[0] = 1;
        return;
    }
    char *buffer = (char *)(((uintptr_t)room + LINE - 1) & ~(uintptr_t)(LINE - 1));
    state s = {p, operands, numbers, result, buffer, 0, 0};
    for (int64_t k = start; k < stop; k++) {
        s.unit = k * p->unit;
        const int64_t end = s.unit + p->unit < p->count ? s.unit + p->unit : p->count;
        for (s.block = s.unit; s.block < end; s.block += p->block)
            do_block(&s, s.block + p->block < end ? s.block + p->block : end);
        if (p->fold) do_fold(&s, k);
    }
    free(room);
}

void mat_finish_program(const void *frame, char *const *operands, const double *numbers,
                        double *result, int64_t start, int64_t stop) {
    const mat_fold *fold = ((const mat_program *)frame)->fold;
    char *at[3] = {NULL, operands[fold->out], operands[fold->parts]};
    fold->finish(fold->frame, at, numbers, result, start, stop);
}
