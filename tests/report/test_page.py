"""The report page: self-contained, escaped, and short where tables are long."""

from __future__ import annotations

from sidelight.report import Report, Section, Table


def test_text_from_data_is_escaped():
    page = Report("<script>alert(1)</script>", ["a < b"], [Section("x", tables=[Table({"<b>": ["<i>"]})])]).to_html()
    assert "<script>" not in page
    assert "<i>" not in page
    assert "a &lt; b" in page


def test_long_tables_are_cut_and_say_so():
    page = Report("t", [], [Section("x", tables=[Table({"n": list(range(80))}, most=10)])]).to_html()
    assert "<td>9</td>" in page
    assert "<td>10</td>" not in page
    assert "70 more" in page


def test_provenance_is_shown(tmp_path):
    Report("t", [], provenance={"seed": 7}).write(tmp_path / "page.html")
    assert "<dt>seed</dt><dd>7</dd>" in (tmp_path / "page.html").read_text()
