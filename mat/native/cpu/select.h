/* Elements that a mask or integers select of an operand, x: copied to another, y, one after
   another, or overwritten from there. What is selected at once is an item: an element, or all
   elements along the axes that are not indexed. Steps are in bytes.

   By a mask, whose bytes follow each other, `walk` are the axes of x that it is for, and `length`
   is the number of its bytes. By integers of 64 bits, `length` is that of the axis that they index,
   and `walk` the axes before it: over each position along them, all integers are gone once. From
   one selected item to the next, y moves by `next_y`.

   An item is runs of `unit` bytes, that follow each other on both sides, along the axes `item`. */
typedef struct {
    mat_axes walk, item;
    int64_t unit, next_y;
    int64_t length, step_x;
} mat_selection;

/* The operands are x, the mask or the integers, and y; the number is how many bytes of the mask
   or integers there are, or for `masked_get` and `masked_set` how many items there are in y. The
   result is, of `masked_count`, how many items are selected; of the others, 1, or 0 if not all
   could be copied: then an integer is out of range, and nothing was written to x, or another
   thread has changed the mask or the integers; nothing outside of x and y is read or written. */
mat_kernel mat_masked_count, mat_masked_get, mat_masked_set, mat_taken_get, mat_taken_set;

/* Copies rows: operands (source, destination), numbers: how many rows, the bytes of one, and the
   bytes from one to the next in the source and in the destination. */
mat_kernel mat_copy_rows;
