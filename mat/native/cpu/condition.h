/* Return the element-wise kernel that chooses, by a condition of one byte, between elements of so
   many bytes: its operands are the condition, what it chooses where that is not 0, what it chooses
   elsewhere, and the result. 0 if there is none. */
uintptr_t mat_select_kernel(int64_t size);
