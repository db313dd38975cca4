"""The page of a fitted model, in a notebook."""

from __future__ import annotations

import numpy as np
import pytest
from tests.examples import but_slow

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter


@pytest.fixture(scope="module")
def recordings():
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(3, size=120)
    X = pd.DataFrame(rng.normal(size=(120, 3)) + 5 * np.eye(3)[y], columns=["pitch", "length", "<b>loud</b>"])
    ids = np.repeat([f"rec{b}" for b in range(30)], 4)
    labels = pd.Series(y).groupby(ids).agg(lambda part: sorted({["wren", "owl", "jay"][k] for k in part}))
    return X, sl.Bags(ids, labels=labels), y


MODELS = {
    "coverage": sl.CoverageClustering(boundary="straight", random_state=0),
    "standardised": sl.Standardized(sl.CoverageClustering(boundary="straight", n_novel=1, random_state=0)),
    "novel": sl.peers.NovelLabels(sl.peers.OredLogisticRegression(tol=1e-2), 1, random_state=0),
    "fast": sl.peers.FastMIML(max_iter=5, random_state=0),
    "spectral": sl.BagSpectralClustering(3, random_state=0),
    "words": sl.BagWordClustering(3, random_state=0),
}


@pytest.mark.parametrize("name", but_slow(MODELS, "standardised", "words"))
def test_models_of_bags_have_a_page(recordings, name):
    X, bags, _ = recordings
    page = sl.show(MODELS[name].fit(X, bags=bags), X, bags=bags)
    assert page.html.startswith("<!DOCTYPE html>")
    assert "pitch" in page.html
    assert "<b>loud</b>" not in page.html
    frame = page._repr_html_()
    assert frame.startswith("<iframe")
    assert "<!DOCTYPE" not in frame  # the page stands inside an attribute


def test_models_of_answers_have_a_page_that_compares(recordings, tmp_path):
    X, _, y = recordings
    pairs = sl.Pairs.sample(y, 40, random_state=0)
    model = sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=pairs)
    page = sl.show(model, X, pairs=pairs, y=y)
    assert "40 answers" in page.html or "40 pairs" in page.html
    assert len(page.html) > len(sl.show(model, X, pairs=pairs).html)
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html


def test_what_cannot_be_shown_is_said(recordings):
    X, bags, _ = recordings
    model = MODELS["coverage"].fit(X, bags=bags)
    with pytest.raises(InvalidData, match="Pass bags="):
        sl.show(model, X)
    with pytest.raises(InvalidData, match=r"the 120 rows that the model was fitted to\. Got 60"):
        sl.show(model, X[:60], bags=bags[np.arange(60)])
    with pytest.raises(InvalidParameter, match="show has no page for Codebook"):
        sl.show(sl.estimators.Codebook(2).fit(X), X)
    with pytest.raises(InvalidParameter, match=r"show wants a fitted model, .* Got list."):
        sl.show([model], X, bags=bags)
