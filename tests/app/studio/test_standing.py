"""What stands is what a plain replay of all events says, whatever people said, took back, edited or decided."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.examples import up_to

from sidelight.app.store.studio_store import Event
from sidelight.app.studio import history
from sidelight.app.studio.answers import Answer, agreed
from sidelight.app.studio.history import Replay

NAN = float("nan")
OWNER, ANN, BOB = 1, 2, 3
PEOPLE, ROWS, WORDS = st.sampled_from([OWNER, ANN, BOB]), st.integers(0, 2), st.sampled_from(["wren", "owl", "jay"])


def event(number, person, kind, **content):
    """Something that a person did."""
    return Event(number, 1, person, kind, content, 0.0, 1.0)


# -- a plain replay ----------------------------------------------------------------------------------------------------


def plain(events):
    """Return what stands, as dicts in the order of their numbers, by reading the events that nobody took back."""
    kept = []
    for one in events:
        now = [line["id"] for line in read(kept)]
        if one.kind == "undo":
            if one.content["of"] in now:
                kept = [e for e in kept if one.content["of"] not in (e.id, e.content.get("of"))]
        elif one.kind == "answer":
            asked = one.person, set(one.content["rows"])
            if asked not in [(line["person"], set(line["rows"])) for line in read(kept)]:
                kept.append(one)
        else:
            kept.append(one)
    return read(kept)


def read(kept):
    """Read events, none of which was taken back, once and in order."""
    lines = []
    for one in kept:
        said = one.content
        if one.kind == "answer":
            lines.append({"id": one.id, "person": one.person, "rows": said["rows"], "answer": said["answer"],
                          "is_not": False, "decides": False})  # fmt: skip
        elif one.kind == "label":
            mine = [line for line in lines if line["person"] == one.person and line["rows"] == [said["row"]]]
            is_not, decides = not said["is_member"], said["settles"]
            for line in mine:
                if not is_not or line["answer"] in (said["label"], "unsure"):
                    lines.remove(line)
                    decides = decides or (line["decides"] and not is_not)
            lines.append({"id": one.id, "person": one.person, "rows": [said["row"]], "answer": said["label"],
                          "is_not": is_not, "decides": decides})  # fmt: skip
        elif one.kind == "edit":
            for line in [line for line in lines if line["id"] == said["of"]]:
                same = [x for x in lines if x["person"] == line["person"] and set(x["rows"]) == set(line["rows"])]
                lines = [x for x in lines if x is line or x not in same]
                line.update(answer=said["answer"], is_not=False)
        elif one.kind == "run":
            for line in lines:
                if len(line["rows"]) == 1:
                    line["answer"] = said["names"].get(line["answer"], line["answer"])
    return sorted(lines, key=lambda line: line["id"])


def counted(lines, aside):
    """Return the numbers of the lines that count."""
    heard = [line for line in lines if line["person"] not in aside]
    said = []
    for line in heard:
        last = [x for x in heard if x["decides"] and x["rows"] == line["rows"] and x["answer"] != "unsure"][-1:]
        same = [x["person"] == line["person"] or (x["answer"], x["is_not"]) == (line["answer"], line["is_not"])
                for x in last]  # fmt: skip
        said += [line["id"]] if len(line["rows"]) > 1 or all(same) else []
    return said


class Histories(RuleBasedStateMachine):
    """Several people speak about a few rows, take back, edit, strike, decide, and a run calls clusters otherwise."""

    def __init__(self):
        super().__init__()
        self.events, self.replay, self.aside = [], Replay(), set()

    def happens(self, person, kind, **content):
        one = event(len(self.events) + 1, person, kind, **content)
        self.events.append(one)
        self.replay.take(one)

    @rule(person=PEOPLE, rows=st.permutations([0, 1, 2]), n=st.integers(2, 3), word=st.sampled_from(["same", "a"]),
          correction=st.booleans(), confirmation=st.booleans())  # fmt: skip
    def answer(self, person, rows, n, word, correction, confirmation):
        self.happens(person, "answer", rows=rows[:n], answer=word, correction=correction, confirmation=confirmation)

    @rule(person=PEOPLE, row=ROWS, word=WORDS, is_member=st.booleans(), correction=st.booleans())
    def label(self, person, row, word, is_member, correction):
        self.happens(person, "label", row=row, label=word, is_member=is_member, settles=False, correction=correction)

    @rule(person=PEOPLE, row=ROWS)
    def cannot_say(self, person, row):
        self.happens(person, "label", row=row, label="unsure", is_unsure=True, is_member=True, settles=False)

    @rule(row=ROWS, word=WORDS)
    def decide(self, row, word):
        self.happens(OWNER, "label", row=row, label=word, is_member=True, settles=True, correction=True)

    @precondition(lambda self: self.events)
    @rule(data=st.data(), person=PEOPLE)
    def undo(self, data, person):
        self.happens(person, "undo", of=data.draw(st.integers(1, len(self.events))))

    @precondition(lambda self: self.events)
    @rule(data=st.data(), word=st.one_of(WORDS, st.just("unsure")))
    def edit(self, data, word):
        self.happens(OWNER, "edit", of=data.draw(st.integers(1, len(self.events))), answer=word)

    @rule(names=st.dictionaries(WORDS, WORDS, max_size=2))
    def run_again(self, names):
        self.happens(OWNER, "run", names=names)

    @rule(person=PEOPLE, is_aside=st.booleans())
    def set_aside(self, person, is_aside):
        self.happens(OWNER, "aside", of=person, is_aside=is_aside)
        (self.aside.add if is_aside else self.aside.discard)(person)

    @invariant()
    def what_stands_is_what_a_plain_replay_says(self):
        lines, standing = plain(self.events), self.replay.standing
        names = ("id", "person", "answer", "is_not", "decides")
        assert [{name: getattr(answer, name) for name in names} | {"rows": list(answer.rows)}
                for answer in standing.answers.values()] == lines  # fmt: skip
        assert [answer.id for answer in standing.counted()] == counted(lines, self.aside)
        for line in lines:
            assert standing.has(line["person"], line["rows"])
        corrections = [answer for answer in standing.answers.values() if answer.correction]
        assert standing.n_questions == len(lines) - len(corrections)
        assert standing.n_corrections == sum(not answer.confirms for answer in corrections)
        for person in (OWNER, ANN, BOB):
            last = standing.last_of(person)
            assert (last and last.id) == max((x["id"] for x in lines if x["person"] == person), default=None)


@pytest.fixture(scope="module", autouse=True)
def small_steps():
    """Copy what stands every few events, so that short histories begin again at copies, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "_COPY_EVERY", 3)
        yield


Histories.TestCase.settings = settings(max_examples=up_to(600), stateful_step_count=25, deadline=None)
TestHistories = Histories.TestCase


# -- three things that were lost ---------------------------------------------------------------------------------------


def words(replay):
    """Return who says what about which row, of what counts."""
    return [(answer.person, answer.rows[0], answer.words) for answer in replay.standing.counted()]


def torn():
    """Return a history in which two people call a row differently, and the owner decided."""
    return Replay([
        event(1, ANN, "label", row=3, label="wren"), event(2, BOB, "label", row=3, label="owl"),
        event(3, OWNER, "label", row=3, label="jay", settles=True, correction=True),
    ])  # fmt: skip


def test_a_decision_that_is_taken_back_or_edited_silences_nobody_else():
    replay = torn()
    assert words(replay) == [(OWNER, 3, "jay")]
    replay.take(event(4, OWNER, "edit", of=3, answer="owl"))
    assert words(replay) == [(BOB, 3, "owl"), (OWNER, 3, "owl")]
    replay.take(event(5, OWNER, "undo", of=3))
    assert words(replay) == [(ANN, 3, "wren"), (BOB, 3, "owl")]


def test_a_decision_lasts_while_the_owner_confirms_it_and_counts_no_more_when_the_owner_is_set_aside():
    replay = torn()
    replay.take(event(4, OWNER, "label", row=3, label="jay", correction=True, confirmation=True))
    assert words(replay) == [(OWNER, 3, "jay")]
    replay.take(event(5, OWNER, "aside", of=OWNER, is_aside=True))
    assert words(replay) == [(ANN, 3, "wren"), (BOB, 3, "owl")]


def test_an_owner_who_is_unsure_decides_nothing():
    replay = torn()
    replay.take(event(4, OWNER, "edit", of=3, answer="unsure"))
    assert words(replay) == [(ANN, 3, "wren"), (BOB, 3, "owl"), (OWNER, 3, "unsure")]


def test_a_row_that_is_struck_out_of_a_second_cluster_stays_struck_out_of_the_first():
    replay = Replay(event(i, ANN, "label", row=3, label=word, is_member=False, correction=True)
                    for i, word in enumerate(("owl", "wren"), start=1))  # fmt: skip
    assert words(replay) == [(ANN, 3, "not owl"), (ANN, 3, "not wren")]
    replay.take(event(3, ANN, "label", row=3, label="jay"))  # what it is replaces what it is not
    assert words(replay) == [(ANN, 3, "jay")]
    replay.take(event(4, ANN, "undo", of=3))
    assert words(replay) == [(ANN, 3, "not owl"), (ANN, 3, "not wren")]


def test_a_label_that_is_taken_back_restores_the_one_before():
    replay = Replay([event(1, ANN, "label", row=3, label="wren"), event(2, ANN, "label", row=3, label="owl")])
    assert words(replay) == [(ANN, 3, "owl")]
    replay.take(event(3, ANN, "undo", of=2))
    assert words(replay) == [(ANN, 3, "wren")]
    replay.take(event(4, ANN, "undo", of=1))
    assert words(replay) == []


def test_an_answer_that_came_while_the_first_stood_never_counts():
    replay = Replay(event(i, ANN, "answer", rows=[0, 1], answer=word) for i, word in ((1, "same"), (2, "different")))
    assert [answer.id for answer in replay.standing.answers.values()] == [1]
    replay.take(event(3, ANN, "undo", of=1))
    assert not replay.standing.answers


@pytest.mark.parametrize("name", ["questions", "run", "run again"])
def test_stores_of_before_say_what_they_said(name):
    """``old_events.json`` holds events that 0.2.0 kept in two projects, and what stood by them."""
    told = json.loads((Path(__file__).parent / "old_events.json").read_text(encoding="utf-8"))[name]
    events = [Event(**(kept | {"project": 1, "seconds": NAN, "at": 0.0})) for kept in told["events"]]
    standing = Replay(events).standing
    fields = ("id", "person", "rows", "answer", "correction", "is_edited", "is_not")
    found = [{field: asdict(answer)[field] for field in fields} for answer in standing.answers.values()]
    assert json.loads(json.dumps(found)) == told["answers"]
    assert [answer.id for answer in standing.counted()] == told["counted"]
    assert sorted(standing.aside) == told["aside"]
    assert standing.cluster_names == told["cluster_names"]
    assert [standing.n_questions, standing.n_corrections] == told["n"]


# -- what most people say ----------------------------------------------------------------------------------------------


def _said(*words, rows=(0, 1)):
    (kept,) = agreed([Answer(i, i, rows, word, 0.0, NAN) for i, word in enumerate(words)])
    return kept.answer


def test_a_tie_says_nothing_and_who_is_unsure_has_no_vote():
    assert _said("same", "different") == "unsure"
    assert _said("same", "different", "different") == "different"
    assert _said("same", "unsure") == "same"
    assert _said("unsure", "unsure", "different") == "different"
    assert _said("unsure", "unsure") == "unsure"
    assert _said("a", "b", "b", "a", rows=(0, 1, 2)) == "unsure"
    assert _said("a", "none", rows=(0, 1, 2)) == "unsure"


def test_the_odd_row_is_voted_for_whatever_the_order_of_the_rows():
    votes = [Answer(1, 1, (0, 1, 2), "a", 0.0, NAN), Answer(2, 2, (1, 0, 2), "b", 0.0, NAN)]
    assert [answer.answer for answer in agreed(votes)] == ["a"]
