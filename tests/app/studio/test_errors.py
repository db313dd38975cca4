"""What goes wrong on the server: a page of ours with a number, and the same number in the log."""

from __future__ import annotations

import logging
import re
import threading
import time

import pytest
from sklearn.datasets import load_iris
from tests.app.studio.conftest import answer_some, blobs

from sidelight.app.studio.sources import Source


@pytest.fixture(scope="module")
def local(running):
    """A studio with rows that have fewer clusters than its model has."""
    iris = load_iris()
    source = Source(
        iris.data, [f"r{i}" for i in range(150)], list("abcd"), lambda row: None, [str(k) for k in iris.target]
    )
    return running(sources=[("iris", source, {"strategy": "uncertain", "clusters": 8}), ("blobs", blobs(30), {})])


@pytest.mark.slow
def test_every_cluster_has_a_page_when_the_last_one_is_empty(local):
    project = local.studio.project(1)
    link = "/a/" + local.studio.store.add_person(1, "Ann").token
    for _ in range(3):
        answer_some(local.client, link, 1, project.rows.truth)
        for cluster in range(9):
            before = snapshot = None
            while before is None or snapshot is not before:  # the model may learn more while the page is made
                before = project.model.snapshot()
                page = local.client.get(f"/p/1/clusters/{cluster}")
                snapshot = project.model.snapshot()
            assert page.status_code == (200 if (snapshot.labels == cluster).any() else 404), page.text
    assert len(project.names(snapshot.labels, 8)) == 8


@pytest.mark.parametrize("start", [20, 60, 10**6])
def test_a_page_beyond_the_end_of_a_cluster_has_no_rows(local, start):
    local.studio.project(2).model.snapshot()
    for path in (f"/api/projects/2/clusters/0?start={start}", f"/p/2/clusters/0?start={start}"):
        assert local.client.get(path).status_code == 200, path
    assert local.client.get(f"/p/2/clusters/0/wall?start={start}").status_code == 200
    assert local.client.get(f"/api/projects/2/clusters/0?start={start}").json()["members"] == []


def test_an_unexpected_error_is_a_page_with_a_number_that_is_in_the_log(local, monkeypatch, caplog):
    project = local.studio.project(2)
    token = local.studio.store.add_person(2, "Ann").token
    monkeypatch.setattr(project, "status", lambda **_: 1 / 0)
    for path, is_page in (("/p/2", True), ("/api/projects/2", False), (f"/a/{token}", True)):
        with caplog.at_level(logging.ERROR, "sidelight.studio"):
            answer = local.client.get(path)
        assert answer.status_code == 500
        words = answer.text if is_page else answer.json()["error"]
        number = re.search(r"the number (\w{8})", words)[1]
        assert ("All projects" in answer.text) == is_page
        assert "ZeroDivisionError" not in answer.text
        assert "content-security-policy" in answer.headers
        record = next(record for record in caplog.records if number in record.getMessage())
        assert "ZeroDivisionError" in record.getMessage()
        assert token not in record.getMessage()
    monkeypatch.undo()
    assert local.client.get("/p/2").status_code == 200


@pytest.mark.slow
def test_requests_that_wait_do_not_keep_static_files_waiting(local, monkeypatch):
    project, over = local.studio.project(2), threading.Event()
    monkeypatch.setattr(project, "status", lambda **_: over.wait(20) and {})
    import httpx

    def wait():
        with httpx.Client(base_url=local.url, timeout=30) as client:
            client.get("/api/projects/2")

    waiting = [threading.Thread(target=wait) for _ in range(60)]
    for thread in waiting:
        thread.start()
    time.sleep(0.5)
    try:
        began = time.monotonic()
        assert local.client.get("/static/studio.js").status_code == 200
        assert time.monotonic() - began < 5
    finally:
        over.set()
        for thread in waiting:
            thread.join()
