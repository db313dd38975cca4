"""Figures that the docs quote lie where the quotation says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [page for page in DOCS.rglob("*.md") if "_build" not in page.parts and "generated" not in page.parts]
QUOTED = [
    (page.name, found) for page in PAGES for found in re.findall(r"\{measured\}`([^`]+)`", page.read_text("utf-8"))
]


@pytest.fixture
def quote(monkeypatch):
    pytest.importorskip("docutils")
    monkeypatch.syspath_prepend(str(DOCS))
    sys.modules.pop("measured", None)
    from measured import quote

    return quote


@pytest.mark.parametrize(("page", "address"), QUOTED)
def test_every_quoted_figure_exists(quote, page, address):
    assert re.search(r"\d", quote(*address.replace("\n", " ").split("|"))), f"{page}: {address}"


def test_an_address_that_leads_nowhere_is_an_error(quote):
    assert len(QUOTED) >= 3
    with pytest.raises(KeyError):
        quote("ask_quality", "", "no such row", "1")
