"""Code books: a channel of measurements becomes codes, each point going to its nearest prototype, [B04] 4.3.3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._core.contingency import encode
from sidelight._core.params import as_generator, as_seed, check_n_clusters, check_number
from sidelight._core.prototypes import group_means, kmeans_prototypes, nearest_prototype, squared_distances
from sidelight.errors import InvalidData
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._weights import weights_of_rows
from sidelight.progress import report

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
_MOST_ROWS, _ROWS_EACH = 20_000, 50  # rows, in all and a code, from which k-means learns as much as from all


class Codebook(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Turn rows into codes: the prototypes are k-means centres, or the mean of each sequence.

    With sequences, every point still goes to the *nearest* prototype, whatever sequence it came from: that is how
    sequences which look alike come to share codes.

    Parameters
    ----------
    n_codes : int, default=32
        Number of prototypes when there are no sequences; at most the number of rows. Fewer are made where fewer rows
        differ.
    n_init : int, default=1
        k-means starts.
    random_state : int, RandomState, Generator or None, default=None
        Seed of k-means.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_codes, n_features)
        The code words.
    labels_ : ndarray of intp
        Code of each row.
    sequence_names_ : tuple
        The sequence behind each prototype, in the order of first appearance; empty for k-means.
    n_features_in_, data_fingerprint_ : int, str
        Number of features, a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> X = [[0.0], [0.2], [4.9], [5.0], [5.2]]
    >>> book = sl.estimators.Codebook().fit(X, sequences=["mon", "mon", "mon", "tue", "tue"])
    >>> book.labels_
    array([0, 0, 1, 1, 1])
    >>> book.predict([[0.1], [7.0]])
    array([0, 1])
    """

    __metadata_request__fit = {"sequences": True}

    def __init__(self, n_codes: int = 32, *, n_init: int = 1, random_state: Any = None) -> None:
        self.n_codes = n_codes
        self.n_init = n_init
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, sequences: Any = None) -> Codebook:
        """Find the prototypes.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            One channel.
        y : ignored
            Present for scikit-learn.
        sequences : array-like of hashable, optional
            The sequence of each row; prototypes are then the sequences' means and ``n_codes`` is not used.
        """
        check_number(self, "n_codes", self.n_codes, integer=True, low=1)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        X = rows_to_fit(self, X)
        report("code book", 0, 1)
        if sequences is None:
            check_n_clusters(self, self.n_codes, X.shape[0], name="n_codes")
            seed = as_seed(as_generator(self.random_state))
            n_few = max(_MOST_ROWS, _ROWS_EACH * self.n_codes)
            rows = X
            if X.shape[0] > n_few:
                rows = X[np.sort(np.random.default_rng(seed).choice(X.shape[0], n_few, replace=False))]
            self.prototypes_ = kmeans_prototypes(rows, self.n_codes, seed, n_init=self.n_init)
            self.sequence_names_: tuple[Any, ...] = ()
        else:
            codes, self.sequence_names_ = sequence_codes(sequences, X.shape[0], type(self).__name__)
            self.prototypes_ = group_means(X, codes, len(self.sequence_names_))
        self.labels_ = nearest_prototype(X, self.prototypes_)[0]
        return self

    def predict(self, X: Any) -> Ints:
        """Return the code of each row of X."""
        check_is_fitted(self)
        return nearest_prototype(rows_to_judge(self, X), self.prototypes_)[0]

    def transform(self, X: Any) -> Floats:
        """Return the distance of each row of X to every prototype."""
        check_is_fitted(self)
        return np.sqrt(squared_distances(rows_to_judge(self, X), self.prototypes_))

    @checks_y
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return minus the mean squared distance of the rows of X to their prototypes; higher is better.

        Parameters
        ----------
        X : array, CSR matrix or data frame
            Rows of the channel.
        y : ignored
            Present for scikit-learn.
        sample_weight : array of shape (n_rows,), default=None
            What each row counts for.
        """
        check_is_fitted(self)
        distances = nearest_prototype(rows_to_judge(self, X), self.prototypes_)[1]
        return -float(np.average(distances**2, weights=weights_of_rows(sample_weight, len(distances))))

    @property
    def _n_features_out(self) -> int:
        """How many distances :meth:`transform` returns, for scikit-learn's names of columns."""
        return len(self.prototypes_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def sequence_codes(sequences: Any, n_rows: int, owner: str) -> tuple[Ints, tuple[Any, ...]]:
    """Read the sequence of each row; a missing one is an error that names the row."""
    if np.shape(sequences) != (n_rows,):
        raise InvalidData(
            f"{owner} got {n_rows} rows but sequences of shape {np.shape(sequences)}. Bring one sequence per row."
        )
    for row, name in enumerate(np.asarray(sequences, dtype=object)):
        if name is None or (isinstance(name, (float, np.floating)) and np.isnan(name)) or name == "":
            raise InvalidData(
                f"{owner}: row {row} (counted from 0) has no sequence. Give every row a sequence id, or leave rows out."
            )
    return encode(sequences, what=f"sequences of {owner}")


# When a point or a sequence fits no cluster: thresholds from how far the known ones lie from their own kind.
#
# Points lie close to their own sequence's mean, which was made from them; a new day of a known person does not. So each
# known point is measured against the *other* prototypes of its cluster, as if its own sequence had never been seen, and
# the threshold is a high quantile of these distances. Clusters with one prototype cannot tell and are left out, and so
# are outliers among sequences: a jacket that was worn once has only another jacket for kin, and measuring that distance
# would make every stranger known.


def thresholds(X: Floats, home: Ints | None, prototypes: Floats, labels: Ints, quantile: float) -> tuple[float, float]:
    """Return the distances beyond which a point, and the mean of a sequence, are new.

    Parameters
    ----------
    X, prototypes : arrays
        The points of a channel and its code book.
    home : intp array or None
        The prototype of each point's own sequence; None for a k-means code book.
    labels : intp array
        The cluster of each prototype; -1 for those nobody uses.
    quantile : float
        Share of known points (sequences) that should not be called new.
    """
    _, plain = nearest_prototype(X, prototypes)
    if home is None:
        beyond = float(np.quantile(plain, quantile))
        return beyond, beyond
    point_gaps, sequence_gaps = [], []
    for i, cluster in enumerate(labels):
        kin = np.flatnonzero((labels == cluster) & (np.arange(len(labels)) != i))
        mine = home == i
        if cluster >= 0 and kin.size and mine.any():
            point_gaps.append(nearest_prototype(X[mine], prototypes[kin])[1])
            sequence_gaps.append(nearest_prototype(prototypes[i : i + 1], prototypes[kin])[1])
    if not point_gaps:
        beyond = float(np.quantile(plain, quantile))
        return beyond, beyond
    gaps = np.concatenate(sequence_gaps)
    usual = gaps <= _fence(gaps)
    points = np.concatenate([of for of, kept in zip(point_gaps, usual) if kept])
    return float(np.quantile(points, quantile)), float(np.quantile(gaps[usual], quantile))


def _fence(values: Floats) -> float:
    """Return Tukey's fence: values beyond it are outliers."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high + 1.5 * (high - low))
