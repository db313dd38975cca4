"""Every component: hostile names stay text, pictures say their finding, no style attribute, no handler."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from docs.components import EXAMPLES

from sidelight.app.report import components as parts
from sidelight.app.report.components.maps import MOST_DRAWN, drawn_rows
from sidelight.app.report.components.markup import Markup, clean, clip, data_block, element, escape, join
from sidelight.app.report.components.tables import number, percent, ticks
from sidelight.app.report.gallery import Group, Media, Member, Profile

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</script><script>alert(1)</script>",
    "]]><!-- -->",
    "{{ 7 * 7 }}",
    "نمودار خوشه‌ها",
    "\u202eesrever",
    "鸟" * 5000,
    "nul\x00 and \ud800 alone",
    "a\nb\tc",
]
POINTS = np.arange(2.0 * len(HOSTILE)).reshape(-1, 2)
NUMBERS = list(range(len(HOSTILE)))
MEMBERS = [Member(name, name, name, Media("text", text=name)) for name in HOSTILE]
PROFILES = [Member(name, name, name, profile=Profile(HOSTILE, NUMBERS, NUMBERS, NUMBERS)) for name in HOSTILE]

MADE_OF_HOSTILE_NAMES = {
    "bars": lambda n: parts.bars(n, NUMBERS, n[0], name_title=n[1], value_title=n[2], colours=NUMBERS, tips=n),
    "lines": lambda n: parts.lines(NUMBERS, dict.fromkeys(n, NUMBERS), n[0], alt=n[1], x_title=n[2], y_title=n[3]),
    "histogram": lambda n: parts.histogram(
        dict.fromkeys(n, NUMBERS), n[0], alt=n[1], x_title=n[2], y_title=n[3], marked=1.0, mark_name=n[4]
    ),
    "heat": lambda n: parts.heat(np.eye(len(n)), n, n, n[0], row_title=n[1]),
    "blocks": lambda n: parts.blocks(
        np.eye(3), np.eye(3), [1], [2], n[0], alt=n[1], titles=(n[2], n[3]), axes=(n[0], n[1])
    ),
    "tree": lambda n: parts.tree(
        [parts.Branch(name, -1, name, "weak", name) for name in n], n[0], legend={"weak": n[1]}
    ),
    "row_map": lambda n: parts.row_map(
        POINTS, NUMBERS, n, n, n[0], alt=n[1], axes=(n[2], n[3]), bags=n, what=n[0], bag_word=n[1]
    ),
    "picture": lambda n: parts.picture(POINTS, NUMBERS, alt=n[0]),
    "tree_picture": lambda n: parts.tree_picture([-1, 0], alt=n[0]),
    "gallery": lambda n: parts.gallery([Group(0, n[0], 3, {n[1]: MEMBERS, "typical": PROFILES})], notes=n, what=n[1]),
    "table": lambda n: parts.table(dict.fromkeys(n, n), n[0], file="x.csv"),
    "notice": lambda n: parts.notice(n[0]),
    "glossary": lambda n: parts.glossary(dict(zip(n, n))),
    "command": lambda n: parts.command(n[0]),
    "cards": lambda n: parts.cards([parts.card(n[0], n[1], href="a/report.html", command_text=n[2])]),
    "contents": lambda n: parts.contents([("a", name) for name in n]),
    "facts": lambda n: parts.facts(dict(zip(n, n))),
    "files": lambda n: parts.files({"a.csv": n[0]}),
    "folded": lambda n: parts.folded(n[0], parts.notice(n[1])),
}


class Reader(HTMLParser):
    """Collects tags and attributes as a browser would."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("name", MADE_OF_HOSTILE_NAMES)
@pytest.mark.parametrize("turn", range(5))
def test_names_are_text_whatever_they_look_like(name, turn):
    rotated = HOSTILE[turn:] + HOSTILE[:turn]
    markup = MADE_OF_HOSTILE_NAMES[name](rotated)
    read = Reader(markup)
    scripts = [value for tag, key, value in read.attributes if tag == "script" and key == "type"]
    assert read.tags.count("script") == len(scripts)  # only data blocks
    assert set(scripts) <= {"application/json"}
    assert "x" not in [value for tag, key, value in read.attributes if key == "src"]
    assert not [key for _, key, _ in read.attributes if key.startswith("on") or key == "style"]
    assert not re.search("[\x00\u202e\ud800]", markup)
    assert len(markup) < 900_000  # a name of any length takes a few hundred characters


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_component_has_an_example_that_could_stand_in_a_page_under_its_policy(name):
    read = Reader(EXAMPLES[name]())
    assert not [key for _, key, _ in read.attributes if key.startswith("on") or key == "style"]
    assert EXAMPLES[name].__doc__


def test_every_component_that_draws_has_an_example():
    drawing = set(parts.__all__) & set(MADE_OF_HOSTILE_NAMES)
    assert drawing - {"contents", "facts", "files", "folded"} == set(EXAMPLES)


@pytest.mark.parametrize("name", ["lines", "histogram", "row_map", "picture", "tree_picture", "blocks"])
def test_pictures_say_their_finding(name):
    read = Reader(EXAMPLES[name]())
    labels = [value for tag, key, value in read.attributes if key == "aria-label" and tag in ("svg", "canvas")]
    assert labels
    assert all(len(label) > 12 for label in labels)
    images = [
        dict(attrs)
        for attrs in re.findall(r"<img ([^>]*)>", EXAMPLES["gallery"]())
        for attrs in [re.findall(r'(\w+)="([^"]*)"', attrs)]
    ]
    assert all(image["alt"] for image in images)


def test_axes_have_titles_and_the_number_in_use_is_marked():
    page = EXAMPLES["lines"]()
    assert "novel clusters" in page
    assert "labels told rightly" in page
    assert page.count('class="marked"') == 1
    assert "in use" in page
    assert "The numbers" in page  # as a table, for those who cannot see it


def test_a_cell_that_is_what_it_is_by_construction_stays_empty():
    assert "100" not in Reader(EXAMPLES["heat"]()).texts


def test_numbers_are_right_aligned_sortable_and_shares_are_percentages():
    page = parts.table({"n": [1797], "share": [0.0991], "row": [1797], "word": ["a"]}, percents=("share",))
    assert '<td class="number" data-value="1797">1,797</td>' in page
    assert '<td class="number" data-value="0.0991">9.9%</td>' in page
    assert "<td>1797</td>" in page  # the number of a row is a name
    assert page.count('<button type="button" class="sort">') == 4


def test_a_column_without_content_is_left_out():
    page = parts.table({"row": ["a", "b"], "annotator": ["", ""], "note": ["", "x"]})
    assert "annotator" not in page
    assert "note" in page


def test_a_table_links_the_file_that_has_all_of_it():
    assert 'The first 2 of 3; all of them are in <a href="bags.csv">bags.csv</a>.' in parts.table(
        {"n": [1, 2, 3]}, most=2, file="bags.csv"
    )


def test_a_map_of_many_rows_is_a_sample_that_keeps_small_clusters_and_says_so():
    labels = np.zeros(100_000, dtype=int)
    labels[-30:] = 1
    drawn = drawn_rows(labels)
    assert len(drawn) == MOST_DRAWN
    assert (labels[drawn] == 1).sum() == 30
    assert len(np.unique(drawn)) == MOST_DRAWN
    page = parts.row_map(
        np.random.default_rng(0).normal(size=(100_000, 2)), labels, ["a", "b"], [f"row {i}" for i in range(100_000)],
        "c", alt="a", axes=("x", "y"), bags=[f"bag {i % 900}" for i in range(100_000)], sure=np.ones(100_000),
    )  # fmt: skip
    assert "20,000 of 100,000 rows are drawn" in page
    assert len(page) < 1_500_000


def test_the_numbers_of_a_map_are_those_that_were_given():
    page = parts.row_map([[0.0, 5.0], [10.0, 0.0]], [0, -1], ["a"], ["p", "q"], "c", alt="a", axes=("x", "y"))
    content = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page).group(1))
    import base64

    unpacked = {key: np.frombuffer(base64.b64decode(content[key]), "<u2").tolist() for key in "xyk"}
    assert unpacked == {"x": [0, 4095], "y": [0, 4095], "k": [1, 0]}  # y runs down the screen; 0 is no cluster
    assert content["ids"] == ["p", "q"]


def test_maps_take_no_rows_one_row_and_numbers_that_are_not_finite():
    for points in (np.empty((0, 2)), np.zeros((1, 2)), np.array([[np.nan, np.inf], [1.0, 2.0]])):
        n = len(points)
        assert "<canvas" in parts.row_map(points, np.zeros(n, int), ["a"], range(n), "c", alt="a", axes=("x", "y"))


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [1.0], [0.5, 0.5], [-3.0, 1e300]])
def test_lines_and_histograms_take_what_comes(values):
    x = list(range(len(values)))
    assert "<svg" in parts.lines(x, {"a": values}, "c", alt="a", x_title="x", y_title="y", errors=[0.1] * len(values))
    assert "<svg" in parts.histogram({"a": values}, "c", alt="a", x_title="x", y_title="y")


def test_a_deep_tree_does_not_exhaust_the_stack():
    branches = [parts.Branch(str(i), i - 1) for i in range(5000)]
    assert parts.tree(branches, "deep").count("<li>") == 5000


def test_markup_escapes_everything_but_markup():
    assert element("p", "<b>", Markup("<i>ok</i>")) == "<p>&lt;b&gt;<i>ok</i></p>"
    assert join("a&b", None, ["<", 3]) == "a&amp;b&lt;3"
    assert escape("'\"") == "&#x27;&quot;"
    assert "<" not in data_block({"a": "</script>"})[len('<script type="application/json">') : -len("</script>")]
    assert clean("\u202e") == "\ufffd"
    assert clip("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.5, "50%"), (0.0004, "<0.1%"), (0.9999, ">99.9%"), (1, "100%"), (np.nan, "–")]
)
def test_percentages_do_not_claim_all_or_nothing(share, text):
    assert percent(share) == text


def test_numbers_are_written_as_people_read_them():
    assert [number(v) for v in (1234567, -3, 0.00012345, True, np.float64(2.0), float("nan"))] == [
        "1,234,567", "−3", "0.000123", "yes", "2", "–",
    ]  # fmt: skip
    assert ticks(0, 0) == [0]
    assert ticks(2, 20) == [5, 10, 15, 20]
