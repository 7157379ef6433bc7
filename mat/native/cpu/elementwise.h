/* The frame of an element-wise kernel: the shape that it loops over, and the strides.

   `sizes` holds the shape, outermost axis first, and then for each operand its strides in bytes.
   Axes are merged where all operands allow it, so what is contiguous everywhere has one axis. Units
   of work are elements, in the order of the axes. */
typedef struct {
    int64_t rank;     /* axes: at least one, at most 64 */
    int64_t count;    /* operands, at most 16 */
    int64_t stream;   /* operands, as bits, that go past the caches where they are only written */
    char number[16]; /* what an operand that is a number becomes: 'f', 'd', 'F', 'D', or 'i' for an
                        integer; 0: it is none */
    int64_t size[16]; /* of an element of each operand, in bytes: 1, 2, 4, 8 or 16 */
    int64_t sizes[];
} mat_strided;

typedef struct {
    const char *name;
    mat_kernel *kernel;
    int heavy; /* it takes longer to compute than to load and store */
} mat_named_kernel;

/* Return the element-wise kernel of a name: "exp_f32", "add_f64", "less_f64" (gives bool),
   "less_in_f64" (gives 1 and 0 of its own type), "clip_i8",
   "geem_f32" ...; NULL if there is none. */
const mat_named_kernel *mat_elementwise(const char *name);
