"""The numbers of a study, worked out by hand for two participants; how its questions are drawn; its step by step."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from sidelight.app.store.studio_store import Event
from sidelight.app.studio.making import read_questions
from sidelight.app.studio.rows import prepared
from sidelight.app.studio.sources import Source
from sidelight.errors import InvalidData, UnknownName
from study.analysis import answers_of, tables
from study.design import Pool, _said, are_difficult, check_size, make_pool, margins, practice_of, read_pool, tasks_of
from study.study import FACTORS, Studies
from study.web import _finite

NAN = float("nan")
# (participant, set, kind, right, answer, seconds, is difficult)
ANSWERS = [
    (1, 0, "pair", "same", "same", 1.0, False),
    (1, 0, "pair", "same", "different", 3.0, True),
    (1, 0, "pair", "different", "different", 2.0, False),
    (1, 0, "pair", "different", "different", 2.0, True),
    (1, 0, "triplet", "a", "a", 2.0, False),
    (1, 0, "triplet", "none", "none", 4.0, True),
    (2, 0, "pair", "same", "same", 5.0, False),
    (2, 0, "pair", "different", "same", 7.0, True),
    (2, 0, "triplet", "c", "b", 30.0, False),
    (3, 0, "pair", "same", "different", 99.0, False),  # who did not finish
]


def fake_study():
    """Two people who finished, one of them simulated, and one who did not."""
    events = [
        Event(
            number, 1, who, "study answer",
            {"set": of_set, "kind": kind, "right": right, "answer": answer, "difficult": hard}, 0.0, seconds,
        )
        for number, (who, of_set, kind, right, answer, seconds, hard) in enumerate(ANSWERS)
    ]  # fmt: skip
    survey = dict.fromkeys(FACTORS, "pair")
    events += [
        Event(50, 1, 1, "questionnaire", {**survey, "comment": "long"}, 0.0, NAN),
        Event(51, 1, 2, "questionnaire", {**survey, "preference": "none", "comment": "(simulated)"}, 0.0, NAN),
    ]
    people = [SimpleNamespace(id=1, is_simulated=False), SimpleNamespace(id=2, is_simulated=True)]
    store = SimpleNamespace(people=lambda project: people)
    return SimpleNamespace(
        events=lambda: events, store=store, project=SimpleNamespace(id=1), set_names=["flowers", "birds"]
    )


def test_only_those_who_finished_count():
    assert set(answers_of(fake_study())) == {(1, 0, "pair"), (1, 0, "triplet"), (2, 0, "pair"), (2, 0, "triplet")}
    found = tables(fake_study())
    assert (found["participants"], found["simulated"], found["comments"]) == (2, 1, ["long"])
    votes = {line["factor"]: (line["pair"], line["triplet"], line["none"]) for line in found["survey"]}
    assert votes["Better performance"] == (2, 0, 0)
    assert votes["Overall preference"] == (1, 0, 1)


def test_times_are_means_over_participants_of_their_means():
    flowers, birds = tables(fake_study())["times"]
    assert flowers == {
        "set": "flowers", "pair all": [4.0, 2.0], "pair same": [3.5, 1.5], "pair different": [4.5, 2.5],
        "triplet all": [16.5, 13.5], "triplet odd": [16.0, 14.0], "triplet none": [4.0, 0.0],
    }  # fmt: skip
    assert all(math.isnan(value) for name, pair in birds.items() if name != "set" for value in pair)


def test_confusions_count_answers_against_the_truth_a_participant():
    flowers, birds = tables(fake_study())["confusions"]
    assert flowers["pair"] == {"words": ["different", "same"], "table": [[1.0, 0.5], [0.5, 1.0]], "accuracy": 4 / 6}
    rows = dict(zip(flowers["triplet"]["words"], flowers["triplet"]["table"]))
    assert rows == {"none": [0.5, 0, 0, 0], "c": [0, 0, 0.5, 0], "b": [0, 0, 0, 0], "a": [0, 0, 0, 0.5]}
    assert flowers["triplet"]["accuracy"] == 2 / 3
    assert math.isnan(birds["pair"]["accuracy"])


def test_right_answers_to_easy_and_to_difficult_questions():
    flowers, birds = tables(fake_study())["difficulty"]
    assert flowers["pair easy"] == 1.0
    assert flowers["pair difficult"] == pytest.approx(1 / 3)
    assert (flowers["triplet easy"], flowers["triplet difficult"]) == (0.5, 1.0)
    assert math.isnan(birds["triplet easy"])


def test_counts_at_equal_rows_and_at_equal_time():
    flowers, birds = tables(fake_study())["counts"]
    # Person 1 has four pairs and two triplets, person 2 two and one; rows: a share of the questions of each.
    assert flowers["rows P all"] == [0.5, 1.5, 1.5, 2.5, 3.0]
    assert flowers["rows P correct"] == [0.5, 1.0, 1.0, 1.5, 2.0]
    assert flowers["rows R all"] == [0.0, 0.5, 1.0, 1.5, 1.5]
    assert flowers["rows R-C all"][-1] == 1.0
    # Time: person 1 has 6 s (triplets take 6, pairs 8), person 2 has 12 s (pairs).
    assert flowers["time P all"] == [0.5, 0.5, 1.0, 1.5, 2.5]
    assert flowers["time R all"] == [0.0, 0.5, 0.5, 0.5, 1.0]
    assert birds["rows P all"] == []


def test_a_set_of_questions_has_a_third_of_difficult_ones_or_as_many_as_there_are():
    questions = np.array([[i, i + 1] for i in range(12)])
    rng = np.random.default_rng(0)

    def n_hard(n_difficult, n):
        asked, hard = Pool(questions, np.arange(12) < n_difficult).draw(n, rng)
        assert len(set(asked)) == len(asked) == n
        assert hard == tuple(rows[0] < n_difficult for rows in asked)
        return sum(hard)

    assert n_hard(6, 6) == 2
    assert n_hard(1, 6) == 1
    assert n_hard(10, 6) == 4
    assert n_hard(4, 12) == 4


def test_margins_are_small_near_the_border():
    Z = np.array([[-1.0, 0.0], [1.0, 0.0], [-3.0, 0.0], [3.0, 0.0]])
    truth = np.array([0, 1, 0, 1])
    assert margins(Z, truth) == pytest.approx([(3 - 1) / 3, (3 - 1) / 3, (5 - 1) / 5, (5 - 1) / 5])
    assert margins(np.zeros((2, 1)), np.array([0, 1])).tolist() == [0.0, 0.0]
    assert are_difficult(np.array([0.1, 0.5, 0.9, 0.8]), np.array([[0, 2], [1, 2], [2, 3]])).tolist() == [
        True, False, False
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "n_rows", "n"), [("pair", 12, 11), ("pair", 12, 1), ("triplet", 9, 14)])
def test_a_set_with_too_few_rows_is_refused_at_the_bound(kind, n_rows, n):
    check_size("birds", n_rows, kind, n)
    with pytest.raises(InvalidData):
        check_size("birds", n_rows - 1, kind, n)


def source(n=30, seed=0):
    """Rows of two classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 4 * (np.arange(n) % 2)[:, None]
    return Source(X, [f"r{i}" for i in range(n)], ["x", "z"], lambda row: None, ["ab"[i % 2] for i in range(n)])


def opened(tmp_path, **more):
    """A study of two sets of rows."""
    studio = Studies(tmp_path / "studio")
    sets = [("first", source()), ("second", source(seed=1))]
    made = studio.add_study("study", {"pair": 6, "triplet": 4}, seed=5, sets=sets, **more)
    return studio, studio.study(made.id)


def test_questions_are_those_of_the_seed_and_the_participant(tmp_path):
    studio, study = opened(tmp_path)
    first, second = (tasks_of(study.sets, study.counts, 5, number) for number in (1, 2))
    assert first == tasks_of(study.sets, study.counts, 5, 1)
    assert first != second
    assert first != tasks_of(study.sets, study.counts, 6, 1)
    assert {(task.set, task.kind, len(task.questions)) for task in first} == {
        (0, "pair", 6), (0, "triplet", 4), (1, "pair", 6), (1, "triplet", 4)
    }  # fmt: skip
    practice = practice_of(study.sets[0], 5)
    assert [len(question) for question in practice] == [2, 2, 2, 3, 3, 3]
    pool = make_pool(study.sets[0], "pair", 4, np.random.default_rng(0))
    assert len(pool.questions) == 24
    studio.close()


def test_a_participant_walks_through_and_what_is_sent_twice_is_kept_once(tmp_path):
    studio, study = opened(tmp_path)
    ann = studio.add_person(study.project.id, "Ann")
    assert study.shown(ann)["go"] == f"/s/{ann.token}"
    for _ in range(2):
        study.begin(ann)
    assert [event.kind for event in study.events(ann)] == ["began"]
    first = study.where(ann)
    assert (first["step"], first["done"], first["of"], len(first["open"])) == ("practice", 0, 6, 2)
    rows = first["open"][0]
    words = {answer: study.answer(ann, rows, answer, seconds=1.0, key=f"k{answer}") for answer in ("same",)}
    assert study.answer(ann, rows, "same", seconds=1.0, key="ksame") == ""
    assert study.where(ann)["done"] == 1
    right = study.events(ann)[-1].content["right"]
    assert words["same"] == ("That is right." if right == "same" else f"The right answer was: {right}.")
    with pytest.raises(InvalidData):  # not open
        study.answer(ann, rows, "same", seconds=1.0)
    while study.where(ann)["step"] == "practice":
        question = study.where(ann)["open"][0]
        study.answer(ann, question, study.words[study.where(ann)["kind"]][0], seconds=1.0)
    shown = study.shown(ann)
    assert "part 1 of 4" in shown["status"]["sentence"]
    assert shown["part"].startswith("task-0-")
    with pytest.raises(InvalidData):  # the questionnaire comes last
        study.finish(ann, dict.fromkeys(FACTORS, "pair"), "")
    studio.close()


def test_the_last_question_of_a_practice_is_shown_alone_where_another_kind_follows(tmp_path):
    studio, study = opened(tmp_path)
    ann = studio.add_person(study.project.id, "Ann")
    study.begin(ann)
    for n in (2, 2, 1, 2, 2, 1):
        shown = study.shown(ann)
        assert len(shown["questions"]) == n
        question = shown["questions"][0]
        study.answer(ann, question["rows"], question["words"][0], seconds=1.0)
    studio.close()


@pytest.mark.parametrize("n", [0, 49])
def test_only_so_many_are_simulated_at_a_time(tmp_path, n):
    studio, study = opened(tmp_path)
    with pytest.raises(InvalidData):
        study.simulate(n)
    assert study.simulate(2) == 2
    assert study.simulate(1) == 1
    assert sorted(person.name for person in study.store.people(study.project.id)) == [
        "simulated 1", "simulated 2", "simulated 3"
    ]  # fmt: skip
    studio.close()


def test_the_reference_sheet_shows_the_row_nearest_to_the_mean_of_its_class(tmp_path):
    studio, study = opened(tmp_path)
    Z = prepared(source().X, source().features)
    for (name, card), k in zip(study.reference(0), (0, 1)):
        members = np.arange(k, 30, 2)
        distances = np.linalg.norm(Z[members] - Z[members].mean(axis=0), axis=1)
        assert name == "ab"[k]
        assert card["row"] == members[distances.argmin()]
    studio.close()


def test_questions_of_a_file_are_checked(tmp_path):
    path, rows = tmp_path / "list.csv", source(4)

    def listed(*lines):
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    assert read_questions(listed("left,right,more", "r0,r1,x", "r3,r2,y"), rows, "pair") == [[0, 1], [3, 2]]
    assert read_questions(listed("a,b,c", "r0,r1,r2"), rows, "triplet") == [[0, 1, 2]]
    with pytest.raises(InvalidData):
        read_questions(listed("a,b", "r0,r1"), rows, "triplet")
    with pytest.raises(InvalidData):
        read_questions(listed("a,b", "r0,r0"), rows, "pair")
    with pytest.raises(UnknownName):
        read_questions(listed("a,b", "r0,r4"), rows, "pair")
    for n, lines in ((2, ("r0,r1", "r1,r0")), (3, ("r0,r1", "r1,r2"))):
        with pytest.raises(InvalidData):
            read_pool(listed("a,b", *lines), rows, "pair", n)
    assert read_pool(listed("a,b", "r0,r1", "r1,r2"), rows, "pair", 2).questions.tolist() == [[0, 1], [1, 2]]


def test_difficulty_is_said_by_words_or_by_numbers_of_which_the_largest_third_is_difficult():
    assert _said("x", [" Easy", "DIFFICULT"]).tolist() == [False, True]
    assert _said("x", ["0.5", "9", "1", "1", "1", "2"]).tolist() == [False, True, False, False, False, True]
    for cells in (["easy", "2"], ["1", "inf"], ["1", ""]):
        with pytest.raises(InvalidData):
            _said("x", cells)


def test_numbers_that_json_does_not_have_are_nothing():
    assert _finite({"a": [1.0, math.nan, (math.inf, "x")], "b": 2}) == {"a": [1.0, None, [None, "x"]], "b": 2}
