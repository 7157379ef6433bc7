/* Random numbers for `n` consecutive elements, in batches of 64 blocks of words: 256 elements of 32
   bits, 128 of 64. */
typedef struct { int64_t n; } random_frame;

/* For tests: the words of any counter; and of 64 blocks, word by word, as machines of a level make
   them. Levels: 0 all machines, 1 those with AVX2, 2 those with AVX-512; the result is 0 where this
   one cannot. */
void random_words(uint32_t *counter, uint32_t key0, uint32_t key1);
int random_batch(int level, uint64_t first, uint32_t key0, uint32_t key1, uint32_t *words);
void random_uniform_f(const void *frame, char *const *operands, const double *numbers,
                      double *result, int64_t start, int64_t stop);
void random_uniform_d(const void *frame, char *const *operands, const double *numbers,
                      double *result, int64_t start, int64_t stop);
void random_normal_f(const void *frame, char *const *operands, const double *numbers,
                     double *result, int64_t start, int64_t stop);
void random_normal_d(const void *frame, char *const *operands, const double *numbers,
                     double *result, int64_t start, int64_t stop);
void random_bernoulli_f(const void *frame, char *const *operands, const double *numbers,
                        double *result, int64_t start, int64_t stop);
void random_bernoulli_d(const void *frame, char *const *operands, const double *numbers,
                        double *result, int64_t start, int64_t stop);
