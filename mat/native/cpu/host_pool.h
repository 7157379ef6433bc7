/* Host memory that is recycled: blocks by size class, 64-byte aligned. Any thread may call these
   functions, with or without the GIL, also in finalizers and in a forked child. */

/* Bytes, and numbers of blocks since the start. */
struct mat_host_statistics {
    int64_t in_use, kept, limit; /* the limit of the kept bytes as it is now */
    int64_t hits, misses;        /* allocations that a kept block served, and others */
    int64_t returned;            /* blocks given back to the system */
};

/* Return a block of at least so many bytes, its contents arbitrary or zero; NULL if there is no
   memory, even after all kept blocks were given back to the system. */
void *mat_host_allocate(size_t bytes);
void *mat_host_allocate_zeros(size_t bytes);
/* Free a block of these functions; the bytes are those that were requested. NULL is no block. */
void mat_host_free(void *block, size_t bytes);
/* The same for callers that cannot give the bytes back: they are noted before the block. */
void *mat_host_new(size_t bytes);
void mat_host_delete(void *block);
/* Give kept blocks back to the system until at most so many bytes are kept; return the bytes given
   back. */
int64_t mat_host_trim(int64_t most);
/* Set the limit of the kept bytes. If negative, it is the default: with the kept blocks no more is
   held than was in use at once in the last seconds, or 64 MiB more than now, and an eighth of the
   machine's memory at most is kept. */
void mat_host_set_limit(int64_t bytes);
void mat_host_get_statistics(struct mat_host_statistics *found);
/* The number of size classes; the bytes of the blocks of one, its kept blocks and those in use. */
int64_t mat_host_classes(void);
void mat_host_class(int64_t index, int64_t *bytes, int64_t *kept, int64_t *in_use);
