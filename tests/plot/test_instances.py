"""Pictures of clusters in labelled bags show what they are given."""

import numpy as np
import pytest
from tests.laws.registry import blobs

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.plot import AlphaCurveDisplay, ClusterClassDisplay, EmbeddingDisplay


def labelled_bags():
    """Bags of two consecutive rows of different groups."""
    names = ["ant", "bee", "cat"]
    return sl.Bags(np.arange(60) // 2, labels={b: {names[2 * b % 3], names[(2 * b + 1) % 3]} for b in range(30)})


@pytest.fixture(scope="module")
def model():
    return sl.BagSpectralClustering(3, alpha="auto", random_state=0).fit(blobs()[0], bags=labelled_bags())


def test_heat_map_shows_every_cluster_and_class(model):
    drawn = ClusterClassDisplay.from_estimator(model).plot()
    assert {t.get_text().split("  ")[0] for t in drawn.ax_.get_yticklabels()} == {"ant", "bee", "cat"}
    assert [t.get_text() for t in drawn.ax_.get_xticklabels()] == ["ant", "bee", "cat"]
    np.testing.assert_allclose(drawn.shares.sum(axis=1), 1)


def test_embedding_shows_every_row(model):
    drawn = EmbeddingDisplay.from_estimator(model).plot()
    assert len(drawn.ax_.collections[0].get_offsets()) == 60
    with pytest.raises(InvalidData, match="embedding_"):
        EmbeddingDisplay.from_estimator(sl.DiscriminativeClustering())


def test_alpha_curve_shows_the_search_and_the_truth(model):
    drawn = AlphaCurveDisplay.from_estimator(model).plot()
    assert len(drawn.ax_.lines[0].get_xdata()) == len(model.alpha_search_["alpha"])
    X, y = blobs()
    plain = sl.BagSpectralClustering(3, random_state=0)
    told = AlphaCurveDisplay.from_truth(plain, X, y, bags=labelled_bags(), alphas=[0.0, 0.7]).plot()
    assert told.curves["purity"] == [1.0, 1.0]
    with pytest.raises(InvalidData, match="auto"):
        AlphaCurveDisplay.from_estimator(plain.fit(X, bags=labelled_bags()))
