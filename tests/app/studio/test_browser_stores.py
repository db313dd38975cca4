"""One journey in a real browser on each database: answers by key, one taken back, a name, history, files, a restart."""

from __future__ import annotations

import pytest
from tests.app.store.conftest import postgres, postgres_server  # noqa: F401  # fixtures of the stores
from tests.app.studio.conftest import blobs, serve, until

from sidelight.app.studio.studio import Studio


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """A folder, and an empty database of each kind."""
    if request.param == "sqlite":
        return tmp_path, ""
    address = request.getfixturevalue("postgres")
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS events, people, projects, sidelight_version")
    return tmp_path, address


def _served(place):
    folder, address = place
    studio = Studio(folder, address) if address else Studio(folder)
    return studio, *serve(studio)


def _stopped(studio, server, thread, listening):
    server.should_exit = True
    thread.join(timeout=10)
    studio.close()
    listening.close()


@pytest.mark.slow
def test_a_conversation_by_keys_is_kept_and_found_again_after_a_restart(chromium, place):
    studio, server, thread, port, listening = _served(place)
    studio.add("blobs", blobs(), {})
    page, url = chromium.new_page(), f"http://127.0.0.1:{port}"
    page.goto(url + "/p/1/ask")
    said = page.locator("#n-answers")
    for number, key in enumerate("sduds", start=1):
        page.wait_for_selector("#question .pair figcaption")
        page.keyboard.press(key)
        until(page, lambda n=number: said.inner_text() == str(n) and page.locator("#saving").inner_text() == "Saved.")
    page.keyboard.press("z")
    until(page, lambda: page.locator("#saving").inner_text() == "Taken back: same.")
    page.goto(url + "/p/1/clusters")
    form = page.locator("form:has(button:text-is('Name'))").first
    form.locator("input").fill("wrens")
    form.locator("button").click()
    until(page, lambda: page.locator("main a", has_text="wrens").count() > 0)
    page.close()
    _stopped(studio, server, thread, listening)
    studio, server, thread, port, listening = _served(place)
    page, url = chromium.new_page(), f"http://127.0.0.1:{port}"
    page.goto(url + "/p/1/history")
    assert page.locator("main tbody tr").count() == 4
    page.goto(url + "/p/1")
    until(page, lambda: "4 answers" in page.locator(".lead").inner_text() or (page.reload() is None and False))
    assert page.locator("main a", has_text="wrens").count() > 0
    page.close()
    _stopped(studio, server, thread, listening)
