"""Laws of every estimator that knows kinds that nobody named."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.registry import CASES, Case, labelled_bags

with_novelty = [case for case in CASES if hasattr(case.estimator, "novelty_score")]


@pytest.mark.parametrize("case", with_novelty, ids=lambda case: case.name)
def test_a_row_is_as_novel_as_the_clusters_that_nobody_named_are_probable(case: Case):
    fitted, X = case.fit(), case.rows()
    for told in ({}, {"bags": labelled_bags()}):
        P = fitted.predict_proba(X, **told)
        assert P.shape == (len(X), len(fitted.class_of_))
        np.testing.assert_allclose(fitted.novelty_score(X, **told), P[:, fitted.class_of_ == -1].sum(axis=1))
        np.testing.assert_array_equal(fitted.predict(X, **told), P.argmax(axis=1))
    names = fitted.predict_labels(X)
    sets = fitted.predict_bags(X, labelled_bags())
    assert len(sets) == labelled_bags().n_bags
    if case.name.startswith("DMNL"):
        for b, carried in enumerate(sets):
            assert carried == set(names[labelled_bags().codes == b])
