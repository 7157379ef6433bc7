/* Items of x combined with others by a line of elementwise.def, one after another where several are
   for one place, in their order: as NumPy's `add.at` does it, with its bits.

   The operands are positions, the indices that sort these (stable), the others, and x. The thread
   that has the first index of a place does all that are for it, which nobody else writes. */
#ifndef MAT_ACCUMULATE_CUH
#define MAT_ACCUMULATE_CUH

#include "elementwise.cuh"
#include "select.cuh"
#include "runs.cuh"

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

template<class S, class RULES, class I>
INLINE void mat_accumulate(const mat_accumulating &frame, const mat_call &call) {
    int64_t at[1][3];
    bool there[1];
    mat_seek_items<3, I>(frame.axes, at, there);
    if (!there[0]) return;
    const int64_t *positions = (const int64_t *)call.at[0], *order = (const int64_t *)call.at[1];
    const S *others = (const S *)call.at[2] + at[0][2];
    int64_t k = at[0][1];
    const int64_t position = positions[order[k]];
    if (k && positions[order[k - 1]] == position) return;
    const int64_t end = mat_end_of_run(positions, order, k, frame.n);
    S *to = (S *)call.at[3] + at[0][0] + mat_offset(frame.chosen, position), total = *to;
    enum { MANY = sizeof(S) > 8 ? MAT_RUN / 2 : MAT_RUN };
    for (; k < end; k += MANY) {
        S each[MANY]; /* read before any is combined: one after another would take far longer */
#pragma unroll
        for (int j = 0; j < MANY; j++)
            each[j] = others[order[k + j < end ? k + j : k] * frame.step];
#pragma unroll
        for (int j = 0; j < MANY; j++)
            if (k + j < end)
                total = RULES::of((int)frame.line, mat_widen(total), mat_widen(each[j]));
    }
    *to = total;
}

#define MAT_ACCUMULATE(type, way, I) \
    MAT_KERNEL(mat_accumulate_##type##_##way, mat_accumulating, MAT_THREADS) { \
        mat_accumulate<mat_##type, mat_rules_##type, I>(frame, call); \
    }

#endif
