"""A run in the studio, in a real browser: doubtful rows by key, a wall, a name, and the run repeated from the page."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from types import SimpleNamespace

import pytest
from tests.app.studio.conftest import PHONE, fits_a_phone, until
from tests.app.studio.runs import results_of, write_tables
from tests.examples import but_slow

from sidelight.app.studio.run.results import open_results


@pytest.fixture(scope="module")
def finished(running, tmp_path_factory):
    """A studio, and the results of a run in which nobody named the jays."""
    folder = tmp_path_factory.mktemp("run")
    return running(sources=[]), results_of(write_tables(folder), "nobody named jays", folder)


@pytest.fixture
def local(finished):
    """The studio with a copy of the results for each test: a run that is repeated has another beginning."""
    server, home = finished
    copied = home.with_name(f"results {len(server.studio.store.projects())}")
    shutil.copytree(home, copied)
    project = server.studio.project(open_results(server.studio, str(copied)).id)
    return SimpleNamespace(url=server.url, home=copied, project=project, path=f"/p/{project.project.id}")


def test_doubtful_rows_are_named_by_key_with_their_bag_beside_them(visit, local):
    page = visit(f"{local.path}/ask")
    page.wait_for_selector("#question .pair.one figure img")
    assert page.locator("#question .beside .members li").count() == 4
    first = page.locator("#answers button").first.get_attribute("data-answer")
    shown = page.locator("#question figcaption").first.inner_text()
    row = local.project.rows.ids.index(shown)
    assert first in local.project.words_of_row(row)
    page.keyboard.press("1")
    until(page, lambda: page.locator("#saving").inner_text() == "Saved.")
    answer = local.project.answers()[-1]
    assert (answer.rows, answer.answer) == ((row,), first)
    until(page, lambda: page.locator("#question figcaption").first.inner_text() != shown)
    page.keyboard.press("l")
    until(page, lambda: page.locator("#saving").inner_text().startswith("Put off"))
    page.keyboard.press("o")
    page.keyboard.type("jackdaw")
    page.keyboard.press("Enter")
    until(page, lambda: local.project.answers()[-1].answer == "jackdaw")
    before = len(local.project.answers())
    page.locator("#question > .pair > figure img").click()
    page.locator("dialog.zoomed img").wait_for()  # the larger copy is loaded first
    page.keyboard.press("Escape")
    page.locator("dialog.zoomed").wait_for(state="hidden")  # keys go to it while it is open
    page.keyboard.press("z")
    until(page, lambda: page.locator("#saving").inner_text().startswith("Taken back"))
    assert len(local.project.answers()) == before - 1


@pytest.mark.slow
def test_a_page_that_is_out_of_date_says_so_and_goes_on(visit, local):
    page = visit(f"{local.path}/ask")
    page.wait_for_selector("#question .pair.one figure img")
    row = local.project.rows.ids.index(page.locator("#question figcaption").first.inner_text())
    word = local.project.words_of_row(row)[0]
    local.project.answer(local.project.owner(), [row], word)  # in another window
    page.keyboard.press("1")
    until(page, lambda: "out of date" in page.locator("#message").inner_text())
    until(page, lambda: page.locator("#question figcaption").first.inner_text() != local.project.rows.ids[row])


@pytest.mark.slow
def test_a_wall_is_struck_and_confirmed_and_the_kind_gets_its_name(visit, local):
    novel = local.project.start.names.index("novel-1")
    page = visit(f"{local.path}/clusters/{novel}/wall")
    page.get_by_label("Call it").fill("jay")
    page.get_by_role("button", name="Name").click()
    page.get_by_role("heading", name="jay").wait_for()
    page.wait_for_load_state()  # the heading is there before the script that hears the clicks
    n_shown = page.locator(".wall li").count()
    page.locator(".wall li button[data-row]").first.click()
    assert page.locator("#wall-done").inner_text() == "Strike 1, the others here are right"
    page.locator("#wall-done").click()
    until(page, lambda: page.locator("#wall-done").count() == 0)  # every row was looked at
    said = [answer for answer in local.project.answers() if answer.correction]
    assert len(said) == n_shown
    assert sum(answer.is_not for answer in said) == 1


@pytest.mark.slow
def test_several_tiles_of_a_wall_are_moved_by_one_key(visit, local):
    labels = local.project.model.snapshot().labels
    owl = local.project.start.names.index("owl")
    page = visit(f"{local.path}/clusters/{owl}/wall")
    page.wait_for_load_state()
    tiles = page.locator("#wall .finish > li")
    rows = [int(tiles.nth(k).get_attribute("data-row")) for k in (0, 2)]
    tiles.nth(0).focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    target = page.locator('.target:has-text("wren")')
    page.keyboard.press(target.get_attribute("data-key"))
    until(page, lambda: page.locator("#wall li.done").count() == 2)
    assert sorted(answer.rows[0] for answer in local.project.answers()) == sorted(rows)
    assert {answer.answer for answer in local.project.answers()} == {"wren"}
    assert (labels[rows] == owl).all()
    tiles.nth(1).locator("img").click()
    page.locator("dialog.zoomed img").wait_for()


@pytest.mark.slow
def test_the_run_is_repeated_from_the_page_and_says_what_changed(visit, local):
    local.project.answer(local.project.store.add_person(local.project.project.id, "Cleo"), [11], "owl")
    local.project.name(local.project.owner(), local.project.start.names.index("novel-1"), "jay")
    page = visit(local.path)
    assert "that the run does not know yet" in page.locator("#again").inner_text()
    page.get_by_role("button", name="Run again").click()
    page.get_by_role("heading", name="What the last run changed").wait_for(timeout=60_000)
    assert "moved" in page.locator("#again").inner_text()
    assert "The run knows everything" in page.locator("#again").inner_text()
    assert "jay" in local.project.start.names
    assert "jay" in (local.home / "assignments.csv").read_text()
    snapshot = local.project.model.snapshot()
    shown = Counter(local.project.names(snapshot.labels)[k] for k in snapshot.labels)
    with (local.home / "names.csv").open() as file:
        assert {line["name"]: int(line["rows"]) for line in csv.DictReader(file)} == shown


@pytest.mark.parametrize(
    "path", but_slow(["/ask", "", "/clusters/0/wall", "/clusters", "/history", "/contradictions"], "/clusters/0/wall")
)
def test_pages_of_a_run_fit_a_phone_and_axe_finds_nothing_serious(visit, local, path):
    page = visit(local.path + path, size=PHONE, scheme="dark")
    if path == "/ask":
        page.wait_for_selector("#question .pair.one figure img")
    fits_a_phone(page)
