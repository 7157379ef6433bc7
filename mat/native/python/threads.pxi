# The part of `mat._core` about threads: locks that no interrupt leaves locked, and the identity of
# threads. ``_core.pyx`` includes it.

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

cdef extern from "pythread.h" nogil:
    ctypedef void *PyThread_type_lock
    ctypedef enum PyLockStatus:
        PY_LOCK_FAILURE
        PY_LOCK_ACQUIRED
        PY_LOCK_INTR
    PyThread_type_lock PyThread_allocate_lock()
    void PyThread_free_lock(PyThread_type_lock)
    int PyThread_acquire_lock(PyThread_type_lock, int)
    PyLockStatus PyThread_acquire_lock_timed(PyThread_type_lock, long long, int)
    void PyThread_release_lock(PyThread_type_lock)

cdef extern from "Python.h":
    ctypedef struct PyInterpreterState
    ctypedef struct PyThreadState:
        unsigned long thread_id
    PyThreadState *PyThreadState_Get()
    PyInterpreterState *PyThreadState_GetInterpreter(PyThreadState *)
    unsigned long long PyThreadState_GetID(PyThreadState *)
    PyThreadState *PyInterpreterState_ThreadHead(PyInterpreterState *)
    PyThreadState *PyThreadState_Next(PyThreadState *)
    void Py_XDECREF(PyObject *)
    void Py_XINCREF(PyObject *)

cdef extern from *:
    """
    /* frames and code as objects, which they are; newer compilers do not convert such pointers */
    static PyObject *mat_frame(void) { return (PyObject *)PyEval_GetFrame(); }
    static PyObject *mat_code_of(PyObject *frame) {
        return (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    }
    static PyObject *mat_outer_of(PyObject *frame) {
        return (PyObject *)PyFrame_GetBack((PyFrameObject *)frame);
    }
    static int mat_instruction_of(PyObject *frame) {
        return PyFrame_GetLasti((PyFrameObject *)frame);
    }

    /* The frames of the interpreter themselves: to make objects for them takes more time than all
       the rest of a small call. There are none for versions whose frames are not known here. */
    #if PY_VERSION_HEX < 0x030C0000
    typedef struct mat_running { /* the beginning of 3.11's _PyInterpreterFrame */
        void *function, *globals, *builtins, *locals;
        PyObject *code;
        void *object;
        struct mat_running *outer;
        const char *instruction;
    } mat_running;
    #else
    typedef struct mat_running { /* that of later ones */
        void *code;
        struct mat_running *outer;
    #if PY_VERSION_HEX < 0x030D0000
        void *six[6];
        int top;
        uint16_t offset;
        char owner;
    #endif
    } mat_running;
    #endif

    /* Return the innermost frame, or NULL. */
    static mat_running *mat_running_frame(void) {
    #if PY_VERSION_HEX >= 0x030F0000 || defined(PYPY_VERSION)
        return NULL;
    #elif PY_VERSION_HEX < 0x030D0000
        return (mat_running *)PyThreadState_Get()->cframe->current_frame;
    #else
        return (mat_running *)PyThreadState_Get()->current_frame;
    #endif
    }

    static mat_running *mat_outer_frame(mat_running *frame) { return frame->outer; }

    /* Return the code that a frame runs, borrowed, and its instruction, as PyFrame_GetLasti does;
       NULL for a frame of the interpreter's own, and for one that has not begun. */
    static PyObject *mat_running_code(mat_running *frame, int *at) {
        PyObject *code = NULL;
    #if PY_VERSION_HEX < 0x030C0000
        code = frame->code;
        *at = (int)(frame->instruction
                    - (const char *)((PyCodeObject *)code)->co_code_adaptive);
    #elif PY_VERSION_HEX < 0x030F0000 && !defined(PYPY_VERSION)
        struct _PyInterpreterFrame *same = (struct _PyInterpreterFrame *)frame;
    #if PY_VERSION_HEX < 0x030D0000
        if (frame->owner == 3) return NULL; /* between C and Python */
    #endif
        code = PyUnstable_InterpreterFrame_GetCode(same);
        Py_XDECREF(code); /* the frame has it */
        if (code == NULL || !PyCode_Check(code)) return NULL;
        *at = PyUnstable_InterpreterFrame_GetLasti(same);
        /* nor one that checks what __init__ of a class returned */
        if (*at < (int)sizeof(uint16_t) * ((PyCodeObject *)code)->_co_firsttraceable) return NULL;
    #endif
        return *at < 0 ? NULL : code;
    }
    """
    PyObject *mat_frame()
    object mat_code_of(PyObject *)
    PyObject *mat_outer_of(PyObject *)
    int mat_instruction_of(PyObject *)
    ctypedef struct mat_running:
        pass
    mat_running *mat_running_frame()
    mat_running *mat_outer_frame(mat_running *)
    PyObject *mat_running_code(mat_running *, int *at)

# How often this process was forked: locks of threads that a child does not have are free in it.
cdef unsigned int generation = 0
cdef dict modules = sys.modules


def _begin_child():
    global generation
    generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


cdef class Lock:
    """A reentrant lock, as `threading.RLock`, that an interrupt cannot leave locked.

    The GIL guards `owner` and `count`. Threads that find another owner wait at a gate, a lock of
    the system, which is made then; a release opens it for one of them.
    """

    def __cinit__(self):
        self.generation = generation

    def __dealloc__(self):
        if self.lock != NULL:
            if not self.is_open and self.generation == generation:
                PyThread_release_lock(self.lock)
            PyThread_free_lock(self.lock)

    cdef void forget_parent(self):
        """In a child: be free, unless the thread that forked has the lock; nobody waits."""
        if self.count and self.owner != PyThreadState_GetID(PyThreadState_Get()):
            self.count = 0
        self.lock = NULL  # the old one cannot be released here
        self.waiting = 0
        self.is_open = False
        self.generation = generation

    cpdef bint try_acquire(self):
        """Acquire self if no other thread has it; return True if it was acquired."""
        cdef unsigned long long me = PyThreadState_GetID(PyThreadState_Get())
        if self.generation != generation:
            self.forget_parent()
        if self.count and self.owner != me:
            return False
        self.owner = me
        self.count += 1
        return True

    cpdef bint acquire_free(self):
        """Acquire self if no thread has it, this one included; return True if it was acquired."""
        if not self.try_acquire():
            return False
        if self.count > 1:
            self.count -= 1
            return False
        return True

    cpdef bint acquire(self) except -1:
        """Acquire self, waiting for other threads; an interrupt ends the wait."""
        while not Lock.try_acquire(self):  # not that of a derived class: without a look-up
            self.wait(True)
        return True

    cpdef bint acquire_surely(self) except -1:
        """Acquire self to end something; interrupts come after that."""
        while not self.try_acquire():
            self.wait(False)
        return True

    cdef int wait(self, bint can_be_interrupted) except -1:
        """Wait until the gate is open, and close it."""
        cdef PyLockStatus status
        cdef PyThread_type_lock gate
        if self.lock == NULL:
            self.lock = PyThread_allocate_lock()
            if self.lock == NULL:
                raise MemoryError
            PyThread_acquire_lock(self.lock, 0)
        gate = self.lock
        self.waiting += 1
        with nogil:
            status = PyThread_acquire_lock_timed(gate, -1, can_be_interrupted)
        self.waiting -= 1
        if status == PY_LOCK_ACQUIRED:
            self.is_open = False
        else:
            PyErr_CheckSignals()
        return 0

    cpdef int release(self) except -1:
        """Release self, once for each acquire."""
        if not self.count or self.owner != PyThreadState_GetID(PyThreadState_Get()):
            raise RuntimeError("cannot release a lock that this thread does not have")
        self.count -= 1
        if not self.count and self.waiting and not self.is_open:
            self.is_open = True
            PyThread_release_lock(self.lock)
        return 0

    def __enter__(self):
        self.acquire()

    def __exit__(self, *_):
        self.release()


cdef class ClosedLock(Lock):
    """A lock that nobody can acquire: to acquire it raises an error."""

    def __init__(self, object error):
        self.error = error  # a function that returns the error
        self.count = 1  # as if another thread had it

    cpdef bint try_acquire(self):
        return False

    cpdef bint acquire(self) except -1:
        raise self.error()

    cpdef bint acquire_surely(self) except -1:
        raise self.error()


# So that ids of threads differ from those that records have of what is not a thread.
cdef unsigned long long FIRST = 16


cdef inline size_t place_of(PyObject *code, int at):
    """Return the place of a line among those that were found last."""
    return ((<size_t>code >> 4) + at) % KNOWN_LINES


cdef class Threads:
    """The identities of threads, which are not used again, and the lines that they execute."""

    def __init__(self, str package, object is_between):
        self.package = package  # the folder of the package
        self.is_between = is_between  # of files whose callers' lines count
        self.lines = [None] * KNOWN_LINES  # found last
        self.kept = [None] * KNOWN_LINES

    cpdef unsigned long long current(self):
        """Return the identity of this thread."""
        return PyThreadState_GetID(PyThreadState_Get()) + FIRST

    cpdef unsigned long ident(self, unsigned long long thread):
        """Return what `threading.get_ident` is in a thread; 0 if the thread has ended."""
        cdef PyThreadState *state = PyInterpreterState_ThreadHead(
            PyThreadState_GetInterpreter(PyThreadState_Get()))
        while state != NULL:
            if PyThreadState_GetID(state) + FIRST == thread:
                return state.thread_id
            state = PyThreadState_Next(state)
        return 0

    cpdef object task(self):
        """Return the task of asyncio that this thread is running, or None."""
        if self.running_loop is None and not self.find_asyncio():
            return None
        loop = self.running_loop()
        return None if loop is None else self.current_task(loop)

    cdef bint find_asyncio(self):
        """Find the functions of asyncio that say what runs, once a program has loaded it."""
        cdef Py_ssize_t count = len(modules)
        if count == self.modules_before:  # a look-up would take longer
            return False
        module = modules.get("asyncio")
        if module is None:
            self.modules_before = count
            return False
        if not hasattr(module, "current_task"):  # it is being loaded
            return False
        self.running_loop, self.current_task = module._get_running_loop, module.current_task
        return True

    cpdef object line(self):
        """Return the line of the user that led to this one: code and instruction, and a third item
        if the line that called compiled code is one of the package.

        Lines of Python's library and of NumPy count only where there are no others.
        """
        cdef mat_running *frame = mat_running_frame()
        cdef PyObject *code
        cdef PyObject *inner = NULL
        cdef Source source
        cdef int at = 0, inner_at = 0
        cdef bint inside = False, inner_inside = False
        if frame == NULL:
            return self.line_of_frames()
        while frame != NULL:
            code = mat_running_code(frame, &at)
            if code != NULL:
                source = self.source_of(code)
                if source == OF_USER:
                    return self.known_line(<object>code, at, inside)
                if source == OF_PACKAGE:
                    inside = True
                elif inner == NULL:
                    inner, inner_at, inner_inside = code, at, inside
            frame = mat_outer_frame(frame)
        return None if inner == NULL else self.known_line(<object>inner, inner_at, inner_inside)

    cdef object line_of_frames(self):
        """Do what `line` does, where only objects for frames are known."""
        cdef PyObject *frame = mat_frame()
        cdef PyObject *outer
        cdef Source source
        cdef bint inside = False
        inner = None
        Py_XINCREF(frame)
        while frame != NULL:
            code = mat_code_of(frame)
            source = self.source_of(<PyObject *>code)
            if source == OF_PACKAGE:
                inside = True
            elif source == OF_USER or inner is None:
                inner = self.known_line(code, mat_instruction_of(frame), inside)
            outer = mat_outer_of(frame) if source != OF_USER else NULL
            Py_XDECREF(frame)
            frame = outer
        return inner

    cpdef object consumer_line(self, object is_installed):
        """Return the line of the user that called the library that called the package, as code and
        instruction; if all are of libraries, that of the innermost one.

        `is_installed` says of a file whether it is one of a library.
        """
        cdef mat_running *frame = mat_running_frame()
        cdef PyObject *code
        cdef int at = 0
        inner = None
        if frame == NULL:
            return self.consumer_line_of_frames(is_installed)
        while frame != NULL:
            code = mat_running_code(frame, &at)
            if code != NULL:
                if code == <PyObject *>self.consumer_code:
                    return self.known_line(<object>code, at, False)
                if self.source_of(code) != OF_PACKAGE:
                    if not is_installed((<object>code).co_filename):
                        self.consumer_code = <object>code
                        return self.known_line(<object>code, at, False)
                    if inner is None:
                        inner = (<object>code, at)
            frame = mat_outer_frame(frame)
        return inner

    cdef object consumer_line_of_frames(self, object is_installed):
        """Do what `consumer_line` does, where only objects for frames are known."""
        cdef PyObject *frame = mat_frame()
        cdef PyObject *outer
        inner = None
        Py_XINCREF(frame)
        while frame != NULL:
            code = mat_code_of(frame)
            if code is self.consumer_code or self.source_of(<PyObject *>code) != OF_PACKAGE:
                if inner is None:
                    inner = (code, mat_instruction_of(frame))
                if code is self.consumer_code or not is_installed(code.co_filename):
                    self.consumer_code = code
                    inner = (code, mat_instruction_of(frame))
                    Py_XDECREF(frame)
                    return inner
            outer = mat_outer_of(frame)
            Py_XDECREF(frame)
            frame = outer
        return inner

    cdef object known_line(self, object code, int at, bint inside):
        """Return a line as `line` does: the same object as before, if it was one of the last."""
        cdef size_t place = place_of(<PyObject *>code, at)
        if self.codes[place] == <PyObject *>code and self.instructions[place] == 2 * at + inside:
            return self.lines[place]
        found = (code, at, True) if inside else (code, at)
        self.lines[place] = found
        self.codes[place] = <PyObject *>code  # which `found` has
        self.instructions[place] = 2 * at + inside
        return found

    cdef Source source_of(self, PyObject *code) except? BETWEEN:
        """Return whose code this is."""
        cdef size_t place = place_of(code, 0)
        cdef str file
        if code == <PyObject *>self.user_code:
            return OF_USER
        if code != self.passed[place]:
            file = (<object>code).co_filename
            ours = file.startswith(self.package)
            if not ours and self.is_between(file) is None:
                self.user_code = <object>code  # the next call is likely from there, too
                return OF_USER
            self.kept[place] = <object>code
            self.passed[place] = code
            self.ours[place] = ours
        return OF_PACKAGE if self.ours[place] else BETWEEN
