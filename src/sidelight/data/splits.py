"""Splits for model selection that leave what was said intact: whole bags, or answers with all rows kept.

Splitting rows at random would cut bags (a cut bag no longer promises that each of its labels is carried) and would
lose most answers (an answer needs all of its rows on one side).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from sidelight._core.params import as_generator, check_flag, check_number
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidData, InvalidParameter

Ints = NDArray[np.intp]
A = TypeVar("A", Pairs, Triplets)


class BagKFold(BaseCrossValidator):
    """Split rows into folds of whole bags, with about as many rows in each fold.

    Parameters
    ----------
    n_splits : int, default=5
        How many folds.
    shuffle : bool, default=False
        Deal the bags out in random order; otherwise the largest first, which balances best.
    random_state : int, RandomState, Generator or None
        Decides the order of the bags when ``shuffle`` is True.

    Notes
    -----
    The bags come as ``y``, as ``groups`` or, with scikit-learn's metadata routing, as ``bags``. No bag is ever cut, so
    :class:`~sidelight.errors.BagsWereCut` never appears.

    Examples
    --------
    >>> import sidelight as sl
    >>> bags = sl.Bags(["a", "a", "b", "c"])
    >>> [test.tolist() for _, test in sl.BagKFold(2).split(None, bags)]
    [[0, 1], [2, 3]]
    """

    __metadata_request__split = {"groups": True, "bags": True}

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        _check(self, n_splits, shuffle, random_state)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None, *, bags: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Yield the rows to train on and the rows to test on, one pair for each fold.

        Parameters
        ----------
        X : array of shape (n_rows, n_features) or None
            Only its length matters.
        y : Bags or anything
            Used when it says which bag each row is in, ignored otherwise.
        groups, bags : Bags or sequence of bag ids, default=None
            Which bag each row is in.
        """
        whole_bags = self._bags(X, y, groups if bags is None else bags)
        if whole_bags.n_bags < self.n_splits:
            raise InvalidData(f"BagKFold: {self.n_splits} folds need as many bags, but there are {whole_bags.n_bags}.")
        fold_of_row = deal(whole_bags.sizes, self.n_splits, self.shuffle, self.random_state)[whole_bags.codes]
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, *, bags: Any = None) -> int:
        """Return the number of folds; the arguments are there for scikit-learn."""
        return self.n_splits

    def _bags(self, X: Any, y: Any, bags: Any) -> Bags:
        if bags is None and not isinstance(y, Bags):
            raise InvalidData(
                "BagKFold needs to know which bag each row is in. Pass the Bags as y, as groups=, or as bags= with "
                "metadata routing."
            )
        bags = y if bags is None else bags
        if X is None:
            return bags if isinstance(bags, Bags) else Bags(bags)
        return as_bags(bags, n_rows=X.shape[0] if hasattr(X, "shape") else len(X))


class AnswerKFold:
    """Split answers about pairs or triplets into folds; every part is about all rows.

    Parameters
    ----------
    n_splits : int, default=5
        How many folds.
    shuffle : bool, default=True
        Deal the questions out in random order.
    random_state : int, RandomState, Generator or None
        Decides the order of the questions when ``shuffle`` is True.

    Notes
    -----
    Answers about the same rows (by several annotators, say) stay in one fold, so nothing that is tested was told. It
    is no scikit-learn splitter: those split rows, and an answer needs all of its rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> pairs = sl.Pairs.from_table([(0, 1, "same"), (1, 0, "same"), (2, 3, "different")], n_rows=4)
    >>> [(train.n_answers, test.n_answers) for train, test in sl.AnswerKFold(2, random_state=0).split(pairs)]
    [(1, 2), (2, 1)]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None) -> None:
        _check(self, n_splits, shuffle, random_state)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, answers: A) -> Iterator[tuple[A, A]]:
        """Yield the answers to train on and the answers to test on, one pair for each fold.

        Parameters
        ----------
        answers : Pairs or Triplets
            What to split.
        """
        if not isinstance(answers, (Pairs, Triplets)):
            raise InvalidData(f"AnswerKFold splits Pairs or Triplets. Got a {type(answers).__name__}.")
        questions = answers.question_codes
        sizes = np.bincount(questions)
        if len(sizes) < self.n_splits:
            raise InvalidData(f"AnswerKFold: {self.n_splits} folds need as many questions, but there are {len(sizes)}.")
        fold_of_answer = deal(sizes, self.n_splits, self.shuffle, self.random_state)[questions]
        for fold in range(self.n_splits):
            yield answers.only(fold_of_answer != fold), answers.only(fold_of_answer == fold)

    def get_n_splits(self, answers: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def __repr__(self) -> str:
        return f"AnswerKFold({self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state!r})"


def deal(sizes: Ints, n_folds: int, shuffle: bool, random_state: Any) -> Ints:
    """Return a fold for each item: each goes to the fold that holds least so far.

    Two folds never differ by more than the largest item, and no fold stays empty.
    """
    order = as_generator(random_state).permutation(len(sizes)) if shuffle else np.argsort(-sizes, kind="stable")
    folds = np.empty(len(sizes), dtype=np.intp)
    piles = [(0, fold) for fold in range(n_folds)]
    for item in order.tolist():
        held, fold = piles[0]
        folds[item] = fold
        heapq.heapreplace(piles, (held + int(sizes[item]), fold))
    return folds


def _check(owner: object, n_splits: Any, shuffle: Any, random_state: Any) -> None:
    check_number(owner, "n_splits", n_splits, integer=True, low=2)
    check_flag(owner, "shuffle", shuffle)
    if random_state is not None:
        if not shuffle:
            raise InvalidParameter(
                f"The 'random_state' parameter of {type(owner).__name__} has no effect without shuffle=True. "
                "Set shuffle=True, or leave random_state at None."
            )
        as_generator(random_state)
