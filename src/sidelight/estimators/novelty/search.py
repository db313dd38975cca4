"""The weights of DMNL without the truth: known labels are hidden, and should be found again as novel ones.

The paper's criterion, the Hamming loss of the known labels of held-out bags, says nothing about novel ones and picks
lam = rho = 0. Hiding some known labels makes novel ones whose bags we know.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import ClusterMixin

from sidelight._core.params import as_generator, as_seed, as_sequence, check_number
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidParameter, ignore_warnings
from sidelight.estimators._base import Estimator, all_or_nothing, rows_to_fit
from sidelight.estimators._labelled_bags.supervision import require_lists
from sidelight.estimators.novelty.dmnl import DMNL
from sidelight.estimators.novelty.naming import NamesRows
from sidelight.progress import report

HIDDEN_SHARE = 0.25  # of the known labels, in each round
STARTS = 2  # of a fit that is only compared


class DMNLCV(NamesRows, ClusterMixin, Estimator):
    """DMNL with lam and rho chosen by known labels that were hidden and should be found again.

    In each round a quarter of the known labels is taken off all lists. A fit with as many more novel labels is judged
    by how well these tell which bags carried the hidden ones: the mean F1 under the best matching.

    Parameters
    ----------
    n_novel : int, default=1
        How many novel labels.
    lams : sequence of float, default=(0.03, 0.1, 0.3)
        Weights of the structure to try.
    rhos : sequence of float, default=(1.0, 10.0)
        Weights of the constraint to try.
    n_rounds : int, default=3
        How often labels are hidden.
    structure, ridge, n_init, max_iter : various
        As in :class:`DMNL`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what is hidden and of the starts.

    Attributes
    ----------
    best_params_ : dict
        The chosen ``lam`` and ``rho``.
    best_score_ : float
        Their mean F1.
    best_estimator_ : DMNL
        Fitted with them on all lists.
    cv_results_ : dict of ndarray
        ``lam``, ``rho``, ``score`` and ``error`` (its standard error over the rounds) of everything tried.
    labels_, classes_, class_of_, cluster_names_, label_names_, novel_labels_, noise_labels_
        Those of ``best_estimator_``.
    n_iter_ : int
        Rounds of ``best_estimator_``.
    trace_, constraint_residual_, choice_, calibration_
        Those of ``best_estimator_``.
    n_features_in_, data_fingerprint_
        As everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + 6 * np.eye(3)[np.arange(90) % 3]
    >>> bags = sl.Bags(np.arange(90) // 2, labels={b: {"ab"[2 * b % 3]} if 2 * b % 3 < 2 else {"a"} for b in range(45)})
    >>> model = sl.estimators.DMNLCV(1, lams=[0.1], rhos=[1.0, 10.0], n_init=1, random_state=0).fit(X, bags=bags)
    >>> sorted(model.best_params_)
    ['lam', 'rho']
    """

    def __init__(
        self,
        n_novel: int = 1,
        *,
        lams: Any = (0.03, 0.1, 0.3),
        rhos: Any = (1.0, 10.0),
        n_rounds: int = 3,
        structure: str = "clusters",
        ridge: float = 0.2,
        n_init: int = 5,
        max_iter: int = 30,
        random_state: Any = None,
    ) -> None:
        self.n_novel = n_novel
        self.lams = lams
        self.rhos = rhos
        self.n_rounds = n_rounds
        self.structure = structure
        self.ridge = ridge
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> Self:
        """Try every pair of weights on hidden labels, and fit the best on all lists.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Bags, default=None
            May hold the bags, for scikit-learn's model selection; anything else is ignored.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in and what labels the bags carry.
        """
        grid = self._check_parameters()
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        require_lists(self, bags)
        generator = as_generator(self.random_state)
        rounds = [self._hide(bags, generator) for _ in range(self.n_rounds)] if len(bags.classes) > 1 else []
        scores = np.zeros((len(grid), max(1, len(rounds))))
        seed = as_seed(generator)
        for g, (lam, rho) in enumerate(grid):
            for r, hidden in enumerate(rounds):
                report("hidden labels", g * len(rounds) + r, len(grid) * len(rounds), f"lam = {lam:g}, rho = {rho:g}")
                scores[g, r] = self._found_again(X, bags, hidden, lam, rho, seed)
        best = int(np.argmax(scores.mean(axis=1)))
        self.cv_results_ = {
            "lam": np.array([lam for lam, _ in grid]),
            "rho": np.array([rho for _, rho in grid]),
            "score": scores.mean(axis=1),
            "error": scores.std(axis=1) / np.sqrt(scores.shape[1]),
        }
        self.best_params_ = {"lam": float(grid[best][0]), "rho": float(grid[best][1])}
        self.best_score_ = float(scores.mean(axis=1)[best])
        self.best_estimator_ = self._estimator(self.n_novel, *grid[best], seed, self.n_init).fit(X, bags=bags)
        for name in (
            "labels_", "classes_", "class_of_", "cluster_names_", "label_names_", "novel_labels_", "noise_labels_",
            "n_iter_", "trace_", "constraint_residual_", "choice_", "calibration_",
        ):  # fmt: skip
            setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _probabilities(self, X: Any, bags: Any) -> np.ndarray:
        return self.best_estimator_.predict_proba(X, bags=bags)

    def _hide(self, bags: Bags, generator: np.random.Generator) -> list[Any]:
        """Draw the labels of one round."""
        n_hidden = max(1, round(HIDDEN_SHARE * len(bags.classes)))
        return [bags.classes[c] for c in generator.choice(len(bags.classes), n_hidden, replace=False)]

    def _found_again(self, X: Any, bags: Bags, hidden: list[Any], lam: float, rho: float, seed: int) -> float:
        """Return the mean F1 with which novel labels tell the bags of the hidden ones."""
        model = self._estimator(self.n_novel + len(hidden), lam, rho, seed, min(STARTS, self.n_init))
        model._calibrates = False
        with ignore_warnings():  # the final fit says it once
            labels = model.fit(X, bags=bags.without_classes(hidden)).labels_
        n_known = len(model.classes_)
        carried = np.zeros((bags.n_bags, self.n_novel + len(hidden)))
        novel = labels >= n_known
        carried[bags.codes[novel], labels[novel] - n_known] = 1.0
        columns = [list(bags.classes).index(name) for name in hidden]
        truth = bags.label_matrix.toarray()[:, columns].astype(float)[bags.is_labelled]
        carried = carried[bags.is_labelled]
        both = truth.T @ carried
        f1 = 2.0 * both / np.maximum(truth.sum(axis=0)[:, None] + carried.sum(axis=0), 1.0)
        return float(f1[linear_sum_assignment(-f1)].mean())

    def _estimator(self, n_novel: int, lam: float, rho: float, seed: int, n_init: int) -> DMNL:
        return DMNL(
            n_novel=n_novel, lam=lam, rho=rho, ridge=self.ridge, structure=self.structure, n_init=n_init,
            max_iter=self.max_iter, random_state=seed,
        )  # fmt: skip

    def _check_parameters(self) -> list[tuple[float, float]]:
        check_number(self, "n_novel", self.n_novel, integer=True, low=1)
        check_number(self, "n_rounds", self.n_rounds, integer=True, low=1)
        lams, rhos = (
            as_sequence(self, name, getattr(self, name), "a sequence of numbers") for name in ("lams", "rhos")
        )
        for name, values in (("lams", lams), ("rhos", rhos)):
            for value in values:
                check_number(self, name, value, low=0)
        if not lams or not rhos:
            raise InvalidParameter("DMNLCV has nothing to try: give at least one value in lams and in rhos.")
        return list(product(lams, rhos))
