"""Pages of reproduction say what the benchmarks say, and pages of benchmarks say which code they are of."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("docutils")
ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "reproduction").glob("*.md"))


@pytest.fixture(scope="module")
def load():
    """Import files of benchmarks by name, and leave nothing behind."""
    before, path = set(sys.modules), list(sys.path)
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "docs")]
    yield importlib.import_module
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.split(".")[0] in {"reproduce", "verdicts", "documents", "fingerprint", "measured"}:
            del sys.modules[name]


@pytest.fixture
def stamped(load, tmp_path):
    """Say how fresh a page with this text is."""

    def fresh(text):
        (tmp_path / "page.md").write_text(
            f"# Page\n\nWritten on 2 cores, sidelight 0.1.0.\n\n{text}\n", encoding="utf-8"
        )
        return load("fingerprint").freshness("page", tmp_path)

    return fresh


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_what_the_benchmarks_and_the_documents_give(load, page):
    reproduce = load("reproduce")
    want = reproduce.index() if page.stem == "index" else reproduce.page_of(reproduce.DOCUMENTS[page.stem])
    assert page.read_text(encoding="utf-8") == want, "run: python benchmarks/reproduce.py --pages-only"


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem)
def test_every_address_on_a_page_of_benchmarks_exists(load, page):
    document = load("reproduce").DOCUMENTS[page.stem]
    for item in document.items:
        for source in (*item.sources, *(item.draws or ())[:1]):
            source.text()
    for _, source in document.own:
        source.text()
    for drawing in (drawing for part in document.parts for drawing in part.drawings):
        assert (ROOT / "docs" / "reproduction" / drawing.file).exists()
        for cell in (cell for lines in drawing.panels.values() for cells in lines.values() for cell in cells):
            cell.text()


def test_a_page_that_is_older_than_an_item_breaks_no_command(load, tmp_path, monkeypatch):
    measured, verdicts, reproduce = load("measured"), load("verdicts"), load("reproduce")
    for module in (measured, verdicts, reproduce):
        monkeypatch.setattr(module, "PAGES", tmp_path)
    (tmp_path / "novel.md").write_text("# Novel\n\n## Table 2\n\n| set | F |\n|---|---|\n| a | 1 |\n", encoding="utf-8")
    for cell in (
        ("gone", "", "a", "F"),
        ("novel", "Table 3", "a", "F"),
        ("novel", "Table 2", "b", "F"),
        ("novel", "Table 2", "a", "G"),
    ):
        source = verdicts.Cell(*cell)
        item = verdicts.figure("x", "0.2", source, draws=(source, 5))
        assert reproduce.row(item)[5].startswith("not run yet: ")
        part = verdicts.Part("Table 1", [item])
        document = verdicts.Document("x", "X", "", ["gone"], [part], [], own=[("y", source)])
        assert "- gone: never run." in reproduce.page_of(document)
        reproduce.tell([document])


def test_every_document_has_a_page(load):
    assert {page.stem for page in PAGES} == {*load("reproduce").DOCUMENTS, "index"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem)
def test_the_build_says_of_every_quoted_benchmark_whether_it_is_old(load, page):
    text = page.read_text(encoding="utf-8")
    quoted = set(re.findall(r"\.\./benchmarks/(\w+)\.md", text))
    told = set(re.findall(r"\{freshness\}`(\w+)`", text))
    assert quoted == told
    fingerprint = load("fingerprint")
    assert not any(words in text for words in (fingerprint.SAME, fingerprint.EARLIER)), "only the build may say this"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_sections_that_exist(load, page):
    anchor = load("reproduce").anchor
    for name, place in re.findall(r"\.\./benchmarks/(\w+)\.md#([^)]+)\)", page.read_text(encoding="utf-8")):
        text = (ROOT / "docs" / "benchmarks" / f"{name}.md").read_text(encoding="utf-8")
        assert f"#{place}" in {anchor(title) for title in re.findall(r"^## (.*)$", text, re.MULTILINE)}


def test_the_index_leads_to_every_table_and_figure(load):
    reproduce = load("reproduce")
    links = re.findall(
        r"\[([^\]]+)\]\(([\w-]+)\.md#([^)]+)\)", (ROOT / "docs" / "reproduction" / "index.md").read_text("utf-8")
    )
    for document in reproduce.DOCUMENTS.values():
        page = (ROOT / "docs" / "reproduction" / f"{document.key}.md").read_text(encoding="utf-8")
        places = [place for _, key, place in links if key == document.key]
        anchors = [reproduce.anchor(title).removeprefix("#") for title in re.findall(r"^## (.*)$", page, re.MULTILINE)]
        assert places == anchors[: len(document.parts) + bool(document.plain)]
        assert len(set(anchors)) == len(anchors)


@pytest.mark.slow
def test_the_statement_agrees_with_the_fingerprint(load, stamped):
    fingerprint = load("fingerprint")
    now = fingerprint.fingerprint("bench_novel.py")
    assert stamped(f"Measured code: `bench_novel.py {now}`") == fingerprint.SAME
    assert stamped(f"Measured code: `bench_novel.py {now[::-1]}`") == fingerprint.EARLIER
    mixed = f"Measured code: `bench_novel.py {now}`, `relation_cells.py 000000000000`"
    assert stamped(mixed) == fingerprint.EARLIER
    assert stamped("Measured code: `bench_gone.py 000000000000`") == fingerprint.EARLIER
    kept = f"Measured code: `bench_novel.py {now}`. {fingerprint.KEPT_CELLS} 9 of 10 cells."
    assert stamped(kept) == fingerprint.SAMPLED
    assert stamped(kept.replace(now, now[::-1])) == fingerprint.EARLIER
    assert stamped("").startswith(fingerprint.BEFORE)
    assert stamped("Measured code: `bench_novel.py unknown`").startswith(fingerprint.BEFORE)


@pytest.mark.slow
def test_a_fingerprint_changes_with_code_that_the_benchmark_uses_and_with_no_other(load, monkeypatch):
    fingerprint = load("fingerprint")
    before = {file: fingerprint.fingerprint(file) for file in ("bench_novel.py", "bench_bags_fidelity.py")}
    code_of = fingerprint.code_of
    monkeypatch.setattr(fingerprint, "code_of", lambda path: code_of(path) + ("x = 1" if path.stem == "dmnl" else ""))
    after = {file: fingerprint.fingerprint(file) for file in before}
    assert after["bench_novel.py"] != before["bench_novel.py"]
    assert after["bench_bags_fidelity.py"] == before["bench_bags_fidelity.py"]
    monkeypatch.setattr(
        fingerprint, "code_of", lambda path: code_of(path) + ("x = 1" if path.name == "__init__.py" else "")
    )
    assert {file: fingerprint.fingerprint(file) for file in before} == before  # lists of names, loaded on first use


def test_comments_and_docstrings_do_not_count(load, tmp_path):
    code_of = load("fingerprint").code_of
    texts = (
        '"""One."""\n\ndef f():\n    """Two."""\n    return 1\n',
        "# why\ndef f():\n    return 1  # one\n",
        "def f():\n    return 2\n",
    )
    found = []
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.py").write_text(text, encoding="utf-8")
        found.append(code_of(tmp_path / f"{number}.py"))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("printed", "ours", "lower", "verdict"),
    [
        ("0.22 ± 0.02", "0.23 ± 0.01", False, "reproduced"),
        ("0.22 ± 0.02", "0.25 ± 0.01", False, "above print"),
        ("0.22 ± 0.02", "0.19 ± 0.01", False, "**not reproduced**"),
        ("0.22 ± 0.02", "0.19 ± 0.04", False, "reproduced"),
        ("54.0", "54.04", False, "reproduced"),
        ("54.0", "53.9", False, "**not reproduced**"),
        ("206 s", "3.1 s", True, "above print"),
        ("0.22", "", False, "not run yet"),
    ],
)
def test_figures_are_compared_by_their_spreads(load, monkeypatch, printed, ours, lower, verdict):
    verdicts = load("verdicts")
    monkeypatch.setattr(verdicts, "quote", lambda *_, whole=False: ours)
    assert verdicts.figure("x", printed, verdicts.Cell("p", "s", "r", "c"), lower=lower).judge().verdict == verdict


@pytest.mark.parametrize(
    ("values", "options", "verdict"),
    [
        ({"a": 2, "b": 1, "c": 3}, {}, "**not reproduced**"),
        ({"a": 2, "b": 1, "c": 1}, {}, "reproduced"),
        ({"a": 1, "b": 1, "c": 0}, {}, "open: mostly level"),  # a tie neither carries a claim nor refutes it
        ({"a": "0.30 ± 0.02", "b": "0.31 ± 0.01", "c": "0.2"}, {}, "open: mostly level"),
        ({"a": "0.30 ± 0.02", "b": "0.33 ± 0.01", "c": "0.2"}, {}, "**not reproduced**"),
        ({"a": "0.30 ± 0.02", "b": "0.27 ± 0.01", "c": "0.2"}, {}, "reproduced"),
        ({"a": 1, "b": 2, "c": 2}, {"lower": True}, "reproduced"),
        ({"a": 1.0, "b": 1.01, "c": 1.0}, {"within": 0.02}, "reproduced"),
        ({"a": 1.0, "b": 1.20, "c": 1.0}, {"within": 0.02}, "**not reproduced**"),
        ({"a": 2, "b": 1, "c": 1}, {"within": 0.02, "level": True}, "**not reproduced**"),
    ],
)
def test_claims_hold_in_every_comparison(load, monkeypatch, values, options, verdict):
    verdicts = load("verdicts")
    monkeypatch.setattr(verdicts, "quote", lambda page, section, row, column, whole=False: str(values[row]))
    a, b, c = (verdicts.Cell("p", "s", row, "c") for row in "abc")
    assert verdicts.claim("x", [("first", a, [b, c])], **options).judge().verdict == verdict


def test_a_claim_about_most_needs_more_than_half(load, monkeypatch):
    verdicts = load("verdicts")
    monkeypatch.setattr(verdicts, "quote", lambda page, section, row, column, whole=False: row)
    high, low = verdicts.Cell("p", "s", "2", "c"), verdicts.Cell("p", "s", "1", "c")
    good, bad = ("good", high, [low]), ("bad", low, [high])
    assert verdicts.claim("x", [good, good, bad], most=True).judge().verdict == "reproduced"
    assert verdicts.claim("x", [good, bad], most=True).judge().verdict == "**not reproduced**"
    even = ("even", high, [high])
    assert verdicts.claim("x", [good, even], most=True).judge().verdict == "open: mostly level"


@pytest.mark.parametrize(
    ("whose", "printed", "ours", "runs", "verdict"),
    [
        ("its method", "0.22 ± 0.02", "0.30", "1", "open: one run against a spread"),
        ("its method", "0.22 ± 0.02", "0.30 ± 0.01", "3", "above print, on 3 runs"),
        ("its method", "0.22 ± 0.02", "0.30 ± 0.01", "20", "above print"),
        ("a rival", "0.22 ± 0.02", "0.30 ± 0.01", "5", "differs: above print"),
        ("a rival", "0.22 ± 0.02", "0.10 ± 0.01", "five", "differs: below print"),
        ("a rival", "0.22 ± 0.02", "0.23 ± 0.01", "5, 5, 0", "agrees"),
        ("a time", "206 s", "3.1 s", "5", "differs: quicker"),
        ("a fact", "83.5", "92.1", "5", "differs: not as printed"),
    ],
)
def test_verdicts_say_whose_figure_it_is_and_on_how_many_runs(load, monkeypatch, whose, printed, ours, runs, verdict):
    verdicts = load("verdicts")
    monkeypatch.setattr(
        verdicts, "quote", lambda page, section, row, column, whole=False: {"c": ours, "n": runs}[column]
    )
    cell, n = (verdicts.Cell("p", "s", "r", column) for column in "cn")
    item = verdicts.figure("x", printed, cell, lower=whose == "a time", draws=(n, 20), whose=whose)
    assert item.outcome().verdict == verdict


def test_a_curve_is_its_mean_and_is_not_there_before_it_has_several_runs(load, monkeypatch):
    verdicts = load("verdicts")
    texts = {"a": "0.2 ± 0.1", "b": "0.4 ± 0.3", "one": "0.5"}
    monkeypatch.setattr(verdicts, "quote", lambda page, section, row, column, whole=False: texts[column])
    whole, part = (verdicts.Curve("p", "s", "r", columns) for columns in (("a", "b"), ("a", "one")))
    assert whole.text() == "0.300 ± 0.200"
    assert whole.is_there()
    assert not part.is_there()
    assert verdicts.claim("x", [("set", part, [whole])]).judge().verdict.startswith("not run yet")


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        (("-2.0 ± 0.5", "-3.0 ± 1.0"), "reproduced"),
        (("-2.0 ± 0.5", "0.4 ± 1.0"), "reproduced"),
        (("-0.5 ± 0.5", "0.4 ± 1.0"), "open: mostly level"),
        (("-2.0 ± 0.5", "2.5 ± 1.0"), "**not reproduced**"),
    ],
)
def test_differences_hold_from_two_standard_errors_on(load, monkeypatch, differences, verdict):
    verdicts = load("verdicts")
    monkeypatch.setattr(verdicts, "quote", lambda page, section, row, column, whole=False: differences[int(row)])
    cells = [(f"set {row}", verdicts.Cell("p", "s", str(row), "c")) for row in range(2)]
    assert verdicts.apart("x", cells).judge().verdict == verdict


def test_comparisons_that_were_not_run_are_named_and_not_judged(load, monkeypatch):
    verdicts = load("verdicts")
    monkeypatch.setattr(verdicts, "quote", lambda page, section, row, column, whole=False: row)
    high, low, nothing = (verdicts.Cell("p", "s", row, "c") for row in ("2", "1", ""))
    some = verdicts.claim("x", [("first", high, [low]), ("second", high, [nothing])]).judge()
    assert some == verdicts.Outcome("holds on 1 of 1; not run: second", "reproduced")
    none = verdicts.claim("x", [("second", nothing, [low])]).judge()
    assert none.verdict.startswith("not run yet")
