/* Counting integers of 64 bits that follow each other; `n` is how many there are, and `bins` how
   many of the integers 0, 1, ... are counted. */
typedef struct {
    int64_t n, bins;
} mat_counting;

/* The operands are the integers and two others, to be written: the least and the largest. */
mat_kernel mat_extent;
/* The operands are the integers and the bins, to be written: how often 0, 1, ... occur. Integers
   without a bin are not counted. */
mat_kernel mat_count_bins;
