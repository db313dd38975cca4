"""Screens of rows sorted onto piles: what is learnt, what stands after it, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import sidelight as sl
from sidelight.active.screens import Screen
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter, UnknownName

X, Y = load_wine(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def begun(**options):
    return sl.ActiveSession(X, random_state=0, **options)


def sorted_by(session, n_screens, oracle=None, n=10, **who):
    oracle = sl.Oracle(Y) if oracle is None else oracle
    for _ in range(n_screens):
        screen = session.ask_screen(n)
        session.tell_screen(screen, oracle.sort(screen), **who)
    return session


def standing(session):
    """Everything that a person would see."""
    screen = session.ask_screen()
    return session.piles, session.labels_.tolist(), screen, session.predict_proba().tolist(), session.eps_


def test_a_few_screens_say_it_all():
    session = begun()
    session.run(sl.Oracle(Y), seconds=60)
    assert adjusted_rand_score(Y, session.labels_) > 0.95
    assert len(session.piles) == 3


@pytest.mark.slow
def test_seconds_of_sorting_beat_seconds_of_pairs():
    by_piles, by_pairs = begun(), begun()
    by_piles.run(sl.Oracle(Y), seconds=60, by="piles")
    by_pairs.run(sl.Oracle(Y), seconds=60, by="pairs")
    assert adjusted_rand_score(Y, by_piles.labels_) > adjusted_rand_score(Y, by_pairs.labels_)


def test_the_first_clusters_are_the_piles():
    session = sorted_by(begun(), 2)
    for number, pile in enumerate(session.piles):
        assert set(session.labels_[list(pile.rows)]) == {number}
        assert pile.example in pile.rows
        assert len(set(Y[list(pile.rows)])) == 1


def test_a_screen_opens_several_piles_by_number_or_by_name():
    session = begun()
    session.tell_screen([0, 1, 70, 71, 150], ["one", "one", 7, 7, "aside"])
    assert [(pile.name, sorted(pile.rows)) for pile in session.piles] == [("one", [0, 1]), ("pile 2", [70, 71])]
    session.tell_screen([2, 72, 151], {2: "one", 151: 2, 72: session.piles[1]})
    assert [sorted(pile.rows) for pile in session.piles] == [[0, 1, 2], [70, 71, 72], [151]]


def test_new_piles_of_two_people_stay_two():
    session = begun()
    ann = session.ask_screen(4)
    bob = session.ask_screen(4, busy=[ann])
    assert not set(ann.rows) & set(bob.rows)
    session.tell_screen(ann, [0, 0, 1, 1], person="ann")
    session.tell_screen(bob, [0, 0, 1, 1], person="bob")
    assert [len(pile.rows) for pile in session.piles] == [2, 2, 2, 2]


def test_the_same_screen_until_something_is_answered():
    session = begun()
    screen = session.ask_screen()
    assert session.ask_screen() is screen
    assert len(session.ask_screen(3).rows) == 3
    session.tell(session.ask(), "different")
    assert session.ask_screen() != screen


def test_one_row_asks_which_pile():
    session = sorted_by(begun(), 2)
    screen = session.ask_screen(1)
    assert len(screen.rows) == 1
    assert sorted(screen.likely[0]) == [pile.number for pile in screen.piles]
    assert screen.likely[0][0] == int(session.predict_proba()[screen.rows[0]].argmax())
    session.tell_screen(screen, [screen.piles[0]])
    assert screen.rows[0] in session.piles[0].rows


def test_a_row_in_ten_was_placed_before():
    session, before = begun(), set()
    counts = []
    for _ in range(6):
        screen = session.ask_screen()
        counts.append(len(before & set(screen.rows)))
        before |= set(screen.rows)
        session.tell_screen(screen, sl.Oracle(Y).sort(screen))
    assert counts[0] == 0
    assert min(counts[1:]) >= 1


def test_a_row_left_aside_comes_later():
    session = begun()
    screen = session.ask_screen()
    session.tell_screen(screen, ["aside"] * 10)
    assert session.piles == ()
    assert session.n_answers == 1
    first = session.ask_screen()
    assert len(set(first.rows) & set(screen.rows)) < 10


# -- what stands ------------------------------------------------------------------------------------------------------


def test_undo_takes_every_act_back():
    session = sorted_by(begun(), 2)
    acts = [
        lambda: sorted_by(session, 1),
        lambda: session.rename_pile(0, "red"),
        lambda: session.merge_piles(0, 1),
        lambda: session.keep_piles_apart(0, 1),
        lambda: session.split_pile(0, session.piles[0].rows[:2], "some"),
        lambda: session.place(session.piles[0].rows[0], 1),
        lambda: session.tell((3, 100), "different"),
    ]
    for act in acts:
        before = standing(session)
        act()
        assert session.n_answers == 3
        session.undo()
        assert standing(session) == before


def test_a_session_of_pairs_triplets_and_piles_is_resumed(tmp_path):
    recorder = sl.AnswerFile(tmp_path / "answers.jsonl")
    session = begun(recorder=recorder)
    session.run(sl.Oracle(Y), budget=5)
    session.tell((0, 1, 130), "c")
    sorted_by(session, 2, person="ann")
    session.run(sl.Oracle(Y), budget=2)
    session.rename_pile(0, "red")
    session.split_pile(1, session.piles[1].rows[:1], "odd")
    session.merge_piles(0, "odd")
    session.save(tmp_path / "session.json")
    again = sl.ActiveSession.resume(tmp_path / "session.json", X)
    assert standing(again) == standing(session)
    assert again.ask().rows == session.ask().rows
    replayed = begun()
    replayed.replay(recorder.events())
    assert replayed.piles == session.piles


def test_pairs_told_before_begin_the_piles():
    session = begun()
    session.run(sl.Oracle(Y), budget=40)
    screen = session.ask_screen()
    assert len(screen.piles) == 3
    assert all(len(set(Y[list(pile.rows)])) == 1 for pile in screen.piles)
    sorted_by(session, 1)
    assert len(session.piles) == 3


def test_answers_about_pairs_after_piles_move_rows():
    session = sorted_by(begun(), 2)
    own, other = session.piles[:2]
    row = next(row for row in session.typical_rows(0) if row not in own.rows)
    session.tell((int(row), other.rows[0]), "same")
    session.tell((int(row), other.rows[1]), "same")
    assert session.labels_[row] == 1


def test_piles_are_renamed_merged_split_and_kept_apart():
    session = sorted_by(begun(), 2)
    first, second = session.piles[:2]
    session.rename_pile(first.number, "red")
    session.merge_piles("red", second.number)
    assert set(session.piles[0].rows) == {*first.rows, *second.rows}
    assert session.piles[0].name == "red"
    session.split_pile("red", second.rows, "white")
    assert {pile.name: set(pile.rows) for pile in session.piles}["white"] == set(second.rows)
    assert session.piles[-1].number > second.number  # no number is used again


def test_a_needless_pile_is_asked_about_until_it_is_kept_apart():
    session = sorted_by(begun(), 6)
    rows = session.piles[0].rows[:2]
    session.split_pile(0, rows, "needless")
    large, small = session.doubtful_piles()
    assert (large.number, small.name) == (0, "needless")
    session.keep_piles_apart(large, small)
    assert session.doubtful_piles() is None
    session.undo()
    session.merge_piles(large, small)
    assert session.doubtful_piles() is None


def test_a_placed_row_is_moved_for_good():
    session = sorted_by(begun(), 3)
    row = session.piles[0].rows[0]
    session.place(row, 1)
    assert row in session.piles[1].rows
    assert session.labels_[row] == 1


def test_wrong_placements_are_told_by_rows_placed_twice():
    right, wrong = begun(), begun()
    right.run(sl.Oracle(Y), seconds=240, by="piles")
    wrong.run(sl.Oracle(Y, noise=0.2, random_state=0), seconds=240, by="piles")
    assert right.eps_ < 0.03
    assert 0.1 < wrong.eps_ <= 0.3
    assert adjusted_rand_score(Y, wrong.labels_) > 0.85


def test_the_error_rate_stays_the_prior_while_no_row_was_placed_twice():
    session = begun()
    kinds = np.where(np.arange(len(Y)) % 4 == 0, (Y + 1) % 3, Y)  # one in four is wrong
    session.tell_screen(list(range(0, 178, 6)), kinds[::6].tolist())
    assert session.eps_ < 0.08


def test_a_careless_person_is_found_out():
    session = begun()
    people = {"ann": sl.Oracle(Y), "bob": sl.Oracle(Y), "cai": sl.Oracle(Y, noise=0.5, random_state=1)}
    for turn in range(24):
        name = ("ann", "bob", "cai")[turn % 3]
        screen = session.ask_screen()
        session.tell_screen(screen, people[name].sort(screen), person=name)
    rates = {line.person: line.rate for line in session.people()}
    assert rates["cai"] > 1.5 * max(rates["ann"], rates["bob"])
    assert all(line.n_tested > 0 for line in session.people())
    assert adjusted_rand_score(Y, session.labels_) > 0.85


# -- a simulated person -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["auto", "piles", "pairs"])
def test_a_conversation_keeps_to_its_seconds(by):
    session, oracle = begun(), sl.Oracle(Y)
    session.run(oracle, seconds=80, by=by)
    assert 60 < oracle.seconds <= 80
    assert (len(session.piles) > 0) == (by != "pairs")


def test_who_is_slow_at_rows_is_asked_about_pairs():
    session = begun()
    session.run(sl.Oracle(Y, pace=(2.5, 3.0, 20.0)), seconds=280)
    assert len(session.pairs.answers) > 0


def test_a_screen_is_compared_with_a_question_at_a_pace():
    session = begun()
    screen, question = session.ask_screen(), session.ask()
    assert session.promises_more(screen, question, (1000.0, 1.0, 1.0))
    assert not session.promises_more(screen, question, (0.0, 1.0, 1000.0))  # who needs no time for pairs
    for wrong in [
        (3, question, (1, 1, 1)),
        (screen, (0, 1), (1, 1, 1)),
        (screen, question, 1),
        (screen, question, "abc"),
    ]:
        with pytest.raises(InvalidInput, match="promises_more"):
            session.promises_more(*wrong)


def test_budgets_count_screens():
    session = begun()
    session.run(sl.Oracle(Y), budget=3, by="piles")
    assert session.n_answers == 3
    assert [len(rows) for rows, _ in session.history] == [10, 10, 10]


def test_an_oracle_errs_in_placements():
    session = sorted_by(begun(), 2)
    screen = session.ask_screen(100)
    kinds = {pile.number: Y[pile.rows[0]] for pile in screen.piles}
    right = [kinds.get(pile) == Y[row] for row, pile in zip(screen.rows, sl.Oracle(Y).sort(screen))]
    wrong = [
        kinds.get(pile) == Y[row]
        for row, pile in zip(screen.rows, sl.Oracle(Y, noise=0.3, random_state=0).sort(screen))
    ]
    assert all(right)
    assert 0.15 < 1 - np.mean(wrong) < 0.45


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "one of the two"),
        ({"budget": 3, "seconds": 4}, "one of the two"),
        ({"seconds": -1}, "seconds"),
        ({"budget": 3, "by": "sight"}, "by"),
    ],
)
def test_a_run_is_told_once_how_long(options, words):
    with pytest.raises(InvalidInput, match=words):
        begun().run(sl.Oracle(Y), **options)


def test_only_an_oracle_sorts():
    with pytest.raises(InvalidParameter, match="sort"):
        begun().run(lambda question: "same", budget=1, by="piles")


# -- refusals ---------------------------------------------------------------------------------------------------------


def _merged(session):
    screen = session.ask_screen()
    session.merge_piles(0, 1)
    session.tell_screen(screen, [1] * 10)


def _twice(session):
    screen = session.ask_screen()
    session.tell_screen(screen, [0] * 10)
    session.tell_screen(screen, [0] * 10)


def _other_session(session):
    session.tell_screen(sl.ActiveSession(X[::-1], random_state=0).ask_screen(), [0] * 10)


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (_merged, InvalidData, "merged into pile 0"),
        (_twice, InvalidData, "answered already"),
        (_other_session, InvalidData, "another session"),
        (lambda s: s.tell_screen([3, 4, 3], [0, 0, 0]), InvalidData, "twice"),
        (lambda s: s.tell_screen([3, 4], {3: 0, 5: 0}), InvalidData, "row 5 is not on this screen"),
        (lambda s: s.tell_screen([3, 4], []), InvalidData, "empty"),
        (lambda s: s.tell_screen([3, 4], {}), InvalidData, "empty"),
        (lambda s: s.tell_screen([3, 4], {3: 0}), InvalidData, "1 placements for 2 rows"),
        (lambda s: s.ask_screen(busy=0), InvalidData, "busy is a list of screens"),
        (lambda s: s.tell_acts(np.ones((4, 5))), InvalidData, "takes a list of PileAct"),
        (lambda s: s.tell_acts(1.5), InvalidData, "takes a list of PileAct"),
        (lambda s: sl.Oracle(Y).seconds_of("x"), InvalidInput, "n_rows"),
        (lambda s: s.tell_screen([3, 4], np.array(3)), InvalidData, "takes a placement for each row"),
        (lambda s: s.tell_screen(np.array(3), [0]), InvalidData, "a Screen of ask_screen"),
        (lambda s: s.tell_screen([3, 4], "ab"), InvalidData, "placement for each row"),
        (lambda s: s.tell_screen([3, 4], [0, -1]), InvalidData, "no pile -1"),
        (lambda s: s.tell_screen([3, 4], [0, True]), InvalidData, "no pile True"),
        (lambda s: s.tell_screen([3, 4], [0, " "]), InvalidData, "called by a text"),
        (lambda s: s.tell_screen([], []), InvalidData, "no row"),
        (lambda s: s.tell_screen([3, 1000], [0, 0]), InvalidData, "1000"),
        (lambda s: s.tell_screen("abc", [0, 0, 0]), InvalidData, "Screen"),
        (lambda s: s.rename_pile("rde", "x"), UnknownName, "rde"),
        (lambda s: s.rename_pile(0, "pile 2"), InvalidData, "already"),
        (lambda s: s.merge_piles(0, 0), InvalidData, "different piles"),
        (lambda s: s.split_pile(0, s.piles[0].rows), InvalidData, "all of them"),
        (lambda s: s.split_pile(0, s.piles[1].rows), InvalidData, "not on it"),
        (lambda s: s.ask_screen(0), InvalidParameter, "n"),
        (lambda s: s.ask_screen(busy=[3]), InvalidData, "busy"),
        (lambda s: sl.Oracle(Y).sort("screen"), InvalidInput, "Screen"),
        (lambda s: sl.Oracle(Y[:2]).sort(s.ask_screen()), InvalidData, "2 rows"),
        (lambda s: sl.Oracle(Y, pace=(1, 2)), InvalidParameter, "pace"),
    ],
)  # fmt: skip
def test_mistakes_cost_one_message_and_nothing_else(act, error, words):
    session = sorted_by(begun(), 2)
    told = session.history
    with pytest.raises(error, match=words) as caught:
        act(session)
    assert "\n" not in str(caught.value)
    assert session.history[:2] == told
    assert len(session.piles) >= 2
    assert isinstance(session.ask_screen(), Screen)


def test_other_beliefs_take_no_piles():
    session = begun(strategy="cobras")
    with pytest.raises(InvalidData, match="our own belief"):
        session.ask_screen()


@pytest.mark.parametrize(
    "event",
    [
        {"event": "screen", "rows": [0, 0], "piles": [0, 0]},
        {"event": "screen", "rows": [0, 999], "piles": [0, 0]},
        {"event": "screen", "rows": [0], "piles": [0, 1]},
        {"event": "screen", "rows": [0]},
        {"event": "rename pile", "rows": [], "piles": [None]},
        {"event": "merge piles", "rows": [], "piles": [0, 5]},
        {"event": "split pile", "rows": [1], "piles": [3, 4]},
    ],
)
def test_events_that_make_no_sense_are_refused(event):
    with pytest.raises(InvalidData, match="makes no sense"):
        begun().replay([event])


def test_probabilities_that_were_read_on_the_way_are_worked_out_anew():
    read, unread = begun(), begun()
    for _ in range(3):
        for session in (read, unread):
            sorted_by(session, 1)
        read.predict_proba()
    assert read.predict_proba().tolist() == unread.predict_proba().tolist()
