"""Clusters of bags by the words that they hold: the default, for data of any kind.

Rows become words of several small code books, bags become the words they hold, and k-means clusters the bags. Nothing
is assumed about how many rows of a bag matter: one telling row is a rare word, and many alike rows are a frequent one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from sidelight._core.params import as_generator, as_seed, check_choice, check_number
from sidelight._core.process import one_thread, without_library_warnings
from sidelight._core.prototypes import squared_distances
from sidelight._core.segments import segment_argmax
from sidelight._core.simplex import softmax
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.data.parts import PartedRows
from sidelight.errors import EmptyClusters, InvalidParameter, warn
from sidelight.estimators._base import all_or_nothing, checks_y, rows_to_fit
from sidelight.estimators._choice import Choice
from sidelight.estimators._large import fit_on_sample
from sidelight.estimators._weights import weights_of_bags
from sidelight.estimators.bags._bags import BagClusterer, check_bag_clusters
from sidelight.estimators.bags.bag_profiles import BagProfiles, choose_n_clusters, learn_profiles
from sidelight.estimators.bags.bag_words import BagWords, WordBooks, learn_books
from sidelight.progress import report

SCALES = {"both": ("standard", "whitened"), "standard": ("standard",), "whitened": ("whitened",)}


MOST_ROWS = 100_000  # rows of Parts that code books are learnt from


class BagWordClustering(BagClusterer):
    r"""Cluster bags of rows by the words of several code books that their rows are.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters. None takes the largest number up to ``max_clusters`` whose clusters come back nearly as
        surely as those of any other number when they are made from other code books; see ``choice_``.
    n_words : int or sequence of int, default=(25, 50, 100)
        Sizes of the code books. Small ones see what is common, large ones what is rare. Where
        there are few rows the books are smaller, a word for twenty rows, because a word that occurs once joins nothing.
    n_books : int, default=4
        Code books of each size and scaling.
    scale : {"both", "standard", "whitened"}, default="both"
        How rows are scaled before they become words: every feature with the same variance, every direction with nearly
        the same variance, or code books of both kinds. Rows of more than 1000 features are standardised only.
    max_clusters : int, default=12
        Largest number of clusters tried when ``n_clusters`` is None.
    n_init : int, default=10
        k-means starts.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the code books and of k-means.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters.
    bag_labels_ : ndarray of shape (n_bags,)
        Cluster of each bag, in the order of ``bags.names``. Cluster 0 is the largest.
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row's bag.
    bag_proba_ : ndarray of shape (n_bags, n_clusters)
        Probability of every cluster for each bag: normal clouds around the centres, all of the same spread.
    witnesses_ : ndarray of shape (n_bags,)
        The row of each bag whose words speak most for the bag's cluster.
    word_weights_ : ndarray of shape (n_clusters, n_words)
        How much each word speaks for each cluster; negative: against it.
    word_books_ : ndarray of shape (n_words,)
        The code book of each word.
    cluster_centers_ : ndarray of shape (n_clusters, rank)
        Centres, among the points of :meth:`bag_points`.
    spread_ : float
        Mean squared distance of the bags to their centres.
    choice_ : dict
        Numbers of clusters that were tried, the stability of each, its standard error and what was chosen; empty when
        ``n_clusters`` was given.
    mean_, directions_, offsets_, book_starts_, book_groups_ : ndarray
        The code books; see ``sidelight.estimators.bags.bag_words.WordBooks``.
    rarity_, word_mean_, profile_ : ndarray
        From words to points; see ``sidelight.estimators.bags.bag_profiles.BagProfiles``.
    n_features_in_, data_fingerprint_
        As everywhere.

    See Also
    --------
    MaxMarginBagClustering : [Z09]: the row of a bag that speaks most clearly decides.
    sidelight.estimators.BagKMedoids : Distances between bags.

    Notes
    -----
    Bag i holds word v with the weight

    .. math::

        a_{iv} = f(n_{iv}) \log (n / n_v),

    where :math:`n_{iv}` counts its rows of that word, :math:`n_v` the bags with the word, and f is presence or
    :math:`\log(1 + n_{iv})`. Bags are compared by their likeness to all bags, the rows of :math:`A A^\top`.

    Without ``bags`` every row is a bag of its own; a single row holds one word of each book and words do not know which
    of them are neighbours, so k-means on the rows does better there. Where all bags hold the same words there is
    nothing to tell them apart by: all of them are in cluster 0, and a warning says so.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.random.default_rng(4).normal(size=(200, 3))
    >>> bags = np.repeat(np.arange(40), 5)
    >>> X[::5, 0] += np.where(np.arange(40) < 25, 9.0, -9.0)  # one telling row in each bag
    >>> found = sl.BagWordClustering(2, random_state=0).fit(X, bags=bags)
    >>> found.bag_labels_.tolist() == [0] * 25 + [1] * 15
    True
    >>> bool((found.witnesses_ == np.arange(40) * 5).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_words: Any = (25, 50, 100),
        n_books: int = 4,
        scale: str = "both",
        max_clusters: int = 12,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_words = n_words
        self.n_books = n_books
        self.scale = scale
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.random_state = random_state

    @all_or_nothing
    @one_thread()  # the products are thin: threads of BLAS and OpenMP would wait for each other most of the time
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> BagWordClustering:
        """Find the clusters of the bags.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features), or Parts
            The rows. Of Parts, code books and clusters are learnt from 100,000 rows in whole bags; ``labels_`` is then
            made part by part, everything else is about these bags.
        y : Bags, optional
            May carry the bags instead of ``bags``; anything else is ignored.
        bags : Bags or sequence of bag ids, optional
            The bag of each row. Labels on bags are not looked at.
        """
        sizes = self._check_parameters()
        if isinstance(X, PartedRows):
            return fit_on_sample(self, X, MOST_ROWS, y=y, bags=bags)
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        if self.n_clusters is not None:
            check_bag_clusters(self, self.n_clusters, bags)
        self._learn_by_content(X, bags, partial(self._learn, sizes))
        return self

    _of_bags = ("bag_labels_", "witnesses_", "bag_proba_")

    def _learn(self, sizes: tuple[int, ...], X: Any, bags: Bags) -> None:
        generator = as_generator(self.random_state)
        books = learn_books(X, SCALES[self.scale], sizes, self.n_books, generator, partial(report, "code books"))
        held = self._words_of_bags(X, bags, books)
        profiles = learn_profiles(held, generator)
        points = profiles.points(held)
        k, self.choice_ = self._settle_n_clusters(held, generator)
        centres = self._centres(points, k, generator)
        self._publish(held, bags, profiles, points, centres)

    def bag_points(self, X: Any, bags: Any = None) -> np.ndarray:
        """Return where each bag lies by its words, of shape (n_bags, rank); clusters are compact there.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags or sequence of bag ids, optional
            The bag of each row; without it every row is a bag of its own.
        """
        of_rows, rows = self._judged(X, bags)
        return self._profiles().points(self._words_of_bags(rows, of_rows, self._books()))

    def predict_bag_proba(self, X: Any, bags: Any = None) -> np.ndarray:
        """Return the probability of every cluster for each bag, in the order of ``bags.names``.

        Parameters
        ----------
        X, bags
            As in :meth:`bag_points`.
        """
        return self._proba(self.bag_points(X, bags))

    @checks_y
    def score(self, X: Any, y: Any = None, *, bags: Any = None, sample_weight: Any = None) -> float:
        """Return minus the mean squared distance of the bags to their centres; higher is better.

        Parameters
        ----------
        X, bags
            As in :meth:`bag_points`.
        y : Bags, optional
            May carry the bags instead.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; a bag counts with the mean weight of its rows.
        """
        rows = self._rows(X)
        of_rows = as_bags(bags, n_rows=rows.shape[0], y=y)
        nearest = squared_distances(self.bag_points(rows, of_rows), self.cluster_centers_).min(axis=1)
        weights = weights_of_bags(sample_weight, of_rows)
        return -float(np.average(nearest, weights=weights))

    def _bag_labels(self, X: Any, bags: Bags) -> np.ndarray:
        points = self._profiles().points(self._words_of_bags(X, bags, self._books()))
        return np.asarray(squared_distances(points, self.cluster_centers_).argmin(axis=1), dtype=np.intp)

    def _words_of_bags(self, X: Any, bags: Bags, books: WordBooks) -> BagWords:
        words = books.words(X)
        order = np.asarray(bags.order)
        if not (order[1:] > order[:-1]).all():
            words = words[order]
        return BagWords(words, np.asarray(bags.starts), books)

    def _settle_n_clusters(self, held: BagWords, generator: np.random.Generator) -> tuple[int, Choice | dict[str, Any]]:
        if self.n_clusters is not None:
            return int(self.n_clusters), {}
        most = min(self.max_clusters, held.n_bags - 1)
        if most < 2:
            return 1, {}
        choice = choose_n_clusters(held, range(2, most + 1), generator)
        return int(choice["chosen"]), choice

    def _centres(self, points: np.ndarray, k: int, generator: np.random.Generator) -> np.ndarray:
        """Cluster the points by k-means, the largest cluster first."""
        report("clusters", 0, 1)
        with without_library_warnings():  # fewer points than clusters: said below
            kmeans = KMeans(k, n_init=self.n_init, random_state=as_seed(generator)).fit(points)
        labels = squared_distances(points, kmeans.cluster_centers_).argmin(axis=1)
        sizes = np.bincount(labels, minlength=k)
        if not sizes.all():
            warn(
                EmptyClusters(
                    f"only {np.count_nonzero(sizes)} of {k} clusters have bags: the others hold the same words. "
                    "Ask for fewer clusters, or bring features that tell the bags apart.",
                    who=type(self).__name__,
                ),
                stacklevel=5,  # the caller of fit
            )
        return np.asarray(kmeans.cluster_centers_[np.argsort(-sizes, kind="stable")], dtype=np.float64)

    def _publish(
        self, held: BagWords, bags: Bags, profiles: BagProfiles, points: np.ndarray, centres: np.ndarray
    ) -> None:
        books = held.books
        self.mean_, self.directions_, self.offsets_ = books.mean, books.directions, books.offsets
        self.book_starts_, self.book_groups_ = books.starts, books.groups
        self.word_books_ = np.repeat(np.arange(books.n_books), np.diff(books.starts))
        self.rarity_, self.word_mean_, self.profile_ = profiles.rarity, profiles.mean, profiles.directions
        self.cluster_centers_, self.n_clusters_ = centres, len(centres)
        squares = squared_distances(points, centres)
        self.bag_labels_ = squares.argmin(axis=1)
        self.spread_ = float(squares.min(axis=1).mean())
        self.bag_proba_ = self._proba(points)
        used = np.bincount(self.bag_labels_, minlength=len(centres)) > 0
        self.word_weights_ = profiles.word_weights(centres - centres[used].mean(axis=0))
        self.witnesses_ = np.asarray(bags.order)[self._witness(held)]

    def _witness(self, held: BagWords) -> np.ndarray:
        """Return the row of each bag whose words speak most for its cluster, among rows in the order of bags."""
        labels = np.repeat(self.bag_labels_, np.diff(held.bag_starts))
        voice = np.zeros(len(labels))
        for book in range(held.books.n_books):
            voice += self.word_weights_[labels, held.words[:, book]]
        return segment_argmax(voice, held.bag_starts)

    def _proba(self, points: np.ndarray) -> np.ndarray:
        squares = squared_distances(points, self.cluster_centers_)
        proba: np.ndarray = softmax(-squares / (2.0 * self.spread_ if self.spread_ > 0 else 1.0))
        return proba

    def _books(self) -> WordBooks:
        return WordBooks(self.mean_, self.directions_, self.offsets_, self.book_starts_, self.book_groups_)

    def _profiles(self) -> BagProfiles:
        return BagProfiles(self.rarity_, self.word_mean_, self.profile_)

    def _check_parameters(self) -> tuple[int, ...]:
        check_number(self, "n_clusters", self.n_clusters, integer=True, low=1, none=True)
        sizes = tuple(self.n_words) if isinstance(self.n_words, Iterable) else (self.n_words,)
        if not sizes:
            raise InvalidParameter(f"{type(self).__name__} got n_words={self.n_words!r}: give at least one size.")
        for size in sizes:
            check_number(self, "n_words", size, integer=True, low=2)
        check_number(self, "n_books", self.n_books, integer=True, low=2 if self.n_clusters is None else 1)
        check_choice(self, "scale", self.scale, tuple(SCALES))
        check_number(self, "max_clusters", self.max_clusters, integer=True, low=2)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        return sizes
