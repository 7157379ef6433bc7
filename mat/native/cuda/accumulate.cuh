/* Items of x combined with others by a line of elementwise.def, one after another where several are
   for one place, in their order: as NumPy's `add.at` does it, with its bits.

   The operands are positions, the indices that sort these (stable), the others, and x. The thread
   that has the first index of a place does all that are for it, which nobody else writes: a run.
   The other threads of its warp read a long run for it, unless many of them have one, too. */
#ifndef MAT_ACCUMULATE_CUH
#define MAT_ACCUMULATE_CUH

#include "elementwise.cuh"
#include "select.cuh"

/* elements that a thread, and each of those that read for it, reads before any is combined: one
   after another takes far longer; those of a long run, and the most long runs read so in a warp */
enum { MAT_RUN = 8, MAT_READ = 2, MAT_LONG = 64, MAT_FEW = 8 };

struct mat_accumulating {
    mat_axes<3> axes; /* of x, of the sorted indices, and of the others */
    mat_chosen_axes chosen;
    int64_t n, step, line; /* positions; of the others from one to the next */
};

#define MAT_RULE(name) \
    case MAT_LINE_##name: return mat_narrow<S>(each_##name(x, y));
#define MAT_RULE_FIRST(name) \
    case MAT_LINE_##name: return mat_narrow<S>(each_##name##_first(x, y));
#define MAT_RULES(type, lines) \
    struct mat_rules_##type { \
        typedef mat_##type S; \
        static INLINE S of(int line, mat_computed<S> x, mat_computed<S> y) { \
            switch (line) { lines } \
            return mat_narrow<S>(x); \
        } \
    };

/* The end of the run that begins with the `k`-th of `n` integers in the order that sorts them. */
INLINE int64_t mat_end_of_run(const int64_t *bins, const int64_t *order, int64_t k, int64_t n) {
    const int64_t bin = bins[order[k]];
    int64_t step = 1, low = k, high; /* low is in the run, high after it */
    while (low + step < n && bins[order[low + step]] == bin) {
        low += step;
        step *= 2;
    }
    high = low + step < n ? low + step : n;
    while (high - low > 1) {
        int64_t i = low + (high - low) / 2;
        if (bins[order[i]] == bin) low = i;
        else high = i;
    }
    return high;
}

/* The run of a thread: what is combined with `total` for the indices order[k], ... order[end - 1]
   of elements `step` apart. */
template<class S, class RULES> struct mat_run {
    const int64_t *order;
    const S *others;
    int64_t k, end, step;
    int line;

    template<int MANY> INLINE void read(S (&each)[MANY], int64_t first, int64_t by) const {
#pragma unroll
        for (int j = 0; j < MANY; j++)
            each[j] = others[order[first + j * by < end ? first + j * by : end - 1] * step];
    }
    INLINE void combine(S &total, S other) const {
        total = RULES::of(line, mat_widen(total), mat_widen(other));
    }

    INLINE void alone(S &total) {
        enum { MANY = sizeof(S) > 8 ? MAT_RUN / 2 : MAT_RUN };
        for (; k < end; k += MANY) {
            S each[MANY];
            read(each, k, 1);
#pragma unroll
            for (int j = 0; j < MANY; j++)
                if (k + j < end) combine(total, each[j]);
        }
    }

    /* Does the runs of the threads in the mask `owners`, one after another. All threads of the warp
       call it, with room for what they read. */
    INLINE void together(S &total, uint32_t owners, S *read_ones) {
        enum { MANY = 32 * MAT_READ };
        const int lane = threadIdx.x % 32;
        for (; owners; owners &= owners - 1) {
            const int owner = __ffs((int)owners) - 1;
            mat_run<S, RULES> run = *this;
            run.others = (const S *)__shfl_sync(~0u, (int64_t)others, owner);
            run.k = __shfl_sync(~0u, k, owner), run.end = __shfl_sync(~0u, end, owner);
            S next[MAT_READ];
            run.read(next, run.k + lane, 32);
            for (; run.k < run.end; run.k += MANY) {
#pragma unroll
                for (int j = 0; j < MAT_READ; j++) read_ones[32 * j + lane] = next[j];
                __syncwarp();
                run.read(next, run.k + MANY + lane, 32); /* it arrives meanwhile */
                const int count = run.end - run.k < MANY ? (int)(run.end - run.k) : MANY;
                if (lane == owner)
#pragma unroll 8
                    for (int j = 0; j < count; j++) combine(total, read_ones[j]);
                __syncwarp();
            }
            if (lane == owner) k = end;
        }
    }
};

template<class S, class RULES, class I>
INLINE void mat_accumulate(const mat_accumulating &frame, const mat_call &call) {
    MAT_SHARED(S, read_ones, [MAT_THREADS * MAT_READ]);
    int64_t at[1][3];
    bool there[1];
    mat_seek_items<3, I>(frame.axes, at, there);
    const int64_t *positions = (const int64_t *)call.at[0], *order = (const int64_t *)call.at[1];
    mat_run<S, RULES> run = {order, (const S *)call.at[2] + at[0][2], at[0][1], at[0][1],
                             frame.step, (int)frame.line};
    S *to = (S *)call.at[3] + at[0][0], total;
    const bool begins = there[0] && !(run.k && positions[order[run.k - 1]]
                                                   == positions[order[run.k]]);
    if (begins) {
        run.end = mat_end_of_run(positions, order, run.k, frame.n);
        to += mat_offset(frame.chosen, positions[order[run.k]]);
        total = *to;
    }
    const uint32_t owners = __ballot_sync(~0u, run.end - run.k >= MAT_LONG);
    if (__popc(owners) <= MAT_FEW)
        run.together(total, owners, read_ones + threadIdx.x / 32 * (32 * MAT_READ));
    run.alone(total);
    if (begins) *to = total;
}

#define MAT_ACCUMULATE(type, way, I) \
    MAT_KERNEL(mat_accumulate_##type##_##way, mat_accumulating, MAT_THREADS) { \
        mat_accumulate<mat_##type, mat_rules_##type, I>(frame, call); \
    }

#endif
