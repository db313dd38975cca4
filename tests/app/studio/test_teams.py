"""Several people: what a link opens and never more, agreement beyond chance, second answers, files to and fro."""

from __future__ import annotations

import csv
import io
import json
from contextlib import closing

import httpx
import pytest
from tests.app.studio.conftest import blobs, busy_model

from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.model import _CROWD
from sidelight.app.studio.people import alpha
from sidelight.app.studio.studio import Studio

TOKEN = "t" * 32


@pytest.fixture(scope="module")
def public(running):
    """A studio that listens to others, with two projects."""
    return running(TOKEN, sources=[("first", blobs(30), {}), ("second", blobs(30), {})])


@pytest.fixture(scope="module")
def local(running):
    """A studio for this machine."""
    return running(sources=[("blobs", blobs(60), {})])


def owner(server):
    """A client with the owner's token."""
    return httpx.Client(
        base_url=server.url, headers={"X-Sidelight": "1", "Authorization": f"Bearer {TOKEN}"}, timeout=30
    )


def visitor(server, role):
    """A client that opened a link of a role, and the token of it."""
    with owner(server) as boss:
        made = boss.post("/api/projects/1/people", json={"name": f"a {role}", "role": role}).json()
    client = httpx.Client(base_url=server.url, headers={"X-Sidelight": "1"}, timeout=30, follow_redirects=True)
    assert client.get(made["link"]).status_code == 200
    return client, made["token"]


LOOKS = ["/p/1", "/p/1/clusters", "/p/1/map", "/p/1/history", "/p/1/merged.csv", "/api/projects/1/clusters"]
SECRETS = ["/p/1/people", "/api/projects/1/people", "/p/1/ask", "/p/1/delete", "/", "/api/projects", "/openapi.json"]
CHANGES = [
    ("/api/projects/1/people", {"name": "eve", "role": "owner"}), ("/api/projects/1/clusters/0/name", {"name": "x"}),
    ("/api/projects/1/second-share", {"share": 1}), ("/api/projects/1/delete", {"name": "first"}),
    ("/api/projects/1/history/1", {"answer": None}), ("/api/projects/1/write-back", {}),
]  # fmt: skip


def test_who_may_look_sees_the_project_and_changes_nothing(public):
    client, token = visitor(public, "viewer")
    with closing(client):
        for path in LOOKS:
            assert client.get(path).status_code == 200, path
        for path in SECRETS:
            assert client.get(path).status_code in (401, 403), path
        for path, body in CHANGES:
            assert client.post(path, json=body).status_code == 403, path
        assert client.post(f"/api/a/{token}/answers", json={"rows": [0, 1], "answer": "same"}).status_code == 403
        assert client.post(f"/api/a/{token}/notes", json={"row": 0, "text": "x"}).status_code == 403
        assert client.get("/p/2").status_code == 401  # another project
        assert token not in client.get("/p/1").text


def test_who_answers_sees_no_page_of_the_owner(public):
    client, token = visitor(public, "annotator")
    with closing(client):
        assert client.get(f"/api/a/{token}").status_code == 200
        for path in [*LOOKS, *SECRETS]:
            assert client.get(path).status_code == 401, path
        for path, body in CHANGES:
            assert client.post(path, json=body).status_code == 401, path


def test_an_owner_by_link_owns_one_project_and_roles_are_never_raised(public):
    client, _ = visitor(public, "owner")
    with closing(client):
        for path in [*LOOKS, "/p/1/people"]:
            assert client.get(path).status_code == 200, path
        for path in ("/", "/api/projects", "/p/2", "/api/projects/2/people", "/new"):
            assert client.get(path).status_code == 401, path
        assert client.post("/api/projects/2/people", json={"name": "eve"}).status_code == 401
        assert client.post("/api/projects/1/people", json={"name": "guest", "role": "viewer"}).status_code == 200
        again = client.post("/api/projects/1/people", json={"name": "guest", "role": "owner"})
        assert again.status_code == 409
        assert "never raised" in again.json()["error"]
        assert client.post("/api/projects/1/people", json={"name": "x", "role": "king"}).status_code == 422


def test_a_chosen_share_of_questions_goes_to_a_second_person(tmp_path):
    studio = Studio(tmp_path)
    project = studio.project(studio.add("blobs", blobs(60), {}).id)
    ann, bob = (studio.add_person(project.project.id, name) for name in ("Ann", "Bob"))
    project.set_second_share(1.0)
    for _ in range(4):
        rows = project.model.questions(ann.id, wait=20)[0]
        project.answer(ann, rows, true_answer(rows, project.rows.truth), wait=20)
        project.model.snapshot()
    asked = set()
    for _ in range(3):
        rows = project.model.questions(bob.id, wait=20)[0]
        asked.add(frozenset(rows))
        project.answer(bob, rows, true_answer(rows, project.rows.truth), wait=20)
        project.model.snapshot()
    by_ann = {frozenset(answer.rows) for answer in project.answers() if answer.person == ann.id}
    assert len(asked & by_ann) >= 2
    assert alpha(project.answers())[1] >= 2
    number = project.project.id
    studio.close()
    again = Studio(tmp_path)
    assert again.project(number).model.second_share == 1.0
    again.close()


def test_everything_said_is_handed_over_and_pairs_are_brought_back(local):
    project = local.studio.project(1)
    ann = local.studio.add_person(1, "=Ann")
    project.answer(ann, (0, 3), "same", seconds=1.0)
    project.answer(ann, (0, 1), "different", seconds=1.0)
    project.note(ann, 3, "=far away")
    lines = list(csv.DictReader(io.StringIO(local.client.get("/p/1/merged.csv").text)))
    assert len(lines) == 60
    assert (lines[0]["answers"], lines[0]["people"], lines[3]["notes"]) == ("2", "1", "'=Ann: =far away")
    assert "'=far away" in local.client.get("/p/1/notes.csv").text
    tasks = local.client.get("/p/1/label-studio.json").json()
    assert len(tasks) == 62
    assert tasks[-1]["data"].keys() == {"left", "right"}
    assert [said["completed_by"] for task in tasks[-2:] for said in task["annotations"]] == [{"first_name": "=Ann"}] * 2
    number = local.studio.add("other", blobs(60), {}).id
    sent = {"answers": ("t.json", json.dumps(tasks[-2:]))}
    for n_new in (2, 0):
        brought = local.client.post(f"/api/projects/{number}/import", files=sent, data={"name": "elsewhere"})
        assert brought.json() == {"new": n_new}, brought.text
    said = {(answer.rows, answer.answer) for answer in local.studio.project(number).answers()}
    assert said == {((0, 3), "same"), ((0, 1), "different")}
    ids = project.rows.ids
    table = f'left,right,answer\n"{ids[4]}","{ids[7]}",same\n'
    sent = {"answers": ("t.csv", table)}
    assert local.client.post(f"/api/projects/{number}/import", files=sent).json() == {"new": 1}
    no_rows = "left,right,answer\nx,y,same\n"
    for name, content in (("a.json", "{}"), ("a.json", "[1]"), ("a.exe", "x"), ("a.csv", no_rows)):
        answer = local.client.post(f"/api/projects/{number}/import", files={"answers": (name, content)})
        assert answer.status_code in (404, 422), answer.text


def test_of_a_crowd_that_waits_for_the_model_all_have_a_question_at_once(local):
    number = local.studio.add("crowd", blobs(60), {}).id
    project = local.studio.project(number)
    people = [local.studio.add_person(number, f"p{i}") for i in range(9)]
    project.model.snapshot()
    with busy_model(project):  # with the answers of others
        for person in people:
            project.model.questions(person.id, wait=0.0)
        asked = [project.model.questions(person.id, wait=0.0) for person in people]
    given = [frozenset(questions[0]) for questions in asked if questions]
    assert len(given) >= len(people) - _CROWD
    assert len(set(given)) == len(given)
