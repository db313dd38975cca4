"""Components keep their relative variances, wherever it is known that they are components."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA

import sidelight as sl
from sidelight._models.column_kinds import families_of, guess_components
from sidelight._models.prepared_rows import CARRIED, Preparation
from sidelight.errors import InvalidParameter


def blobs(generator, n=400, d=60, n_clusters=4):
    """Return rows whose first three components hold the clusters, and the others noise of falling size."""
    y = np.arange(n) % n_clusters
    centres = 5.0 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])[:n_clusters]
    first = centres[y] + generator.normal(size=(n, 3))
    rest = generator.normal(size=(n, d - 3)) * np.linspace(0.5, 0.05, d - 3)
    return PCA().fit_transform(np.hstack([first, rest])), y


def test_components_are_known_by_their_names():
    X = np.random.default_rng(0).normal(size=(50, 20))
    for name in ("emb_{}", "pc{}", "PC{}", "svd_{}", "embedding.{}", "component {}", "emb_stage5_{}", "latent_{}"):
        found, why = guess_components(X, [name.format(k) for k in range(20)])
        assert len(found) == 1, name
        assert "names" in why
    for name in ("f{}", "embarked_{}", "pcb{}", "pixel {}", "compactness{}", "x_{}"):
        assert guess_components(X, [name.format(k) for k in range(20)])[0] == (), name
    assert guess_components(X[:, :5], [f"emb_{k}" for k in range(5)])[0] == ()  # too few to tell


def test_components_are_known_by_sizes_that_fall_and_measures_are_not():
    X, _ = blobs(np.random.default_rng(0))
    names = [f"v{k}" for k in range(X.shape[1])]
    found, why = guess_components(X, names)
    assert (families_of(names, found) == 0).all()
    assert "fall in size" in why
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        table = load().data
        for order in (np.arange(table.shape[1]), np.argsort(-table.std(axis=0))):  # also measures that happen to fall
            assert guess_components(table[:, order], [f"v{k}" for k in range(table.shape[1])])[0] == ()


def test_families_are_parted_by_what_names_say():
    names = ["age", "emb_a_0", "emb_a_1", "emb_b_0", "emb_b_1"]
    assert families_of(names, ["emb_*"]).tolist() == [-1, 0, 0, 1, 1]
    with pytest.raises(InvalidParameter, match="'embed'"):
        families_of(names, ["embed"])


def test_relative_variances_are_kept_and_families_weigh_the_same():
    generator = np.random.default_rng(1)
    X = np.hstack([generator.normal(size=(300, 5)) * [9, 3, 1, 0.3, 0.1] + 7, 1e4 * generator.normal(size=(300, 4))])
    families = np.array([0] * 5 + [1] * 4)
    Z = Preparation.of(X, families=families)(X)
    assert np.allclose(Z.mean(axis=0), 0, atol=1e-9)
    sizes, before = Z.std(axis=0), X.std(axis=0)
    assert np.allclose(sizes[:5] / sizes[0], before[:5] / before[0])
    assert np.isclose((sizes[:5] ** 2).sum(), (sizes[5:] ** 2).sum())
    assert np.isclose(sizes.max(), 1.0)


def test_more_components_than_rows_can_carry_are_condensed():
    generator = np.random.default_rng(2)
    X = generator.normal(size=(500, 3)) @ generator.normal(size=(3, 700)) + 0.1 * generator.normal(size=(500, 700))
    made = Preparation.of(X, families=np.zeros(700, dtype=np.intp))
    Z = made(X)
    assert Z.shape == (500, CARRIED)
    spread = Z.var(axis=0)
    assert spread[:3].sum() > 0.9 * spread.sum()
    assert made.names([f"e{k}" for k in range(700)])[:2] == ("component 1", "component 2")


def test_measures_and_components_beside_each_other_weigh_the_same():
    generator = np.random.default_rng(3)
    X = np.hstack([generator.normal(size=(200, 4)) * [1, 10, 100, 1000], generator.normal(size=(200, 30))])
    families = np.array([-1] * 4 + [0] * 30)
    made = Preparation.of(X, "numbers", families=families)
    Z = made(X)
    assert np.allclose(Z[:, :4].std(axis=0), 1)
    assert np.isclose(Z[:, :4].var(axis=0).sum(), Z[:, 4:].var(axis=0).sum())
    assert np.allclose(made(X[:7]), Z[:7])


def test_words_beside_components():
    generator = np.random.default_rng(4)
    words = (generator.random((120, 80)) < 0.1) * generator.integers(1, 3, (120, 80))
    X = np.hstack([words, generator.normal(size=(120, 10)), generator.normal(size=(120, 2))]).astype(float)
    families = np.array([-1] * 80 + [0] * 10 + [-1] * 2)
    made = Preparation.of(X, families=families)
    assert (made.kind, made.is_word.sum(), made.is_component.sum()) == ("mixed", 80, 10)
    assert made(X).shape == (120, 2 + 50 + 10)
    assert np.isfinite(made(X)).all()


def test_standardised_components_find_what_standardised_columns_lose(tmp_path):
    X, y = blobs(np.random.default_rng(5))
    names = [f"emb_{k}" for k in range(X.shape[1])]
    kept = sl.Standardized(sl.DiscriminativeClustering(4, random_state=0), feature_names=names).fit(X)
    lost = sl.Standardized(sl.DiscriminativeClustering(4, random_state=0), feature_names=names, components=()).fit(X)
    score = sl.metrics.adjusted_rand_index
    assert score(y, kept.labels_) > 0.9
    assert score(y, lost.labels_) < 0.7
    assert kept.kind_ == "components"
    sl.save(kept, tmp_path / "m.sidelight")
    assert (sl.load(tmp_path / "m.sidelight").predict(X) == kept.labels_).all()


def test_who_says_components_without_names_is_told():
    with pytest.raises(InvalidParameter, match="feature_names"):
        sl.Standardized(sl.DiscriminativeClustering(2), components=["emb_*"]).fit(np.eye(9))
    with pytest.raises(InvalidParameter, match="components"):
        sl.Standardized(sl.DiscriminativeClustering(2), components="emb").fit(np.eye(9))


def test_a_table_says_and_is_told_which_columns_are_components(tmp_path):
    X, _ = blobs(np.random.default_rng(6))
    path = tmp_path / "t.csv"
    header = ",".join(f"emb_{k}" for k in range(60))
    np.savetxt(path, X, delimiter=",", header=header, comments="")
    data = sl.read(path)
    assert data.components == ("emb_[0-9]*",)
    assert any("components" in note for note in data.notes)
    assert sl.read(path, components=False).components == ()
    assert sl.read(path, components="emb_1*").components == ("emb_1*",)
    with pytest.raises(ValueError, match="nothing"):
        sl.read(path, components="nothing")
