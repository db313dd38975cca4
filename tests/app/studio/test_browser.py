"""The studio in a real browser: by keys alone, two people at once, on a phone, and judged by axe-core."""

from __future__ import annotations

import pytest
from tests.app.studio.conftest import PHONE, blobs, fits_a_phone, until
from tests.examples import but_slow

from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.sources import digits


@pytest.fixture(scope="module")
def local(running):
    """A studio with the digits and with values to be shown as charts."""
    return running(sources=[("digits", digits(), {"is_demo": True}), ("values", blobs(), {"kind": "triplet"})])


def _rows(page):
    """The names of the rows on the screen."""
    page.wait_for_selector("#question .pair figcaption")
    return [text.strip() for text in page.locator("#question figcaption").all_inner_texts()]


def _saved(page, words="Saved."):
    until(page, lambda: page.locator("#saving").inner_text().startswith(words))


def test_twelve_answers_by_keyboard_then_undo(visit, local):
    project = local.studio.project(1)
    project.model.snapshot()
    page = visit("/p/1/ask")
    number = {name: row for row, name in enumerate(project.rows.ids)}
    for _ in range(12):
        rows = [number[name] for name in _rows(page)]
        page.keyboard.press("s" if true_answer(rows, project.rows.truth) == "same" else "d")
        names = [project.rows.ids[row] for row in rows]
        until(page, lambda names=names: page.locator("#question figcaption").count() and _rows(page) != names)
        page.wait_for_timeout(120)  # a person looks
    _saved(page)
    until(page, lambda: len(project.answers()) == 12)
    assert all(answer.seconds < 60 for answer in project.answers())
    delays = [float(text) for text in page.get_attribute("#ask", "data-latency").split()]
    assert min(delays) < 100  # milliseconds from the key to the next question: it was loaded ahead
    last = project.answers()[-1]
    page.keyboard.press("z")
    _saved(page, "Taken back")
    assert len(project.answers()) == 11
    assert _rows(page) == [project.rows.ids[row] for row in last.rows]
    assert page.locator("#reference").get_attribute("open") is None
    page.keyboard.press("r")
    assert page.locator("#reference .members li").count() == 10


@pytest.mark.slow
def test_two_people_are_asked_different_questions(visit, local):
    links = [local.studio.store.add_person(2, name).token for name in ("Ann", "Bob")]
    pages = [visit(f"/a/{token}") for token in links]
    held = [frozenset(_rows(page)) for page in pages]
    assert held[0] != held[1]
    for page in pages:
        before = _rows(page)
        page.keyboard.press("3")
        _saved(page)
        assert _rows(page) != before
    people = {answer.person for answer in local.studio.project(2).answers()}
    assert len(people) == 2


@pytest.mark.slow
def test_a_cluster_is_corrected_by_key(visit, local):
    page = visit("/p/1/clusters/0")
    page.locator(".finish li").first.focus()
    page.keyboard.press("x")
    page.wait_for_selector(".finish li.done")
    assert "1 correction." in page.locator("#saved").inner_text()


@pytest.mark.parametrize(
    "path", but_slow(["/p/1/ask", "/p/1", "/p/1/clusters", "/p/2/history", "/p/2/people", "/"], "/p/1/ask")
)
def test_pages_fit_a_phone_and_axe_finds_nothing_serious(visit, path):
    page = visit(path, size=PHONE, scheme="dark")
    if path.endswith("ask"):
        _rows(page)
        page.tap = page.click
        assert page.locator("[data-answer=same]").bounding_box()["height"] >= 44  # pixels: a thumb
    fits_a_phone(page)
