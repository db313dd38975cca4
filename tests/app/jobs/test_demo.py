"""The demo makes every page it promises."""

from __future__ import annotations

import tempfile

import pytest
from tests.examples import but_slow

from sidelight.app.jobs.demo import DEMOS, run_demo


@pytest.mark.parametrize("job", but_slow(DEMOS, "hierarchy"))
def test_every_demo_ends_in_a_page(job, tmp_path):
    outcome = run_demo(tmp_path / "demo", only=job)
    index = (tmp_path / "demo" / "index.html").read_text()
    assert index.count(f'href="{job}/report.html"') == 1
    assert "sidelight studio demo" in index
    page = (tmp_path / "demo" / job / "report.html").read_text()
    assert "<svg" in page
    assert f"sidelight demo only=&#x27;{job}&#x27;" in page
    assert outcome.sentences


@pytest.mark.slow
def test_the_photographs_are_shown_and_say_nothing_of_where_they_lay(tmp_path):
    run_demo(tmp_path / "demo", only="photographs")
    page = (tmp_path / "demo" / "photographs" / "report.html").read_text()
    assert page.count("data:image") > 20
    assert tempfile.gettempdir() not in page.replace(str(tmp_path), "")
