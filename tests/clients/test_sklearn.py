"""scikit-learn by default: it uses Mats as arrays, and returns arrays."""

import numpy as np
import pytest

import mat

from .rows import Library, Rows, rows_checked
from .samples import blobs

cluster = Library("sklearn.cluster")
decomposition = Library("sklearn.decomposition")
ensemble = Library("sklearn.ensemble")
linear_model = Library("sklearn.linear_model")
metrics = Library("sklearn.metrics")
model_selection = Library("sklearn.model_selection")
pipeline = Library("sklearn.pipeline")
preprocessing = Library("sklearn.preprocessing")
svm = Library("sklearn.svm")
row = Rows("scikit-learn", globals())
y = np.repeat([0, 1, 2], 20)

row("preprocessing.StandardScaler().fit_transform(x)", blobs)
row("decomposition.PCA(2).fit_transform(x)", blobs)
row("linear_model.LogisticRegression().fit(x, y).predict(x)", blobs)
row("linear_model.Ridge().fit(x, x[:, 0]).coef_", blobs)
row("cluster.KMeans(3, random_state=0, n_init=1).fit(x).labels_", blobs)
row("ensemble.RandomForestClassifier(5, random_state=0).fit(x, mat.array(y)).predict(x)", blobs)
row("svm.SVC().fit(x, y).decision_function(x)", blobs)
row("pipeline.make_pipeline(preprocessing.MinMaxScaler(), svm.LinearSVC()).fit(x, y).predict(x)",
    blobs)
row("metrics.r2_score(x[:, 0], x[:, 1])", blobs)
row("metrics.pairwise_distances(x)", blobs)
row("model_selection.train_test_split(x, random_state=0)", blobs)
row("model_selection.cross_val_score(linear_model.Ridge(), x, x[:, 0])", blobs)

test_sklearn = rows_checked(row)


def test_an_estimator_keeps_no_export():
    x = mat.array(blobs())
    model = linear_model.LogisticRegression().fit(x, y)
    x.fill_(0)
    assert model.score(blobs(), y) > 0.9


def test_a_nearest_neighbour_keeps_one():
    """A neighbours estimator keeps its operand."""
    neighbors = Library("sklearn.neighbors")
    x = mat.array(blobs())
    model = neighbors.KNeighborsClassifier(1, algorithm="brute").fit(x, y)
    with pytest.raises(mat.ConflictError):
        x.fill_(0)
    del model
    x.fill_(0)
