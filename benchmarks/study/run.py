"""Serve the user study of [P17] 3.5: pairs against triplets on two sets, with its questionnaire, tables and figures.

    python benchmarks/study/run.py                                    digits and generated pictures, sizes of [P17]
    python benchmarks/study/run.py birds.csv frogs.csv --id segment   two tables with labels, or folders of images
    python benchmarks/study/run.py --simulate 24                      24 people with the mistakes of tables 3.6 to 3.9

A study is made the first time; afterwards, and with the folder of a studio of 0.2.0 that holds studies, it goes on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import uvicorn

from sidelight.app.jobs.options import build
from sidelight.app.jobs.roles import Roles
from sidelight.app.studio.making import read_source
from sidelight.errors import InvalidData, SidelightError
from study.design import KINDS, read_pool
from study.study import Studies
from study.web import app_of


def make(studies: Studies, told: argparse.Namespace) -> int:
    """Make the study that was asked for; return its number."""
    counts = {"pair": told.pairs, "triplet": told.triplets}
    named = {"id": told.id, "label": told.label, "show": told.show or None}
    said = {name: False if value == "none" else value for name, value in named.items() if value}
    roles = build(Roles, said, "option")
    sets = [(Path(path).stem, read_source(path, roles)) for path in told.sources]
    for path, (_, rows) in zip(told.sources, sets):
        if rows.y is None or "" in rows.y or len(set(rows.y)) < 2:
            raise InvalidData(
                f"A study knows the right answers, but not every row of {path!r} has a label, or all have the same. "
                "Say which column holds the labels with --label."
            )
    if len(sets) == 2 and sets[0][0] == sets[1][0]:
        sets = [(path, rows) for path, (_, rows) in zip(told.sources, sets)]
    pools: dict[tuple[int, str], Any] = {}
    for number, kind, path in told.questions:
        at = int(number) - 1, kind
        if at[0] not in range(len(sets)) or kind not in KINDS or at in pools:
            raise InvalidData(f"--questions names a set (1 or 2) and pair or triplet, each once. Got {number} {kind}.")
        pools[at] = read_pool(path, sets[at[0]][1], kind, counts[kind])
    title = told.name or " and ".join(name for name, _ in sets) or "pairs against triplets"
    return studies.add_study(title, counts, seed=told.seed, sets=sets, pools=pools, has_unsure=told.unsure).id


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", help="two tables or folders of images; none: digits and pictures")
    parser.add_argument("--folder", default="sidelight-study", help="where studies and answers are kept")
    parser.add_argument("--database", help="a PostgreSQL for the answers (postgresql://...)")
    parser.add_argument("--name", help="what the study is called")
    parser.add_argument("--pairs", type=int, default=195, help="pairs a set")
    parser.add_argument("--triplets", type=int, default=130, help="triplets a set")
    parser.add_argument(
        "--questions", nargs=3, action="append", default=[], metavar=("SET", "KIND", "PATH"),
        help="a table of questions for set 1 or 2 and pair or triplet: columns of row names, and perhaps difficulty",
    )  # fmt: skip
    parser.add_argument("--unsure", action="store_true", help='let participants answer "unsure"')
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--id", help="the column that names rows")
    parser.add_argument("--label", help="the column of classes; none: no column")
    parser.add_argument("--show", action="append", help="a column to show")
    parser.add_argument("--simulate", type=int, default=0, metavar="N", help="add N simulated participants")
    parser.add_argument("--port", type=int, default=8322)
    told = parser.parse_args(words)
    if len(told.sources) not in (0, 2):
        parser.error("a study is about two sets: give two tables or folders, or none")
    return told


def prepared(told: argparse.Namespace) -> tuple[Studies, int]:
    """Return the studies of a folder and the number of the one to begin with, made where there is none yet."""
    studies = Studies(told.folder, told.database)
    try:
        kept = [project.id for project in studies.store.projects() if project.settings.get("is_study")]
        number = make(studies, told) if told.sources or not kept else kept[-1]
        if told.simulate:
            studies.study(number).simulate(told.simulate)
    except BaseException:
        studies.close()
        raise
    return studies, number


def main() -> None:
    """Make or open a study, and serve it until it is stopped."""
    told = arguments()
    try:
        studies, number = prepared(told)
        studies.store.claim()
    except SidelightError as error:
        sys.exit(f"Error: {error}")
    print(f"The study: http://127.0.0.1:{told.port}/studies/{number}")
    uvicorn.run(app_of(studies), host="127.0.0.1", port=told.port, log_level="warning")


if __name__ == "__main__":
    main()
