/* Sharing a kernel's range among threads. The threads are Python's: each has called `mat_serve`,
   and waits there without the GIL. One range is shared at a time; a caller that comes meanwhile
   does its own range alone. */

/* Do all `count` units of the range, by so many threads: this one and some of those in
   `mat_serve`; fewer, if they would get less than `grain` units each. */
void mat_share(uintptr_t kernel, const void *frame, char *const *operands, const double *numbers,
               double *result, int64_t count, int64_t grain, int64_t threads);
/* Do pieces of shared ranges, forever. */
void mat_serve(void);
/* Forget helpers and ranges: in a forked child there are none. */
void mat_share_forget(void);
