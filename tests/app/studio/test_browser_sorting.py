"""Sorting in a browser: by key, by drag, by tap, with pictures, sounds and texts, on a desk and on a phone."""

from __future__ import annotations

import base64
import io

import pytest
from tests.app.studio.conftest import PHONE, blobs, fits_a_phone, until

from sidelight.app.report.gallery import Media
from sidelight.app.studio.sources import Source

TILE, PILE = "#tiles .tile", "#piles [data-pile]"


def pictures():
    """Blobs with a picture each."""
    image = pytest.importorskip("PIL.Image")
    source = blobs(60)
    colours = [(200, 80, 60), (60, 160, 90), (70, 90, 200)]

    def look(row):
        kept = io.BytesIO()
        image.new("RGB", (120, 80), colours[int(source.y[row][1:])]).save(kept, "JPEG")
        return Media("image", "data:image/jpeg;base64," + base64.b64encode(kept.getvalue()).decode())

    return Source(source.X, [f"picture {row}" for row in range(60)], source.features, look, source.y)


@pytest.fixture(scope="module")
def local(running):
    auto = {"by": "auto"}
    return running(
        sources=[("pictures", pictures(), auto), ("texts", blobs(60, text=True), auto), ("values", blobs(60), auto)]
    )


@pytest.fixture
def link(local, request):
    """A link of somebody new, in a project of the module."""

    def of(project):
        made = local.client.post(
            f"/api/projects/{project}/people", json={"name": request.node.name[:60] + str(project)}
        )
        return made.json()["link"]

    return of


def kind(local, project, row):
    return int(local.studio.project(project).rows.truth[row])


def rows_of(page, local, project):
    """The kind of each row on the screen, by what it is called."""
    ids = list(local.studio.project(project).rows.ids)
    return [kind(local, project, ids.index(name)) for name in page.locator(f"{TILE} .name").all_text_contents()]


def sort_by_key(page, local, project, known):
    """Sort the screen: a new pile for a kind that has none, else the letter of its pile."""
    for at, k in enumerate(rows_of(page, local, project)):
        page.locator(TILE).nth(at).focus()
        if k not in known:
            page.keyboard.press("n")
            known[k] = page.locator(PILE).count() - 1
        else:
            page.keyboard.press(page.locator(f"{PILE} kbd").nth(known[k]).text_content().lower())


def sent(page, n):
    until(page, lambda: page.locator("#n-placed").text_content() == str(n))
    until(page, lambda: page.locator(TILE + ".done").count() == 0)


def test_ten_rows_are_sorted_by_key_and_taken_back(visit, local, link):
    page, known = visit(link(1)), {}
    until(page, lambda: page.locator(TILE).count() == 10)
    before = int(page.locator("#n-placed").text_content())
    sort_by_key(page, local, 1, known)
    assert page.locator(TILE + ".done").count() == 10
    page.keyboard.press("Enter")
    sent(page, before + 10)
    assert page.locator(PILE).count() == len(known)
    page.keyboard.press("a")  # the most likely pile
    assert page.locator(TILE + ".done").count() == 1
    page.keyboard.press("u")
    assert page.locator(TILE + ".done").count() == 0
    page.keyboard.press("u")
    until(page, lambda: page.locator("#n-placed").text_content() == str(before))
    until(page, lambda: page.locator(TILE).count() == 10)


@pytest.mark.slow
def test_the_most_likely_pile_is_a(visit, local, link):
    page, known = visit(link(3) + "?by=piles"), {}
    until(page, lambda: page.locator(TILE).count() == 10)
    for _ in range(2):
        before = int(page.locator("#n-placed").text_content())
        sort_by_key(page, local, 3, known)
        page.keyboard.press("Enter")
        sent(page, before + 10)
    names = page.locator(f"{PILE} .called").all_text_contents()
    right = 0
    for at, k in enumerate(rows_of(page, local, 3)):
        page.locator(TILE).nth(at).focus()
        right += page.locator(f"{TILE} .place").nth(at).text_content() == f"A: {names[known[k]]}?"
    assert right >= 8


@pytest.mark.slow
def test_rows_are_dragged_onto_piles_and_the_empty_place(visit, local, link):
    page = visit(link(1) + "?by=piles")
    until(page, lambda: page.locator(TILE).count() == 10)
    n = page.locator(PILE).count()
    page.locator(TILE).nth(0).drag_to(page.locator("#piles [data-fresh]"))
    assert page.locator(PILE).count() == n + 1
    page.locator(TILE).nth(1).drag_to(page.locator(PILE).nth(n))
    page.locator(TILE).nth(2).drag_to(page.locator("#piles [data-off]"))
    assert page.locator(f"{PILE} .size").nth(n).text_content() == "2"
    assert page.locator(f"{TILE} .place").nth(2).text_content() == "aside"


@pytest.mark.slow
def test_enter_asks_before_rows_are_left_aside(visit, local, link):
    page = visit(link(1) + "?by=piles")
    until(page, lambda: page.locator(TILE).count() == 10)
    before = int(page.locator("#n-placed").text_content())
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    assert "9 rows have no place yet" in page.locator("#saving").text_content()
    page.keyboard.press("Enter")
    sent(page, before + 10)


@pytest.mark.slow
def test_a_pile_is_named_and_split_in_its_dialog(visit, local, link):
    page = visit(link(3) + "?by=piles")
    until(page, lambda: page.locator(TILE).count() == 10)
    before = int(page.locator("#n-placed").text_content())
    page.keyboard.press("n")
    for _ in range(9):
        page.locator(f"{PILE} .onto").last.click()
    page.keyboard.press("Enter")
    sent(page, before + 10)
    n = page.locator(PILE).count()
    page.locator(f"{PILE} .about").last.click()
    page.locator("#pile input").fill("wren")
    page.keyboard.press("Enter")
    until(page, lambda: "wren" in page.locator(f"{PILE} .called").all_text_contents())
    page.locator(f"{PILE} .about").nth(n - 1).click()
    page.locator("#pile .pick").first.click()
    page.get_by_role("button", name="Take the chosen").click()
    until(page, lambda: page.locator(PILE).count() == n + 1)


@pytest.mark.slow
@pytest.mark.parametrize("project", [1, 2, 3])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_sorts_four_at_a_time_by_tap(visit, local, link, project, scheme):
    page = visit(link(project) + "?by=piles", PHONE, scheme)
    until(page, lambda: page.locator(TILE).count() == 4)
    fits_a_phone(page)
    before = int(page.locator("#n-placed").text_content())
    page.locator(TILE).nth(0).click()
    page.locator("#piles [data-fresh] button").click()
    for at in range(1, 4):
        page.locator(TILE).nth(at).click()
        page.locator(f"{PILE} .onto").last.click()
    page.locator("#send").click()
    sent(page, before + 4)
    fits_a_phone(page)


@pytest.mark.slow
def test_the_bar_is_the_same_on_every_page_of_the_owner(visit):
    bars = set()
    for path in ("/p/1", "/p/1/ask", "/p/1/clusters", "/p/1/map", "/p/1/history", "/p/1/people"):
        page = visit(path)
        bars.add(tuple(page.locator(".top nav a").all_text_contents()))
    assert len(bars) == 1


@pytest.mark.slow
def test_whoever_prefers_pairs_is_asked_two_by_two(visit, link):
    page = visit(link(1))
    page.get_by_role("link", name="Two by two").click()
    until(page, lambda: page.locator("#answers button").count() == 3)
    until(page, lambda: page.locator("#question figure").count() == 2)
    page.get_by_role("link", name="Piles", exact=True).click()
    until(page, lambda: page.locator(TILE).count() > 0)  # fewer than ten where other people hold the rest


@pytest.mark.slow
def test_buttons_of_an_answered_question_are_not_live(visit, local, link):
    page = visit(link(3) + "?by=pairs")
    until(page, lambda: page.locator("#answers button:enabled").count() == 3)
    live = page.evaluate(
        """() => { document.querySelector("[data-answer=unsure]").click();
        return document.querySelectorAll("#answers button:enabled").length; }"""
    )
    assert live == 0
    until(page, lambda: page.locator("#answers button:enabled").count() == 3)


@pytest.mark.slow
def test_pictures_of_a_question_are_reached_by_tab_and_grow(visit, link):
    page = visit(link(1) + "?by=pairs")
    until(page, lambda: page.locator("#question img").count() == 2)
    page.locator("#question img").first.focus()
    page.keyboard.press("Enter")
    until(page, lambda: page.locator("dialog.zoomed[open]").count() == 1)


@pytest.mark.slow
def test_people_are_cards_on_a_phone(visit, link):
    link(1)
    page = visit("/p/1/people", PHONE)
    fits_a_phone(page)
    row = page.locator(".people tbody tr").first
    assert row.evaluate("node => getComputedStyle(node).display") == "grid"
    assert page.locator(".people thead").is_hidden()
