"""What stands, followed event by event, is what stands when all events are read again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.app.store.studio_store import Event
from sidelight.app.studio.answers import Answer, Standing, agreed, standing

NAN = float("nan")
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(1, 3), st.sampled_from([(0, 1), (1, 0), (2, 3), (0, 1, 2)]),
                  st.sampled_from(["same", "different", "unsure", "a", "b"]), st.booleans()),
        st.tuples(st.just("undo"), st.integers(1, 30)),
        st.tuples(st.just("edit"), st.integers(1, 30), st.sampled_from(["same", "unsure"])),
    ),
    max_size=30,
)  # fmt: skip


def _events(steps):
    for number, step in enumerate(steps, start=1):
        if step[0] == "answer":
            content = {"rows": list(step[2]), "answer": step[3]} | ({"correction": True} if step[4] else {})
            yield Event(number, 1, step[1], "answer", content, 0.0, 1.0)
        else:
            content = {"of": step[1]} | ({"answer": step[2]} if step[0] == "edit" else {})
            yield Event(number, 1, 1, step[0], content, 0.0, 1.0)


@settings(max_examples=200, deadline=None)
@given(_steps)
def test_following_is_the_same_as_reading_everything_again(steps):
    followed, events = Standing(), []
    for event in _events(steps):
        events.append(event)
        followed.take(event)
        assert list(followed.answers.values()) == standing(events)
        assert followed.agreed() == agreed(followed.answers.values())
        counted = [answer.correction for answer in followed.answers.values()]
        assert (followed.n_corrections, followed.n_questions) == (sum(counted), len(counted) - sum(counted))
    pairs = [(answer.person, frozenset(answer.rows)) for answer in followed.answers.values()]
    assert len(pairs) == len(set(pairs))  # nobody has two answers to one question


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
