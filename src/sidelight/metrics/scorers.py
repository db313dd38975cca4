"""The judges as scorers of scikit-learn, by name: for ``scoring=`` of grid search and cross validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sidelight.errors import InvalidParameter, nearest
from sidelight.metrics import agreement, multilabel


class _Scored(NamedTuple):
    metric: Callable[..., float]
    response: str = "predict"
    is_loss: bool = False


_SCORED: Mapping[str, _Scored] = {
    "adjusted_rand_index": _Scored(agreement.adjusted_rand_index),
    "clustering_accuracy": _Scored(agreement.clustering_accuracy),
    "normalized_mutual_information": _Scored(agreement.normalized_mutual_information),
    "purity": _Scored(agreement.purity),
    "macro_f1": _Scored(multilabel.macro_f1),
    "micro_f1": _Scored(multilabel.micro_f1),
    "average_precision": _Scored(multilabel.average_precision, "predict_proba"),
    "neg_hamming_loss": _Scored(multilabel.hamming_loss, is_loss=True),
    "neg_ranking_loss": _Scored(multilabel.ranking_loss, "predict_proba", is_loss=True),
}


def get_scorer(name: str) -> Any:
    """Return one of the judges as a scorer of scikit-learn, for ``scoring=``.

    scikit-learn has no public way to add names to its own, so that the scorer itself is handed over.

    Parameters
    ----------
    name : str
        One of :func:`get_scorer_names`. Losses have ``neg_`` in front and are negated, so that more is better.
        Clusters are taken from ``predict``, labels with gaps from ``predict`` (``predict_proba`` where the judge
        looks at the order of labels).

    Returns
    -------
    callable
        ``scorer(estimator, X, y_true)``.

    See Also
    --------
    get_scorer_names : What there is.
    sklearn.metrics.make_scorer : For judges of your own.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sidelight.metrics import get_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(KMeans(random_state=0), {"n_clusters": [2, 3]}, scoring=get_scorer("clustering_accuracy"))
    >>> search.fit(X[::2], y[::2]).best_params_
    {'n_clusters': 3}
    """
    if not isinstance(name, str) or name not in _SCORED:
        raise InvalidParameter(f"There is no scorer {name!r:.80}. {nearest(str(name)[:80], _SCORED)}")
    from sklearn.metrics import make_scorer  # the judges themselves need no scikit-learn

    scored = _SCORED[name]
    return make_scorer(scored.metric, greater_is_better=not scored.is_loss, response_method=scored.response)


def get_scorer_names() -> list[str]:
    """Return the names that :func:`get_scorer` knows.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> from sidelight.metrics import get_scorer_names
    >>> get_scorer_names()[:3]
    ['adjusted_rand_index', 'average_precision', 'clustering_accuracy']
    """
    return sorted(_SCORED)
