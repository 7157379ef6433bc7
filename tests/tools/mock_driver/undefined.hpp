/* Handlers of undefined behaviour: misaligned accesses, overrun arrays, and conversions of numbers
   that do not fit, of which GPUs make other integers than CPUs. */
#ifndef MAT_UNDEFINED_HPP
#define MAT_UNDEFINED_HPP

#include "fibres.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(MAT_NO_CHECKS) && !defined(MAT_RACES)
/* What the compiler calls, under -fsanitize=alignment,bounds,float-cast-overflow, where an access
   is misaligned or an array overrun, of which GPUs fault at the first only, or where a number does
   not fit into an integer. */
namespace on_cpu {
struct place { const char *file; unsigned line, column; };
struct mismatch { place at; const void *type; unsigned char log_alignment, kind; };
struct misfit { place at; const void *from_type, *to_type; };
struct overrun { place at; const void *array_type, *index_type; };
inline const char *short_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}
}
extern "C" __attribute__((visibility("hidden"), used))
void __ubsan_handle_type_mismatch_v1(on_cpu::mismatch *what, uintptr_t at) {
    on_cpu::fail("%s:%u: an access at %#llx, which is not a multiple of %u",
                 on_cpu::short_name(what->at.file), what->at.line,
                 static_cast<unsigned long long>(at), 1u << what->log_alignment);
}
extern "C" __attribute__((visibility("hidden"), used))
void __ubsan_handle_out_of_bounds(on_cpu::overrun *what, uintptr_t index) {
    on_cpu::fail("%s:%u: index %lld is outside of the array", on_cpu::short_name(what->at.file),
                 what->at.line, static_cast<long long>(int64_t(index)));
}
extern "C" __attribute__((visibility("hidden"), used))
void __ubsan_handle_float_cast_overflow(on_cpu::misfit *what, uintptr_t) {
    on_cpu::fail("%s:%u: a number does not fit into the integer that it becomes",
                 on_cpu::short_name(what->at.file), what->at.line);
}
#endif
#endif
