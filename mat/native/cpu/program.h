/* A program: element-wise kernels one after the other, for a block of elements at a time, so that
   the results of one are in a cache when the next one reads them.

   A slot is a place of elements: an operand of the program, or temporary ones, at `at` bytes of a
   buffer that has room for a block. Temporary elements have *virtual* addresses, less the bytes of
   all elements before the block: so a frame of the full shape serves for a block. Units of work are
   blocks of `block` elements; `count` are all elements. */
typedef struct {
    int64_t operand; /* -1: it is temporary */
    int64_t at;
    int64_t size; /* of an element */
} mat_slot;

typedef struct {
    mat_kernel *kernel;
    const void *frame;
    int64_t count;    /* operands, at most 16 */
    int64_t slot[16]; /* of each of them */
} mat_step;

typedef struct {
    int64_t count, block;
    int64_t room; /* bytes of all temporary elements */
    int64_t steps;
    const mat_step *step;
    const mat_slot *slots;
} mat_program;

/* The operands are those of the slots; the result is 1 where there is no memory, else 0. */
mat_kernel mat_run_program;
