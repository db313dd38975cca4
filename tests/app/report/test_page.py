"""The report page: self-contained, escaped, and short where tables are long."""

from __future__ import annotations

import numpy as np

from sidelight.app.jobs.page import about_columns, about_left_out, reading_sections
from sidelight.app.jobs.result import Reading
from sidelight.app.report import Page, Provenance, Section, to_html
from sidelight.app.report.components import table
from sidelight.data.dataset import ColumnRole, LeftOut
from sidelight.words import Setting, render


def test_text_from_data_is_escaped():
    page = to_html(Page("<script>alert(1)</script>", ["a < b"], [Section("x", parts=[table({"<b>": ["<i>"]})])]))
    assert "<script>alert" not in page
    assert "<i>" not in page
    assert "a &lt; b" in page


def test_long_tables_are_cut_and_say_so():
    page = to_html(Page("t", [], [Section("x", parts=[table({"n": list(range(80))}, most=10)])]))
    assert 'data-value="9">9</td>' in page
    assert 'data-value="10">10</td>' not in page
    assert "The first 10 of 80" in page


def test_provenance_is_shown():
    assert "<dt>seed</dt><dd>7</dd>" in to_html(Page("t", []), Provenance({"seed": 7}))


def test_a_setting_in_a_sentence_is_spelled_by_whoever_shows_the_page():
    page = Page("t", [["Try a smaller ", Setting("alpha"), "."]])
    assert "Try a smaller <code>alpha=</code>." in to_html(page)
    assert "Try a smaller <code>[alpha]</code>." in to_html(page, spell=lambda setting: f"[{setting.name}]")


def test_every_unused_column_and_every_row_left_out_is_named_with_its_reason():
    reading = Reading(
        "t.csv",
        8,
        2,
        left_out=(LeftOut(np.array([3, 7]), "gap", ("a",), "line 4", 10),),
        unused=(
            ColumnRole("price", "ignored", "numbers written as '15%'", is_guess=True),
            ColumnRole("kind", "label", "its name"),
            ColumnRole("note", "ignored", "you said so"),
        ),
        guessed=(ColumnRole("rec", "bag", "its name", is_guess=True),),
    )
    told = [render(sentence) for sentence in [*about_left_out(reading), *about_columns(reading)]]
    assert told == [
        "2 of 10 rows have a gap in 'a', the first in line 4: left out.",
        "2 columns were not used: 'price' (numbers written as '15%') and 'kind' (taken for the label, which this job "
        "does not use).",
        "Guessed: the bag is 'rec'. Say otherwise with bag=.",
    ]
    (section,) = reading_sections(reading)
    assert "<td>price</td>" in section.parts[0]
    assert "<td>kind</td>" in section.parts[0]


def test_settings_in_sentences_are_code_and_their_values_stay_text():
    page = Page(
        "Found", [["Leave it out with ", Setting("ignore", "<b>note</b>"), "."]], next=[["Try ", Setting("n"), "."]]
    )
    html = to_html(page, spell=lambda setting: f"--{setting.name} {setting.value or 3}")
    assert "Leave it out with <code>--ignore &lt;b&gt;note&lt;/b&gt;</code>." in html
    assert "<li>Try <code>--n 3</code>.</li>" in html
