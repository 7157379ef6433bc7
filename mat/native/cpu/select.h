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

/* The operands are x, the mask or the integers, and y; the first number is how many integers there
   are, or for `masked_get` and `masked_set` how many items there are in y. The result is 0, or 1 if
   not all could be copied: then an integer is out of range, or another thread has changed the mask
   or the integers; nothing outside of x and y is read or written.

   By a mask, work is counted in tiles of its bytes. `masked_count` writes to y how many items each
   selects, or without y it gives their number as the result. The others have, as a fourth operand,
   how many are selected before each tile and in all, as is needed if they are called for some of
   the tiles; without it, it is null.

   By integers, `taken_check`, which only looks whether they are in range, counts integers, and the
   others count items; but `taken_set` of items that are not one and the same counts the positions
   of the walk. If it does all, it checks all integers before anything is written. */
enum { MAT_MASK_TILE = 1 << 14 };
mat_kernel mat_masked_count, mat_masked_get, mat_masked_set;
mat_kernel mat_taken_get, mat_taken_check, mat_taken_set;

/* Copies rows, whose work is counted in bytes: operands (source, destination), numbers: how many
   rows, the bytes of one, and the bytes from one to the next in the source and in the
   destination. */
mat_kernel mat_copy_rows;
