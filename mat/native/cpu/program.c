/* Programs of element-wise kernels, block by block. */
#include "mat.h"

#include <stdlib.h>

#include "call.h"
#include "program.h"

enum { LINE = 64 };

static char *place(const mat_slot *slot, char *const *operands, char *buffer, int64_t start) {
    return slot->operand < 0 ? buffer + slot->at - start * slot->size : operands[slot->operand];
}

/* Carry out the steps for the elements from start to stop. */
static void block(const mat_program *p, char *const *operands, const double *numbers,
                  double *result, char *buffer, int64_t start, int64_t stop) {
    for (int64_t k = 0; k < p->steps; k++) {
        const mat_step *step = p->step + k;
        char *at[16];
        for (int64_t j = 0; j < step->count; j++)
            at[j] = place(p->slots + step->slot[j], operands, buffer, start);
        step->kernel(step->frame, at, numbers, result, start, stop);
    }
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
    for (int64_t k = start; k < stop; k++) {
        const int64_t from = k * p->block, to = from + p->block;
        block(p, operands, numbers, result, buffer, from, to < p->count ? to : p->count);
    }
    free(room);
}
