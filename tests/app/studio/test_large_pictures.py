"""Pictures of a project have a larger copy, which a page loads when somebody looks closer."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from PIL import Image

from sidelight.app.jobs.media import MediaReader, thumbnail
from sidelight.app.studio.rows import read_rows
from sidelight.app.studio.sources import from_images


@pytest.fixture(scope="module")
def local(running, tmp_path_factory):
    """A studio with a project of four pictures, one of them small."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for i, side in enumerate((1200, 600, 300, 100)):
        Image.fromarray(rng.integers(256, size=(side // 2, side, 3), dtype=np.uint8)).save(folder / f"{i}.png")
    server = running(sources=[("pictures", from_images(str(folder)), {})])
    server.folder = folder
    return server


@pytest.mark.parametrize(("row", "wide"), [(0, 800), (1, 600), (2, 300), (3, 100)])
def test_the_larger_copy_is_as_large_as_the_picture_up_to_a_limit(local, row, wide):
    answer = local.client.get(f"/media/1/{row}/large")
    assert Image.open(io.BytesIO(answer.content)).width == wide
    assert Image.open(io.BytesIO(local.client.get(f"/media/1/{row}/media").content)).width == min(wide, 144)
    again = local.client.get(f"/media/1/{row}/large", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_reports_and_projects_without_room_have_no_larger_copies(local):
    assert thumbnail(local.folder / "0.png").large == ""
    reader = MediaReader(local.folder, limit=60_000, has_large=True)
    shown = [reader.look(f"{i}.png") for i in range(4)]
    assert shown[0].large == ""
    assert all(media is not None for media in shown)


def test_rows_of_older_projects_are_read(local):
    folder = local.studio.project(1).rows.folder
    about = json.loads((folder / "rows.json").read_text())
    older = about | {"files": [names[:2] for names in about["files"]]}
    (folder / "rows.json").write_text(json.dumps(older))
    assert read_rows(folder).file(0, "large") == read_rows(folder).file(0, "media")
    (folder / "rows.json").write_text(json.dumps(about))


@pytest.mark.slow
def test_a_click_or_a_key_shows_the_larger_picture(chromium, local):
    page = chromium.new_page()
    page.goto(local.url + "/p/1/ask")
    page.locator("#question figure img").first.wait_for()
    for begin in (lambda: page.keyboard.press("e"), lambda: page.locator("#question figure img").first.click()):
        begin()
        page.locator("dialog.zoomed img").wait_for()
        assert "/large?" in page.locator("dialog.zoomed img").get_attribute("src")
        page.keyboard.press("Escape")
        assert not page.locator("dialog.zoomed").is_visible()
    page.close()
