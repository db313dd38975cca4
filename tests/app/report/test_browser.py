"""Pages as people meet them: in a browser, wide and narrow, light and dark, by mouse, finger, keys and on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.examples import but_slow

PAGES = [
    "components", "relations", "coverage", "spectral", "novel", "words", "margin", "medoids", "sources", "hierarchy",
    "coclusters",
]  # fmt: skip
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture
def open_page(chromium, site):
    """Open a page; afterwards, nothing was asked of the network and nothing went wrong."""
    contexts, trouble = [], []

    def visit(name, *, size=WIDE, scheme="light", **options):
        context = chromium.new_context(viewport=size, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        address = site[name].as_uri()
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.split("#")[0] == address or request.url.startswith("data:")
                else trouble.append(f"request {request.url}")
            ),
        )
        page.goto(address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.mark.parametrize("name", but_slow(PAGES, "components"))
def test_nothing_is_wider_than_a_phone(open_page, name):
    page = open_page(name, size=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sizes = page.evaluate(
        "Array.from(document.querySelectorAll('main p, main td, main th, main svg text, main li'), e => "
        "e.textContent.trim() && e.getClientRects().length ? parseFloat(getComputedStyle(e).fontSize) : 99)"
    )
    assert min(sizes) >= 11  # pixels: what can be read at arm's length


@pytest.mark.parametrize("name", but_slow(PAGES, "components"))
def test_axe_finds_nothing_serious(open_page, name):
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
    looks = [("light", WIDE), ("dark", PHONE)]
    for scheme, size in looks if name in ("components", "coverage", "spectral") else looks[:1]:
        page = open_page(name, size=size, scheme=scheme, bypass_csp=True)  # axe brings a script of its own
        found = axe_module.Axe().run(page).response["violations"]
        serious = [
            (rule["id"], rule["nodes"][0]["html"][:300], rule["nodes"][0].get("any", [{}])[0:1])
            for rule in found
            if rule["impact"] in ("serious", "critical")
        ]
        assert serious == []


@pytest.mark.slow
def test_pictures_follow_the_dark_mode(open_page):
    grounds = {}
    for scheme in ("light", "dark"):
        page = open_page("components", scheme=scheme)
        dark_pixels = (
            "(() => { const c = document.querySelector('canvas.map'), "
            "p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; "
            "let n = 0; for (let i = 3; i < p.length; i += 4) if (p[i]) n++; return n; })()"
        )
        assert page.evaluate(dark_pixels) > 300  # the dots are there
        fill = page.evaluate("getComputedStyle(document.querySelector('.bar.c0')).fill")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        grounds[scheme] = (fill, ground)
    assert grounds["light"][0] != grounds["dark"][0]
    assert grounds["light"][1] != grounds["dark"][1]


def test_the_security_policy_lets_only_the_pages_own_script_run(open_page, site):
    text = site["coverage"].read_text(encoding="utf-8")
    hacked = site["coverage"].with_name("hacked.html")
    hacked.write_text(text.replace("</main>", "<script>window.hacked = 1</script></main>"), encoding="utf-8")
    page = open_page("coverage")
    assert page.evaluate("document.querySelectorAll('table.sortable').length") > 0
    other = page.context.new_page()
    other.goto(hacked.as_uri())
    assert other.evaluate("window.hacked") is None
    hacked.unlink()


@pytest.mark.slow
def test_names_from_data_are_text(open_page):
    page = open_page("coverage")
    assert page.locator("td", has_text="<i>jay</i>").count() > 0
    assert page.evaluate("document.querySelectorAll('main td i, main h3 i').length") == 0


def test_a_title_sorts_its_column_and_turns_it_around(open_page):
    page = open_page("components")
    table = page.locator("table.sortable", has_text="thrush").last
    names = "t => Array.from(t.tBodies[0].rows, r => r.cells[0].textContent)"
    table.locator("button.sort", has_text="rows").click()
    assert table.evaluate(names) == ["wren", "thrush", "owl"]
    assert table.locator("th[aria-sort=descending]").count() == 1
    table.locator("button.sort", has_text="rows").press("Enter")
    assert table.evaluate(names) == ["owl", "thrush", "wren"]


def test_the_map_is_searched_filtered_hovered_and_walked_by_keys(open_page):
    page = open_page("components")
    figure = page.locator("figure", has=page.locator("canvas.map"))
    figure.locator(".find").fill("seg042")
    assert "1 found. First: row seg042, cluster wren, bag rec04" in figure.locator(".found").inner_text()
    figure.locator(".find").fill("nobody")
    assert "No drawn row" in figure.locator(".found").inner_text()
    coloured = (
        "c => { const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const s = new Set(); "
        "for (let i = 0; i < p.length; i += 4) "
        "if (p[i + 3] > 200) s.add(p[i] >> 5 << 10 | p[i + 1] >> 5 << 5 | p[i + 2] >> 5); return s.size; }"
    )
    before = figure.locator("canvas").evaluate(coloured)
    figure.locator(".filter", has_text="owl").click()
    assert figure.locator(".filter[aria-pressed=true]").count() == 1
    assert figure.locator("canvas").evaluate(coloured) < before
    figure.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    assert "cluster owl" in figure.locator(".found").inner_text()
    assert "cluster owl" in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


@pytest.mark.slow
def test_tips_come_by_hover_tap_and_focus(open_page):
    page = open_page("components")
    page.locator("svg[data-tip]").first.hover()
    assert page.locator("#tip").inner_text() == "in 40 bags"
    page.locator("circle.point[tabindex]").first.focus()
    assert "novel clusters 1" in page.locator("#tip").inner_text()
    phone = open_page("components", size=PHONE, has_touch=True)
    phone.locator("td[data-tip]").first.tap()
    assert "%" in phone.locator("#tip").inner_text()


@pytest.mark.slow
def test_everything_can_be_reached_by_keys_alone(open_page):
    page = open_page("coverage")
    reached = set()
    for _ in range(160):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.className.baseVal ?? document.activeElement.className"))
    assert {"skip", "sort", "find", "filter", "map", "copy"} <= reached


@pytest.mark.slow
def test_contents_stay_in_view_and_mark_the_section(open_page):
    for size in (WIDE, PHONE):
        page = open_page("coverage", size=size)
        page.locator(".contents a", has_text="The bags").first.click()
        page.locator(".contents a[aria-current]", has_text="bags").wait_for()
        box = page.locator(".contents").bounding_box()
        assert 0 <= box["y"] < 200


@pytest.mark.slow
def test_rows_are_seen_and_heard_and_what_is_broken_is_said(open_page):
    page = open_page("coverage")
    assert page.evaluate("Array.from(document.querySelectorAll('img.thumb'), i => i.naturalWidth).every(w => w > 0)")
    assert page.locator("img.thumb").count() > 0
    assert page.locator("img.spectrogram").count() == page.locator("audio").count() > 0
    assert page.locator("blockquote").count() > 0
    said = page.locator(".gallery > .faint").first.inner_text()
    assert "could not be shown" in said
    assert "'gone.png'" in said
    assert "'broken.png'" in said


@pytest.mark.slow
def test_paper_shows_everything_that_is_folded_and_no_controls(open_page, tmp_path):
    page = open_page("hierarchy")
    page.emulate_media(media="print")
    assert page.locator(".contents").is_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.pdf(path=str(tmp_path / "page.pdf"))
    assert Path(tmp_path / "page.pdf").stat().st_size > 10_000
