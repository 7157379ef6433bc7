"""Composed loops for tests: programs of the host by compiled loops from their first use on, with
one call of the compiler for all of them.
"""

import contextlib
import re
from itertools import islice

from mat.cpu import program as cpu_program
from mat.cpu.program import ComposedLoop, composed_steps, source_of_program
from mat.ops.expressions import passes, program
from mat.support.c_compiler import kernels

HEADER = '#include "composed_inline.h"\n'
COMPILED = {}  # by the flags of the compiler: the addresses of the loops of each source


@contextlib.contextmanager
def prepared_by(function):
    """Call a function with each program that is prepared, new ones for all structures."""
    real = program.prepare_program

    def prepare(*args):
        found = real(*args)
        function(found)
        return found
    passes.PROGRAMS.clear()
    program.prepare_program = prepare
    try:
        yield
    finally:
        program.prepare_program = real
        passes.PROGRAMS.clear()


def composed(run):
    """Call a function, which is called once before, with programs by compiled loops; return how
    many loops there were.
    """
    known, composer = cpu_program.COMPOSER.known, cpu_program.COMPOSER
    sources, used = {}, []

    def collect(found):
        loops = loops_of(found)
        if loops:
            sources[source_of_program(loops)] = len(loops)

    def use(found):
        if loops_of(found):
            composer.compile(found)
            used.append(found.keep)
    with prepared_by(collect):
        run()
    cpu_program.COMPOSER.known = addresses_of(sources)
    try:
        with prepared_by(use):
            run()
    finally:
        cpu_program.COMPOSER.known = known
    assert not composer.faults
    return len(used)


def loops_of(found):
    """Return the loops that can be composed of a program."""
    return [one for one in composed_steps(found) if isinstance(one, ComposedLoop)]


def addresses_of(sources):
    """Return the addresses of the loops of each source; those not yet known are compiled."""
    known = COMPILED.setdefault((*cpu_program.machine_flags(),), {})
    new = {source: count for source, count in sources.items() if source not in known}
    if new:
        known.update(compiled(new))
    return {source: known[source] for source in sources}


def compiled(sources):
    """Return the addresses of the loops of each source, compiled together."""
    parts, names = [], []
    for k, (source, count) in enumerate(sources.items()):
        text, _ = source.removeprefix(HEADER).split("MAT_KERNELS")
        parts.append(re.sub(r"\bloop(\d+)\b", rf"loop{k}_\1", text).strip())
        names += [f"loop{k}_{j}" for j in range(count)]
    whole = "\n".join([HEADER, *parts, f"MAT_KERNELS({', '.join(names)})", ""])
    addresses = iter(kernels(whole, len(names), *cpu_program.machine_flags()))
    return {source: list(islice(addresses, count)) for source, count in sources.items()}
