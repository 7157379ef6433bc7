"""PTX, the instructions that NVRTC makes of a program."""

from cuda.bindings import nvrtc

from mat.cuda.runtime.nvrtc import INCLUDES

from ..harness import KernelFault


def version():
    """Return the version of NVRTC as text."""
    _, major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}"


def ptx(text, options, arch):
    """Return the PTX of a program, compiled with the options that `mat` compiles with."""
    words = [f"--gpu-architecture={arch}", "--std=c++17", *(f"-I{path}" for path in INCLUDES),
             *options]
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"program.cu", 0, [], [])
    try:
        status, = nvrtc.nvrtcCompileProgram(program, len(words), [w.encode() for w in words])
        if int(status):
            raise KernelFault(_told(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog,
                                    program))
        return _told(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _told(ask_size, ask, program):
    _, size = ask_size(program)
    data = b" " * size
    ask(program, data)
    return data.rstrip(b"\0").decode()
