/* Copying the elements of one layout to another, as mat/cpu/permute.py has planned it.

   Elements, or runs of elements that are adjacent on both sides, are units that move as one. Two
   axes make up a block: i, the fastest of the destination, and j, the fastest of the source (or
   else the next). What remains, and the steps from block to block, are outer loops, the first the
   innermost. All steps are in bytes; those of the destination are not negative. */
typedef struct {
    int64_t unit;              /* bytes of a unit */
    int64_t to, from;          /* bytes from the operands' addresses to the first unit */
    int64_t ni, di, si;        /* axis i: units in a block, steps in destination and source */
    int64_t nj, dj, sj;        /* axis j: the same */
    int64_t last_i, last_j;    /* units in the last block along the axis */
    int32_t loop_i, loop_j;    /* the outer loop over blocks; -1: there is one block */
    int32_t kind;              /* the way to copy a block: see permute.c */
    int32_t width;             /* bytes of the vectors to use: 8 (none), 16, 32, 64 */
    int32_t stream;            /* write past the caches */
    int32_t shift;             /* lines of the destination begin alike in their cache lines, and
                                  blocks are at least as long as one */
    int32_t fetch;             /* prefetch the source of the next block */
    int32_t narrow;            /* all counts fit into 32 bits */
    int32_t rank;              /* outer loops */
    int64_t n[64], d[64], s[64];
} permute_frame;

/* Copies the blocks from start to stop of the operands (source, destination). */
void mat_permute(const void *frame, char *const *operands, const double *numbers, double *result,
                 int64_t start, int64_t stop);
/* Bytes of the widest vectors of this machine that the kernel has code for. */
int32_t mat_permute_width(void);
