/* The frame of an element-wise kernel: the shape that it loops over, and the strides.

   `sizes` holds the shape, outermost axis first, and then for each operand its strides in bytes.
   Axes are merged where all operands allow it, so what is contiguous everywhere has one axis. Units
   of work are elements, in the order of the axes. */
typedef void mat_loop(int64_t n, char *const *at, const int64_t *step, const double *numbers);

typedef struct {
    int64_t rank;     /* axes: at least one, at most 64 */
    int64_t count;    /* operands, at most 16 */
    int64_t stream;   /* operands, as bits, that go past the caches where they are only written */
    char number[16]; /* what an operand that is a number becomes: 'f', 'd', 'F', 'D', 'i' for an
                        integer, or a float of the value that 'e' float16 or 'E' bfloat16 gives it;
                        0: it is none */
    int64_t size[16]; /* of an element of each operand, in bytes: 1, 2, 4, 8 or 16 */
    mat_loop *cast[16]; /* converts the elements of an operand that is only read to those that the
                           kernel computes with, of at most 8 bytes, and those of one that is only
                           written from them; NULL: they are such */
    int64_t walked;    /* operands, as bits, of which the loop gets the address and the stride */
    int64_t counters;  /* the last operands, so many, have no memory: addresses are numbers, */
    int64_t first[16]; /* these at the first element */
    int64_t sizes[];
} mat_strided;

/* Let a loop do the elements start to stop of a frame, as MAT_ELEMENTWISE in elementwise_inline.h
   says; from -1 on, only describe it. */
typedef void mat_walk(const void *frame, char *const *operands, const double *numbers,
                      double *result, int64_t start, int64_t stop, mat_loop *loop, int64_t reads,
                      int64_t writes, int64_t spreads);
void mat_walk_strided(const void *frame, char *const *operands, const double *numbers,
                      double *result, int64_t start, int64_t stop, mat_loop *loop, int64_t reads,
                      int64_t writes, int64_t spreads);

/* Kernels that are compiled apart from the library. Whoever loads them stores `mat_walk_strided` in
   `walk` before one is called. */
typedef struct {
    mat_walk *walk;
    mat_kernel *kernels[];
} mat_apart;

typedef struct {
    const char *name;
    mat_kernel *kernel;
    int heavy; /* it takes longer to compute than to load and store */
} mat_named_kernel;

/* Return the element-wise kernel of a name: "exp_f32", "add_i8", "less_f64" (gives bool),
   "less_in_f64" (gives 1 and 0 of its own type), "clip_i8",
   "geem_f32" ...; NULL if there is none. */
const mat_named_kernel *mat_elementwise(const char *name);

/* Return the name of a light kernel of a line of elementwise.def; "" for others. */
const char *mat_light_name(uintptr_t kernel);

/* Return the kinds of numbers, as letters, that a line of elementwise.def is for; "" if there is no
   such line. */
const char *mat_kinds_of(const char *name);

/* A conversion of elements: the kernel for operands (source, destination), and its loop, for the
   frames of other kernels. */
typedef struct {
    const char *name;
    mat_kernel *kernel;
    mat_loop *loop;
} mat_conversion;

/* Return the conversion of a name, from one type to another: "i64_f64", "f32_b1" ...; NULL if there
   is none. */
const mat_conversion *mat_convert(const char *name);
/* Return the name of a conversion's kernel; "" for others. */
const char *mat_convert_name(uintptr_t kernel);
