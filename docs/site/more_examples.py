"""Examples of the reference for names whose docstrings have none; a test runs them."""

import member_examples

EXAMPLES = {
    "mat.Mat.accept_torn": """
>>> x = mat.ones(2)
>>> with x.facet("array", "io") as a:
...     raise ValueError("in the middle of a write")
Traceback (most recent call last):
    ...
ValueError: in the middle of a write
>>> x.accept_torn()  # the elements are what the block left
<Mat 2 ... [1. 1.]>""",
    "mat.Mat.adjust_": """
>>> mat.zeros(2).adjust_((3, 2)).shape
(3, 2)""",
    "mat.Mat.assign_": """
>>> mat.zeros(2).assign_(mat.array([1, 2]))
<Mat 2 F [1. 2.]>""",
    "mat.Mat.byteswap": """
>>> mat.array([1], mat.int16).byteswap().tolist()
[256]""",
    "mat.Mat.close": """
>>> x = mat.ones(2)
>>> x.close()""",
    "mat.Mat.contiguous": """
>>> mat.array([[1, 2], [3, 4]]).T.contiguous().is_contiguous
True""",
    "mat.Mat.displace": """
>>> mat.arange(6)[:2].displace(3).tolist()
[3, 4]""",
    "mat.Mat.displace_": """
>>> x = mat.arange(6)[:2]
>>> x.displace_(3).tolist()
[3, 4]""",
    "mat.Mat.drop": """
>>> x = mat.ones(2)
>>> with mat.use_device("emulated"):
...     x += 1
...     x.drop("emulated")  # nowhere else is it up to date
Traceback (most recent call last):
    ...
mat.errors.ConflictError: ...""",
    "mat.Mat.dump": """
>>> import io
>>> mat.ones(2).dump(io.BytesIO())""",
    "mat.Mat.dumps": """
>>> import pickle
>>> pickle.loads(mat.ones(2).dumps())
<Mat 2 - [1. 1.]>""",
    "mat.Mat.getfield": """
>>> mat.ones(2).getfield("f4")
Traceback (most recent call last):
    ...
mat.errors.DTypeError: elements of a Mat have no fields of 'f4'; ...""",
    "mat.Mat.item": """
>>> mat.array([[1, 2], [3, 4]]).item(1, 0)
3""",
    "mat.Mat.keep": """
>>> x = mat.ones(2)
>>> with x.keep("host"):  # its memory is neither freed nor moved in the block
...     x.tolist()
[1.0, 1.0]""",
    "mat.Mat.permute": """
>>> mat.ones(2, 3, 4).permute(2, 0, 1).shape
(4, 2, 3)""",
    "mat.Mat.ravel_index": """
>>> mat.ones(2, 3).ravel_index(1, 2)
5""",
    "mat.Mat.row_": """
>>> x = mat.array([[1, 2], [3, 4]])
>>> x.row_(1).tolist()
[[3, 4]]""",
    "mat.Mat.setfield": """
>>> mat.ones(2).setfield(0, "f4")
Traceback (most recent call last):
    ...
mat.errors.DTypeError: ...""",
    "mat.Mat.setflags": """
>>> mat.ones(2).setflags(write=True)""",
    "mat.Mat.to_numpy": """
>>> mat.ones(2).to_numpy()
array([1., 1.])""",
    "mat.Mat.tofile": """
>>> mat.ones(2).tofile("two.bin")
>>> mat.fromfile("two.bin").tolist()
[1.0, 1.0]""",
    "mat.Mat.tolist": """
>>> mat.array([[1, 2], [3, 4]]).T.tolist()
[[1, 3], [2, 4]]""",
    "mat.debug.allow_conflicts": """
>>> x = mat.ones(2)
>>> with mat.debug.allow_conflicts(), x.facet("array", "io"):
...     x.sum()
<Mat () F 2.>""",
    "mat.debug.nvtx_ranges": """
>>> ranges = mat.debug.nvtx_ranges()  # a block, for a program that Nsight watches""",
    "mat.extend.by_elements": """
>>> @mat.extend.op
... def doubled(x: mat.extend.Input, out: mat.extend.Output):
...     "Write ``2 * x``."
>>> cutter = doubled.cut_by(mat.extend.by_elements(doubled))""",
    "mat.extend.op": """
>>> @mat.extend.op
... def tripled(x: mat.extend.Input, out: mat.extend.Output):
...     "Write ``3 * x``."
>>> @tripled.on("array")
... def tripled_numpy(np, x, out):
...     np.multiply(x, 3, out=out)
>>> tripled(mat.ones(2), mat.zeros(2))
<Mat 2 A [3. 3.]>""",
    "mat.extend.register_facet": """
>>> class Desk(mat.extend.Memory):
...     name = "desk"
>>> class Twin(mat.extend.Facet):
...     name, letter, memory = "twin", "T", Desk()
>>> twin = mat.extend.register_facet(Twin())""",
    "mat.extend.register_memory": """
>>> class Shelf(mat.extend.Memory):
...     name = "shelf"
>>> mat.extend.register_memory(Shelf())
<memory shelf>""",
    "mat.fromregex": """
>>> import io
>>> mat.fromregex(io.StringIO("1 2"), r"(\\d)", [("n", "i8")])
Traceback (most recent call last):
    ...
mat.errors.DTypeError: fromregex gives elements of ...""",
    "mat.isfinite": ">>> mat.isfinite(mat.array([1, mat.inf])).tolist()\n[True, False]",
    "mat.isinf": ">>> mat.isinf(mat.array([1, mat.inf])).tolist()\n[False, True]",
    "mat.isnan": ">>> mat.isnan(mat.array([1, mat.nan])).tolist()\n[False, True]",
    "mat.isnat": ">>> import numpy\n>>> bool(mat.isnat(numpy.datetime64('NaT', 's')))\nTrue",
    "mat.logical_not": ">>> mat.logical_not(mat.array([0, 2])).tolist()\n[True, False]",
    "mat.random.get_bit_generator": ">>> generator = mat.random.get_bit_generator()",
    "mat.row_stack": """
>>> mat.vstack([mat.ones(2), mat.zeros(2)]).shape  # which it is called now
(2, 2)""",
    "mat.signbit": ">>> mat.signbit(mat.array([-1, 1])).tolist()\n[True, False]",
    "mat.use_cuda": """
>>> with mat.use_cuda():  # as with mat.use_device("cuda"): on the host without a GPU
...     mat.ones(2).sum()
<Mat () ... 2.>""",
    # Errors that take more than one statement
    "mat.MatError": """
>>> try:
...     mat.ones(2) + mat.ones(3)
... except mat.MatError as error:  # whichever it is
...     type(error).__name__
'ShapeError'""",
    "mat.ConflictError": """
>>> x = mat.ones(2)
>>> with x.facet("array", "input"):
...     x.fill_(0)
Traceback (most recent call last):
    ...
mat.errors.ConflictError: ...""",
    "mat.TornError": """
>>> with mat.scratch(2) as x:
...     _ = x.fill_(1)
>>> x.sum()  # its memory is used for something else now
Traceback (most recent call last):
    ...
mat.errors.TornError: ...""",
    "mat.OutOfDeviceMemory": """
>>> with mat.use_device("emulated", pool_bytes=1000):
...     mat.linalg.inv(mat.eye(100))
Traceback (most recent call last):
    ...
mat.errors.OutOfDeviceMemory: ...""",
    "mat.DiskError": """
>>> import os
>>> x = mat.open_memmap("x.npy", "w+", shape=(10_000,))
>>> os.truncate("x.npy", 200)  # by another program
>>> x.sum()
Traceback (most recent call last):
    ...
mat.errors.DiskError: ...""",
    "mat.FormatError": """
>>> import io
>>> mat.load(io.BytesIO(b"no such file"))
Traceback (most recent call last):
    ...
mat.errors.FormatError: ...""",
    "mat.ExchangeError": """
>>> import numpy
>>> numpy.from_dlpack(mat.arange(3)[::-1], copy=False)
Traceback (most recent call last):
    ...
mat.errors.ExchangeError: ...""",
    "mat.PerformanceWarning": """
>>> import warnings
>>> warnings.simplefilter("error", mat.PerformanceWarning)  # now it is an error""",
    "mat.extend.TileTooLarge": ">>> issubclass(mat.extend.TileTooLarge, mat.MatError)\nTrue",
    # Properties
    "mat.Rng.counter": ">>> mat.Rng(1, counter=5).counter\n5",
    "mat.Rng.seed": ">>> mat.Rng(1).seed\n1",
    "mat.Rng.state": """
>>> mat.Rng(1).state
{'bit_generator': 'Philox4x32', 'seed': 1, 'counter': 0}""",
    "mat.Mat.T": ">>> mat.ones(2, 3).T.shape\n(3, 2)",
    "mat.Mat.mT": ">>> mat.ones(5, 2, 3).mT.shape\n(5, 3, 2)",
    "mat.Mat.displacement": ">>> mat.arange(6)[2:].displacement\n2",
    "mat.Mat.dtype": ">>> mat.ones(2).dtype\ndtype('float64')",
    "mat.Mat.element_strides": ">>> mat.ones(2, 3).T.element_strides\n(1, 3)",
    "mat.Mat.strides": ">>> mat.ones(2, 3).strides\n(24, 8)",
    "mat.Mat.is_contiguous": ">>> mat.ones(2, 3).T.is_contiguous\nFalse",
    "mat.Mat.itemsize": ">>> mat.ones(2, dtype='float32').itemsize\n4",
    "mat.Mat.nbytes": ">>> mat.ones(2, 3).nbytes\n48",
    "mat.Mat.ndim": ">>> mat.ones(2, 3).ndim\n2",
    "mat.Mat.shape": ">>> mat.ones(2, 3).shape\n(2, 3)",
    "mat.Mat.size": ">>> mat.ones(2, 3).size\n6",
    "mat.Mat.max_size": ">>> mat.arange(6)[2:4].max_size\n6",
    "mat.Mat.base": ">>> mat.ones(2)[1:].base\n<Mat 2 - [1. 1.]>",
    "mat.Mat.ctypes": """
>>> x = mat.array([1.0, 2])
>>> x.ctypes.data == x.to_numpy().ctypes.data  # that of a copy
False""",
    "mat.Mat.data": ">>> mat.array([1.0, 2]).data.nbytes\n16",
    "mat.Mat.device": ">>> mat.ones(2).device\n<device cpu>",
    "mat.Mat.device_enabled": ">>> mat.ones(2).device_enabled\nTrue",
    "mat.Mat.facets": ">>> list(mat.array([1, 2]).facets)\n['array']",
    "mat.Mat.fill_value": ">>> mat.full((2,), 7.0).fill_value\n7.0",
    "mat.Mat.flags": ">>> mat.ones(2, 3).T.flags.f_contiguous\nTrue",
    "mat.Mat.flat": ">>> [int(n) for n in mat.array([[1, 2], [3, 4]]).flat]\n[1, 2, 3, 4]",
    "mat.Mat.fresh": """
>>> x = mat.ones(2)
>>> with mat.use_device("emulated"):
...     x += 1
...     x.fresh
{'emulated'}""",
    "mat.Mat.imag": ">>> mat.array([1 + 2j]).imag\n<Mat 1+1+0 A [2.]>",
    "mat.Mat.real": ">>> mat.array([1 + 2j]).real\n<Mat 0+1+1 A [1.]>",
    "mat.Mat.is_view": ">>> mat.arange(3)[1:].is_view\nTrue",
    "mat.random.Generator.bit_generator": """
>>> mat.random.default_rng(1).bit_generator
Rng(1, counter=0)""",
    # Classes
    "mat.FacetState": """
>>> x = mat.array([1, 2])
>>> x.facets["array"].fresh, x.facets["array"].nbytes
(True, 16)""",
    "mat.Direction": ">>> mat.Direction('io')\n<Direction.IO: 'io'>",
    "mat.debug.AllocationCounter": """
>>> with mat.debug.count_allocations() as n:
...     x = mat.ones(2)
>>> n
<allocations: 1 storage, 16 bytes>""",
    "mat.debug.CallRecorder": """
>>> with mat.debug.list_calls() as calls:
...     x = mat.ones(2, 3) @ mat.ones(3, 2)
>>> calls
dgemm(trans=NN, m=2, n=2, k=3, lda=2, ldb=3, ldc=2)""",
    "mat.debug.LibraryCall": """
>>> with mat.debug.list_calls() as calls:
...     x = mat.ones(2, 3) @ mat.ones(3, 2)
>>> calls.calls[0].routine
'dgemm'""",
    "mat.debug.CopyCounter": """
>>> x = mat.array([1.0, 2])
>>> with mat.debug.count_copies() as copies, mat.use_device("emulated"):
...     x += 1
>>> copies.h2d, copies.d2h, copies.bytes
(1, 1, 32)""",
    "mat.debug.CopyGuard": """
>>> x = mat.array([1.0, 2])
>>> with mat.use_device("emulated"), mat.debug.guard("raise"):
...     x += 1
Traceback (most recent call last):
    ...
mat.errors.ConflictError: ...""",
    "mat.debug.TilePlan": """
>>> x = mat.ones(10_000).exp_()
>>> plan = mat.debug.plan(lambda: x + 1, pool_bytes=100_000)
>>> plan.moved
160000""",
    "mat.debug.PlannedCall": """
>>> x = mat.ones(10_000).exp_()
>>> plan = mat.debug.plan(lambda: x + 1, pool_bytes=100_000)
>>> plan.calls[0].tiles
4""",
    "mat.debug.Trace": """
>>> x = mat.array([1.0, 2])
>>> with mat.debug.trace() as t, mat.use_device("emulated"):
...     x += 1
>>> [(event.kind, event.target) for event in t.copies]
[('copy', 'emulated'), ('copy', 'host')]""",
    "mat.debug.Trace.copies": """
>>> x = mat.array([1.0, 2])
>>> with mat.debug.trace() as t, mat.use_device("emulated"):
...     x += 1
>>> len(t.copies)
2""",
    "mat.debug.Watch": """
>>> import numpy
>>> with mat.debug.watch(numpy.ones(3)) as watch:
...     pass  # call C code here
>>> watch
<watch: 1 array, 0 faults>""",
    "mat.extend.Observer": """
>>> class Storages(mat.extend.Observer):
...     made = 0
...     def created(self, cube):
...         self.made += 1
>>> with mat.extend.observe(Storages()) as seen:
...     x = mat.ones(2)
>>> seen.made
1""",
    "mat.extend.Op": """
>>> @mat.extend.op
... def halved(x: mat.extend.Input, out: mat.extend.Output):
...     "Write ``x / 2``."
>>> halved
<operation halved(x: ...)>""",
    # Functions under another name now
    "mat.random.random_integers": """
>>> mat.random.randint(1, 6 + 1, size=3).shape  # which it is called now
(3,)""",
    "mat.random.set_bit_generator": ">>> mat.random.set_bit_generator(mat.Rng(1))",
}

RAISING = {  # a statement that raises the error
    "ShapeError": "mat.ones(2) + mat.ones(3)",
    "DTypeError": "mat.zeros(2, dtype='datetime64[s]')",
    "DirectionError": "mat.ones(2).facet('array', 'reading')",
    "FacetError": "mat.use_device('gpu')",
    "IndexOutOfRange": "mat.ones(2)[5]",
    "AxisError": "mat.ones(2).sum(axis=3)",
    "AliasError": "mat.ones(3).broadcast_to(2, 3).fill_(0)",
    "IntegerError": "mat.zeros(2.5)",
    "IndexTypeError": "mat.ones(2)['first']",
    "PowerError": "mat.array([2]) ** -1",
    "RangeError": "mat.array([1], 'int8').fill_(300)",
    "StepError": "mat.arange(0, 5, 0)",
    "TextError": "mat.array(['one'], float)",
    "LinAlgError": "mat.linalg.inv(mat.zeros(2, 2))",
    "DeviceError": "mat.use_device('cuda:99', required=True).__enter__()",
    "GraphError": "mat.graph(lambda x: mat.zeros(2))(mat.ones(2))",
    "OutOfMemory": "mat.debug.plan(lambda: mat.empty(1 << 50) + 1, pool_bytes=1 << 40)",
    "PlanError": "mat.debug.plan(lambda: mat.unique(mat.ones(999, 999), axis=0), pool_bytes=1)",
    "KernelError": "mat.kernel('y = x', x='in', y='output')",
    "UninitialisedError": "mat.Mat.__new__(mat.Mat).sum()",
    "SettingError": "mat.configure(threads=-1)",
}
EXAMPLES |= member_examples.EXAMPLES
EXAMPLES |= {f"mat.{name}": f">>> {statement}\nTraceback (most recent call last):\n    ...\n"
                            f"mat.errors.{name}: ..." for name, statement in RAISING.items()}
