/* Converting copies on the device: elements of one type become elements of another as by NumPy's
   casts on x86, between any strides.

   convert_S_D       one element at a time
   convert_S_D_wide  several, where they are adjacent on both sides and the wider ones are aligned
                     to 16 bytes

   Floating-point numbers are rounded towards zero to become integers. A number that does not fit
   is undefined in C; here it becomes what it becomes on x86: the lowest number of 32 and 64 bits,
   of whose bits shorter and unsigned integers have the lower ones. */
#ifndef MAT_CONVERT_CUH
#define MAT_CONVERT_CUH

#include "axes.cuh"
#include "elements.cuh"

struct convert_frame {
    int64_t source, target;  /* which operands */
    int64_t from, to;        /* bytes from their addresses to the first element */
    int64_t count, rank;     /* the first axis counts groups of elements */
    struct strided_axis axes[12];
};

template<class D> struct to_whole {
    template<class R> static INLINE D of(R x) {
        if constexpr (sizeof(D) == 8 && D(-1) > D(0))
            if (x >= R(9223372036854775808.0)) { /* 2^64 and more become 0 */
                R rest = x - R(9223372036854775808.0);
                return rest < R(9223372036854775808.0) ? D(int64_t(rest)) + (D(1) << 63) : D(0);
            }
        if constexpr (sizeof(D) == 8 || (sizeof(D) == 4 && D(-1) > D(0))) {
            bool fits = x >= R(-9223372036854775808.0) && x < R(9223372036854775808.0);
            return D(fits ? int64_t(x) : int64_t(uint64_t(1) << 63));
        } else {
            bool fits = x > R(-2147483649.0) && x < R(2147483648.0);
            if constexpr (sizeof(R) == 4) fits = x >= R(-2147483648.0) && x < R(2147483648.0);
            return D(fits ? int(x) : int(1u << 31));
        }
    }
};

template<class D, class S> INLINE D converted(S x) {
    if constexpr (mat_kind<D>::of == MAT_WHOLE && mat_kind<S>::of == MAT_FLOATING)
        return to_whole<D>::of(mat_plain(x));
    else return mat_convert<D>(x);
}

template<class S, class D, int E>
INLINE void convert(const convert_frame &frame, const mat_call &call) {
    const int K = 4;
    const char *source = call.at[frame.source] + frame.from;
    char *target = call.at[frame.target] + frame.to;
    unsigned place[K], first = blockIdx.x * (256 * K) + threadIdx.x, count = unsigned(frame.count);
    int64_t from[K], to[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        place[k] = first + 256 * k < count ? first + 256 * k : 0;
        from[k] = to[k] = 0;
    }
    seek_all<int64_t, K>(frame.axes, int(frame.rank), place, from, to);
    mat_pack<S, E> held[K];
#pragma unroll
    for (int k = 0; k < K; k++)
        if (first + 256 * k < count)
            held[k] = *reinterpret_cast<const mat_pack<S, E> *>(source + from[k]);
#pragma unroll
    for (int k = 0; k < K; k++)
        if (first + 256 * k < count) {
            mat_pack<D, E> made;
#pragma unroll
            for (int e = 0; e < E; e++) made.at[e] = converted<D>(held[k].at[e]);
            *reinterpret_cast<mat_pack<D, E> *>(target + to[k]) = made;
        }
}

/* The kernels of a program */

#define CONVERT(S, D) \
    MAT_KERNEL(convert_##S##_##D, convert_frame, 256) { \
        convert<mat_##S, mat_##D, 1>(frame, call); \
    } \
    MAT_KERNEL(convert_##S##_##D##_wide, convert_frame, 256) { \
        convert<mat_##S, mat_##D, mat_widest<mat_##S, mat_##D>::V>(frame, call); \
    }

#endif
