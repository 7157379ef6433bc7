/* Libraries and launches. A "cubin" is a shared library that the compiler made of a program under
   MAT_ON_CPU (on_cpu.hpp), or PTX for the interpreter (ptx/libptx.cpp). */
#ifndef MAT_MOCK_KERNELS_HPP
#define MAT_MOCK_KERNELS_HPP

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>

#include "memory.hpp"

struct Compiled {  // on_cpu::kernel
    void (*thread)(const void *frame, const void *call);
    uint64_t frame_bytes, threads;
};

struct Operands {  // mat_call
    Address at[16];
    double numbers[48];
};

struct Library {
    void *handle;
    int (*run)(const Compiled *, const unsigned *grid, const unsigned *block, uint64_t shared,
               uint64_t seed, const void *frame, uint64_t frame_bytes, const void *call);
    const char *(*error)();
    const Compiled *(*find)(void *handle, const char *name);
    std::map<std::string, struct Function *> functions;
};

struct Function {
    Library *library;
    std::string name;
    const Compiled *compiled;
    int most_shared;
    Device *device = nullptr;  // whose context it belongs to; a kernel of a library is of all
    std::map<Device *, Function *> of_devices = {};
};

static const Compiled *find_compiled(void *handle, const char *name) {
    auto describe = reinterpret_cast<const Compiled *(*)()>(dlsym(handle, name));
    return describe ? describe() : nullptr;
}

template<class T> static T of_interpreter(T &, const char *name) {  // which the tests have loaded
    return reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

static Result load_ptx(void **library, const char *text) {
    auto read = reinterpret_cast<void *(*)(const char *)>(dlsym(RTLD_DEFAULT, "ptx_load"));
    auto problem = reinterpret_cast<const char *(*)()>(dlsym(RTLD_DEFAULT, "ptx_problem"));
    void *handle = read ? read(text) : nullptr;
    if (!handle) return fault(NO_BINARY, "PTX: %s", read ? problem() : "no interpreter");
    Library *made = new Library{handle, nullptr, nullptr, nullptr, {}};
    made->run = of_interpreter(made->run, "ptx_run");
    made->error = of_interpreter(made->error, "ptx_error");
    made->find = of_interpreter(made->find, "ptx_find");
    *library = made;
    return SUCCESS;
}

static Result load(void **library, const void *code) {
    if (!memcmp(code, "//", 2)) return load_ptx(library, static_cast<const char *>(code));
    const Elf64_Ehdr *header = static_cast<const Elf64_Ehdr *>(code);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_machine == 190)
        return NO_BINARY;  // 190: for a real GPU
    size_t bytes = header->e_shoff + size_t(header->e_shnum) * header->e_shentsize;
    int file = memfd_create("program", 0);  // stays open: who prints a stack trace reads it
    if (file < 0 || write(file, code, bytes) != ssize_t(bytes)) return OUT_OF_MEMORY;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return fault(NO_BINARY, "cuLibraryLoadData: %s", dlerror());
    Library *made = new Library{handle, nullptr, nullptr, find_compiled, {}};
    made->run = reinterpret_cast<decltype(made->run)>(dlsym(handle, "on_cpu_run"));
    made->error = reinterpret_cast<decltype(made->error)>(dlsym(handle, "on_cpu_error"));
    *library = made;
    return made->run && made->error ? SUCCESS : NO_BINARY;
}

EXPORT Result cuLibraryLoadData(void **library, const void *code, void *, void *, unsigned, void *,
                                void *, unsigned) {
    CALL;
    return load(library, code);
}

EXPORT Result cuLibraryUnload(void *) {  // what is queued may still need it
    CALL;
    return SUCCESS;
}

static Result find(void **function, void *library, const char *name) {
    Library *l = static_cast<Library *>(library);
    Function *&found = l->functions[name];
    if (!found) {
        const Compiled *compiled = l->find(l->handle, name);
        if (!compiled) return NOT_FOUND;
        found = new Function{l, name, compiled, 49152};
    }
    *function = found;
    return SUCCESS;
}

EXPORT Result cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    CALL;
    return find(kernel, library, name);
}

EXPORT Result cuLibraryGetModule(void **module, void *library) {
    CALL;
    *module = library;
    return SUCCESS;
}

EXPORT Result cuKernelGetFunction(void **function, void *kernel) {
    CALL;
    if (!current()) return INVALID_CONTEXT;
    Function *of_all = static_cast<Function *>(kernel), *&found = of_all->of_devices[current()];
    if (!found) {
        found = new Function(*of_all);
        found->device = current();
        found->of_devices.clear();
    }
    *function = found;
    return SUCCESS;
}

EXPORT Result cuKernelGetName(const char **name, void *kernel) {
    CALL;
    *name = static_cast<Function *>(kernel)->name.c_str();
    return SUCCESS;
}

EXPORT Result cuModuleLoadData(void **module, const void *code) {
    CALL;
    return load(module, code);
}

EXPORT Result cuModuleGetFunction(void **function, void *module, const char *name) {
    CALL;
    return find(function, module, name);
}

EXPORT Result cuModuleUnload(void *) {
    CALL;
    return SUCCESS;
}

// What a kernel is

static Result get_attribute(int *value, int attribute, void *function) {
    Function *f = static_cast<Function *>(function);
    static const std::map<int, int> values = {{4, 32}, {5, 90}, {6, 90}};
    auto found = values.find(attribute);
    *value = attribute == 0 ? int(f->compiled->threads) : attribute == 8 ? f->most_shared
             : found == values.end() ? 0 : found->second;
    return SUCCESS;
}

static Result set_attribute(void *function, int attribute, int value) {
    if (attribute != 8) return SUCCESS;
    if (value < 0 || value > 232448) return INVALID_VALUE;
    static_cast<Function *>(function)->most_shared = value;
    return SUCCESS;
}

EXPORT Result cuFuncGetAttribute(int *value, int attribute, void *function) {
    CALL;
    return get_attribute(value, attribute, function);
}

EXPORT Result cuKernelGetAttribute(int *value, int attribute, void *kernel, int) {
    CALL;
    return get_attribute(value, attribute, kernel);
}

EXPORT Result cuFuncSetAttribute(void *function, int attribute, int value) {
    CALL;
    return set_attribute(function, attribute, value);
}

EXPORT Result cuKernelSetAttribute(int attribute, int value, void *kernel, int) {
    CALL;
    return set_attribute(kernel, attribute, value);
}

static Result parameter(void *function, size_t index, size_t *offset, size_t *size) {
    size_t frame = static_cast<Function *>(function)->compiled->frame_bytes;
    if (index > 1) return INVALID_VALUE;
    *offset = index ? frame : 0;
    if (size) *size = index ? sizeof(Operands) : frame;
    return SUCCESS;
}

EXPORT Result cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *size) {
    CALL;
    return parameter(kernel, index, offset, size);
}

EXPORT Result cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    CALL;
    return parameter(function, index, offset, size);
}

EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int threads,
                                                          size_t shared) {
    CALL;
    *blocks = std::min(32, std::min(2048 / std::max(threads, 1), int(233472 / (shared + 1024))));
    return SUCCESS;
}

EXPORT Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function,
                                                                   int threads, size_t shared,
                                                                   unsigned) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

// Launches

// For the interpreter: the block in which a kernel finds an address.
EXPORT int mock_range(uint64_t at, uint64_t *low, uint64_t *high) {
    for (Address shift : {ELSEWHERE, Address(0)}) {
        const Block *b = block_at(at + shift);
        if (!b || b->gone || at + shift >= b->low + b->bytes) continue;
        *low = b->low - shift, *high = *low + b->bytes;
        return 1;
    }
    return 0;
}

struct Shape {
    unsigned grid[3], block[3], shared;
};

struct Queued { // all that a launch needs when its turn comes: the caller's memory is read before
                // the call returns
    Function *function;
    Shape shape;
    std::string frame;
    Operands operands;
};

static Result check_operands(const Queued &q, const Device *device, bool queued) {
    for (int k = 0; k < 16; k++) {
        if (!q.operands.at[k]) continue;
        std::string wrong = usable(q.operands.at[k], 0, device, queued);
        if (!wrong.empty())
            return fault(INVALID_VALUE, "kernel %s, operand %d: %s", q.function->name.c_str(), k,
                         wrong.c_str());
    }
    return SUCCESS;
}

static void run_kernel(Device *device, const Queued &q) {
    if (check_operands(q, device, true)) {
        device->broken = ILLEGAL_ADDRESS;
        return;
    }
    Operands real = q.operands;
    for (Address &at : real.at)
        if (at >= ELSEWHERE) at -= ELSEWHERE;
    uint64_t seed = world.seed ? world.seed * 1000003 + ++world.launches : 0;
    if (q.function->library->run(q.function->compiled, q.shape.grid, q.shape.block, q.shape.shared,
                                 seed, q.frame.data(), q.frame.size(), &real))
        device->broken = fault(LAUNCH_FAILED, "kernel %s: %s", q.function->name.c_str(),
                               q.function->library->error());
    for (Address at : q.operands.at) {
        Block *b = at ? block_at(at) : nullptr;
        if (b && !check_guards(*b, q.function->name.c_str())) device->broken = ILLEGAL_ADDRESS;
    }
}

static Result launch(void *function, const Shape &shape, void *stream, void **parameters,
                     void **extra) {
    if (world.at_once) return SUCCESS;
    Stream *s = stream_of(stream);
    Device *device = current();
    if (!device) return INVALID_CONTEXT;
    if (!function || !parameters || extra) return INVALID_VALUE;
    Function *f = static_cast<Function *>(function);
    if (f->device && f->device != device) return INVALID_HANDLE;  // of another context
    if (!s || s->device != device)
        return fault(INVALID_HANDLE, "a launch on a stream of another device, or on none");
    MAY(may_queue(*s));
    uint64_t size = uint64_t(shape.block[0]) * shape.block[1] * shape.block[2];
    const unsigned *g = shape.grid;
    if (!size || size > f->compiled->threads || shape.block[2] > 64 || !g[0] || !g[1] || !g[2] ||
        g[0] > 0x7fffffffu || g[1] > 65535 || g[2] > 65535 || int(shape.shared) > f->most_shared)
        return fault(INVALID_VALUE,
                     "kernel %s cannot be launched with %u x %u x %u blocks of %u x %u x %u "
                     "threads (at most %u) and "
                     "%u bytes of shared memory (at most %d)",
                     f->name.c_str(), g[0], g[1], g[2], shape.block[0], shape.block[1],
                     shape.block[2], unsigned(f->compiled->threads), shape.shared, f->most_shared);
    std::shared_ptr<Queued> q(new Queued{
        f, shape, std::string(static_cast<char *>(parameters[0]), f->compiled->frame_bytes), {}});
    memcpy(&q->operands, parameters[1], sizeof q->operands);
    Result status = check_operands(*q, device, false);
    if (status) return status;
    enqueue(*s, [device, q] { run_kernel(device, *q); });
    return world.delayed ? SUCCESS : told(*device);
}

EXPORT Result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, void *stream,
                             void **parameters, void **extra) {
    CALL;
    return launch(function, {{gx, gy, gz}, {bx, by, bz}, shared}, stream, parameters, extra);
}

struct Config {  // CUlaunchConfig
    Shape shape;
    void *stream, *attributes;
    unsigned count;
};

EXPORT Result cuLaunchKernelEx(const Config *config, void *function, void **parameters,
                               void **extra) {
    CALL;
    return launch(function, config->shape, config->stream, parameters, extra);
}

#endif
