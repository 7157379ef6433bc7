"""Examples of the reference for members of classes: what users override or call who extend `mat`.

They are here, not in the docstrings, since the classes are interfaces, which are read as a whole. A
test runs them.
"""

OF_MEMORY = {
    "address_of": """
>>> import numpy as np
>>> class Shelf(mat.extend.Memory):
...     def address_of(self, handle):
...         return handle.ctypes.data
>>> handle = np.ones(2)
>>> Shelf().address_of(handle) == handle.__array_interface__["data"][0]
True""",
    "allocate": """
>>> import numpy as np
>>> class Shelf(mat.extend.Memory):
...     def allocate(self, cube):
...         return np.empty(cube.size, cube.dtype)
>>> Shelf().allocate(mat.ones(2, 3).storage).shape
(6,)""",
    "aside": """
>>> from contextlib import contextmanager
>>> class Shelf(mat.extend.Memory):
...     counted = True
...     @contextmanager
...     def aside(self):
...         self.counted = False
...         yield
...         self.counted = True
>>> shelf = Shelf()
>>> with shelf.aside():
...     shelf.counted
False""",
    "begin_copy_in": """
>>> from concurrent.futures import ThreadPoolExecutor
>>> class Copy:
...     def __init__(self, function, *args):
...         self.future = ThreadPoolExecutor(1).submit(function, *args)
...     def wait(self):
...         self.future.result()
>>> class Shelf(mat.extend.Memory):
...     def copy_in(self, cube, handle, host):
...         handle[:] = host
...     def begin_copy_in(self, cube, handle, host):
...         return Copy(self.copy_in, cube, handle, host)
>>> handle = [0.0, 0.0]
>>> Shelf().begin_copy_in(mat.ones(2).storage, handle, [1.0, 2.0]).wait()
>>> handle
[1.0, 2.0]""",
    "begin_copy_out": """
>>> class Shelf(mat.extend.Memory):
...     def copy_out(self, cube, handle, host):
...         host[:] = handle
>>> host = [0.0, 0.0]
>>> Shelf().begin_copy_out(mat.ones(2).storage, [1.0, 2.0], host)  # None: it is done already
>>> host
[1.0, 2.0]""",
    "copy_from": """
>>> class Shelf(mat.extend.Memory):
...     def copy_from(self, cube, handle, memory, source):
...         if not isinstance(memory, Shelf):
...             return False
...         handle[:] = source
...         return True
>>> handle = [0.0, 0.0]
>>> Shelf().copy_from(mat.ones(2).storage, handle, Shelf(), [1.0, 2.0]), handle
(True, [1.0, 2.0])""",
    "copy_in": """
>>> class Shelf(mat.extend.Memory):
...     def copy_in(self, cube, handle, host):
...         handle[:] = host
>>> handle = [0.0, 0.0]
>>> Shelf().copy_in(mat.ones(2).storage, handle, [1.0, 2.0])
>>> handle
[1.0, 2.0]""",
    "copy_out": """
>>> class Shelf(mat.extend.Memory):
...     def copy_out(self, cube, handle, host):
...         host[:] = handle
>>> host = [0.0, 0.0]
>>> Shelf().copy_out(mat.ones(2).storage, [3.0, 4.0], host)
>>> host
[3.0, 4.0]""",
    "copy_runs": """
>>> class Shelf(mat.extend.Memory):
...     def copy_runs(self, cube, handle, source, shift, runs):
...         for start, stop in runs:
...             handle[start:stop] = source[start + shift:stop + shift]
...         return True
>>> handle = [0, 0, 0]
>>> Shelf().copy_runs(mat.ones(9).storage, handle, [1, 2, 3, 4], 1, [(0, 2)]), handle
(True, [2, 3, 0])""",
    "copy_runs_from": """
>>> class Shelf(mat.extend.Memory):
...     def copy_runs_from(self, cube, handle, memory, source, shift, runs):
...         if not isinstance(memory, Shelf):
...             return False
...         for start, stop in runs:
...             handle[start:stop] = source[start + shift:stop + shift]
...         return True
>>> handle, cube = [0, 0, 0], mat.ones(9).storage
>>> Shelf().copy_runs_from(cube, handle, Shelf(), [1, 2, 3, 4], 1, [(0, 2)]), handle
(True, [2, 3, 0])""",
    "fill": """
>>> class Shelf(mat.extend.Memory):
...     def fill(self, cube, handle):
...         handle[:] = [cube.fill_value] * cube.size
...         return True
>>> handle = [0.0, 0.0]
>>> Shelf().fill(mat.full((2,), 7.0).storage, handle), handle
(True, [7.0, 7.0])""",
    "free": """
>>> class Shelf(mat.extend.Memory):
...     def __init__(self):
...         self.freed = []
...     def free(self, handle):
...         self.freed.append(handle)  # which takes no lock
>>> shelf = Shelf()
>>> shelf.free("handle 1")
>>> shelf.freed
['handle 1']""",
    "free_oldest": """
>>> class Shelf(mat.extend.Memory):
...     def __init__(self):
...         self.blocks = [bytearray(8), bytearray(8), bytearray(8)]  # the oldest first
...     def free_oldest(self, nbytes):
...         while nbytes > 0:
...             nbytes -= len(self.blocks.pop(0))
>>> shelf = Shelf()
>>> shelf.free_oldest(12)
>>> len(shelf.blocks)
1""",
    "handle_of": """
>>> import numpy as np
>>> mat.Mat((2,), buffer=np.ones(2)).facets["array"].fresh  # a buffer is a block of host memory
True
>>> mat.extend.Memory().handle_of(mat.ones(2).storage, bytearray(16))
Traceback (most recent call last):
    ...
NotImplementedError""",
    "has_room": """
>>> class Shelf(mat.extend.Memory):
...     limit, used = 100, 40
...     def has_room(self, nbytes):
...         return self.used + nbytes <= self.limit
>>> Shelf().has_room(60), Shelf().has_room(61)
(True, False)""",
    "has_spans": """
>>> class Shelf(mat.extend.Memory):
...     def write_runs(self, cube, handle, host, runs):
...         for start, stop in runs:
...             handle[start:stop] = host[start:stop]
...         return True
>>> mat.extend.Memory().has_spans, Shelf().has_spans
(False, True)""",
    "joins": """
>>> class Shelf(mat.extend.Memory):
...     def copy_runs(self, cube, handle, source, shift, runs):
...         return False  # this time
>>> mat.extend.Memory().joins, Shelf().joins
(False, True)""",
    "note_use": """
>>> class Shelf(mat.extend.Memory):
...     def __init__(self):
...         self.order = ["handle 1", "handle 2"]
...     def note_use(self, handle):
...         self.order.remove(handle)
...         self.order.append(handle)
>>> shelf = Shelf()
>>> shelf.note_use("handle 1")
>>> shelf.order
['handle 2', 'handle 1']""",
    "page_locked": """
>>> import numpy as np
>>> class Shelf(mat.extend.Memory):
...     locked = {1000}
...     def page_locked(self, host):
...         return host.ctypes.data in self.locked
>>> Shelf().page_locked(np.ones(2))
False""",
    "read_part": """
>>> class Shelf(mat.extend.Memory):
...     def read_part(self, cube, handle, host, start, stop):
...         host[start:stop] = handle[start:stop]
...         return True
>>> host = [0, 0, 0]
>>> Shelf().read_part(mat.ones(3).storage, [1, 2, 3], host, 1, 3), host
(True, [0, 2, 3])""",
    "read_runs": """
>>> class Shelf(mat.extend.Memory):
...     def read_runs(self, cube, handle, host, runs):
...         for start, stop in runs:
...             host[start:stop] = handle[start:stop]
...         return True
>>> host = [0, 0, 0, 0]
>>> Shelf().read_runs(mat.ones(4).storage, [1, 2, 3, 4], host, [(0, 1), (3, 4)]), host
(True, [1, 0, 0, 4])""",
    "retain": """
>>> class Shelf(mat.extend.Memory):
...     def __init__(self):
...         self.exported = []
...     def retain(self, handle):
...         self.exported.append(handle)
>>> shelf = Shelf()
>>> shelf.retain("handle 1")
>>> shelf.exported
['handle 1']""",
    "used_by_others": """
>>> import threading
>>> class Shelf(mat.extend.Memory):
...     def __init__(self):
...         self.in_use = {}  # handles by threads
...     def used_by_others(self):
...         here = threading.get_ident()
...         return {id(h) for thread, h in self.in_use.items() if thread != here}
>>> Shelf().used_by_others()
set()""",
    "write_part": """
>>> class Shelf(mat.extend.Memory):
...     def write_part(self, cube, handle, part, start):
...         handle[start:start + len(part)] = part
...         return True
>>> handle = [1, 2, 3]
>>> Shelf().write_part(mat.ones(3).storage, handle, [7], 1), handle
(True, [1, 7, 3])""",
    "write_runs": """
>>> class Shelf(mat.extend.Memory):
...     def write_runs(self, cube, handle, host, runs):
...         for start, stop in runs:
...             handle[start:stop] = host[start:stop]
...         return True
>>> handle = [0, 0, 0]
>>> Shelf().write_runs(mat.ones(3).storage, handle, [1, 2, 3], [(0, 2)]), handle
(True, [1, 2, 0])""",
}

OF_OBSERVER = {
    "allocated": """
>>> class Seen(mat.extend.Observer):
...     def allocated(self, cube, memory):
...         print(f"{cube.nbytes} bytes in {memory.name}")
>>> x = mat.array([1.0, 2])
>>> with mat.extend.observe(Seen()), mat.use_device("emulated"):
...     x += 1
16 bytes in emulated""",
    "called": """
>>> class Seen(mat.extend.Observer):
...     def called(self, routine, **arguments):
...         print(routine, arguments["m"], arguments["n"], arguments["k"])
>>> a, b = mat.ones(2, 3), mat.ones(3, 4)
>>> with mat.extend.observe(Seen()):
...     c = a @ b
dgemm 4 2 3""",
    "computed": """
>>> class Seen(mat.extend.Observer):
...     def computed(self, operation, memory, seconds):
...         print(operation, memory, seconds > 0)
>>> x = mat.ones(2)
>>> with mat.extend.observe(Seen()):
...     y = x + 1
add host True""",
    "computing": """
>>> class Seen(mat.extend.Observer):
...     def computing(self, operation, memory):
...         print(f"{operation} begins in {memory}")
>>> x = mat.ones(2)
>>> with mat.extend.observe(Seen()), mat.use_device("emulated"):
...     y = x + 1
add begins in emulated""",
    "copied": """
>>> class Seen(mat.extend.Observer):
...     def copied(self, cube, source, target, seconds):
...         print(f"{cube.nbytes} bytes, {source.name} to {target.name}")
>>> x = mat.array([1.0, 2])
>>> with mat.extend.observe(Seen()), mat.use_device("emulated"):
...     x += 1
16 bytes, host to emulated
16 bytes, emulated to host""",
    "copied_runs": """
>>> class Seen(mat.extend.Observer):
...     def copied_runs(self, cube, source, target, runs, seconds):
...         print(list(runs), source.name, target.name)
>>> x = mat.ones(100_000).exp_()
>>> with mat.extend.observe(Seen()), mat.use_device("emulated"):
...     x[:50_000] += 1
[(0, 50000)] host emulated
[(0, 50000)] emulated host""",
    "copying": """
>>> class Forbids(mat.extend.Observer):
...     def copying(self, cube, source, target):
...         raise RuntimeError(f"{cube.nbytes} bytes would be copied to {target.name}")
>>> x = mat.array([1.0, 2])
>>> with mat.extend.observe(Forbids()), mat.use_device("emulated"):
...     x += 1
Traceback (most recent call last):
    ...
RuntimeError: 16 bytes would be copied to emulated""",
    "created": """
>>> class Seen(mat.extend.Observer):
...     def created(self, cube):
...         print(f"{cube.size} elements of {cube.dtype}")
>>> with mat.extend.observe(Seen()):
...     x = mat.zeros(2, 3, dtype="float32")
6 elements of float32""",
    "cut": """
>>> class Seen(mat.extend.Observer):
...     def cut(self, operation, device, tiles, nbytes):
...         print(f"{operation} in {tiles} tiles")
>>> x = mat.ones(10_000).exp_()
>>> with mat.extend.observe(Seen()), mat.use_device("emulated", pool_bytes=100_000):
...     y = x + 1
add in 4 tiles""",
    "ended": """
>>> class Depth(mat.extend.Observer):
...     now = most = 0
...     def computing(self, operation, memory):
...         self.now += 1
...         self.most = max(self.most, self.now)
...     def ended(self, operation, memory):
...         self.now -= 1
>>> with mat.extend.observe(Depth()) as depth:
...     x = mat.ones(2).sqrt_()
>>> depth.most, depth.now
(1, 0)""",
    "entered": """
>>> class Seen(mat.extend.Observer):
...     def entered(self, record):
...         print(record.facet.name, record.direction.value)
>>> x = mat.ones(2)
>>> with mat.extend.observe(Seen()), x.facet("array", "output") as a:
...     a[:] = 3
array output""",
    "evicted": """
>>> class Seen(mat.extend.Observer):
...     def evicted(self, cube, memory):
...         print(f"{cube.nbytes} bytes leave {memory.name}")
>>> x, y = mat.ones(1000).exp_(), mat.ones(1000).exp_()
>>> with mat.extend.observe(Seen()), mat.use_device("emulated", pool_bytes=10_000):
...     x += 1
...     y += 1
8000 bytes leave emulated""",
    "exported": """
>>> class Seen(mat.extend.Observer):
...     def exported(self, record):
...         print(record.facet.name, record.view.shape)
>>> import numpy as np
>>> x = mat.ones(2)
>>> with mat.extend.observe(Seen()):
...     a = np.from_dlpack(x)
array (2,)""",
    "fell_back": """
>>> class Seen(mat.extend.Observer):
...     def fell_back(self, operation, device):
...         print(f"{operation} is not for {device}")
>>> x = mat.ones(2)
>>> with mat.extend.observe(Seen()), mat.use_device("emulated"):
...     y = mat.i0(x)
i0 is not for emulated""",
    "fell_back_since": """
>>> class Seen(mat.extend.Observer):
...     def fell_back_since(self, operation, device, reason):
...         print(operation, device, repr(reason))
>>> x = mat.ones(2)
>>> with mat.extend.observe(Seen()), mat.use_device("emulated"):
...     y = mat.i0(x)
i0 emulated ''""",
    "freed": """
>>> class Seen(mat.extend.Observer):
...     def freed(self, cube, memory):
...         print(f"{cube.nbytes} bytes in {memory.name} are free")
>>> x = mat.ones(2).exp_()
>>> with mat.use_device("emulated"):
...     y = x + 1
...     with mat.extend.observe(Seen()):
...         dropped = x.drop("emulated")
16 bytes in emulated are free""",
    "left": """
>>> class Seen(mat.extend.Observer):
...     def left(self, record, failed):
...         print(f"{record.direction.value} ended, {'failed' if failed else 'well'}")
>>> x = mat.ones(2)
>>> with mat.extend.observe(Seen()), x.facet("array", "input") as a:
...     total = a.sum()
input ended, well""",
    "packed": """
>>> class Seen(mat.extend.Observer):
...     def packed(self, view):
...         print(f"strides {view.element_strides}")
>>> a, b = mat.ones(6, 6)[::2, ::2], mat.ones(3, 3)
>>> with mat.extend.observe(Seen()):
...     c = a @ b
strides (12, 2)""",
    "released": """
>>> class Seen(mat.extend.Observer):
...     ended = 0
...     def released(self, record):
...         self.ended += 1
>>> import numpy as np
>>> with mat.extend.observe(Seen()) as seen:
...     a = np.from_dlpack(mat.ones(2))
...     del a
>>> seen.ended
1""",
    "waited": """
>>> class Seen(mat.extend.Observer):
...     def waited(self, what, cube, memory, seconds):
...         print(f"for {what}, {'a while' if seconds > 1 else 'not long'}")
>>> with mat.use_device("emulated"):
...     x = mat.ones(2).exp_()
...     with mat.extend.observe(Seen()):
...         first = float(x[0])
for an element, not long""",
    "waiting": """
>>> class Forbids(mat.extend.Observer):
...     def waiting(self, what, cube, memory):
...         raise RuntimeError(f"the loop would wait for {what}")
>>> with mat.use_device("emulated"), mat.extend.observe(Forbids()):
...     float(mat.ones(2).exp_().sum())
Traceback (most recent call last):
    ...
RuntimeError: the loop would wait for an element""",
}

OF_FACET = {
    "chosen": """
>>> class Readers(mat.extend.Facet):
...     name, letter, memory = "readers", "R", mat.extend.Memory()
...     def chosen(self, view, direction):
...         if direction != "input":
...             raise mat.errors.DirectionError("readers do not write")
...         return self
>>> Readers().chosen(mat.ones(2), "io")
Traceback (most recent call last):
    ...
mat.errors.DirectionError: readers do not write""",
    "lender": """
>>> import numpy as np
>>> class Rows(mat.extend.Facet):
...     name, letter, memory = "rows", "R", mat.extend.Memory()
...     def lender(self, value):
...         return value.view  # an array whose flags a block may set
>>> kept = np.ones(6)
>>> lent = Rows().lender(kept)()
>>> lent.flags.writeable = False
>>> kept.flags.writeable
True""",
    "present": """
>>> import numpy as np
>>> class Rows(mat.extend.Facet):
...     name, letter, memory = "rows", "R", mat.extend.Memory()
...     def present(self, view, handle, writable):
...         return handle[view.displacement:view.displacement + view.size].reshape(view.shape)
>>> Rows().present(mat.ones(2, 3)[1:], np.arange(6), True)
array([[3, 4, 5]])""",
}

OF_LIBRARY_FACET = {
    "array_of": """
>>> import fractions
>>> class Exact(mat.extend.LibraryFacet):
...     name, letter, library = "exact", "X", "fractions"
...     immutable = True  # these are copies
...     def array_of(self, library, value):
...         return [library.Fraction(number) for number in value.tolist()]
>>> Exact().array_of(fractions, mat.array([0.5]).to_numpy())
[Fraction(1, 2)]""",
    "check": """
>>> class Bytes(mat.extend.LibraryFacet):
...     name, letter, library = "bytes", "Y", "array"
...     def check(self, library, view):
...         if view.itemsize != 1:
...             raise mat.errors.DTypeError(f"{library} has no {view.dtype}")
>>> Bytes().check("array", mat.ones(2))
Traceback (most recent call last):
    ...
mat.errors.DTypeError: array has no float64""",
    "lender": """
>>> class Flat(mat.extend.LibraryFacet):
...     name, letter, library = "flat", "Y", "array"
...     def array_of(self, library, value):
...         return library.array("d", value)
>>> make = Flat().lender(mat.ones(2).to_numpy())
>>> make()
array('d', [1.0, 1.0])
>>> make() is make()
False""",
}

NEGATED = """
>>> @mat.extend.op(method="")
... def negated(x: mat.extend.Input, out: mat.extend.Output):
...     "Write ``-x``."
"""
ON_ARRAYS = """>>> @negated.on("array")
... def negated_numpy(np, x, out):
...     np.negative(x, out=out)
"""
OF_OP = {
    "call": """
>>> x, y = mat.ones(2), mat.zeros(2)
>>> mat.axpy.call((2, x, y), {})  # as mat.axpy(2, x, y), whatever was planned
<Mat 2 F [2. 2.]>""",
    "call_new": """
>>> from mat.ops.engine.operation import REGISTRY
>>> root = REGISTRY["elementwise.sqrt"]  # below `mat.sqrt`, which chooses the dtype
>>> root.call_new((mat.array([4.0, 9]), None))
<Mat 2 F [2. 3.]>""",
    "call_on": """
>>> x, y = mat.ones(2), mat.zeros(2)
>>> with mat.use_device("emulated") as device:
...     result = mat.axpy.call_on(device, (2, x, y), {})
>>> result is y, y.tolist()
(True, [2.0, 2.0])""",
    "carry_out_within": """
>>> x, y = mat.ones(10_000), mat.zeros(10_000)
>>> with mat.use_device("emulated", pool_bytes=100_000) as device:
...     result = mat.axpy.carry_out_within(device, (2, x, y), {}, None)  # in tiles
>>> result.max().item()
2.0""",
    "cut_by": NEGATED + """>>> @negated.cut_by
... def halves(args, kwargs, budget):
...     x, out = args
...     for half in (slice(None, x.size // 2), slice(x.size // 2, None)):
...         part = x[half], out[half]
...         yield mat.extend.Tile(lambda part=part: negated(*part), part[:1], part[1:])
>>> [tile.nbytes for tile in halves((mat.ones(4), mat.empty(4)), {}, 100)]
[32, 32]""",
    "fits": """
>>> from mat.ops.engine.operation import REGISTRY
>>> x = mat.ones(2, 3)
>>> REGISTRY["elementwise.sqrt"].fits(mat.empty(2, 3), (x, None))
True
>>> REGISTRY["elementwise.sqrt"].fits(mat.empty(3), (x, None))
False""",
    "forget": """
>>> mat.axpy.forget()  # the next call is planned again
>>> mat.axpy(2, mat.ones(2), mat.ones(2))
<Mat 2 F [3. 3.]>""",
    "implementation_on": NEGATED + ON_ARRAYS + """>>> negated.implementation_on("array").facet_name
'array'""",
    "is_computed_whole": NEGATED + """>>> negated.is_computed_whole("it is short")
>>> negated.whole_because
'it is short'""",
    "lacking": NEGATED + ON_ARRAYS + """>>> with mat.use_device("emulated") as device:
...     negated.lacking(device)
'it has implementations for the host only'""",
    "on": NEGATED + ON_ARRAYS + """>>> negated(mat.ones(2), mat.empty(2))
<Mat 2 A [-1. -1.]>""",
    "on_engine": """
>>> @mat.extend.op(method="")
... def negative(x: mat.extend.Input, out: mat.extend.Output):
...     "Write ``-x``."
>>> negative.on_engine("array")  # whose engine is NumPy: numpy.negative
>>> negative(mat.ones(2), mat.empty(2))
<Mat 2 A [-1. -1.]>""",
    "only_of_host": NEGATED + ON_ARRAYS + """>>> negated.only_of_host, mat.axpy.only_of_host
(True, False)""",
    "prepare": NEGATED + """>>> @negated.prepare("array", dtypes="d")
... def prepare_negated(np, x, out):
...     assert x.shape == out.shape  # once for all calls of this form
...     return np.negative
>>> negated(mat.ones(2), mat.empty(2))
<Mat 2 A [-1. -1.]>""",
}

OF_TILE = {
    "has_operands": """
>>> x = mat.ones(4)
>>> mat.extend.Tile(lambda: x.sum(), (x,)).has_operands
True
>>> mat.extend.Tile(lambda: print("halfway")).has_operands
False""",
    "nbytes": """
>>> x, y = mat.ones(4), mat.ones(4, dtype="float32")
>>> mat.extend.Tile(lambda: mat.sqrt(x[:2], out=y[:2]), (x[:2],), (y[:2],)).nbytes
24""",
}

OF_RANDOM_STATE = {
    "random_integers": """
>>> mat.random.RandomState(1).randint(1, 6 + 1, size=3).shape  # which it is called now
(3,)""",
}

CLASSES = {"mat.extend.Memory": OF_MEMORY, "mat.extend.Observer": OF_OBSERVER,
           "mat.extend.Facet": OF_FACET, "mat.extend.LibraryFacet": OF_LIBRARY_FACET,
           "mat.extend.Op": OF_OP, "mat.extend.Tile": OF_TILE,
           "mat.random.RandomState": OF_RANDOM_STATE}
EXAMPLES = {f"{path}.{name}": text for path, members in CLASSES.items()
            for name, text in members.items()}
