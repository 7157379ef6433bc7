/* Digests of memory, to find out whether somebody has changed it. */

/* Write the digest of each block of so many bytes to `found`; the last block may be shorter. Equal
   bytes have equal digests; others have different ones, but for one case in 2^64 or so. */
void mat_digests(const void *data, int64_t nbytes, int64_t block, uint64_t *found);

/* Return whether all blocks are known and have these digests. */
int mat_has_digests(const void *data, int64_t nbytes, int64_t block, const uint64_t *digests,
                    const uint8_t *known);
