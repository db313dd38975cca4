"""A run in the studio, in a real browser: doubtful rows by key, a wall, a name, and the run repeated from the page."""

from __future__ import annotations

import time

import pytest
from tests.app.studio.runs import results_of, write_tables

from sidelight.app.studio.run.results import open_results

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def local(running, tmp_path_factory):
    """A studio with the results of a run, in which nobody named the jays."""
    folder = tmp_path_factory.mktemp("run")
    server = running(sources=[])
    home = results_of(write_tables(folder), "nobody named jays", folder)
    server.project = server.studio.project(open_results(server.studio, str(home)).id)
    server.home = home
    return server


@pytest.fixture
def visit(chromium, local):
    """Open a page; afterwards no script failed."""
    contexts, trouble = [], []

    def open_page(path, size=None, scheme="light"):
        context = chromium.new_context(viewport=size or {"width": 1280, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(local.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


def _until(page, condition, *, most=30.0):
    end = time.monotonic() + most
    while not condition():
        assert time.monotonic() < end, page.locator("main").inner_text()[:500]
        page.wait_for_timeout(20)


def test_doubtful_rows_are_named_by_key_with_their_bag_beside_them(visit, local):
    page = visit(f"/p/{local.project.project.id}/ask")
    page.wait_for_selector("#question .pair.one figure img")
    assert page.locator("#question .beside .members li").count() == 4
    first = page.locator("#answers button").first.get_attribute("data-answer")
    shown = page.locator("#question figcaption").first.inner_text()
    row = local.project.rows.ids.index(shown)
    assert first in local.project.words_of_row(row)
    page.keyboard.press("1")
    _until(page, lambda: page.locator("#saving").inner_text() == "Saved.")
    answer = local.project.answers()[-1]
    assert (answer.rows, answer.answer) == ((row,), first)
    _until(page, lambda: page.locator("#question figcaption").first.inner_text() != shown)
    page.keyboard.press("l")
    _until(page, lambda: page.locator("#saving").inner_text().startswith("Put off"))
    page.keyboard.press("o")
    page.keyboard.type("jackdaw")
    page.keyboard.press("Enter")
    _until(page, lambda: local.project.answers()[-1].answer == "jackdaw")
    before = len(local.project.answers())
    page.locator("#question > .pair > figure img").click()
    page.locator("dialog.zoomed img").wait_for()  # the larger copy is loaded first
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    _until(page, lambda: page.locator("#saving").inner_text().startswith("Taken back"))
    assert len(local.project.answers()) == before - 1


def test_a_page_that_is_out_of_date_says_so_and_goes_on(visit, local):
    page = visit(f"/p/{local.project.project.id}/ask")
    page.wait_for_selector("#question .pair.one figure img")
    row = local.project.rows.ids.index(page.locator("#question figcaption").first.inner_text())
    word = local.project.words_of_row(row)[0]
    local.project.answer(local.project.owner(), [row], word)  # in another window
    page.keyboard.press("1")
    _until(page, lambda: "out of date" in page.locator("#message").inner_text())
    _until(page, lambda: page.locator("#question figcaption").first.inner_text() != local.project.rows.ids[row])


def test_a_wall_is_struck_and_confirmed_and_the_kind_gets_its_name(visit, local):
    number, novel = local.project.project.id, local.project.start.names.index("novel-1")
    page = visit(f"/p/{number}/clusters/{novel}/wall")
    page.get_by_label("Call it").fill("jay")
    page.get_by_role("button", name="Name").click()
    page.get_by_role("heading", name="jay").wait_for()
    n_shown = page.locator(".wall li").count()
    page.locator(".wall li img").first.click()
    assert page.locator("#wall-done").inner_text() == "Strike 1, the others here are right"
    page.locator("#wall-done").click()
    _until(page, lambda: page.locator("#wall-done").count() == 0)  # every row was looked at
    said = [answer for answer in local.project.answers() if answer.correction]
    assert len(said) == n_shown
    assert sum(answer.is_not for answer in said) == 1


def test_the_run_is_repeated_from_the_page_and_says_what_changed(visit, local):
    me, names = local.project.owner(), local.project.start.names
    local.project.answer(local.project.store.add_person(local.project.project.id, "Cleo"), [11], "owl")
    if "novel-1" in names:
        local.project.name(me, names.index("novel-1"), "jay")
    page = visit(f"/p/{local.project.project.id}")
    assert "that the run does not know yet" in page.locator("#again").inner_text()
    page.get_by_role("button", name="Run again").click()
    page.get_by_role("heading", name="What the last run changed").wait_for(timeout=60_000)
    assert "moved" in page.locator("#again").inner_text()
    assert "The run knows everything" in page.locator("#again").inner_text()
    assert "jay" in local.project.start.names
    assert "jay" in (local.home / "assignments.csv").read_text()


@pytest.mark.parametrize("path", ["/ask", "", "/clusters/0/wall", "/clusters", "/history", "/contradictions"])
def test_pages_of_a_run_fit_a_phone_and_axe_finds_nothing_serious(visit, local, path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(f"/p/{local.project.project.id}{path}", size=PHONE, scheme="dark")
    if path == "/ask":
        page.wait_for_selector("#question .pair.one figure img")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = axe.run(page).response["violations"]
    serious = [
        (item["id"], item["nodes"][0]["html"][:160]) for item in found if item["impact"] in ("serious", "critical")
    ]
    assert serious == []
