/* Digests of memory: the function that ``digest.h`` declares. */
#include "mat.h"

#include "digest.h"

enum { LANES = 8 };
static const uint64_t FACTOR = 0x9E3779B185EBCA87u;

/* Every step can be inverted, so that a single change is always seen; without the rotation, a sign
   that changes in two elements would cancel out. */
INLINE uint64_t mixed(uint64_t sum, uint64_t x) {
    sum ^= x;
    return ((sum << 29) | (sum >> 35)) * FACTOR;
}

static uint64_t digest_of(const char *data, int64_t nbytes) {
    uint64_t sums[LANES], x[LANES], found = (uint64_t)nbytes;
    for (int k = 0; k < LANES; k++) sums[k] = FACTOR * (uint64_t)(k + 1);
    int64_t at = 0;
    for (; at + (int64_t)sizeof x <= nbytes; at += (int64_t)sizeof x) {
        memcpy(x, data + at, sizeof x);
        for (int k = 0; k < LANES; k++) sums[k] = mixed(sums[k], x[k]);
    }
    memset(x, 0, sizeof x);
    memcpy(x, data + at, (size_t)(nbytes - at));
    for (int k = 0; k < LANES; k++) found = mixed(mixed(found, sums[k]), x[k]);
    return found ^ (found >> 32);
}

void mat_digests(const void *data, int64_t nbytes, int64_t block, uint64_t *found) {
    for (int64_t at = 0; at < nbytes; at += block)
        *found++ = digest_of((const char *)data + at, nbytes - at < block ? nbytes - at : block);
}

int mat_has_digests(const void *data, int64_t nbytes, int64_t block, const uint64_t *digests,
                    const uint8_t *known) {
    for (int64_t at = 0, k = 0; at < nbytes; at += block, k++) {
        const int64_t size = nbytes - at < block ? nbytes - at : block;
        if (!known[k] || digest_of((const char *)data + at, size) != digests[k]) return 0;
    }
    return 1;
}
