/* Running totals along one axis of an operand, x, into another, y, of the same shape: y[0] is x[0],
   and y[k] is y[k - 1] and x[k] together. All steps are in elements.

   With `block`, lines are done by so many `blocks` of so many elements, the last one of those that
   are left, and work is counted in these; without columns then.

   With `in_order` the blocks are the chunks of a fixed order (mat/layout/merged_axes.py), also
   where columns are done together. With `begun`, too, y has the result before the first one, and
   those of x come after it.

   `others` are the other axes, the last of which is the fastest. Where `columns` is not 0, one of
   them is apart, and `tile` of its elements are done together, line by line. The work is counted in
   tiles of positions along the others. */
typedef struct {
    mat_axes others;
    int64_t length, step_x, step_y;
    int64_t columns, tile, column_x, column_y;
    int64_t block, blocks, in_order, begun;
} mat_scan;

/* Return the kernel of running sums, products or extremes of a name, from one type of elements to
   another: "cumsum_b1_i64", "cumprod_f32_f32", "cummax_u8_u8" ...; 0 if there is none. By blocks,
   those of both stages: "cumsum_b1_i64_totals", "cumsum_b1_i64_finish" ...; the total of each block
   takes 16 bytes of a third operand. */
uintptr_t mat_scan_kernel(const char *name);
