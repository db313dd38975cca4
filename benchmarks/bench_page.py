"""The page for 100,000 rows: how large it is, how long it takes to write, and how soon a browser has opened it."""

from __future__ import annotations

import os
import shutil
import time
from typing import Any

import numpy as np

from runner import WORK, Sheet, seconds
from sidelight.app.jobs.gallery import cluster_table, gallery_of
from sidelight.app.jobs.page import page_of
from sidelight.app.jobs.relations.result import RelationsResult
from sidelight.app.jobs.result import Map, Reading, columns_of
from sidelight.app.report import Provenance, to_html
from sidelight.data.dataset import Dataset
from sidelight.plot.layout import cluster_map

TITLE = "The page: size and time for 100,000 rows"
N_ROWS, N_FEATURES, K = 100_000, 32, 20
DRAWN = (
    "(() => { const c = document.querySelector('canvas.map'); return c.width > 0 && "
    "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0); })()"
)


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    WORK.mkdir(exist_ok=True)
    sheet.notes.append(
        f"Generated rows, seed 0: {N_ROWS:,} x {N_FEATURES} in {K} clusters, each with a name of its own."
    )
    data, labels, sure = _rows()
    took = seconds(lambda: _result(data, labels, sure), repeats=3, warm_up=0)
    sheet.row("map, members and table of clusters computed", f"{took:.2f} s")
    result = _result(data, labels, sure)
    path = WORK / "report.html"
    try:
        took = seconds(lambda: path.write_text(to_html(page_of(result), Provenance()), encoding="utf-8"), repeats=3)
        sheet.row("the page written", f"{took:.2f} s", "3 s", took < 3)
        size = path.stat().st_size / 1e6
        sheet.row("its size", f"{size:.2f} MB", "5 MB", size < 5)
        _open(sheet, path)
    finally:
        path.unlink(missing_ok=True)
    sheet.say_if_busy()


def _rows() -> tuple[Dataset, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = generator.integers(K, size=N_ROWS)
    X = 4 * generator.normal(size=(K, N_FEATURES))[labels] + generator.normal(size=(N_ROWS, N_FEATURES))
    names = np.array([f"recording-{i:06d}.wav" for i in range(N_ROWS)], dtype=object)
    return (
        Dataset(X, tuple(f"f{j}" for j in range(N_FEATURES)), "rows.csv", row_ids=names),
        labels,
        generator.uniform(0.5, 1, N_ROWS),
    )


def _result(data: Dataset, labels: np.ndarray, sure: np.ndarray) -> RelationsResult:
    names = [str(k) for k in range(K)]
    clusters = cluster_table(data.X, labels, data.feature_names, names)
    return RelationsResult(
        reading=Reading.of(data, ("id", "feature")),
        model=None,
        assignments=columns_of(data, {"cluster": labels}),
        tables={"clusters": clusters},
        sizes=clusters["rows"],
        share_sure=float(np.mean(sure > 0.9)),
        map=Map(cluster_map(data.X, labels), labels, names, data.row_names, sure=sure),
        gallery=gallery_of(data, labels, sure, [f"cluster {name}" for name in names]),
    )


def _open(sheet: Sheet, path: Any) -> None:
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser_path is None:
        sheet.notes.append("No Chromium on this machine: the time to open the page was not measured.")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        root = os.geteuid() == 0  # Chromium's sandbox refuses to run as root
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox"] if root else [])
        sheet.notes.append(f"Chromium {browser.version}, headless, a new window each time.")
        times = []
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            begin = time.perf_counter()
            page.goto(path.as_uri())
            assert page.evaluate(DRAWN)
            times.append(time.perf_counter() - begin)
            page.close()
        browser.close()
    took = float(np.median(times))
    sheet.row("opened in Chromium, until the dots of the map are there", f"{took:.2f} s", "1 s", took < 1)
