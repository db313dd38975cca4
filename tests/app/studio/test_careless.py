"""People of a project who err: votes that are weighed, people who are set aside, and their line on the page."""

from __future__ import annotations

import pytest
from tests.app.studio.conftest import blobs

from sidelight.app.studio.answers import Answer, agreed, true_answer
from sidelight.app.studio.people import people_table
from sidelight.app.studio.studio import Studio


@pytest.fixture
def project(tmp_path):
    """A project of three classes, at work."""
    studio = Studio(tmp_path)
    opened = studio.project(studio.add("blobs", blobs(90), {}).id)
    opened.studio = studio
    yield opened
    studio.close()


def votes(lines):
    """Answers by lines of (person, row, other, word)."""
    return [Answer(n, person, (a, b), word, 0.0, 1.0) for n, (person, a, b, word) in enumerate(lines)]


def test_two_careless_people_do_not_outvote_a_careful_one():
    lines = []
    for row in range(30):  # 1, 2 and 3 agree; 4 and 5 answer by turns, each differently
        lines += [(person, row, row + 100, "same") for person in (1, 2, 3)]
        lines += [(4, row, row + 100, "same" if row % 2 else "different")]
        lines += [(5, row, row + 100, "different" if row % 3 else "same")]
    lines += [(1, 70, 71, "same"), (4, 70, 71, "different"), (5, 70, 71, "different")]
    assert agreed(votes(lines))[-1].answer == "same"
    assert agreed(votes(lines[-3:]))[-1].answer == "different"  # nothing is known of anybody


def test_who_is_set_aside_counts_no_more_and_again(project):
    ann, bob = project.owner(), project.studio.add_person(project.project.id, "bob")
    for _ in range(10):
        rows = project.model.questions(ann.id, wait=20)[0]
        project.answer(ann, rows, true_answer(rows, project.rows.truth), wait=20)
    before = project.model.snapshot().labels
    for row in (1, 4, 7):
        project.answer(bob, (0, row), "different" if row % 2 else "same")
    assert project.model.snapshot().version == 13
    project.set_aside(bob.id, True)
    assert project.model.snapshot().version == 10
    assert (project.model.snapshot().labels == before).all()
    assert [line["is_aside"] for line in people_table(project)] == [False, True]
    assert len(project.answers()) == 13
    project.set_aside(bob.id, False)
    assert project.model.snapshot().version == 13


def test_a_surprising_answer_of_one_person_is_asked_of_another(project):
    ann, bob = project.owner(), project.studio.add_person(project.project.id, "bob")
    for number in range(24):
        person = (ann, bob)[number % 2]
        rows = project.model.questions(person.id, wait=20)[0]
        project.answer(person, rows, true_answer(rows, project.rows.truth), wait=20)
    truth = project.rows.truth
    known = [row for answer in project.answers() for row in answer.rows]
    row = next(row for row in range(90) if row not in known)
    member = next(other for other in known if truth[other] == truth[row])
    project.model.leave(ann.id)
    project.answer(bob, (row, member), "different", wait=20)
    project.model.snapshot()
    assert project.model.questions(ann.id, wait=20)[0] == (row, member)
    assert (row, member) not in project.model.questions(bob.id, wait=20, wait_more=20)
