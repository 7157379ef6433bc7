/* Elements chosen by conditions: a kernel for each size of elements, whose bits are moved. */
#include "elementwise_inline.h"

#include "condition.h"

/* What is one element for all has a loop of its own on either side. */
#define SELECT(name, type) \
    MAT_CLONES static void MAT_JOIN(name, loop)(int64_t n, char *const *at, const int64_t *step, \
                                                const double *numbers) { \
        (void)numbers; \
        MAT_INPUT(uint8_t, condition, 0); \
        MAT_INPUT(type, a, 1); \
        MAT_INPUT(type, b, 2); \
        MAT_OUTPUT(type, out, 3); \
        if (!step[1] && !step[2]) { \
            const type x = *a, y = *b; \
            MAT_EACH { out[i] = condition[i] ? x : y; } \
        } else if (!step[1]) { \
            const type x = *a; \
            MAT_EACH { \
                const type y = b[i]; \
                out[i] = condition[i] ? x : y; \
            } \
        } else if (!step[2]) { \
            const type y = *b; \
            MAT_EACH { \
                const type x = a[i]; \
                out[i] = condition[i] ? x : y; \
            } \
        } else { \
            MAT_EACH { \
                const type x = a[i], y = b[i]; \
                out[i] = condition[i] ? x : y; \
            } \
        } \
    } \
    static MAT_KERNEL_OF(name, MAT_JOIN(name, loop), 7, 8, 6 | MAT_TOGETHER)

SELECT(select_1, uint8_t)
SELECT(select_2, uint16_t)
SELECT(select_4, uint32_t)
SELECT(select_8, uint64_t)
SELECT(select_16, mat_pair)

uintptr_t mat_select_kernel(int64_t size) {
    switch (size) {
    case 1: return (uintptr_t)select_1;
    case 2: return (uintptr_t)select_2;
    case 4: return (uintptr_t)select_4;
    case 8: return (uintptr_t)select_8;
    case 16: return (uintptr_t)select_16;
    default: return 0;
    }
}
