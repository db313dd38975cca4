"""Triplets: the odd one out, what "none" adds, sorted lists, contradictions, agreement, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.coerce import as_triplets
from sidelight.errors import ConflictingAnswers, InvalidData, InvalidParameter, UnknownName


def true_answer(a: int, b: int, c: int) -> str:
    """[P17] eq. (3.2), spelled out."""
    if a == b != c:
        return "c"
    if a == c != b:
        return "b"
    return "a" if b == c != a else "none"


def test_words_and_numbers_say_the_same() -> None:
    table = [(0, 1, 2, "a"), (1, 2, 3, "b"), (2, 3, 4, "c"), (0, 2, 4, "none")]
    triplets = sl.Triplets.from_table(table, n_rows=5)
    assert triplets.odd.tolist() == [0, 1, 2, -1]
    assert sl.Triplets(*zip(*[row[:3] for row in table]), [0, 1, 2, -1], n_rows=5) == triplets
    assert as_triplets(table, n_rows=5) == triplets
    assert as_triplets(None, n_rows=5, y=triplets) is triplets
    assert repr(triplets) == "Triplets(4 answers about 5 of 5 rows: 1 a, 1 b, 1 c, 1 none)"


def test_sampling_without_noise_tells_the_truth() -> None:
    y = np.array([0, 0, 0, 1, 1, 2])
    triplets = sl.Triplets.sample(y, 20, random_state=0)
    assert len(np.unique(triplets.question_codes)) == 20
    for answer in triplets.answers:
        assert answer.answer == true_answer(*y[list(answer.rows)])


def test_noise_picks_any_wrong_answer_equally_often() -> None:
    triplets = sl.Triplets.sample(np.zeros(200), 12_000, noise=0.3, random_state=1)  # the truth is always "none"
    share = np.bincount(triplets.codes) / 12_000
    np.testing.assert_allclose(share, [0.1, 0.1, 0.1, 0.7], atol=0.012)  # four standard errors


def test_what_follows_is_what_every_consistent_clustering_has_in_common() -> None:
    rng = np.random.default_rng(0)
    every = np.array(list(product(range(5), repeat=5)))
    for _ in range(12):
        y = rng.integers(3, size=5)
        triplets = sl.Triplets.sample(y, 3, random_state=rng)
        fits = np.all([[true_answer(*z[list(a.rows)]) == a.answer for a in triplets.answers] for z in every], axis=1)
        for i in range(5):
            for j in range(i):
                alike = every[fits][:, i] == every[fits][:, j]
                said = triplets.implies(i, j)
                if said is not None:  # sound: only what is certain
                    assert alike.all() == (said == "same")
                    assert alike.any() == (said == "same")


def test_none_joins_in_once_one_of_its_pairs_is_known() -> None:
    table = [(0, 1, 4, "c"), (0, 1, 2, "none"), (2, 4, 3, "none")]
    triplets = sl.Triplets.from_table(table, n_rows=6)
    assert triplets.groups().tolist() == [0, 0, 0, 1, 2, 3]
    assert triplets.implies(2, 3) == "different"
    assert triplets.implies(3, 4) == "different"
    assert {a.rows for a in triplets.implied().answers} == {(0, 2), (1, 2), (2, 4), (2, 3), (3, 4), (0, 3), (1, 3)}
    assert triplets.closure() == triplets.closure().closure()


def test_contradictions_name_the_answers_behind_them() -> None:
    direct = sl.Triplets.from_table([(0, 1, 2, "c"), (0, 2, 3, "c")], n_rows=4)
    (found,) = direct.contradictions()
    assert (set(found.rows), found.chain, found.against) == ({0, 2}, (1,), (0,))
    with pytest.raises(ConflictingAnswers, match=r"triplets\.without\(0\)"):
        direct.check_consistent()
    through_none = sl.Triplets.from_table([(0, 1, 2, "c"), (3, 4, 5, "c"), (0, 1, 2, "none")], n_rows=6)
    for found in through_none.contradictions():
        assert set(found.chain) | set(found.against) == {0, 2}
    assert through_none.contradictions()
    assert through_none.without(2).contradictions() == ()


def test_to_pairs_keeps_weight_and_annotator() -> None:
    table = [(0, 1, 2, "b", 2.0, "ann"), (0, 1, 3, "none", 1.0, "bob")]
    pairs = sl.Triplets.from_table(table, n_rows=4).to_pairs()
    assert {(a.rows, a.answer, a.weight, a.annotator) for a in pairs.answers} == {
        ((0, 1), "different", 2.0, "ann"),
        ((0, 2), "same", 2.0, "ann"),
        ((1, 2), "different", 2.0, "ann"),
    }


def test_a_sorted_list_with_a_line_can_be_true() -> None:
    triplets = sl.Triplets.from_ranking([[7, 1, 2, 3, 4]], n_rows=8, n_alike=2, annotator="ann")
    assert [a.rows for a in triplets.answers] == [(7, 1, 3), (7, 1, 4), (7, 2, 3), (7, 2, 4)]
    assert {(a.answer, a.annotator) for a in triplets.answers} == {("c", "ann")}
    assert triplets.contradictions() == ()
    by_name = sl.Triplets.from_ranking([["q", "x", "y"]], ids=["x", "y", "q"])
    assert by_name.answers[0].rows == (2, 0, 1)


def test_a_sorted_list_without_a_line_only_compares() -> None:
    triplets = sl.Triplets.from_ranking([[0, 1, 2, 3]], n_rows=4)
    assert [a.rows for a in triplets.answers] == [(0, 1, 2), (0, 1, 3), (0, 2, 3)]
    assert triplets.contradictions()


def test_agreement_sees_through_the_order_of_rows() -> None:
    rows = [(0, 1, 2), (1, 2, 3), (2, 3, 4)]
    ann = sl.Triplets.from_table([(*r, said, 1, "ann") for r, said in zip(rows, ["c", "a", "none"])], n_rows=5)
    bob = sl.Triplets.from_table([(*r[::-1], said, 1, "bob") for r, said in zip(rows, ["a", "c", "a"])], n_rows=5)
    (found,) = (ann + bob).agreement()
    assert found.n_common == 3
    assert found.share == pytest.approx(2 / 3)


def test_selecting_rows_keeps_whole_triplets() -> None:
    triplets = sl.Triplets.from_table([(0, 1, 2, "c"), (1, 2, 3, "a")], n_rows=4)
    assert [a.rows for a in triplets[[3, 2, 1]].answers] == [(2, 1, 0)]
    with pytest.raises(TypeError, match=r"triplets\.answers"):
        iter(triplets)


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: sl.Triplets([0], [1], [1], ["a"], n_rows=3), r"answer 0 is about the rows \(0, 1, 1\)"),
        (lambda: sl.Triplets([0], [1], [3], ["a"], n_rows=3), "row 3"),
        (lambda: sl.Triplets([0], [1], [2], ["d"], n_rows=3), "'d'"),
        (lambda: sl.Triplets([0], [1], [2], [3], n_rows=3), "answer 0 is 3"),
        (lambda: sl.Triplets.from_ranking([[0, 1, 0]], n_rows=3), "ranking 0 names a row twice"),
        (lambda: sl.Triplets.from_ranking([0], n_rows=3), "ranking 0"),
        (lambda: sl.Triplets.from_ranking([[]], n_rows=3), "ranking 0"),
        (lambda: sl.Triplets.from_ranking([[0, 1, 2]], n_rows=3, n_alike=0), "n_alike"),
        (lambda: sl.Triplets.from_ranking([[0, 1, 2]]), "n_rows="),
    ],
)
def test_bad_input_is_named(make: object, culprit: str) -> None:
    with pytest.raises((InvalidData, UnknownName, InvalidParameter), match=culprit):
        make()


def test_rankings_may_come_as_an_array() -> None:
    assert sl.Triplets.from_ranking(np.array([[0, 1, 2]]), n_rows=3) == sl.Triplets.from_ranking([[0, 1, 2]], n_rows=3)


def test_a_repeated_row_is_called_by_its_id() -> None:
    with pytest.raises(InvalidData, match=r"answer 0 is about the rows \('x', 'y', 'x'\)"):
        sl.Triplets.from_table([("x", "y", "x", "c")], ids=["x", "y", "z"])
