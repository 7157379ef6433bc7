/* Loads with .nc go through a cache that sees no stores of the same launch: what they read must be
   written by nobody in it. */
#ifndef MAT_PTX_READ_ONLY_HPP
#define MAT_PTX_READ_ONLY_HPP

#include <stdint.h>

#include <unordered_map>

namespace ptx {

struct marked_page { uint64_t read[64] = {}, written[64] = {}; };  // a bit for each byte

static std::unordered_map<uintptr_t, marked_page> marked;

// Note an access, which is aligned to its size; return whether others forbid it.
inline bool is_read_and_written(uintptr_t at, unsigned bytes, bool writes) {
    marked_page &page = marked[at / 4096];
    const unsigned part = at / 64 % 64;
    const uint64_t bits = ((uint64_t(1) << bytes) - 1) << at % 64;
    (writes ? page.written : page.read)[part] |= bits;
    return ((writes ? page.read : page.written)[part] & bits) != 0;
}

}  // namespace ptx
#endif
