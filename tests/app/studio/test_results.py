"""The results of a run, opened in the studio: exactly as they were, and what people say goes back into the folder."""

from __future__ import annotations

import numpy as np
import polars
import pytest
from tests.app.studio.runs import results_of, write_tables
from tests.examples import but_slow

from sidelight.app.studio.run.results import open_results, write_back
from sidelight.app.studio.studio import Studio


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables to run on."""
    return write_tables(tmp_path_factory.mktemp("tables"))


@pytest.fixture
def opened(tables, tmp_path):
    """Open the results of a job; close the studio afterwards."""
    studio = Studio(tmp_path / "studio")

    def open_(job):
        home = results_of(tables, job, tmp_path)
        return studio.project(open_results(studio, str(home)).id), home

    yield open_
    studio.close()


@pytest.mark.parametrize(
    "job", but_slow(["coverage", "spectral", "novel", "relations", "sources"], "coverage", "relations")
)
def test_a_project_begins_exactly_where_the_run_ended(opened, job):
    project, home = opened(job)
    written = polars.read_parquet(home / "assignments.parquet")
    snapshot = project.model.snapshot()
    names = project.names(snapshot.labels)
    title = "name" if job == "spectral" and written["name"].n_unique() == written["cluster"].n_unique() else "cluster"
    called = [str(cell) if not str(cell).isdigit() else f"cluster {cell}" for cell in written[title]]
    assert [names[k] for k in snapshot.labels] == called
    assert snapshot.sure.tolist() == written["probability"].to_list()
    assert list(project.rows.ids) == [str(name) for name in written[written.columns[0]]]
    assert project.status()["answers"] == (8 if job == "relations" else 0)  # what the run was told stays known


def test_doubtful_rows_are_asked_with_the_labels_of_their_bag(opened):
    project, _ = opened("coverage")
    me = project.owner()
    question = project.questions(me, wait=20)[0]
    row = question["rows"][0]
    listed = set(project.start.list_of(row))
    assert question["kind"] == "label"
    assert listed <= set(question["words"]) <= listed | {"novel-1", "unsure", question["said"]}
    assert {card["row"] for card in question["beside"]} == set(project.start.beside(row))
    sure = project.model.snapshot().sure
    assert sure[row] < np.median(sure)
    project.answer(me, [row], question["words"][0], seconds=2.0, wait=20)
    snapshot = project.model.snapshot()
    assert project.names(snapshot.labels)[snapshot.labels[row]] == question["words"][0]
    assert snapshot.sure[row] > sure[row]
    assert project.questions(me, wait=20)[0]["rows"] != [row]
    others = np.arange(90) != row
    assert (snapshot.sure[others] == project.start.sure[others]).all()  # only the job speaks about other rows
    project.undo(me)
    assert (project.model.snapshot().labels == project.start.labels).all()


def test_what_people_said_goes_back_and_the_job_learns_it(opened, tables):
    project, home = opened("coverage")
    me, truth = project.owner(), (tables / "kinds.csv").read_text().split()
    for _ in range(12):
        row = project.questions(me, wait=20)[0]["rows"][0]
        project.answer(me, [row], truth[row], wait=20)
    told = {a.rows[0] for a in project.answers()}
    assert f"People spoke about {len(told)} rows: run again" in project.status(fresh=True)["sentence"]
    assert set(write_back(project)) == {"names.csv", "answers.csv", "corrections.csv"}
    lines = (home / "corrections.csv").read_text().splitlines()
    assert lines[0] == "row,right_label"
    assert {f"s{row},{truth[row]}" for row in told} == set(lines[1:])
    project.again.begin(project, me)
    project.again._thread.join(timeout=60)
    assert project.again.state == "done", project.again.words
    assert "run again" not in project.status(fresh=True)["sentence"]
    written = polars.read_parquet(home / "assignments.parquet")
    snapshot = project.model.snapshot()
    names = project.names(snapshot.labels)
    moved = [row for row in range(90) if row not in told and names[snapshot.labels[row]] != written["cluster"][row]]
    assert moved == []
    assert all(written["label"][row] == truth[row] for row in told)
    assert project.again.changed["n_moved"] >= len(project.again.changed["moved"]) >= 0
    studio_again = project.store.events(project.project.id)
    assert [event.kind for event in studio_again].count("run") == 1


@pytest.mark.slow
def test_a_novel_cluster_named_in_the_studio_keeps_its_name_in_the_next_run(opened, tables):
    project, home = opened("nobody named jays")
    me, start = project.owner(), project.start
    novel = start.names.index("novel-1")
    project.name(me, novel, "cuckoo")
    assert "cuckoo" in project.names(project.model.snapshot().labels)
    project.again.begin(project, me)
    project.again._thread.join(timeout=60)
    assert project.again.state == "done", project.again.words
    assert "cuckoo" in polars.read_parquet(home / "assignments.parquet")["cluster"].to_list()
    assert "cuckoo" in project.start.names


@pytest.mark.slow
def test_answers_about_relations_become_pairs_that_the_job_reads(opened):
    project, home = opened("relations")
    me = project.owner()
    rows = next(q["rows"] for q in project.questions(me, wait=20))
    snapshot = project.model.snapshot()
    project.name(me, 0, "wrens")
    doubtful = project.members(0, snapshot, doubtful_first=True)[0]
    project.correct(me, doubtful, 1, is_member=True)
    project.answer(me, [3, 4], "different")
    assert rows
    assert {"names.csv", "answers.csv", "corrections.csv"} == set(write_back(project))
    assert "wrens" in (home / "names.csv").read_text()
    answers = (home / "answers.csv").read_text()
    assert "s3,s4,different,you" in answers
    assert "the run" not in answers
    corrections = (home / "corrections.csv").read_text()
    assert "s3,s4,different" in corrections
    assert corrections.count(f"s{doubtful},") == 2
    project.again.begin(project, me)
    project.again._thread.join(timeout=60)
    assert project.again.state == "done", project.again.words
    assert "wrens" in project.names(project.model.snapshot().labels)  # found again by its rows


def test_a_job_that_takes_no_corrections_says_so(opened):
    project, _ = opened("sources")
    with pytest.raises(Exception, match="takes no corrections"):
        project.again.begin(project, project.owner())
    assert set(write_back(project)) == {"names.csv", "answers.csv"}


@pytest.mark.slow
def test_corrections_typed_by_hand_outlive_the_next_run(opened):
    project, home = opened("coverage")
    lines = (home / "check.csv").read_text().splitlines()
    row, kind = lines[1].split(",")[0], "owl"
    (home / "check.csv").write_text("\n".join([lines[0], f"{lines[1]}{kind}", *lines[2:]]) + "\n")
    for _ in range(2):
        project.again.begin(project, project.owner())
        project.again._thread.join(timeout=60)
        assert project.again.state == "done", project.again.words
        assert f"{row},{kind}" in (home / "corrections.csv").read_text()


def test_the_second_time_the_project_goes_on(opened, tmp_path):
    project, home = opened("coverage")
    project.answer(project.owner(), [5], "owl")
    labels = project.model.snapshot().labels
    studio = Studio(tmp_path / "studio")
    again = studio.project(open_results(studio, str(home)).id)
    assert again.project.id == project.project.id
    assert (again.model.snapshot().labels == labels).all()
    studio.close()


def test_what_two_people_call_differently_is_settled_by_the_owner(opened, tmp_path):
    project, _ = opened("coverage")
    ann, bob = (project.store.add_person(project.project.id, name) for name in ("Ann", "Bob"))
    project.answer(ann, [5], "owl")
    project.answer(bob, [5], "jay")
    project.model.snapshot()
    ((rows, first, others),) = project.model.contradictions()
    assert (rows, first[0].answer, others[0].answer) == ((5,), "owl", "jay")
    project.settle(5, "jay")
    snapshot = project.model.snapshot()
    assert project.model.contradictions() == []
    assert project.names(snapshot.labels)[snapshot.labels[5]] == "jay"
    assert len(project.answers()) == 3  # nothing is lost


def test_a_question_that_is_put_off_comes_back_at_the_end(opened):
    project, _ = opened("coverage")
    me = project.owner()
    row = project.questions(me, wait=20)[0]["rows"][0]
    project.put_off(me, [row])
    assert project.questions(me, wait=20)[0]["rows"] != [row]
    assert project.model._open.bring_back(me.id) == (row,)
    project.note(me, row, "very far away")
    assert [(note.content["row"], note.content["text"]) for note in project.notes()] == [(row, "very far away")]


def test_a_row_is_compared_with_others_and_never_with_itself(opened):
    project, _ = opened("relations")
    project.model.snapshot()
    learner = project.model._learner
    asked = [rows for row in range(project.rows.n) for _, rows in learner._questions(row)]
    pairs = [rows for rows in asked if len(rows) == 2]
    assert pairs
    assert all(len(set(rows)) == len(rows) for rows in asked)
