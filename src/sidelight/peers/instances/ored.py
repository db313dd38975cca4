"""The two models of the literature that coverage contains: no novel class, and one.

Both have one cluster a class, no prior beyond a small ridge, and EM as their papers fit them: an E-step by dynamic
programming, an M-step of some gradient steps (generalised EM).
"""

from __future__ import annotations

from typing import Any

from sidelight.estimators.coverage.clustering import CoverageClustering


class OredLogisticRegression(CoverageClustering):
    """ORLR (Pham, Raich and Fern 2014): a bag's label set is the union (OR) of the labels of its rows.

    Parameters
    ----------
    penalty : float or "auto", default=0.01
        Weight of ``|W|^2 / 2``; small, for the paper has none. "auto" asks held-out bags.
    max_iter : int, default=200
        Most EM rounds.
    tol : float, default=1e-5
        Relative change of the likelihood at which EM stops.
    random_state : int, RandomState, Generator or None, default=None
        Unused: EM starts from equal weights. Present for scikit-learn's tools.

    Attributes
    ----------
    labels_, classes_, weights_, intercept_, trace_, log_likelihood_, n_iter_
        As in :class:`CoverageClustering`; cluster k is class k.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> bags = sl.Bags([0, 0, 1, 2], labels={0: {"a", "b"}, 1: {"a"}, 2: {"b"}})
    >>> sl.peers.OredLogisticRegression().fit(X, bags=bags).predict_labels(X).tolist()
    ['a', 'b', 'a', 'b']
    """

    _N_NOVEL = 0

    def __init__(
        self, *, penalty: float | str = 0.01, max_iter: int = 200, tol: float = 1e-5, random_state: Any = None
    ) -> None:
        super().__init__(
            n_novel=self._N_NOVEL,
            penalty=penalty,
            information=0.0,
            boundary="straight",
            calibrate=False,
            solver="em",
            n_init=1,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )


class NovelClassLogisticRegression(OredLogisticRegression):
    """MIML-NC (Pham, Raich, Fern and Arriaga 2015): ORLR with one more class, which no list can name.

    Parameters
    ----------
    penalty, max_iter, tol, random_state : float or "auto", int, float, seed
        As in :class:`OredLogisticRegression`.

    Attributes
    ----------
    labels_, classes_, weights_, intercept_, trace_, log_likelihood_, n_iter_
        As in :class:`CoverageClustering`; the last cluster is "novel-1".

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> bags = sl.Bags([0, 0, 1, 2], labels={0: {"a"}, 1: {"a"}, 2: set()})
    >>> sl.peers.NovelClassLogisticRegression().fit(X, bags=bags).predict_labels(X).tolist()
    ['a', 'novel-1', 'a', 'novel-1']
    """

    _N_NOVEL = 1
