"""What a stranger, another page on the web, or an annotator with a link must not be able to do."""

from __future__ import annotations

import re
import socket
from contextlib import suppress

import httpx
import pytest
from tests.app.studio.conftest import HOSTILE, blobs, serve

from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web import security, serving
from sidelight.app.studio.web.security import MOST_BODY

TOKEN = "owner-token-owner-token-owner"


@pytest.fixture(scope="module")
def local(running):
    """A studio for this machine only."""
    return running(sources=[("blobs", blobs(), {}), ("texts", blobs(text=True), {"kind": "triplet"})])


@pytest.fixture(scope="module")
def public(running):
    """A studio with a token."""
    return running(TOKEN, sources=[("one", blobs(), {}), ("two", blobs(seed=1), {})])


def test_another_page_cannot_change_anything(local):
    bare = httpx.Client(base_url=local.url)
    body = {"name": "eve"}
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{local.port}.evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {},
        {"Origin": "https://evil.example", "X-Sidelight": "1"},
    ):
        assert bare.post("/api/projects/1/people", json=body, headers=headers).status_code == 403, headers
    names = [person["name"] for person in local.client.get("/api/projects/1/people").json()["people"]]
    assert "eve" not in names
    own = bare.post("/api/projects/1/people", json=body, headers={"Origin": local.url})
    assert own.status_code == 200
    assert bare.options("/api/projects", headers={"Origin": "https://evil.example"}).status_code == 403
    assert "access-control-allow-origin" not in own.headers
    bare.close()


def test_with_a_token_everything_but_links_asks_for_it(public):
    person = public.studio.store.add_person(public.projects[0].id, "Ann")
    paths = [
        "/",
        "/p/1",
        "/p/1/ask",
        "/p/1/people",
        "/api/projects",
        "/api/projects/1/people",
        "/p/1/answers.csv",
        "/openapi.json",
    ]
    for path in paths:
        assert public.client.get(path).status_code == 401, path
        assert public.client.get(path, headers={"Authorization": f"Bearer {TOKEN}x"}).status_code == 401
        assert public.client.get(path, headers={"Cookie": b"sidelight_owner=\xe9"}).status_code == 401
    assert public.client.post("/api/projects/1/simulate", json={}).status_code == 401
    assert public.client.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert public.client.get(f"/a/{person.token}").status_code == 200
    assert public.client.get("/enter?token=wrong").status_code == 404
    entered = public.client.get(f"/enter?token={TOKEN}")
    assert entered.status_code == 303
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert public.client.get("/").status_code == 200  # by the cookie
    public.client.cookies.clear()


def test_a_link_opens_one_project_and_nothing_else(public):
    person = public.studio.store.add_person(public.projects[0].id, "Bob")
    assert public.client.get(f"/a/{person.token}").status_code == 200  # sets the cookie
    assert public.client.get("/media/1/0/media").status_code != 401
    assert public.client.get("/media/2/0/media").status_code == 404  # another project
    assert public.client.get("/p/1/people").status_code == 401
    public.client.cookies.clear()
    assert public.client.get("/media/1/0/media").status_code == 404  # nobody
    nearly = person.token[:-1] + ("-" if person.token.endswith("_") else "_")
    for guess in ("x" * 32, nearly, person.token.swapcase()):
        assert public.client.get(f"/api/a/{guess}").status_code == 404


@pytest.mark.parametrize("path", ["/", "/p/1", "/api/projects", "/static/studio.js", "/nowhere", "/p/1/people"])
def test_every_answer_carries_a_policy_without_inline_script(local, path):
    headers = local.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers or "uvicorn" in headers["server"]


def test_pages_have_no_inline_script_and_load_nothing_from_elsewhere(local):
    link = "/a/" + local.studio.store.add_person(1, "Ann").token
    for path in ("/", "/p/1", "/p/1/clusters", "/p/1/clusters/0", "/p/1/map", "/p/1/history", "/p/1/people", link):
        page = local.client.get(path)
        assert page.status_code == 200, path
        for tag in re.findall(r"<script[^>]*>", page.text):
            assert 'src="/static/' in tag or 'type="application/json"' in tag, tag
        assert not re.search(r"\son\w+=|javascript:|style=", page.text), path
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text), path


def test_whatever_rows_and_people_are_called_is_text(local):
    local.client.post("/api/projects/2/people", json={"name": HOSTILE})
    found = local.client.get("/api/a/" + local.studio.store.add_person(2, "Ann").token).json()
    card = found["questions"][0]["cards"][0]
    assert "<script" not in card["html"]
    assert "&lt;script&gt;" in card["html"]
    local.client.post("/api/projects/2/clusters/0/name", json={"name": HOSTILE})
    for path in ("/p/2", "/p/2/clusters", "/p/2/clusters/0", "/p/2/map", "/p/2/people", "/p/2/history"):
        assert HOSTILE not in local.client.get(path).text, path


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/security.py", "/media/1/..%2f..%2fX.npy/media",
     "/media/1/0/..%2f..%2fstudio.db", "/media/1/-1/media", "/media/1/999999/media", "/media/1/0/media%00",
     "/p/1/../../etc/passwd", "//etc/passwd"],
)  # fmt: skip
def test_no_path_leaves_the_project_folder(local, path):
    response = local.client.get(path)
    assert response.status_code in (404, 422), path
    assert "import" not in response.text
    assert "root:" not in response.text


def test_large_bodies_are_refused_unread(local):
    link = "/api/a/" + local.studio.store.add_person(1, "Ann").token
    assert local.client.post(f"{link}/answers", content=b"x" * (MOST_BODY + 1)).status_code == 413

    def endless():
        for _ in range(3 * MOST_BODY // 50_000):
            yield b" " * 50_000

    with suppress(httpx.HTTPError):  # the server may hang up, which is as good
        assert local.client.post(f"{link}/answers", content=endless()).status_code in (400, 413, 422)
    assert local.client.get("/").status_code == 200


@pytest.mark.parametrize("name", ["a.exe", "a.html", "a", "a.csv.svg", "../../a.py"])
def test_uploads_are_typed(local, name):
    before = len(local.client.get("/api/projects").json()["projects"])
    for field in ("table", "images"):
        response = local.client.post(
            "/api/projects", data={"name": f"{name} {field}"}, files={field: (name, b"id,x\na,1\n")}
        )
        assert response.status_code == 422, response.text
    assert len(local.client.get("/api/projects").json()["projects"]) == before


def test_an_image_that_is_none_is_refused(local):
    files = [("images", (f"{i}.png", b"<svg onload=alert(1)>")) for i in range(3)]
    response = local.client.post("/api/projects", data={"name": "no images"}, files=files)
    assert response.status_code == 422
    assert "image" in response.json()["error"]


def test_guesses_of_the_owners_token_are_limited(running):
    server = running(TOKEN)
    codes = [server.client.get(f"/enter?token=guess{i}").status_code for i in range(12)]
    assert codes == [404] * 10 + [429] * 2
    assert server.client.get(f"/enter?token={TOKEN}").status_code == 429  # a right guess is one too
    assert server.client.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_no_redirect_goes_where_the_request_says(public):
    for path in ("/p/1/", "/api/projects/", "//evil.example/", "/\\evil.example/", "/enter/"):
        answer = public.client.get(path, headers={"Host": "evil.example", "Authorization": f"Bearer {TOKEN}"})
        place = answer.headers.get("location", "/")
        assert place.startswith("/"), (path, place)
        assert not place.startswith(("//", "/\\")), (path, place)
    answer = public.client.get("/p/1/", headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.headers["location"]) == (307, "/p/1")


@pytest.mark.parametrize("name", ["you", "You", " simulated person", "the run", "simulated person 2"])
def test_names_that_the_studio_uses_itself_are_nobodys(local, name):
    answer = local.client.post("/api/projects/1/people", json={"name": name})
    assert answer.status_code == 422
    assert "Choose another" in answer.json()["error"]


def test_somebody_called_like_a_simulated_person_is_not_one(local):
    project = local.studio.project(local.studio.add("called so", blobs(30), {}).id)
    human = local.studio.store.add_person(project.project.id, "simulated person")  # by a studio of before
    assert project.simulate(2) == 2
    said = {event.person for event in project.events()}
    assert human.id not in said
    assert len(said) == 1
    assert [person.name for person in project.people().values() if person.is_simulated] == ["simulated person 2"]


def test_what_people_typed_is_no_formula_in_a_file(local):
    project = local.studio.project(local.studio.add("formulas", blobs(30), {}).id)
    person = local.studio.add_person(project.project.id, "=cmd()")
    project.answer(person, (0, 1), "same")
    project.model.snapshot()
    project.name(person, 0, "@SUM(1)")
    number = project.project.id
    answers, clusters = (local.client.get(f"/p/{number}/{name}.csv").text for name in ("answers", "clusters"))
    assert ",'=cmd()," in answers
    assert ",'@SUM(1)," in clusters
    assert ",@" not in clusters


@pytest.mark.slow
def test_half_a_request_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "SLOWEST", 0.4)
    monkeypatch.setattr(security, "SLOWEST", 0.4)
    studio = Studio(tmp_path)
    server, thread, port, listening = serve(studio, http=serving.PunctualProtocol, timeout_keep_alive=1)
    head = b"POST /api/projects/1/people HTTP/1.1\r\nHost: localhost\r\nX-Sidelight: 1\r\n"
    for half in (b"", b"GET / HTTP/1.1\r\nHost: loc", head + b"Content-Length: 40\r\n\r\n{"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(half)
            while client.recv(4096):  # until the server hangs up
                pass
    server.should_exit = True
    thread.join(timeout=10)
    studio.close()
    listening.close()
