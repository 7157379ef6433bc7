/* Sharing a kernel's range among threads. The threads are Python's: each has called `mat_serve`, and waits there without the
   GIL. One range is shared at a time; who comes meanwhile does its own alone. */

/* Do all of the range in `pieces`, with at most `helpers` of the threads that serve. */
void mat_share(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers, double *result, int64_t count,
               int64_t pieces, int64_t helpers);
/* Serve, forever. */
void mat_serve(void);
/* In a forked child nobody serves, and nothing is shared. */
void mat_share_forget(void);
