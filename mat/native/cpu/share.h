/* Sharing a kernel's range among threads. The threads are Python's: each has called `mat_serve`,
   and waits there without the GIL. One range is shared at a time; who comes meanwhile does its own
   alone. */

/* Do all `count` units of the range, by so many threads with this one, the others being of those
   that serve; fewer, if they would get less than `grain` units each. */
void mat_share(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
               double *result, int64_t count, int64_t grain, int64_t threads);
/* Serve, forever. */
void mat_serve(void);
/* In a forked child nobody serves, and nothing is shared. */
void mat_share_forget(void);
