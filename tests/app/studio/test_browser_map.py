"""The map and a new project in a real browser: hover, click, lasso, zoom, a hundred thousand dots, and the form."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from tests.app.studio.conftest import PHONE, blobs, fits_a_phone, until

from sidelight.app.studio.sources import digits

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def local(running):
    """A studio with pictures and with texts."""
    return running(sources=[("digits", digits(), {}), ("texts", blobs(text=True), {})])


def _dot(page, row, local, number=1):
    """Where a row is on the screen."""
    points = local.studio.project(number).coordinates
    low, high = points.min(axis=0), points.max(axis=0)
    across, up = (points[row] - low) / (high - low)
    box = page.locator("#map canvas").bounding_box()
    return (box["x"] + 13 + across * (box["width"] - 26), box["y"] + 13 + (1 - up) * (box["height"] - 26))


def _ready(page):
    until(page, lambda: page.locator("#map").get_attribute("data-drawn"))
    page.locator("#map canvas").scroll_into_view_if_needed()


def test_dots_show_their_row_on_hover_and_open_with_neighbours(visit, local):
    page = visit("/p/1/map")
    _ready(page)
    row = int(np.argmax(local.studio.project(1).coordinates[:, 0]))  # alone at the right
    page.mouse.move(*_dot(page, row, local))
    page.wait_for_selector("#map-tip img")
    assert f"digit {row}," in page.locator("#map-tip").inner_text()
    page.mouse.click(*_dot(page, row, local))
    page.wait_for_selector("#map-side .members li img")
    assert page.locator("#map-side .members li").count() == 8
    before = page.locator("#map").get_attribute("data-drawn")
    page.get_by_role("button", name="Zoom in").click()
    page.locator("[name=by]").select_option("doubt")
    until(page, lambda: page.locator("#map").get_attribute("data-drawn") != before)


def test_a_group_is_lassoed_and_named(visit, local):
    page = visit("/p/2/map")
    _ready(page)
    project = local.studio.project(2)
    page.get_by_role("button", name="Lasso").click()
    rows = [row for row in range(60) if row % 3 == 0]
    dots = np.array([_dot(page, row, local, 2) for row in rows])
    left, top, right, bottom = *(dots.min(axis=0) - 4), *(dots.max(axis=0) + 4)
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    n_chosen = int(page.locator("#map").get_attribute("data-chosen"))
    assert n_chosen >= 20
    page.locator("#map-chosen input").fill("wrens")
    page.get_by_role("button", name="Name these").click()
    until(page, lambda: "Saved" in page.locator("#map [role=status]").inner_text())
    same = [answer for answer in project.answers() if answer.answer == "same"]
    assert len(same) == n_chosen - 1
    assert "wrens" in project.names(project.model.snapshot().labels)


def test_a_hundred_thousand_dots_are_drawn_smoothly(visit):
    n, rng = 100_000, np.random.default_rng(0)

    def packed(values, kind):
        return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()

    content = {
        "n": n, "x": packed(rng.integers(65_535, size=n), "<u2"), "y": packed(rng.integers(65_535, size=n), "<u2"),
        "k": packed(rng.integers(9, size=n), "<u2"), "who": packed(np.zeros(n), "<u2"), "people": [], "moved": [],
        "sure": packed(rng.integers(255, size=n), "u1"), "names": [f"k{i}" for i in range(9)], "sizes": [9] * 9,
    }  # fmt: skip
    answer = {"status": 200, "content_type": "application/json", "body": json.dumps(content)}
    page = visit(
        "/p/1/map", prepare=lambda page: page.route("**/map?packed=true", lambda route: route.fulfill(**answer))
    )
    _ready(page)
    took = []
    for _ in range(6):
        before = page.locator("#map").get_attribute("data-frames")
        page.get_by_role("button", name="Zoom in").click()
        until(page, lambda before=before: page.locator("#map").get_attribute("data-frames") != before)
        took.append(float(page.locator("#map").get_attribute("data-drawn")))
    assert min(took) < 100, took  # milliseconds of a frame, without a graphics card and beside other tests


@pytest.mark.slow
def test_files_that_are_dropped_are_understood(visit):
    page = visit("/new")
    lines = ["id,pitch,length", *(f"s{i},{i % 5}.25,{i * 0.7:.2f}" for i in range(30))]
    transfer = page.evaluate_handle(
        """(text) => { const t = new DataTransfer(); t.items.add(new File([text], "birds.csv")); return t; }""",
        "\n".join(lines),
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})
    page.get_by_label("What length is").wait_for()
    assert "30 rows and 2 numbers a row" in page.locator("#understood").inner_text()
    assert page.locator("[name=name]").first.input_value() == "birds"


def test_a_table_becomes_a_form_and_the_form_a_project(visit, local, tmp_path):
    lines = [f"s{i},{i % 5 + 0.25},{i * 0.7:.2f},some words about {i}" for i in range(30)]
    (tmp_path / "birds.csv").write_text("\n".join(["id,pitch,length,remark", *lines]))
    page = visit("/")
    page.get_by_role("link", name="New project").click()
    page.locator("[name=chosen]").set_input_files(tmp_path / "birds.csv")
    page.get_by_label("What length is").select_option("ignored")
    assert page.locator("#preview tbody tr").count() == 5
    assert page.locator("[name=name]").first.input_value() == "birds"
    page.get_by_role("button", name="Make the project").click()
    page.get_by_role("heading", name="birds", exact=True).wait_for()
    number = int(page.url.rsplit("/", 1)[1])
    assert local.studio.project(number).rows.features == ("pitch",)
    page.goto(f"{local.url}/p/{number}/delete")
    page.get_by_label("Type its name").fill("birds")
    page.get_by_role("button", name="Delete it").click()
    page.get_by_role("heading", name="Projects").wait_for()
    assert page.get_by_role("link", name="birds").count() == 0


@pytest.mark.parametrize("path", ["/p/1/map", "/new", "/", "/p/1/people"])
def test_pages_fit_a_phone_and_axe_finds_nothing_serious(visit, path):
    page = visit(path, size=PHONE, scheme="dark")
    if path.endswith("map"):
        _ready(page)
    fits_a_phone(page)


def test_more_clusters_than_colours_are_told_apart_by_names_and_hollow_dots(visit, local):
    page = visit("/p/1/map")
    _ready(page)
    n_clusters = len(np.unique(local.studio.project(1).model.snapshot().labels))
    assert n_clusters > 8
    until(page, lambda: page.locator("#map").get_attribute("data-named") == str(n_clusters))
    assert page.locator(".legend .dot.hollow").count() == n_clusters - 8
    page.locator(".legend button").first.click()
    until(page, lambda: page.locator("#map").get_attribute("data-named") == "1")
    page.locator("#map [name=by]").select_option("doubt")
    page.wait_for_selector(".legend .faint")
