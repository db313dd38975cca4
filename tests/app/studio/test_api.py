"""The studio as programs and pages use it: asking, undoing, editing, seeing, correcting, several people at once."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pytest
from tests.app.studio.conftest import answer_some, blobs

from sidelight.app.studio.answers import true_answer


@pytest.fixture(scope="module")
def local(running):
    """A studio with a project of pairs, one of triplets, and fixed lists with overlap and without."""
    listed = [[0, 3], [0, 1], [1, 4], [5, 6], [2, 8]]
    return running(
        sources=[
            ("pairs", blobs(), {}),
            ("triplets", blobs(), {"kind": "triplet"}),
            ("fixed", blobs(), {"strategy": "fixed", "questions": listed}),
            ("overlap", blobs(), {"strategy": "fixed", "questions": listed, "overlap": True, "no_unsure": True}),
            ("info", blobs(30), {"strategy": "info", "clusters": 3}),
            ("undo", blobs(), {}),
        ]
    )


def fresh(local, name, source=None, **settings):
    """Return a project that no other test touches: its number, and the project at work."""
    number = local.studio.add(name, source or blobs(), settings).id
    return number, local.studio.project(number)


def answered(local, name, n=25):
    """Return such a project after some right answers."""
    number, project = fresh(local, name)
    answer_some(local.client, person(local, number, "Ann"), n, project.rows.truth)
    project.model.snapshot()
    return number, project


def person(local, project, name):
    """Return a new person's link."""
    return local.client.post(f"/api/projects/{project}/people", json={"name": name}).json()["link"]


def test_right_answers_find_the_classes(local):
    link = person(local, 1, "Ann")
    truth = local.studio.project(1).rows.truth
    assert answer_some(local.client, link, 25, truth) == 25
    status = local.studio.project(1).status(fresh=True)
    assert status["answers"] == 25
    assert status["agreement"] > 0.9
    found = local.client.get("/api/projects/1/clusters").json()
    assert sum(cluster["size"] for cluster in found["clusters"]) == 60
    assert len(found["rows"]["row"]) == 60
    history = local.client.get(f"/api{link}/history").json()["answers"]
    assert len(history) == 25
    assert history[0]["seconds"] == 1.5


def test_the_model_is_rebuilt_from_the_answers_alone(local):
    number, open_project = answered(local, "rebuilt", 12)
    before = open_project.model.snapshot()
    open_project.close()
    del local.studio._open[number]
    after = local.studio.project(number).model.snapshot()
    assert after.version == before.version == 12
    np.testing.assert_array_equal(after.labels, before.labels)


@pytest.mark.slow
def test_triplets_find_the_classes_too(local):
    truth = local.studio.project(2).rows.truth
    assert answer_some(local.client, person(local, 2, "Ann"), 25, truth) == 25
    assert local.studio.project(2).status(fresh=True)["agreement"] > 0.9
    table = list(csv.reader(io.StringIO(local.client.get("/p/2/answers.csv").text)))
    assert table[0][:4] == ["a", "b", "c", "odd"]
    assert len(table) > 10


def test_a_fixed_list_is_asked_once_in_its_order(local):
    ann, bob = person(local, 3, "Ann"), person(local, 3, "Bob")
    first = local.client.get(f"/api{ann}").json()["questions"]
    assert [question["rows"] for question in first] == [[0, 3], [0, 1]]
    others = local.client.get(f"/api{bob}").json()["questions"]
    assert [question["rows"] for question in others] == [[1, 4], [5, 6]]
    truth = local.studio.project(3).rows.truth
    total = answer_some(local.client, ann, 9, truth) + answer_some(local.client, bob, 9, truth)
    assert total == 5


def test_with_overlap_everybody_answers_all_and_agreement_is_measured(local):
    ann, bob = person(local, 4, "Ann"), person(local, 4, "Bob")
    truth = local.studio.project(4).rows.truth
    assert answer_some(local.client, ann, 9, truth) == 5
    assert answer_some(local.client, bob, 4, truth) == 4
    wrong = {"same": "different", "different": "same"}[true_answer((2, 8), truth)]
    assert local.client.post(f"/api{bob}/answers", json={"rows": [2, 8], "answer": wrong}).status_code == 200
    found = local.client.get("/api/projects/4/people").json()
    (line,) = found["agreement"]
    assert (line["questions"], line["share"]) == (5, 0.8)
    accuracy = {one["name"]: one["accuracy"] for one in found["people"]}
    assert accuracy["Ann"] == 1.0
    assert accuracy["Bob"] == 0.8
    assert local.client.post(f"/api{bob}/answers", json={"rows": [3, 9], "answer": "unsure"}).status_code == 422


def test_no_two_people_hold_the_same_open_question(local):
    number, _ = fresh(local, "held")
    links = [person(local, number, f"p{i}") for i in range(5)]
    held = [frozenset(q["rows"]) for link in links for q in local.client.get(f"/api{link}").json()["questions"]]
    assert len(held) >= 5
    assert len(held) == len(set(held))


def test_a_contradiction_is_shown_with_the_answers_behind_it(local):
    number, project = fresh(local, "contradicted")
    link = person(local, number, "Eve")
    for rows, word in (([10, 20], "same"), ([20, 30], "same"), ([10, 30], "different")):
        assert local.client.post(f"/api{link}/answers", json={"rows": rows, "answer": word}).status_code == 200
    project.model.snapshot()
    (told,) = local.client.get(f"/api/projects/{number}/contradictions").json()["contradictions"]
    assert sorted(sorted(line["rows"]) for line in told["together"]) == [[10, 20], [20, 30]]
    assert [line["answer"] for line in told["apart"]] == ["different"]
    assert "1 contradiction" in local.client.get(f"/p/{number}/history").text
    queue = local.client.get(f"/p/{number}/contradictions").text
    assert "cannot all be true" in queue
    assert queue.count("<figure>") == 6  # three answers about two rows each, with what there is to see of them
    apart = told["apart"][0]["id"]
    assert local.client.post(f"/api/projects/{number}/history/{apart}", json={"answer": "same"}).status_code == 200
    project.model.snapshot()
    assert "No two answers" in local.client.get(f"/p/{number}/contradictions").text


@pytest.mark.parametrize(
    "body",
    [{}, {"rows": [1], "answer": "same"}, {"rows": [1, 1], "answer": "same"}, {"rows": [1, 999], "answer": "same"},
     {"rows": [1, 2], "answer": "yes"}, {"rows": [1, 2, 3], "answer": "same"}, {"rows": [-1, 2], "answer": "same"},
     {"rows": [1, 2], "answer": "same", "seconds": -1}, {"rows": "12", "answer": "same"}],
)  # fmt: skip
def test_bad_answers_are_one_message_and_change_nothing(local, body):
    link = person(local, 1, "Mal")
    response = local.client.post(f"/api{link}/answers", json=body)
    assert response.status_code in (404, 422)
    assert response.json()["error"]
    assert local.client.get(f"/api{link}/history").json()["answers"] == []


def test_clusters_that_no_question_was_about_show_typical_rows_and_can_be_corrected(local):
    _, project = fresh(local, "guessed")
    snapshot = project.model.snapshot()
    clusters = np.unique(snapshot.labels).tolist()
    guessed = [cluster for cluster in clusters if cluster >= snapshot.n_known]
    assert len(guessed) >= 2
    first, second = (project.members(cluster, snapshot) for cluster in guessed[:2])
    assert snapshot.typical[first[0]] == snapshot.typical[first].max()
    project.correct(project.owner(), first[-1], guessed[1], is_member=True)
    (answer,) = project.answers()
    assert (answer.rows, answer.answer, answer.correction) == ((first[-1], second[0]), "same", True)
    after = project.model.snapshot()
    assert after.labels[first[-1]] == after.labels[second[0]]


def test_a_simulated_person_raises_the_agreement(local):
    number, project = fresh(local, "simulated", blobs(apart=2.5))
    before = project.model.snapshot().agreement
    done = local.client.post(f"/api/projects/{number}/simulate", json={"n": 40}).json()
    assert done["answered"] == 40
    assert project.model.snapshot().agreement > before
    named = {one["name"]: one for one in local.client.get(f"/api/projects/{number}/people").json()["people"]}
    assert named["simulated person"]["is_simulated"]


def test_a_project_is_made_in_the_page_from_a_table(local):
    rows = "\n".join(f"a{i},{i % 2 * 9},{i % 5},text {i}" for i in range(30))
    files = {"table": ("t.csv", f"id,x,y,words\n{rows}")}
    made = local.client.post("/api/projects", data={"name": "table", "columns": "words"}, files=files)
    assert made.status_code == 200, made.text
    link = local.client.get(f"{made.json()['go']}/ask").headers["location"]
    assert "text " in local.client.get(f"/api{link}").json()["questions"][0]["cards"][0]["html"]
    again = local.client.post("/api/projects", data={"name": "table"}, files=files)
    assert again.status_code == 409
    no_ids = local.client.post("/api/projects", data={"name": "x"}, files={"table": ("t.csv", "x,y\n1,2\n1,2\n3,4\n")})
    assert no_ids.status_code == 422
    assert "names its rows" in no_ids.json()["error"]


def test_texts_that_differ_in_every_row_name_the_rows(tmp_path):
    from sidelight.app.jobs.roles import Roles
    from sidelight.app.studio.sources import from_table
    from sidelight.errors import InvalidData

    table = tmp_path / "t.csv"
    table.write_text("x,y,words\n1,2,the first\n2,2,another\n3,1,a third\n4,1,the last\n")
    assert from_table(str(table), Roles(show=["words"])).ids == ["the first", "another", "a third", "the last"]
    table.write_text(table.read_text().replace("another", "the first"))
    with pytest.raises(InvalidData, match="names its rows"):
        from_table(str(table), Roles(show=["words"]))


def test_a_lost_database_is_a_message(local, monkeypatch):
    from sidelight.app.store.studio_store import StudioStore
    from sidelight.errors import CannotWrite

    link = person(local, 1, "Zoe")

    def lost(*args, **kwargs):
        raise CannotWrite("The database does not answer.")

    monkeypatch.setattr(StudioStore, "appending", lost)
    response = local.client.post(f"/api{link}/answers", json={"rows": [50, 51], "answer": "same"})
    assert (response.status_code, response.json()["error"]) == (503, "The database does not answer.")
    monkeypatch.undo()
    assert local.client.post(f"/api{link}/answers", json={"rows": [50, 51], "answer": "same"}).status_code == 200


# What a server needs is loaded once; each server is a process of its own, which is killed.
_LAUNCHER = """
import os, sys
import sidelight.app.studio.web.app  # once, for every server that is forked
from sidelight.app.studio.web.serving import serve
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        serve(sys.argv[1], None, host="127.0.0.1", port=0, browser=False, say=lambda text: print(text, flush=True))
    os.waitpid(child, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the servers are forked, which this system cannot")
def test_a_server_killed_at_random_moments_loses_no_acknowledged_answer(tmp_path):
    from sidelight.app.studio.studio import Studio

    studio = Studio(tmp_path)
    number = studio.add("blobs", blobs(), {}).id
    token = studio.store.add_person(number, "Ann").token
    studio.close()
    moments, acknowledged, sent = np.random.default_rng(0).uniform(0.05, 0.4, size=3), set(), set()
    words = [sys.executable, "-c", _LAUNCHER, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as launcher:
        for killed, moment in enumerate(moments):
            print("go", file=launcher.stdin, flush=True)
            server, url = int(launcher.stdout.readline()), launcher.stdout.readline().split()[-1].rstrip("/")
            _answer_until_killed(server, url, token, moment, killed, sent, acknowledged)
        launcher.stdin.close()
    studio = Studio(tmp_path)
    kept = [event.key for event in studio.store.events(number)]
    studio.close()
    assert len(acknowledged) >= 3
    assert acknowledged <= set(kept) <= sent
    assert len(kept) == len(set(kept))


def _answer_until_killed(server, url, token, moment, killed, sent, acknowledged):
    timer = threading.Timer(moment, os.kill, [server, signal.SIGKILL])
    with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=20) as client:
        for row in range(10, 60):
            body = {"rows": [killed, row], "answer": "different", "key": f"{killed} {row}"}
            sent.add(body["key"])
            try:
                response = _post(client, f"/api/a/{token}/answers", body, is_up=row > 10)
            except httpx.TransportError:  # how the kill looks from here
                break
            assert response.status_code == 200
            acknowledged.add(body["key"])
            if row == 10:
                timer.start()
    timer.join()


def _post(client, path, body, *, is_up):
    for _ in range(0 if is_up else 2000):  # the address is printed before the server takes requests
        with contextlib.suppress(httpx.ConnectError):
            answer = client.post(path, json=body)
            if answer.status_code != 503:  # the studio is starting
                return answer
        time.sleep(0.02)
    return client.post(path, json=body)
