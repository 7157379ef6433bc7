"""scikit-learn with ``array_api_dispatch``: it computes with Mats, and returns them.
SCIPY_ARRAY_API has to be set for that.
"""

import os

from .apart import rows_checked_apart
from .rows import Library, Rows
from .samples import blobs

sklearn = Library("sklearn")
decomposition = Library("sklearn.decomposition")
discriminant_analysis = Library("sklearn.discriminant_analysis")
linear_model = Library("sklearn.linear_model")
metrics = Library("sklearn.metrics")
mixture = Library("sklearn.mixture")
model_selection = Library("sklearn.model_selection")
preprocessing = Library("sklearn.preprocessing")
row = Rows("scikit-learn with array_api_dispatch", globals(), "scikit-learn")
ENVIRONMENT = {"SCIPY_ARRAY_API": "1"}
if os.environ.get("SCIPY_ARRAY_API") == "1":
    sklearn.set_config(array_api_dispatch=True)


def labels(x):
    """Return labels of three classes, from the Mat or array."""
    return (x[:, 0] > 2).astype("int64") + (x[:, 0] > 6).astype("int64")


row("preprocessing.StandardScaler().fit_transform(x)", blobs)
row("preprocessing.MinMaxScaler().fit_transform(x)", blobs)
row("preprocessing.MaxAbsScaler().fit_transform(x)", blobs)
row("preprocessing.Normalizer().fit_transform(x)", blobs)
row("preprocessing.PolynomialFeatures(2).fit_transform(x)", blobs)
row("decomposition.PCA(2, svd_solver='full').fit_transform(x)", blobs)
row("decomposition.PCA(2, svd_solver='randomized', random_state=0, "
    "power_iteration_normalizer='QR').fit(x).components_", blobs)
row("linear_model.Ridge(solver='svd').fit(x, x[:, 0]).coef_", blobs)
row("linear_model.Ridge(solver='svd').fit(x, x[:, 0]).predict(x)", blobs)
row("discriminant_analysis.LinearDiscriminantAnalysis().fit(x, labels(x)).predict(x)", blobs)
row("linear_model.LogisticRegression().fit(x, labels(x)).predict(x)", blobs)
row("mixture.GaussianMixture(3, random_state=0, init_params='random').fit(x).means_", blobs)
row("metrics.r2_score(x[:, 0], x[:, 1])", blobs)
row("metrics.accuracy_score(labels(x), labels(x))", blobs)
row("metrics.mean_squared_error(x, x + 1)", blobs)
row("metrics.pairwise.rbf_kernel(x)", blobs)
row("metrics.pairwise.euclidean_distances(x)", blobs)
row("metrics.pairwise.cosine_similarity(x)", blobs)
row("model_selection.train_test_split(x, random_state=0)", blobs)

test_sklearn_array_api = rows_checked_apart(row, **ENVIRONMENT)
