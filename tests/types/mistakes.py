"""Mistakes, one on each line that says ``# error``, all of which type checkers find.

This file is for type checkers; it is never run.
"""

# pyright: strict, reportUnusedExpression=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import mat
from mat.extend import register_facet

x = mat.zeros(3, 4)

# Misspelt
mat.foobar()  # error
mat.zeroes(3)  # error
mat.expp(x)  # error
x.reshap(12)  # error
x.exp__()  # error
x.shapee  # error
mat.random.uniformly(3)  # error
mat.nn.convolv(x, x, x)  # error
mat.linalg.normm(x)  # error
mat.errors.ShapError  # error
mat.matrix([1, 2])  # error
mat.array_api.sine(x)  # error
mat.array_api.fft.fftt(x)  # error
mat.array_api.linalg.normm(x)  # error
mat.fft.fftt(x)  # error
mat.blas.gem(1, x, x, 0, x)  # error
mat.random.default_rng(1).normall()  # error
x.flags.contigous  # error
x.flat.coord  # error
x.reel  # error
x.facet("backin", "input")  # error
x.facet("cuda_hots")  # error
mat.with_facets((x, "array", "input"), (x, "backing", "outptu"))  # error
mat.with_facets((x, "array"), (x, "array"), (x, "cudaa", "io"))  # error
x.facet("arrray")  # error
x.facet("array", "inptu")  # error
x.facet("array", "in")  # error
x.facet("cuda:x")  # error
mat.with_facets((x, "arrray", "input"))  # error
mat.with_facets((x, "array", "inptu"))  # error
mat.with_facets((x, "array", "input"), (x, "foregn", "io"))  # error
x.drop("hots")  # error
x.keep("array")  # error
mat.barrier(ensure="hosts")  # error
mat.barrier(drop=("cuda", "arrays"))  # error
mat.use_device("cud")  # error
mat.set_device("gpu")  # error
x.to_device("cuda0")  # error
mat.settings(dtyp="float32")  # error
mat.sum(x, axes=0)  # error
mat.zeros(3, dtpye="float32")  # error

# Wrong numbers of arguments
mat.exp()  # error
mat.add(x)  # error
mat.gemm(1, x, x, 0)  # error
mat.gemm(1, x, x, 0, x, x)  # error
mat.axpy(x)  # error
x.copy(1, 2)  # error
x.gemm_(1, x, x)  # error
x.facet()  # error
mat.with_facets(x, "array", "input")  # error
mat.with_facets((x,))  # error
mat.save("x.npy")  # error
mat.Rng(1, 2)  # error
mat.array_api.sin()  # error
mat.array_api.add(x)  # error
mat.linalg.inv()  # error
mat.linalg.solve(x)  # error
mat.fft.fft()  # error
mat.blas.axpy(x)  # error
mat.nn.convolve(x)  # error
mat.random.default_rng(1, 2)  # error
x.sum(0, None, None, False, 0, True, 1)  # error
register_facet()  # error

# Wrong kinds of arguments
mat.exp("1")  # error
mat.add(x, "1")  # error
mat.gemm(x, x, x, 0, x)  # error
mat.gemm(1, [[1.0]], x, 0, x)  # error
mat.axpy("2", x, x)  # error
mat.exp(x, out=[1, 2])  # error
mat.zeros("3")  # error
mat.zeros(2.5)  # error
mat.zeros(3, dtype=3)  # error
mat.full(3, "a")  # error
x + "1"  # error
x["a"]  # error
x[0, 0].fill_(1)  # error
x[0, 0] + "1"  # error
x[0] = "a"  # error
x.sum(axis="0")  # error
x.reshape("3")  # error
x.astype(3)  # error
x.item("a")  # error
x.uniform_(rng=3)  # error
mat.concat(x, axis="0")  # error
mat.sum(x, out=[1, 2])  # error
x.sum(out=3)  # error
x.exp(out="y")  # error
x.clip(0, 1, out=[1])  # error
mat.matmul(x, x, out=1)  # error
x - "1"  # error
x @ "1"  # error
x + {1: 2}  # error
x & None  # error
x < "1"  # error
-x + "1"  # error
x.T + "1"  # error
x.real = "a"  # error
x.flat = "a"  # error
x.flat[0] = "a"  # error
x.dtype = "float32"  # error
x.T = x  # error
mat.array_api.sin("1")  # error
mat.array_api.add(x, "1")  # error
mat.array_api.zeros("3")  # error
mat.array_api.zeros(3, device=3)  # error
mat.array_api.fft.fft(x, norm="orto")  # error
mat.array_api.linalg.inv("1")  # error
mat.array_api.linalg.solve(x, "1")  # error
mat.linalg.inv("1")  # error
mat.linalg.norm("1")  # error
mat.fft.fft("1")  # error
mat.fft.fft(x, n="4")  # error
mat.blas.scal("2", x)  # error
mat.nn.convolve(x, x, [1])  # error
mat.random.normal(size="3")  # error
mat.random.default_rng(1).normal("a")  # error
mat.full(3, 1, device=2)  # error
mat.linspace(0, 1, "5")  # error
mat.use_device(3)  # error
mat.use_device("emulated", pool_bytes="1G")  # error
mat.prefetch(to_device=3)  # error
mat.save(3, x)  # error
mat.save("x.npy", "y")  # error
mat.from_numpy([1, 2])  # error
x.shape = "a"  # error
with x.facet("array") as a:
    a.foobar()  # error
with mat.with_facets((x, "array")) as (a, b):  # error
    pass
