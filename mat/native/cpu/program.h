/* A program: element-wise kernels one after the other, for a block of elements at a time, so that
   the results of one are in a cache when the next one reads them; and perhaps reductions of
   some results.

   A slot is a place of elements: an operand of the program, or temporary ones, at `at` bytes of a
   buffer, which has room for a block of them, or for a unit. Temporary elements have *virtual*
   addresses, less the bytes of all elements before the block: so a frame of the full shape serves
   for a block. Units of work are `unit` elements, of `count` in all, in blocks of `block`. */
typedef struct {
    int64_t operand; /* -1: it is temporary */
    int64_t at;
    int64_t size; /* of an element */
    int64_t whole; /* it has room for a unit */
} mat_slot;

typedef struct {
    mat_kernel *kernel;
    const void *frame;
    int64_t count;    /* operands, at most 16 */
    int64_t slot[16]; /* of each of them */
} mat_step;

/* A reduction: the kernel and its frame, and that of the second stage, or NULL; how many units of
   its own are one of the program, and how many there are; the slot that it reads, and the operands
   with the result and with the parts that the second stage puts together: the parts begin at `at`
   bytes, and there are so many results. */
typedef struct {
    mat_kernel *kernel, *finish;
    const void *frame;
    int64_t each, total, slot, out, parts, at, results;
} mat_fold;

typedef struct mat_program {
    int64_t count, unit, block;
    int64_t fixed; /* blocks have that length, whatever the steps are */
    int64_t room;  /* bytes of all temporary elements */
    int64_t steps;
    const mat_step *step;
    const mat_slot *slots;
    int64_t folds;
    const mat_fold *fold;
    const struct mat_program *composed; /* what does the same in fewer steps, once there is one */
} mat_program;

/* The operands are those of the slots; the result is 1 where there is no memory, else 0. */
mat_kernel mat_run_program;
/* The second stage of the reductions, in units of their results. */
mat_kernel mat_finish_program;
/* Let a program, which may be running, be replaced by one that does the same. */
void mat_replace_program(mat_program *program, const mat_program *composed);
