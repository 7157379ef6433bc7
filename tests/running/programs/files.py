"""Files of arrays."""

import io
import os
import pickle
import tempfile

import numpy as np

x = np.arange(12.0).reshape(3, 4)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x")
    np.save(path, x)
    print(sorted(os.listdir(folder)), np.load(f"{path}.npy").sum(axis=0))
    np.savez(path, a=x, names=np.array(["p", "q"]))
    with np.load(f"{path}.npz") as stored:
        print(sorted(stored.files), stored["a"].mean(), stored["names"])
    np.savetxt(f"{path}.csv", x, fmt="%.2f", delimiter=",")
    print(open(f"{path}.csv").read().split()[0], np.loadtxt(f"{path}.csv", delimiter=",")[1])
    x.tofile(f"{path}.bin")
    print(np.fromfile(f"{path}.bin").size)
    m = np.memmap(f"{path}.map", dtype="f4", mode="w+", shape=(2, 2))
    m[:] = np.ones((2, 2))
    m.flush()
    print(np.fromfile(f"{path}.map", "f4"))
    del m
stream = io.BytesIO()
np.save(stream, np.array([{"k": 1}], dtype=object))
stream.seek(0)
print(np.load(stream, allow_pickle=True))
print(np.genfromtxt(io.StringIO("n,v\na,1\nb,2"), delimiter=",", names=True, dtype=None,
                    encoding="utf-8"))
print(np.array_equal(pickle.loads(pickle.dumps(x)), x), np.frombuffer(b"abc", "u1"))
