"""A studio with small projects, served by a real server in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
import uvicorn

from sidelight.app.report.gallery import Media
from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.sources import Source
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web.app import make_app
from sidelight.app.studio.web.security import Access

HOSTILE = "<script>alert(1)</script>"
PHONE = {"width": 390, "height": 844}


def blobs(n=60, *, seed=0, text=False, apart=6.0):
    """Rows of three well separated classes, with a key; they overlap where they are less far apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + apart * np.eye(4)[y]
    look = (lambda row: Media("text", text=f"{HOSTILE} row {row}")) if text else (lambda row: None)
    return Source(
        X, [f"r{i} {HOSTILE}" for i in range(n)], ["w", "x", "y", HOSTILE], look, [f"k{label}" for label in y]
    )


def awaited(coroutine):
    """Run a coroutine to its end in a thread of its own: in this one the loop of a browser may run."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def serve(studio, access=None, *, app_of=make_app, **options):
    """Serve a studio on a free port of this machine."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    config = uvicorn.Config(app_of(studio, access), log_level="error", access_log=False, lifespan="off", **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    return server, thread, port, listening


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """Start studios, stop them afterwards."""
    started = []

    def start(token="", sources=None):
        studio = Studio(tmp_path_factory.mktemp("studio"))
        made = [studio.add(name, source, settings) for name, source, settings in sources or [("blobs", blobs(), {})]]
        server, thread, port, listening = serve(studio, Access(token))
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"X-Sidelight": "1"}, timeout=30)
        started.append((server, thread, studio, client, listening))
        return SimpleNamespace(studio=studio, client=client, port=port, projects=made, url=f"http://127.0.0.1:{port}")

    yield start
    for server, thread, studio, client, listening in started:
        client.close()
        server.should_exit = True
        thread.join(timeout=10)
        studio.close()
        listening.close()


def answer_some(client, link, n, truth, *, key=""):
    """Answer questions rightly; return how many were acknowledged."""
    done = 0
    found = client.get(f"/api{link}").json()
    while done < n and found["questions"]:
        question = found["questions"][0]
        body = {"rows": question["rows"], "answer": true_answer(question["rows"], truth), "seconds": 1.5}
        response = client.post(f"/api{link}/answers", json=body)
        assert response.status_code == 200, response.text
        found = response.json()
        if not found["questions"]:
            found = client.get(f"/api{link}").json()
        done += 1
    return done


def until(page, condition, *, most=30.0):
    """Wait until something holds; the pages' policy forbids the waiting of Playwright, which evaluates text."""
    end = time.monotonic() + most
    while not condition():
        assert time.monotonic() < end, page.locator("main").inner_text()[:500]
        page.wait_for_timeout(15)


@pytest.fixture
def visit(chromium, local):
    """Open a page of the server of a module; afterwards, nothing came from elsewhere and no script failed."""
    contexts, trouble = [], []

    def open_page(path, size=None, scheme="light", prepare=None):
        context = chromium.new_context(viewport=size or {"width": 1280, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda message: trouble.append(message.text) if _is_trouble(message) else None)
        page.on("request", lambda request: None if _is_ours(request.url, local) else trouble.append(request.url))
        if prepare is not None:
            prepare(page)
        page.goto(local.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


def _is_trouble(message):
    return message.type == "error" and "409" not in message.text  # which a page that is out of date is told


def _is_ours(url, local):
    return url.startswith((local.url, "data:", "blob:"))


def fits_a_phone(page):
    """Say that nothing is wider than a phone, and that axe finds nothing serious."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = axe.run(page).response["violations"]
    serious = [
        (rule["id"], rule["nodes"][0]["html"][:160]) for rule in found if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


@contextmanager
def busy_model(project):
    """Let the model of a project be at work on what comes next, as long as the block lasts."""
    learner, over = project.model._learner, threading.Event()
    for name in ("catch_up", "ask", "look"):
        usual = getattr(learner, name)
        setattr(learner, name, lambda *told, usual=usual: (over.wait(60), usual(*told))[1])
    try:
        yield
    finally:
        over.set()
        for name in ("catch_up", "ask", "look"):
            delattr(learner, name)
