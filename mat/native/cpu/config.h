/* How the kernels were compiled, and for which machine those were chosen that run. */
const char *mat_compiler(void);
const char *mat_flags(void);
const char *mat_machine(void);
