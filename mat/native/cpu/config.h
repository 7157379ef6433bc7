/* How the kernels were compiled, and the machine that the loader has chosen their versions for. */
const char *mat_compiler(void);
const char *mat_flags(void);
const char *mat_machine(void);
