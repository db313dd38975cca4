"""People of a project who err: votes that are weighed, people who are set aside, and their line on the page."""

from __future__ import annotations

import pytest
from tests.app.studio.conftest import blobs
from tests.app.studio.runs import results_of, write_tables

from sidelight.app.studio.answers import Answer, agreed, true_answer
from sidelight.app.studio.people import people_table
from sidelight.app.studio.run.results import open_results
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_rates_of_people_in_a_project_of_a_run_come_with_the_labels_that_others_do_not_share(tmp_path):
    studio = Studio(tmp_path / "studio")
    home = results_of(write_tables(tmp_path), "coverage", tmp_path)
    opened = studio.project(open_results(studio, str(home)).id)
    number, labels = opened.project.id, opened.label_names()
    people = [studio.add_person(number, name) for name in ("ann", "bob", "cat")]
    shown = opened.model.snapshot().labels.tolist()
    for row in range(12):
        for person in people:
            is_slip = person.name == "cat" and row % 2
            opened.answer(person, [row], labels[(shown[row] + bool(is_slip)) % len(labels)])
    opened.answer(people[0], [50], labels[0])  # nobody else spoke about it
    opened.model.snapshot()
    lines = {line["name"]: line for line in people_table(opened)}
    assert lines["cat"]["rate"] > 0.3 > 0.2 > lines["ann"]["rate"]  # a doubtful row of the run tests people little
    assert lines["cat"]["low"] < lines["cat"]["rate"] < lines["cat"]["high"]
    assert {tuple(one["rows"]) for one in lines["cat"]["disagree"]} <= {(row,) for row in range(1, 12, 2)}
    assert len(lines["cat"]["disagree"]) == 5
    assert not lines["ann"]["disagree"]
    assert next(line for line in opened.model.people if line.person == people[0].id).n_tested == 12
    studio.close()
