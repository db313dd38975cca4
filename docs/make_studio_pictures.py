"""Pictures of the studio for the guide: ``python docs/make_studio_pictures.py`` (needs Chromium and Playwright)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Serve the demo, let a simulated person answer, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            sys.executable,
            "-u",
            "-m",
            "sidelight",
            "studio",
            "--demo",
            "--folder",
            folder,
            "--port",
            "0",
            "--no-browser",
        ]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None  # it is a pipe
        match = re.search(r"(http://\S+?)/p/", server.stdout.readline())
        assert match is not None  # the server says where it is
        try:
            take(match[1])
        finally:
            server.terminate()
            server.wait()


def take(url: str) -> None:
    """Take the pictures."""
    transport = httpx.HTTPTransport(retries=20)
    with httpx.Client(base_url=url, headers={"X-Sidelight": "1"}, timeout=120, transport=transport) as client:
        for _ in range(4):
            client.post("/api/projects/1/simulate", json={"n": 20}).raise_for_status()
        study = client.post("/api/studies", json={"name": "Pairs or triplets?"}).json()["id"]
        client.post(f"/api/studies/{study}/simulate", json={"n": 24}).raise_for_status()
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        shots = [
            ("ask", "/p/1/ask", 900, 760, "light"), ("phone", "/p/1/ask", 390, 760, "dark"),
            ("clusters", "/p/1/clusters", 1000, 900, "light"), ("overview", "/p/1", 900, 760, "light"),
            ("analysis", f"/studies/{study}/analysis", 1000, 900, "light"),
            ("finish", "/p/1/clusters/0", 1000, 700, "light"),
        ]  # fmt: skip
        for name, path, wide, tall, scheme in shots:
            page = browser.new_page(viewport={"width": wide, "height": tall}, color_scheme=scheme)
            page.goto(url + path)
            page.wait_for_timeout(2500)
            page.screenshot(path=IMAGES / f"studio-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
