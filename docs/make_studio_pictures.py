"""Pictures of the studio for the guide: ``python docs/make_studio_pictures.py`` (needs Chromium and Playwright)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Serve the projects to try, let people answer, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-u", "-m", "sidelight", "studio", "demo", "--folder", folder, "--port", "0"]
        server = subprocess.Popen([*words, "--no-browser"], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None  # it is a pipe
        match = re.search(r"(http://[^/\s]+)", server.stdout.readline())
        assert match is not None  # the server says where it is
        try:
            take(match[1])
        finally:
            server.terminate()
            server.wait()


def _numbers(client: httpx.Client) -> dict[str, int]:
    """Wait until the projects to try are made; return their numbers by name."""
    for _ in range(600):
        answer = client.get("/api/projects")
        found = {card["name"]: card["id"] for card in answer.json().get("projects", [])}
        if len(found) == 3:
            return found
        time.sleep(1)
    raise SystemExit("The projects to try were not made.")


def _answer(client: httpx.Client, number: int, birds: int) -> None:
    """Let people answer about the digits and the recordings."""
    for _ in range(4):
        client.post(f"/api/projects/{number}/simulate", json={"n": 20}).raise_for_status()
    called = client.get(f"/api/projects/{birds}/clusters").json()["rows"]["name"]
    for name in ("Ann", "Bob"):
        link = client.post(f"/api/projects/{birds}/people", json={"name": name}).json()["link"]
        for row in range(12):
            body = {"rows": [row], "answer": "crow" if name == "Bob" and row == 3 else called[row], "seconds": 2.0}
            client.post(f"/api{link}/answers", json=body).raise_for_status()


def take(url: str) -> None:
    """Take the pictures."""
    transport = httpx.HTTPTransport(retries=20)
    with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=120, transport=transport) as client:
        numbers = _numbers(client)
        digits, birds, photos = (numbers[n] for n in ("digits", "birds in recordings", "things in photographs"))
        _answer(client, digits, birds)
        novel = next(
            c for c in client.get(f"/api/projects/{birds}/clusters").json()["clusters"] if "novel" in c["name"]
        )
    shots = [
        ("home", "/", 1000, 430, "light"), ("ask", f"/p/{digits}/ask?by=pairs", 900, 760, "light"),
        ("sorting", f"/p/{digits}/ask?by=piles", 1280, 900, "light"),
        ("sorting-phone", f"/p/{digits}/ask?by=piles", 390, 844, "dark"),
        ("label", f"/p/{birds}/ask", 1100, 760, "light"), ("phone", f"/p/{photos}/ask", 390, 844, "dark"),
        ("run", f"/p/{birds}", 1000, 900, "light"), ("map", f"/p/{birds}/map", 1100, 900, "light"),
        ("wall", f"/p/{birds}/clusters/{novel['cluster']}/wall", 1000, 760, "light"),
        ("contradiction", f"/p/{birds}/contradictions", 900, 700, "light"),
        ("clusters", f"/p/{digits}/clusters", 1000, 900, "light"), ("people", f"/p/{birds}/people", 1000, 760, "light"),
    ]  # fmt: skip
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        for name, path, wide, tall, scheme in shots:
            is_phone = wide < 500
            page = browser.new_page(
                viewport={"width": wide, "height": tall}, color_scheme=scheme, has_touch=is_phone, is_mobile=is_phone
            )
            page.goto(url + path)
            page.wait_for_timeout(2500)
            if name == "map":
                _open_a_dot(page)
            page.screenshot(path=IMAGES / f"studio-{name}.png")
            page.close()
        browser.close()


def _open_a_dot(page: Any) -> None:
    """Open the first dot of the map that is met from the left."""
    box = page.locator("#map canvas").bounding_box()
    for step in range(2000):
        page.mouse.click(box["x"] + 20 + step % 50 * box["width"] / 50, box["y"] + 20 + step // 50 * box["height"] / 40)
        if page.locator("#map-side").is_visible():
            page.wait_for_timeout(800)
            return


if __name__ == "__main__":
    main()
