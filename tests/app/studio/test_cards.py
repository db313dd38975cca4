"""The first page: cards of projects, what can be done with one, and a new one from what somebody sends."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
import wave

import httpx
import numpy as np
import pytest
from PIL import Image
from tests.app.studio.conftest import blobs

from sidelight.app.studio.seeing import clusters_of
from sidelight.app.studio.sources import digits
from sidelight.errors import InvalidData, TooLarge
from sidelight.files.limited import limited


@pytest.fixture(scope="module")
def local(running):
    """A studio for this machine."""
    return running(sources=[("blobs", blobs(30), {}), ("digits", digits(), {})])


def card(local, number):
    """The card of a project."""
    return next(card for card in local.client.get("/api/projects").json()["projects"] if card["id"] == number)


def test_cards_show_pictures_progress_people_and_the_last_change(local):
    project = local.studio.project(2)
    for name in ("Ann", "Bob"):
        project.answer(local.studio.store.add_person(2, name), (0, 1), "same")
    shown = card(local, 2)
    assert (shown["answers"], shown["people"], shown["rows"], shown["last"]) == (2, 2, 1797, "just now")
    assert len(shown["pictures"]) == 4
    picture = local.client.get(shown["pictures"][0])
    assert picture.headers["content-type"] == "image/png"
    again = local.client.get(shown["pictures"][0], headers={"If-None-Match": picture.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert local.client.get("/cover/2/99").status_code == 404
    home = local.client.get("/").text
    assert home.index(">digits<") < home.index(">blobs<")  # the last change first
    assert "2 answers of 2 people" in home


def test_a_project_is_renamed_archived_and_brought_back(local):
    number = local.studio.add("old name", blobs(20), {}).id
    assert local.client.post(f"/api/projects/{number}/name", json={"name": "blobs"}).status_code == 409
    assert local.client.post(f"/api/projects/{number}/name", json={"name": " new name "}).json()["name"] == "new name"
    assert local.client.post("/api/projects/999/name", json={"name": "x"}).status_code == 404
    assert local.client.post(f"/api/projects/{number}/archive", json={"is_archived": True}).status_code == 200
    assert "new name" not in local.client.get("/").text
    assert "new name" in local.client.get("/?archived=true").text
    assert local.client.get(f"/p/{number}").status_code == 200  # it is only out of sight
    local.client.post(f"/api/projects/{number}/archive", json={"is_archived": False})
    assert "new name" in local.client.get("/").text


def test_a_project_is_deleted_after_its_name_was_typed_and_its_answers_were_written(local):
    made = local.studio.add("to go", blobs(20), {})
    project = local.studio.project(made.id)
    person = local.studio.store.add_person(made.id, "Ann")
    project.answer(person, (0, 3), "same")
    folder = project.rows.folder
    assert local.client.get(f"/p/{made.id}/delete").status_code == 200
    refused = local.client.post(f"/api/projects/{made.id}/delete", json={"name": "to"})
    assert refused.status_code == 422
    assert local.client.get(f"/p/{made.id}").status_code == 200
    gone = local.client.post(f"/api/projects/{made.id}/delete", json={"name": "to go"}).json()
    kept = local.studio.folder / gone["kept"]
    assert "same,Ann" in (kept / "answers.csv").read_text()
    assert [json.loads(line)["kind"] for line in (kept / "events.jsonl").read_text().splitlines()] == ["answer"]
    assert not folder.exists()
    assert local.client.get(f"/p/{made.id}").status_code == 404
    assert local.client.get(f"/a/{person.token}").status_code == 404
    assert local.studio.store.events(made.id) == []


TABLE = "id,pitch,length,picture,kind\n" + "".join(
    f"s{i},{i % 5 + 0.25 * i},{i % 7 + 0.5},p{i}.png,{'wren' if i % 2 else 'owl'}\n" for i in range(24)
)


def test_a_table_is_described_as_a_form_and_made_as_the_form_says(local):
    found = local.client.post("/api/describe", files={"table": ("t.csv", TABLE)}).json()
    assert found["rows"] == 24
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert roles["id"] == "id"
    assert found["preview"]["columns"] == ["id", "pitch", "length", "picture", "kind"]
    assert found["preview"]["rows"][0][0] == "s0"
    said = json.dumps({"label": "kind", "ignore": ["length"]})
    made = local.client.post("/api/projects", data={"name": "said", "roles": said}, files={"table": ("t.csv", TABLE)})
    assert made.status_code == 200, made.text
    rows = local.studio.project(made.json()["id"]).rows
    assert rows.features == ("pitch",)
    assert set(rows.y) == {"wren", "owl"}


def test_a_preview_rounds_numbers_that_nobody_reads_to_the_end(local):
    table = "id,x\na,0.5326127940361377\nb,-12.25\nc,1234.000004\nd,3\n"
    found = local.client.post("/api/describe", files={"table": ("t.csv", table)}).json()
    assert [row[1] for row in found["preview"]["rows"]] == ["0.53261", "-12.25", "1234", "3"]


def test_before_an_answer_every_cluster_is_a_guess(local):
    made = local.client.post("/api/projects", data={"name": "new"}, files={"table": ("t.csv", TABLE)}).json()
    project = local.studio.project(made["id"])
    clusters = clusters_of(project, project.model.snapshot(fresh=True))
    assert not any(cluster["is_known"] for cluster in clusters)


@pytest.mark.parametrize(
    ("table", "said", "words"),
    [("x,y\n1.5,2\n1.5,2\n3,4\n", {}, "choose “names each row” for a column"),
     ("id,x,y\na,1.5,2\nb,,3\nc,4,4\nd,3,9\n", {}, "choose “take the mean of the column” for empty cells")],
)  # fmt: skip
def test_messages_speak_of_the_fields_of_the_form(local, table, said, words):
    answer = local.client.post(
        "/api/projects", data={"name": "words", "roles": json.dumps(said)}, files={"table": ("t.csv", table)}
    )
    assert answer.status_code == 422
    told = answer.json()["error"]
    assert words in told
    assert not re.search(r"\b\w+='|\bid=|missing=|sidelight-upload", told), told


@pytest.mark.parametrize("said", ["[1]", "{", '{"label_file": "/etc/passwd"}', '{"id": 3}', '{"nothing": 1}'])
def test_what_a_form_cannot_say_is_refused(local, said):
    answer = local.client.post("/api/projects", data={"name": "no", "roles": said}, files={"table": ("t.csv", TABLE)})
    assert answer.status_code in (404, 422), answer.text
    assert "root:" not in answer.text


@pytest.mark.slow
def test_recordings_are_cut_into_rows(local):
    def recording(seed):
        buffer, rng = io.BytesIO(), np.random.default_rng(seed)
        sound = 0.01 * rng.normal(size=16_000 * 3)
        for start in (4_000, 20_000, 36_000):
            sound[start : start + 5_000] += 0.5 * np.sin(np.arange(5_000) * (0.4 + 0.3 * rng.random()))
        with wave.open(buffer, "wb") as out:
            out.setparams((1, 2, 16_000, 0, "NONE", ""))
            out.writeframes((20_000 * sound).astype("<i2").tobytes())
        return buffer.getvalue()

    files = [("material", (f"../../bird {i}.wav", recording(i))) for i in range(4)]
    made = local.client.post("/api/projects", data={"name": "sounds"}, files=files)
    assert made.status_code == 200, made.text
    rows = local.studio.project(made.json()["id"]).rows
    assert rows.n >= 8
    assert set(rows.kinds) == {"sound"}
    assert rows.ids[0].startswith("bird_0.wav")
    refused = local.client.post("/api/projects", data={"name": "x"}, files=[("material", ("a.exe", b"x"))])
    assert refused.status_code == 422


@pytest.mark.slow
def test_a_picture_of_a_hundred_megapixels_and_a_table_that_lies_end_in_a_message(local):
    huge = io.BytesIO()
    Image.new("1", (10_000, 10_001)).save(huge, "PNG")
    files = [("images", (f"{i}.png", huge.getvalue())) for i in range(2)]
    answer = local.client.post("/api/projects", data={"name": "huge"}, files=files)
    assert answer.status_code == 422
    assert "can be read as an image" in answer.json()["error"]


def grow(n):
    """Take memory."""
    return len(bytearray(n))


def refuse(n):
    """Refuse."""
    raise InvalidData("no", do="Do something else.")


@pytest.mark.slow
def test_work_on_what_strangers_sent_has_limits():
    assert limited(grow, 1000) == 1000
    with pytest.raises(TooLarge, match="more memory"):
        limited(grow, 8 * 1024**3)
    with pytest.raises(TooLarge, match="longer than"):
        limited(time.sleep, 30, seconds=0.5)
    with pytest.raises(InvalidData, match=r"no Do something else\."):
        limited(refuse, 1)


def test_a_picture_whose_file_is_gone_is_not_there_and_that_is_no_mistake_of_the_studio(local):
    path, _ = local.studio.project(2).rows.file(7, "media")
    content = path.read_bytes()
    path.unlink()
    assert local.client.get("/media/2/7/media").status_code == 404
    path.write_bytes(content)
    assert local.client.get("/media/2/7/media").status_code == 200


def test_odd_ranges_of_a_file_are_answered(local):
    address = "/media/2/0/media"
    for asked in ("bytes=" + "9" * 6000 + "-", "bytes=-" + "9" * 6000, "bytes=0-1,4-5", "bytes=5-2", "x=1", "bytes="):
        answer = local.client.get(address, headers={"Range": asked})
        assert answer.status_code < 500, asked[:20]
    assert local.client.get(address, headers={"Range": "bytes=0-3"}).status_code == 206


@pytest.mark.slow
def test_the_address_is_said_and_answered_before_everything_is_loaded(tmp_path):
    words = [sys.executable, "-u", "-m", "sidelight", "studio", "--folder", str(tmp_path), "--port", "0"]
    with subprocess.Popen([*words, "--no-browser"], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().split()[-1]
            answer = httpx.get(url, timeout=10)  # at once: nothing but the address is there yet
            assert answer.status_code in (200, 503)
            assert answer.status_code == 200 or "is starting" in answer.text
            for _ in range(600):
                answer = httpx.get(f"{url}api/projects", timeout=20)
                if answer.status_code == 200:
                    break
                assert answer.status_code == 503
                time.sleep(0.1)
            assert answer.json() == {"projects": []}
        finally:
            server.terminate()
