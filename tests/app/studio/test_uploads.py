"""Files that somebody sends: nothing of the server gets into a project by them, and nothing sent gets lost."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image
from tests.app.studio.conftest import blobs


@pytest.fixture(scope="module")
def local(running):
    """A studio for this machine."""
    return running(sources=[("blobs", blobs(30), {})])


def picture(seed):
    """A small PNG."""
    buffer = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 255, size=(12, 12), dtype=np.uint8)
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def table_of(cells):
    """A table that names a picture in every row."""
    return "id,x,y,picture\n" + "".join(f"r{i},{i % 3},{i % 7},{cell}\n" for i, cell in enumerate(cells))


def send(local, name, *, table=None, images=(), **form):
    """Make a project of what is sent."""
    files = [("images", image) for image in images]
    if table is not None:
        files.append(("table", ("t.csv", table)))
    return local.client.post("/api/projects", data={"name": name, **form}, files=files)


@pytest.mark.parametrize("columns", ["", "picture"])
def test_a_table_that_was_sent_reads_no_file_of_the_server(local, tmp_path, columns):
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture(0))
    up = "../" * 12
    cells = [str(secret), f"{up}{str(secret)[1:]}", f"file://{secret}", "~/secret.png", "table.png"] * 3
    made = send(local, f"reader {columns}", table=table_of(cells), columns=columns)
    assert made.status_code == 200, made.text
    number = made.json()["id"]
    project = local.studio.project(number)
    assert not list((project.rows.folder / "media").iterdir())
    for row in range(len(cells)):
        assert local.client.get(f"/media/{number}/{row}/media").status_code in (404, 422)
    assert any("not among the files that were sent" in note for note in made.json()["notes"]) or not columns


def test_the_images_sent_with_a_table_are_shown_and_no_other(local, tmp_path):
    secret = tmp_path / "a.png"
    secret.write_bytes(picture(9))
    images = [("a.png", picture(1)), ("sub/b.png", picture(2))]
    made = send(
        local, "with images", table=table_of([str(secret), "b.png", "c.png"] * 4), images=images, columns="picture"
    )
    assert made.status_code == 200, made.text
    rows = local.studio.project(made.json()["id"]).rows
    assert [bool(main) for main, *_ in rows.files] == [True, True, False] * 4
    assert rows.file(0, "media")[0].read_bytes() != secret.read_bytes()


def test_two_pictures_of_one_name_are_told_and_in_two_folders_both_kept(local):
    twice = send(local, "twice", images=[("a.png", picture(1)), ("a.png", picture(2)), ("b.png", picture(3))])
    assert twice.status_code == 422
    assert "Two images are called 'a.png'" in twice.json()["error"]
    made = send(
        local, "folders", table=table_of(["u/a.png", "v/a.png", "b.png"] * 4), columns="picture",
        images=[("u/a.png", picture(1)), ("v/a.png", picture(2)), ("b.png", picture(3))],
    )  # fmt: skip
    rows = local.studio.project(made.json()["id"]).rows
    shown = [rows.file(row, "media")[0].read_bytes() for row in range(3)]
    assert len(set(shown)) == 3


@pytest.mark.slow
def test_more_than_a_thousand_files_can_be_sent(local):
    small = picture(1)
    images = [(f"{i}.png", small if i < 2 else b"") for i in range(1100)]
    made = send(local, "many", images=images)
    assert made.status_code == 200, made.text
    assert "1098 files could not be read" in made.json()["notes"][0]
    refused = send(local, "too many", images=[(f"{i}.png", b"") for i in range(5001)])
    assert (refused.status_code, "At most 5000" in refused.json()["error"]) == (422, True)


@pytest.mark.slow
def test_projects_made_at_once_do_not_collide_and_leave_nothing_behind(local):
    table = "id,x,y\n" + "".join(f"r{i},{i % 3},{i % 7}\n" for i in range(20))
    names = [f"at once {i}" for i in range(8)] + ["the same"] * 4
    with ThreadPoolExecutor(12) as pool:
        made = list(pool.map(lambda name: send(local, name, table=table).status_code, names))
    assert made[:8] == [200] * 8
    assert sorted(made[8:]) == [200, 409, 409, 409]
    places = {str(project.settings["place"]) for project in local.studio.store.projects()}
    assert {path.name for path in (local.studio.folder / "projects").iterdir()} == places


def test_messages_do_not_say_where_files_are_on_the_server(local, monkeypatch):
    from sidelight.errors import CannotWrite, OutputExists

    for text in (f"There is something in {str(local.studio.folder / 'projects' / 'x')!r} already.",
                 f"Cannot read the studio's database {local.studio.store.where!r}: no room."):  # fmt: skip
        for kind in (CannotWrite, OutputExists):

            def refuse(*args, kind=kind, text=text, **kwargs):
                raise kind(text)

            monkeypatch.setattr(local.studio, "add_written", refuse)
            answer = send(local, "nowhere", table="id,x\na,1\nb,2\nc,4\n")
            assert answer.status_code in (409, 503)
            assert str(local.studio.folder) not in answer.json()["error"]
    broken = send(local, "broken", table="id,x\n\0\n")
    assert "/tmp" not in broken.text
    assert "sidelight-upload" not in broken.text
