"""Look through built pages for anything a browser would fetch from a network; links that people follow are fine."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

_FETCHED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "audio": "src",
    "video": "src",
    "link": "href",
}
_FAR = re.compile(r"\s*(https?:)?//")
_IN_STYLES = re.compile(r"(?:@import\s+|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")


class _Fetched(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.far: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(_FETCHED.get(tag, ""))
        if address and _FAR.match(address) and dict(attrs).get("rel") != "canonical":
            self.far.append(address)


def far_addresses(folder: Path) -> list[str]:
    """Return what each page and style sheet would fetch, as ``file: address``."""
    found = []
    for file in sorted(folder.rglob("*.html")):
        parser = _Fetched()
        parser.feed(file.read_text(encoding="utf-8"))
        found += [f"{file}: {address}" for address in parser.far]
    for file in sorted(folder.rglob("*.css")):
        found += [f"{file}: {address}" for address in _IN_STYLES.findall(file.read_text(encoding="utf-8"))]
    return found


if __name__ == "__main__":
    far = far_addresses(Path(sys.argv[1]))
    sys.exit("These pages would load something from a network:\n" + "\n".join(far) if far else 0)
