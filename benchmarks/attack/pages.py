"""Pages with hostile names in a real browser: no script of theirs runs, nothing is fetched from elsewhere.

A case is five pages: four of a studio whose rows, columns, clusters, people and notes have such names, and the report
of a run on a table of them.
"""

from __future__ import annotations

import atexit
import contextlib
import csv
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED
from attack.schema import _served

COUNT = 30
LIMITED = False  # a browser maps more address space than a worker may
_WORDS = (
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    "{{7*7}}",
    '"><script>window.hacked=1</script>',
    "' onmouseover=window.hacked=1 '",
    "javascript:window.hacked=1",
    "${7*7}",
    "</script><script>window.hacked=1</script>",
    "</textarea><script>window.hacked=1</script>",
    "]]><b>",
    "<!--",
    "-->",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "<a href=http://evil.example>x</a>",
    "\u202egnp.exe",
    "&lt;b&gt;",
    "<style>@import 'http://evil.example/x'</style>",
    "<base href=http://evil.example/>",
    "\u2028\u2029",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "x" * 5000,
    "\u0000",
    "<math><mtext><script>window.hacked=1</script>",
    "<form action=http://evil.example><input autofocus onfocus=window.hacked=1>",
    "$$\\\\href{javascript:1}{x}$$",
    "=1+1",
)
_PATHS = (
    "/",
    "/p/{p}",
    "/p/{p}/clusters",
    "/p/{p}/clusters/0",
    "/p/{p}/clusters/0/wall",
    "/p/{p}/map",
    "/p/{p}/people",
    "/new",
    "/p/{p}/history",
    "/p/{p}/ask",
    "/p/{p}/contradictions",
    "/a/{t}",
    "/a/{t}/history",
    "/p/{p}/delete",
)


def attack(number: int, folder: Path) -> list[str]:
    """Open five pages and look."""
    from sidelight.app.studio.studio import Studio

    rng = np.random.default_rng([16, number])
    studio = Studio(folder / "studio")
    made = _added(studio, _word(rng), _source(rng), {"kind": "triplet" if number % 3 == 0 else "pair"})
    token = _told(studio, made, rng)
    with _served(studio) as (url, _):
        paths = [str(path).format(p=made, t=token) for path in rng.choice(_PATHS, 4, replace=False)]
        verdicts = [_opened(f"{url}{path}", url) for path in paths]
    studio.close()
    return [*verdicts, _report(folder, rng)]


def _added(studio: Any, name: str, source: Any, settings: dict[str, Any]) -> int:
    """Make a project; one whose name is refused gets another."""
    from sidelight.errors import SidelightError

    try:
        return int(studio.add(name, source, settings).id)
    except SidelightError:
        return int(studio.add("rows", source, settings).id)


def _word(rng: np.random.Generator) -> str:
    return str(rng.choice(_WORDS)).replace("\0", "")


def _source(rng: np.random.Generator) -> Any:
    from sidelight.app.report.gallery import Media
    from sidelight.app.studio.sources import Source

    y = np.arange(30) % 3
    X = rng.normal(size=(30, 3)) + 6 * np.eye(3)[y]
    said = _word(rng)
    names = [f"{i} {_word(rng)}" for i in range(30)]
    columns = [f"{i} {_word(rng)}" for i in range(3)]
    return Source(X, names, columns, lambda row: Media("text", text=said), [f"{label} {_word(rng)}" for label in y])


def _told(studio: Any, number: int, rng: np.random.Generator) -> str:
    """Let people with such names answer and name clusters."""
    from sidelight.errors import SidelightError

    project = studio.project(number)
    try:
        person = studio.add_person(number, _word(rng)[:60])
    except SidelightError:  # a name that is refused
        person = studio.add_person(number, "Ann")
    for rows in ((0, 1), (0, 3), (1, 4)):
        with contextlib.suppress(SidelightError):  # the project asks about triplets
            project.answer(person, rows, "unsure")
    project.model.snapshot(wait=60)
    with contextlib.suppress(SidelightError):  # likewise
        project.name(person, 0, _word(rng)[:80])
    return str(person.token)


def _report(folder: Path, rng: np.random.Generator) -> str:
    """Run the command line on a table of hostile names, and open its page."""
    from click.testing import CliRunner

    from sidelight.app.cli.app import app

    table = folder / "table.csv"
    with table.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", *(f"{i} {_word(rng)}" for i in range(3))])
        writer.writerows([f"{i} {_word(rng)}", *rng.normal(size=3)] for i in range(30))
    out = folder / "out"
    done: Any = CliRunner().invoke(app, ["relations", str(table), "-k", "2", "--id", "id", "--out", str(out), "-q"])
    if done.exit_code:
        from sidelight.errors import SidelightError

        return "refused" if isinstance(done.exception, SidelightError) else f"the run: {done.exception!r}"
    return _opened(f"file://{out}/report.html", "file://")


def _opened(url: str, own: str) -> str:
    """Open one page; say what it did that it must not."""
    trouble: list[str] = []
    context = _browser().new_context()
    try:
        page = context.new_page()
        page.on("dialog", lambda dialog: (trouble.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: trouble.append(f"a script failed: {error}"))
        page.on("request", lambda request: _foreign(request.url, own, trouble))
        if own != "file://":
            context.set_extra_http_headers({"Authorization": f"Bearer {_owner()}"})
        answer = page.goto(url, timeout=60_000)
        page.wait_for_timeout(300)
        if answer is not None and answer.status >= 500:
            trouble.append(f"status {answer.status}")
        if page.evaluate("() => window.hacked !== undefined"):
            trouble.append("a script of a name ran")
        if not page.url.startswith(own):
            trouble.append(f"led to {page.url}")
    finally:
        context.close()
    return f"{url.removeprefix(own)}: {trouble[0]}"[:400] if trouble else ACCEPTED


def _foreign(address: str, own: str, trouble: list[str]) -> None:
    if not address.startswith((own, "data:", "blob:")):
        trouble.append(f"asked for {address[:100]}")


def _owner() -> str:
    from attack.schema import OWNER

    return OWNER


@cache
def _browser() -> Any:
    from playwright.sync_api import sync_playwright

    playing = sync_playwright().start()
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    browser = playing.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
    atexit.register(lambda: (browser.close(), playing.stop()))
    return browser
