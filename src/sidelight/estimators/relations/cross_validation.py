"""Choosing tau, the penalty and the number of clusters by answers that were held out, as [P17] 3.3.3.1 does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_generator, as_seed, as_sequence, check_number
from sidelight.data.coerce import as_pairs, as_triplets
from sidelight.data.splits import AnswerKFold
from sidelight.errors import EmptyClusters, InvalidData, InvalidParameter, ignore_warnings
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit
from sidelight.estimators._choice import Choice, highest, try_in_turn
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators.relations.discriminative import DiscriminativeClustering
from sidelight.progress import report

COUNTS = tuple(range(2, 13))  # numbers of clusters to choose from when none is given
_EPS = 0.1  # share of wrong answers while settings are compared; each fit finding its own takes six times as long
_NO_NEWS = 0.02  # nats a held-out answer that a further cluster must be worth at least


class DiscriminativeClusteringCV(ProbabilityColumns, ClusterMixin, Estimator):
    """:class:`DiscriminativeClustering` with tau, penalty and number of clusters chosen by held-out answers.

    Parameters
    ----------
    n_clusters : int, sequence of int or None, default=8
        The number of clusters, or those to choose from; None chooses from 2 to 12.
    taus : sequence of float or None, default=(None,)
        Weights of the information to choose from; None is the default of the estimator.
    penalties : sequence of float or None, default=(None,)
        Penalties to choose from; the thesis' grid is 2^-9, 2^-7, ..., 2^-1 with ``objective="variational"``.
    estimator : DiscriminativeClustering or None, default=None
        Everything else, also while settings are compared. None takes the defaults, and compares by brief fits that
        reckon with one wrong answer in ten; the last fit, to all answers, is a whole one.
    cv : int, default=5
        Number of folds of answers.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds and fits.

    Attributes
    ----------
    best_estimator_ : DiscriminativeClustering
        The best settings, fitted to all answers.
    choice_ : dict
        What was tried, as (n_clusters, tau, penalty); the mean log likelihood of held-out answers of each and its
        standard error over answers; and what was taken: the smallest number of clusters within one standard error of
        the best, with the best settings for that number.
    labels_, probabilities_ : ndarray of shape (n_rows,) and (n_rows, n_clusters)
        Cluster of each row, and the probability of each, by its features and by the answers about it.
    n_clusters_ : int
        The number of clusters in use.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> y = np.arange(60) % 3
    >>> X = 5 * np.eye(3)[y] + np.random.default_rng(0).normal(size=(60, 3))
    >>> search = sl.DiscriminativeClusteringCV([2, 3, 4], cv=2, random_state=0)
    >>> search.fit(X, pairs=sl.Pairs.sample(y, 60, random_state=0)).n_clusters_
    3
    """

    __metadata_request__fit = {"pairs": True, "triplets": True}
    __metadata_request__score = {"pairs": True, "triplets": True}

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        taus: Any = (None,),
        penalties: Any = (None,),
        estimator: Any = None,
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.taus = taus
        self.penalties = penalties
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, pairs: Any = None, triplets: Any = None) -> DiscriminativeClusteringCV:
        """Choose the settings by held-out answers, then fit them to all answers.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs, Triplets or None
            Answers, for tools that know only ``y``.
        pairs, triplets : Pairs, Triplets or None
            Answers about the rows.
        """
        grid = self._grid()
        X = rows_to_fit(self, X)
        if self.n_clusters is None:
            grid = [settings for settings in grid if settings[0] <= X.shape[0]] or grid[:1]
        told = as_pairs(pairs, n_rows=X.shape[0], y=y), as_triplets(triplets, n_rows=X.shape[0], y=y)
        pairs, triplets = (answers.each_once() for answers in told)
        seed = as_seed(as_generator(self.random_state))
        if len(grid) > 1:
            self.choice_ = self._choose(X, pairs, triplets, grid, seed)
        else:
            self.choice_ = Choice(tried=grid, scores=[float("nan")], errors=[float("nan")], chosen=grid[0])
        self.best_estimator_ = self._made(self.choice_["chosen"], seed).fit(X, pairs=told[0], triplets=told[1])
        self.labels_, self.probabilities_ = self.best_estimator_.labels_, self.best_estimator_.probabilities_
        self.n_clusters_ = int(self.choice_["chosen"][0])
        return self

    def _choose(self, X: Any, pairs: Any, triplets: Any, grid: list[Any], seed: int) -> Choice:
        answers = {"pairs": pairs, "triplets": triplets}
        used = {name: side for name, side in answers.items() if side.n_answers >= self.cv}
        if not used:
            raise InvalidData(
                f"{type(self).__name__} holds out answers in {self.cv} folds, but got {pairs.n_answers} about pairs "
                f"and {triplets.n_answers} about triplets. Bring more answers, lower cv, or give one setting only."
            )

        def told(settings: Any) -> np.ndarray:
            if self.estimator is None:
                values = self._made(settings, seed)._held_out_likelihoods(X, pairs, triplets, _EPS, seed, self.cv)
            else:
                values = self._whole_fits(X, answers, used, settings, seed)
            report("holding out answers", grid.index(settings) + 1, len(grid))
            return values

        return try_in_turn(grid, told, lambda values: _fewest_clusters(grid, values))

    def _whole_fits(
        self, X: Any, answers: dict[str, Any], used: dict[str, Any], settings: Any, seed: int
    ) -> np.ndarray:
        folds = zip(*(AnswerKFold(self.cv, random_state=seed).split(side) for side in used.values()))
        values = []
        for parts in folds:
            known = answers | {name: part[0] for name, part in zip(used, parts)}
            with ignore_warnings(EmptyClusters):  # numbers that are too large are tried on purpose
                fitted = self._made(settings, seed).fit(X, **known)
            values.append(fitted._log_likelihoods(X, **{name: part[1] for name, part in zip(used, parts)}))
        return np.concatenate(values)

    def _made(self, settings: Any, seed: int) -> DiscriminativeClustering:
        base = DiscriminativeClustering() if self.estimator is None else clone(self.estimator)
        K, tau, penalty = settings
        made: DiscriminativeClustering = base.set_params(n_clusters=K, tau=tau, penalty=penalty, random_state=seed)
        return made

    def _grid(self) -> list[tuple[int, float | None, float | None]]:
        if self.estimator is not None and not isinstance(self.estimator, DiscriminativeClustering):
            raise InvalidParameter(
                f"The 'estimator' parameter of {type(self).__name__} must be a DiscriminativeClustering or None. Got "
                f"{self.estimator!r:.80} instead."
            )
        check_number(self, "cv", self.cv, integer=True, low=2)
        wanted = COUNTS if self.n_clusters is None else self.n_clusters
        sizes = [wanted] if np.ndim(wanted) == 0 else list(wanted)
        for K in sizes:
            check_number(self, "n_clusters", K, integer=True, low=1)
        weights = [as_sequence(self, name, getattr(self, name), "a list of numbers") for name in ("taus", "penalties")]
        for name, values in zip(("taus", "penalties"), weights):
            for value in values:
                check_number(self, name, value, low=0, none=True)
        grid = [(int(K), tau, penalty) for K, tau, penalty in product(sizes, *weights)]
        if not grid:
            raise InvalidParameter(f"{type(self).__name__} needs at least one value of each setting to choose from.")
        return grid

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable cluster of each row of X."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster for each row of X."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @checks_y
    def score(
        self, X: Any, y: Any = None, *, pairs: Any = None, triplets: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the mean log likelihood of answers about the rows of X; without any the information in nats.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Pairs, Triplets or None
            Answers, for tools that know only ``y``.
        pairs, triplets : Pairs, Triplets or None
            Answers about these rows.
        sample_weight : None
            Answers carry their own weights.
        """
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, pairs=pairs, triplets=triplets)

    @property
    def _n_features_out(self) -> int:
        return len(self.best_estimator_.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _fewest_clusters(grid: list[Any], values: Sequence[np.ndarray]) -> int:
    """Take the smallest number of clusters within one standard error of the best, and the best settings for it.

    Breiman's rule, for the number of clusters alone: too few cannot keep the answers, further ones stay almost
    empty and cost next to nothing. Where answers are all but certain their error is next to nothing, too, so a gain
    has to be worth something.
    """
    scores = [np.mean(value) for value in values]
    top = highest(values)
    least = scores[top] - max(np.std(values[top]) / np.sqrt(len(values[top])), _NO_NEWS)
    fewest = min(settings[0] for settings, score in zip(grid, scores) if score >= least)
    some = [place for place, settings in enumerate(grid) if settings[0] == fewest]
    return max(some, key=lambda place: scores[place])
