"""Examples of the reference for names whose docstrings have none; a test runs them."""

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
    "mat.isnat": ">>> import numpy\n>>> bool(mat.isnat(numpy.datetime64('NaT')))\nTrue",
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
}
