"""Run what reproduces a document and write its page: ``python benchmarks/reproduce.py [document ...] [--pages-only]``.

A benchmark is run when its page is not of this code or says that cells are missing; its ledger takes up where it
stopped. Of cells of other code a sample is measured again, and all of them where anything changed. Stop it when you
like: pages are written after each benchmark, and what is left is printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from documents import DOCUMENTS
from drawings import draw
from fingerprint import SAME, SAMPLED, freshness
from verdicts import (
    BESIDE,
    DOCS,
    FACT,
    METHOD,
    MISSING,
    NOT_YET,
    PAGES,
    RIVAL,
    TIME,
    VERDICTS,
    Cell,
    Document,
    Item,
    Source,
    kind_of,
)

FOLDER = DOCS / "reproduction"
PLAIN = "Tables and figures without results"
UNFINISHED = re.compile(r"Not finished|(\d+) were not;")


def main(words: list[str]) -> int:
    """Run, write and say what is left."""
    names = [word for word in words if not word.startswith("-")] or list(DOCUMENTS)
    unknown = [name for name in names if name not in DOCUMENTS]
    if unknown:
        print(f"There is no document called {unknown[0]!r}. Known: {', '.join(DOCUMENTS)}.", file=sys.stderr)
        return 2
    chosen = [DOCUMENTS[name] for name in names]
    todo = [name for name in dict.fromkeys(b for document in chosen for b in document.benchmarks) if not finished(name)]
    todo = [] if "--pages-only" in words else todo
    if todo and (problem := no_data()):
        print(problem, file=sys.stderr)
        return 2
    try:
        for number, name in enumerate(todo, start=1):
            print(f"[{number} of {len(todo)}] {name}", flush=True)
            command = ["nice", sys.executable, str(Path(__file__).parent / "run.py"), name]
            if subprocess.run(command, check=False, env={**os.environ, "BENCH_AGAIN": "1"}).returncode:
                print(f"{name} did not finish; its page stays as it was.", file=sys.stderr, flush=True)
            write()
    except KeyboardInterrupt:
        print("", flush=True)
    write()
    tell(chosen)
    return 0


def no_data() -> str:
    """Say that there are no public data sets, and where they are looked for; nothing if there are."""
    from datasets import folder

    try:
        folder()
    except FileNotFoundError as error:
        return str(error)
    return ""


def finished(name: str) -> bool:
    """Whether a page of benchmarks is whole and of this code."""
    path = PAGES / f"{name}.md"
    current = path.exists() and freshness(name) in (SAME, SAMPLED)
    return current and not UNFINISHED.search(path.read_text(encoding="utf-8"))


def tell(documents: Sequence[Document]) -> None:
    """Print totals, pages that are not of this code, and what nobody has run."""
    for document in documents:
        counts = tally(document)[METHOD]
        print(f"{document.key}: " + ", ".join(f"{counts[verdict]} {plain(verdict)}" for verdict in VERDICTS))
        for name in (name for name in document.benchmarks if not finished(name)):
            print(f"  left: {name} ({freshness(name) if (PAGES / f'{name}.md').exists() else 'never run'})")
        missing = Counter(verdict for item in document.items if (verdict := item.outcome().verdict).startswith(NOT_YET))
        for verdict, count in missing.items():
            print(f"  {verdict} ({count} item{'s' if count > 1 else ''})")


def write() -> None:
    """Write the page of every document with its drawings, and the index."""
    FOLDER.mkdir(exist_ok=True)
    for document in DOCUMENTS.values():
        (FOLDER / f"{document.key}.md").write_text(page_of(document), encoding="utf-8")
        for drawing in (drawing for part in document.parts for drawing in part.drawings):
            draw(drawing, FOLDER)
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")


def index() -> str:
    """Return the page of totals, and where each table and figure is."""
    listed = DOCUMENTS.values()
    lines = [
        "# Reproduction",
        "",
        "Every table, figure and claim of the five documents that Sidelight implements: what the document "
        "prints, what we "
        "measured, and a verdict. `make reproduce` measures again and writes these pages (`make reproduce "
        "DOCUMENT=pf14` "
        "for one), from public data in `$SIDELIGHT_DATA` or `../shared/data`; it may be stopped at any time and goes "
        "on where it was. [Decision 47](../decisions/0047-verdicts-are-read-from-benchmarks.md) says how verdicts are "
        "reached.",
        "",
        *story(),
        "## What the documents say of their own methods",
        "",
        table(("document", "items", *(plain(verdict) for verdict in VERDICTS)), totals(VERDICTS, METHOD)),
        "",
        "*Reproduced*: level with the printed figure within the larger of both spreads, or a claim that holds; a "
        "difference within the spread neither carries a claim nor refutes it. *Above print*: better than printed by "
        "more than that, which means that something differs from the document. *Open*: one run against a printed "
        "spread, or figures that are mostly level. A verdict on fewer than five runs says on how many. *Cannot be "
        "run here*: the data or the people are not to be had; the row says why.",
        "",
        "## What they print of others, of times and of facts",
        "",
        "Other people's methods that a document compares with, seconds on machines of its day, sizes of sets and "
        "worked arithmetic. They say whether protocols agree, and nothing about the document's method.",
        "",
        table(
            ("of", "items", *BESIDE),
            [[kind, *counts] for kind in (RIVAL, TIME, FACT) for counts in [totals(BESIDE, kind)[-1][1:]]],
        ),
        "",
        "## Every table, figure and section",
        "",
        *(f"- {document.title}: " + ", ".join(places(document)) for document in listed),
        "",
        "```{toctree}",
        ":maxdepth: 1",
        "",
        *DOCUMENTS,
        "```",
        "",
    ]
    return "\n".join(lines)


def places(document: Document) -> list[str]:
    """Return links to the parts of a document, by what it calls them: the words before the colon."""
    listed = [f"[{part.title.split(':')[0]}]({document.key}.md{anchor(part.title)})" for part in document.parts]
    names = ", ".join(name for name, _ in document.plain)
    return listed + ([f"[without results: {names}]({document.key}.md{anchor(PLAIN)})"] if names else [])


def story() -> list[str]:
    """For each document in ten lines: what it claims, what holds and on which condition, and what our default does."""
    lines = ["## In ten lines each", ""]
    for document in DOCUMENTS.values():
        lines += [f"**[{document.title.replace('[', '').replace(']', '')}]({document.key}.md)** {told(document)}", ""]
        if document.picture:
            path, caption = document.picture
            lines += [f"![{caption}]({path})", "", f"*{caption}*", ""]
    return lines


def told(document: Document) -> str:
    """Return the story of a document, with its figures."""
    return document.story.format(*(source.text() for source in document.quoted))


def tally(document: Document) -> dict[str, Counter[str]]:
    """Count verdicts by whose figure it is."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in (METHOD, RIVAL, TIME, FACT)}
    for item in document.items:
        counts[item.whose][kind_of(item.outcome().verdict)] += 1
    return counts


def totals(verdicts: Sequence[str], kind: str) -> list[list[object]]:
    """Return a row for each document and one for all of them, of items of one kind."""
    rows: list[list[object]] = []
    for document in DOCUMENTS.values():
        counts = tally(document)[kind]
        name = f"[{document.title.replace('[', '').replace(']', '')}]({document.key}.md)"
        rows.append([name, counts.total(), *(counts[verdict] for verdict in verdicts)])
    columns = list(zip(*(row[1:] for row in rows)))
    return [*rows, ["all", *(sum(int(str(count)) for count in column) for column in columns)]]


def page_of(document: Document) -> str:
    """Return the page of one document."""
    lines = [f"# {document.title}", "", document.about, "", *(f"{remark}\n" for remark in document.remarks)]
    lines += [" ".join(sums(document)), ""]
    for part in document.parts:
        lines += [f"## {part.title}", ""] + ([part.text, ""] if part.text else [])
        lines += [
            table(("what", "of", "the document", "ours", "runs", "verdict", "measured in"), map(row, part.items)),
            "",
        ]
        shown = [(f"../benchmarks/{file}", caption) for file, caption in part.pictures]
        for path, caption in [*shown, *((drawing.file, drawing.caption) for drawing in part.drawings)]:
            lines += [f"![{caption}]({path})", "", f"*{caption}*", ""]
    if document.plain:
        lines += [f"## {PLAIN}", "", *(f"- {name}: {where}" for name, where in document.plain), ""]
    lines += ["## What we found wrong in the document", "", *(f"- {fault}" for fault in document.wrong), ""]
    if document.own:
        lines += ["## What our own method reaches on the same protocol", ""]
        rows = [(what, said(source), links([source])) for what, source in document.own]
        lines += [table(("what", "ours", "measured in"), rows), ""]
    return "\n".join([*lines, *measured_by(document)])


def sums(document: Document) -> list[str]:
    """Say how many items of each kind have which verdict."""
    said_ = []
    for kind, name in ((METHOD, "its own methods"), (RIVAL, "rivals"), (TIME, "times"), (FACT, "facts")):
        verdicts = VERDICTS if kind == METHOD else BESIDE
        counts = tally(document)[kind]
        listed = ", ".join(f"{counts[verdict]} {plain(verdict)}" for verdict in verdicts if counts[verdict])
        said_ += [f"{counts.total()} items of {name}: {listed}."] if counts else []
    return said_


def measured_by(document: Document) -> list[str]:
    """Say which code, versions and commit measured; whether it is this code is said when the docs are built."""
    lines = ["## What measured it", ""]
    sources = [*(s for item in document.items for s in item.sources), *(source for _, source in document.own)]
    for name in dict.fromkeys([*document.benchmarks, *(source.page for source in sources)]):
        if not (PAGES / f"{name}.md").exists():
            lines.append(f"- {name}: never run.")
            continue
        text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        head = re.search(r"^Written by `(.*?)` on (.*)\.$", text, re.MULTILINE)
        commit = re.search(r"; commit ([^;.\n]+)(; [^\n]* s of a processor)?\.", text.split("\n## ")[0])
        where = f"{head[2]} (`{head[1]}`)" if head else "unknown"
        part = f"; {missing[0].rstrip(';')}" if (missing := UNFINISHED.search(text)) else ""
        lines.append(
            f"- [{name}](../benchmarks/{name}.md): {{freshness}}`{name}`; "
            f"commit {commit[1] + (commit[2] or '') if commit else 'not recorded'}; {where}{part}."
        )
    return [*lines, ""]


def row(item: Item) -> list[str]:
    """Return the cells of one item."""
    outcome = item.outcome()
    draws = f"{said(item.draws[0])} of {item.draws[1]}" if item.draws else ""
    return [item.what, item.whose, item.printed, outcome.ours, draws, outcome.verdict, links(item.sources)]


def said(source: Source) -> str:
    """Return what a page of benchmarks says, with its brackets; nothing where it is older than the item."""
    try:
        return source.text(whole=True) if isinstance(source, Cell) else source.text()
    except MISSING:
        return ""


def links(sources: Sequence[Source]) -> str:
    """Return links to the sections that were read, each once: the page's name, then numbers for its other sections."""
    places: dict[str, dict[str, None]] = {}
    for source in sources:
        places.setdefault(source.page, {})[source.section] = None
    listed = []
    for page, sections in places.items():
        names = [page, *map(str, range(2, len(sections) + 1))]
        listed += [f"[{name}](../benchmarks/{page}.md{anchor(section)})" for name, section in zip(names, sections)]
    return ", ".join(listed)


def anchor(section: str) -> str:
    """Return the anchor that MyST gives a heading."""
    return "#" + re.sub(r"[^\w\- ]", "", section.strip().lower().replace(" ", "-")) if section else ""


def plain(verdict: str) -> str:
    """Return a verdict without its emphasis."""
    return verdict.strip("*")


def table(header: Sequence[str], rows: object) -> str:
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |" for cells in rows]  # type: ignore[attr-defined]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
