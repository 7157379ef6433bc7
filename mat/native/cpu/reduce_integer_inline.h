/* Reductions of integers T of another size than 64 bits or without a sign: reduce_type_inline.h and
   reduce_whole_inline.h with their parameters, which are undefined afterwards. */
#include "reduce_type_inline.h"
#include "reduce_whole_inline.h"
#undef T
#undef I
#undef W
#undef LOWEST
#undef HIGHEST
#undef N
