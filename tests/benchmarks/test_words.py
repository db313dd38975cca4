"""Words as bags of letters."""

from __future__ import annotations

import string

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.words import ROAD_NOT_TAKEN, make_words

from sidelight.errors import InvalidData


def alphabet(copies: int = 80) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat(list(string.ascii_uppercase), copies)
    return np.arange(len(y), dtype=float)[:, None], y


def test_jabberwocky_makes_166_bags_of_24_letters():
    spelled = make_words(None, *alphabet(), random_state=0)
    assert (spelled.bags.n_bags, len(spelled.X), spelled.bags.n_classes) == (166, 718, 24)


@pytest.mark.data
def test_jabberwocky_is_letter_carroll_but_for_the_k_of_back(data_dir):
    from scipy.io import loadmat

    stored = loadmat(data_dir / "letter_carroll" / "letter_carroll.mat")["DD"][0, 0]
    spelled = make_words(None, *alphabet(), random_state=0)
    lost = sum(map(len, spelled.words[:120])) - 1
    assert spelled.words[119] == "back"
    kept = np.arange(718) != lost
    assert np.array_equal(stored["XtB"].ravel() - 1, spelled.bags.codes[kept])
    theirs = stored["YR"].argmax(axis=1)
    assert len(set(zip(theirs, spelled.y[kept]))) == 24  # one of their columns for each of our letters


def test_rows_come_from_the_pool_and_only_once():
    X, y = alphabet()
    spelled = make_words(None, X, y, random_state=0)
    assert np.array_equal(X[spelled.rows], spelled.X)
    assert np.array_equal(y[spelled.rows], spelled.y)
    assert len(set(spelled.rows)) == len(spelled.rows)
    assert "".join(spelled.y).lower() == "".join(spelled.words)


def test_a_bag_carries_the_letters_of_its_word():
    spelled = make_words("Noon -- snicker-snack!", *alphabet(), random_state=0)
    assert spelled.words == ("noon", "snickersnack")
    assert spelled.bags.labels[0] == {"N", "O"}
    assert spelled.bags.labels[1] == set("SNICKERA")


def test_words_may_be_sequences_of_any_labels():
    X = sp.csr_array(np.eye(4))
    spelled = make_words([[3, 1], [1]], X, [1, 1, 2, 3], random_state=0)
    assert sp.issparse(spelled.X)
    assert spelled.y.tolist() == [3, 1, 1]
    assert spelled.bags.labels[0] == {1, 3}


def test_the_same_seed_draws_the_same_letters():
    first, again, other = (make_words(None, *alphabet(), random_state=seed).rows for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("text", "y", "message"),
    [
        ("ax", ["a", "b"], "no 'x', needed for 'ax'"),
        ("aa", ["a", "b"], "needs 'a' 2 times but the pool has 1"),
        ("?!", ["a", "b"], "no words"),
        ("a", ["a"], r"shape \(2, 1\) but 1 labels"),
    ],
)
def test_a_pool_that_cannot_spell_the_text_is_refused(text, y, message):
    with pytest.raises(InvalidData, match=message):
        make_words(text, [[0.0], [1.0]], y)


def test_the_road_not_taken_makes_letter_frost_of_the_paper():
    letters = list("abcdefghijklmnopqrstuvwxyz")
    bags = make_words(ROAD_NOT_TAKEN, np.zeros((26, 1)), letters, replace=True, random_state=0).bags
    sizes = [len(labels) for labels in bags.labels.values()]
    assert (bags.n_bags, bags.n_rows, len(set().union(*bags.labels.values()))) == (144, 565, 24)  # [PF14] table 2
    assert sum(size == 1 for size in sizes) == 12
    assert np.mean(sizes) == pytest.approx(3.60, abs=0.005)
