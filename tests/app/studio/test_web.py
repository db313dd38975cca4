"""What routes say, asked without a server: redirects, cookies, parts of long lists, pictures, errors by class."""

from __future__ import annotations

import base64
from types import SimpleNamespace

import httpx
import pytest
from tests.app.studio.conftest import awaited, blobs

from sidelight.app.report.gallery import Media
from sidelight.app.studio.project import AnsweredAlready
from sidelight.app.studio.sources import Source
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web import security
from sidelight.app.studio.web.app import make_app
from sidelight.app.studio.web.making import in_form
from sidelight.app.studio.web.pages import status_of, without_paths
from sidelight.app.studio.web.security import Access, Guesses, Pace
from sidelight.errors import (
    CannotWrite,
    InvalidData,
    MissingExtra,
    OutputExists,
    SidelightError,
    TooLarge,
    UnknownName,
)
from sidelight.words import Setting

TOKEN = "t" * 32
PNG = f"data:image/png;base64,{base64.b64encode(b'picture').decode()}"


class Client:
    """Asks an application directly; cookies are those that a request names."""

    def __init__(self, app, headers):
        self.app, self.headers = app, headers

    def get(self, path, **headers):
        return self._ask("GET", path, headers)

    def post(self, path, body=None, **headers):
        return self._ask("POST", path, headers, json=body or {})

    def _ask(self, method, path, headers, **content):
        async def asked():
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                named = {name.replace("_", "-"): value for name, value in (self.headers | headers).items()}
                return await client.request(method, path, headers=named, **content)

        return awaited(asked())


def client_of(studio, token="", **headers):
    return Client(make_app(studio, Access(token), begin="/p/1"), {"X-Sidelight": "1"} | headers)


@pytest.fixture
def studio(tmp_path):
    """Two projects with pictures."""
    made = Studio(tmp_path / "studio")
    source = blobs(70)
    shown = Source(source.X, [f"r{i}" for i in range(70)], source.features, lambda row: Media("image", PNG), source.y)
    for name in ("first", "second"):
        made.add(name, shown, {"strategy": "rows", "kind": "pair", "clusters": 3})
    yield made
    made.close()


def test_a_path_with_a_slash_at_its_end_is_the_same_page(studio):
    client = client_of(studio)
    for path in ("/p/1/", "/nowhere/"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (307, path.rstrip("/"))
    assert client.post("/p/1/").status_code in (404, 405)
    assert client.get("/nowhere").status_code == 404
    assert client.get("/api/nowhere").json() == {"error": "There is no such page."}
    assert client.get("/begin").headers["location"] == "/p/1"
    assert client.get("/begin").status_code == 303


def test_wrong_tokens_and_hasty_links_are_forgiven_after_a_while(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(security, "time", SimpleNamespace(monotonic=lambda: now[0]))
    guesses, pace = Guesses(), Pace(a_second=1.0, at_once=2.0)
    for _ in range(10):
        guesses.note("here")
    assert [guesses.are_too_many(place) for place in ("here", "there")] == [True, False]
    assert [pace.take("a") for _ in range(3)] == [True, True, False]
    now[0] = 61.0
    assert not guesses.are_too_many("here")
    assert [pace.take("a") for _ in range(3)] == [True, True, False]


def test_links_of_annotators_ask_and_those_of_viewers_go_to_the_overview(studio):
    ann = studio.add_person(1, "Ann")
    viewer = studio.add_person(1, "Vic", role="viewer")
    client = client_of(studio, TOKEN)
    asked = client.get(f"/a/{ann.token}")
    assert asked.status_code == 200
    assert f"sidelight_person_1={ann.token}" in asked.headers["set-cookie"]
    assert all(word in asked.headers["set-cookie"] for word in ("HttpOnly", "SameSite=lax"))
    sent = client.get(f"/a/{viewer.token}")
    assert (sent.status_code, sent.headers["location"]) == (303, "/p/1")
    assert f"sidelight_person_1={viewer.token}" in sent.headers["set-cookie"]


def test_pictures_are_for_people_of_the_project_and_for_nobody_else(studio):
    ann, bob = studio.add_person(1, "Ann"), studio.add_person(2, "Bob")
    client = client_of(studio, TOKEN)

    def seen(path, project, token):
        return client.get(path, cookie=f"sidelight_person_{project}={token}").status_code

    assert seen("/media/1/0/media", 1, ann.token) == 200
    assert seen("/media/1/0/media", 1, bob.token) == 404
    owner = client_of(studio, TOKEN, Authorization=f"Bearer {TOKEN}")
    picture = owner.get("/media/1/3/media")
    assert (picture.content, picture.headers["content-type"]) == (b"picture", "image/png")
    assert "max-age=3600" in picture.headers["cache-control"]
    same = owner.get("/media/1/3/media", if_none_match=picture.headers["etag"])
    assert (same.status_code, same.content) == (304, b"")
    assert owner.get("/media/1/3/media", if_none_match='"other"').status_code == 200
    assert owner.get("/static/nothing.js").status_code == 404
    assert owner.get("/static/ask.js").headers["cache-control"] == "no-cache"


def test_a_conversation_by_a_link(studio):
    ann = studio.add_person(1, "Ann")
    client, link = client_of(studio), f"/api/a/{ann.token}"
    found = client.get(link).json()
    assert len(found["questions"]) == 2
    rows = found["questions"][0]["rows"]
    put_off = client.post(f"{link}/later", {"rows": rows}).json()
    assert put_off["put_off"] == rows
    assert rows not in [question["rows"] for question in put_off["questions"]]
    said = client.post(f"{link}/answers", {"rows": [0, 3], "answer": "same", "seconds": 2.0, "key": "k"}).json()
    again = client.post(f"{link}/answers", {"rows": [0, 3], "answer": "same", "seconds": 2.0, "key": "k"}).json()
    assert said["saved"] == again["saved"]
    assert said["status"]["answers"] == 1
    assert client.post(f"{link}/answers", {"rows": [3, 0], "answer": "same"}).status_code == 409
    client.post(f"{link}/answers", {"rows": [1, 4], "answer": "same"})
    history = client.get(f"{link}/history").json()["answers"]
    assert [(line["ids"], line["answer"], line["seconds"]) for line in history] == [
        (["r1", "r4"], "same", None), (["r0", "r3"], "same", 2.0)
    ]  # fmt: skip
    assert history[0]["words"] == ["same", "different", "unsure"]
    assert client.post(f"{link}/history/{history[1]['id']}", {"answer": "different"}).status_code == 200
    assert client.get(f"{link}/history").json()["answers"][1]["is_edited"]
    undone = client.post(f"{link}/undo").json()
    assert (undone["undone"], undone["answer"]) == (history[0]["id"], "same")
    assert undone["questions"][0]["rows"] == [1, 4]
    assert client.post(f"{link}/notes", {"row": 5, "text": "odd"}).json() == {"row": 5}
    assert client.get(f"{link}/status").json()["answers"] == 1
    other = studio.add_person(1, "Bob")
    assert client.get(f"/api/a/{other.token}/history").json()["answers"] == []
    assert len(client.get("/api/projects/1/history").json()["answers"]) == 1
    refused = client.post(f"/api/a/{other.token}/history/{history[1]['id']}", {"answer": None})
    assert refused.status_code == 404
    assert client.post(f"/api/projects/1/history/{history[1]['id']}", {"answer": None}).status_code == 200
    assert client.get(f"/a/{ann.token}/history").status_code == client.get("/p/1/history").status_code == 200


def test_clusters_their_members_walls_and_groups(studio):
    client = client_of(studio)
    found = client.get("/api/projects/1/clusters").json()
    sizes = [cluster["size"] for cluster in found["clusters"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == len(found["rows"]["row"]) == 70
    cluster = found["clusters"][0]["cluster"]
    project = studio.project(1)
    rows = project.members(cluster, doubtful_first=True)
    first = client.get(f"/api/projects/1/clusters/{cluster}").json()
    later = client.get(f"/api/projects/1/clusters/{cluster}?start=2").json()
    assert [card["row"] for card in first["members"]] == rows
    assert [card["row"] for card in later["members"]] == rows[2:]
    assert (first["n"], later["start"]) == (len(rows), 2)
    assert client.get("/api/projects/1/clusters/99").status_code == 404
    both = client.post(f"/api/projects/1/clusters/{cluster}/wall", {"struck": [rows[0]], "right": [rows[0]]})
    assert both.status_code == 422
    done = client.post(f"/api/projects/1/clusters/{cluster}/wall", {"struck": rows[:1], "right": rows[1:3]})
    assert done.json() == {"struck": 1, "right": 2}
    assert project.confirmed() == set(rows[:3])
    said = {answer.rows[0]: answer.answer for answer in project.answers()}
    assert said == {rows[0]: "different", rows[1]: "same", rows[2]: "same"}
    assert project.status()["corrections"] == 1
    place = int(project.model.snapshot().labels[rows[5]])
    shown = client.get(f"/p/1/clusters/{place}/wall").text
    assert f'data-row="{rows[5]}"' in shown or f">{project.rows.ids[rows[5]]}<" in shown
    named = client.post(f"/api/projects/1/clusters/{place}/name", {"name": " wren "}).json()
    assert named == {"cluster": place, "name": "wren"}
    together = client.post("/api/projects/1/together", {"rows": [60, 63, 66], "name": " owl "})
    assert together.json() == {"said": 3}
    assert "owl" in client.get("/api/projects/1/clusters").text
    corrected = client.post(
        "/api/projects/1/corrections",
        {"row": rows[7], "cluster": place, "is_member": True, "is_confirmation": True},
    )
    assert corrected.json()["status"]["corrections"] == project.status()["corrections"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(UnknownName("x"), 404), (OutputExists("x"), 409), (AnsweredAlready("x"), 409), (TooLarge("x"), 413),
     (InvalidData("x"), 422), (CannotWrite("x"), 503), (MissingExtra("p", "e", "f"), 503), (SidelightError("x"), 500)],
)  # fmt: skip
def test_errors_have_the_code_of_their_class(error, code):
    assert status_of(error) == code


def test_places_on_the_server_are_not_told(studio):
    words = without_paths(f"Cannot read {studio.folder}/rows/7.npy at {studio.store.where!r}.", studio)
    assert str(studio.folder) not in words
    assert "7.npy" in words


def test_settings_are_called_what_the_form_calls_them():
    assert in_form(Setting("missing", "drop")) == "choose “leave the row out” for empty cells"
    assert in_form(Setting("missing")) == "choose what to do for empty cells"
    assert in_form(Setting("id")) == in_form(Setting("id", True)) == "choose “names each row” for a column"
    assert in_form(Setting("ignore", "x")) == "choose “not used” for the column (x)"
    assert "sidelight studio new" in in_form(Setting("sheet"))


def test_the_first_page_of_a_history_begins_with_the_last_answer(studio):
    project, client = studio.project(1), client_of(studio)
    you = project.owner()
    for pair in ((0, 3), (1, 4)):
        project.answer(you, pair, "same")
    link = f"/a/{you.token}/history"
    for path in ("/p/1/history", link):
        assert "r4" in client.get(path).text.replace(you.token, "")
        assert "r4" not in client.get(f"{path}?start=1").text.replace(you.token, "")
        assert "r3" in client.get(f"{path}?start=1").text


def test_a_wall_shows_so_many_rows_and_says_of_how_many(studio):
    project, client = studio.project(1), client_of(studio)
    rows = project.members(0)
    first, rest = (client.get(f"/p/1/clusters/0/wall?start={start}").text for start in (0, 5))
    assert all(f">r{row}<" in first or f'"r{row}"' in first for row in rows[:3])
    assert f">r{rows[0]}<" not in rest
    assert "cluster 0" in first
