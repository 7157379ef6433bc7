"""Use Mats with pandas and scikit-learn: a table becomes a Mat, is standardised and reduced on a
device, and becomes a table again.

scikit-learn computes with Mats and returns Mats if SCIPY_ARRAY_API is set before SciPy is imported:
``SCIPY_ARRAY_API=1 python examples/clients.py [DEVICE]``. Needs scikit-learn and pandas.
"""

import sys

import pandas as pd
import sklearn
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mat

sklearn.set_config(array_api_dispatch=True)
wine = load_wine(as_frame=True)
# from_numpy(wine.data.to_numpy()) would share the memory, and be read-only, as pandas' arrays are
x = mat.array(wine.data)

with mat.use_device(sys.argv[1] if len(sys.argv) > 1 else "cuda") as device:
    z = make_pipeline(StandardScaler(), PCA(2, svd_solver="full")).fit_transform(x)
    print(f"on {device}: {x.label()} became {z.label()}, which is in the memory of "
          f"{', '.join(z.fresh)}")
    means = [mat.mean(z[wine.target.to_numpy() == k], axis=0) for k in range(3)]

table = pd.DataFrame(mat.stack(means), columns=["first", "second"], index=wine.target_names)
print(table.round(2))

plane = pd.DataFrame(z, copy=False)  # nothing is copied: z is exported to pandas
try:
    z.fill_(0)
except mat.ConflictError as conflict:
    print("z is exported:", conflict)
del plane
z.fill_(0)
