"""What a conversation with a person found, in numbers and tables; and the files and the page of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sidelight.active.outlook import UNSURE_BELOW
from sidelight.active.questions import UNSURE
from sidelight.active.session import ActiveSession
from sidelight.app.jobs.ask.result import AskResult, Progress
from sidelight.app.jobs.gallery import gallery_of
from sidelight.app.jobs.output import write_csv, write_text
from sidelight.app.jobs.page import page_of
from sidelight.app.jobs.profiles import cluster_table
from sidelight.app.jobs.reading import as_dense, standard
from sidelight.app.jobs.result import Columns, Map, Reading, columns_of
from sidelight.app.jobs.run import versions_in_use
from sidelight.app.report.page import Page, Provenance, to_html
from sidelight.data.dataset import Dataset
from sidelight.plot.layout import cluster_map
from sidelight.words import Spell

USES = ("id", "feature", "show")
SURE = 0.9  # probability of its cluster from which a row counts as sure
FILES = {
    "assignments.csv": "the cluster of each row so far",
    "clusters.csv": "one line for each cluster",
    "pairs.csv": "the answers, for sidelight relations and sidelight score",
    "questions.csv": "every question, its answer, and whether the clusters keep it",
}


def share_unsure(session: ActiveSession) -> float:
    """Return the share of rows that have no cluster with a probability of at least 0.7."""
    return float(np.mean(session.predict_proba().max(axis=1) < UNSURE_BELOW))


def result_of(data: Dataset, session: ActiveSession, progress: Progress) -> AskResult:
    """Say what a session knows."""
    X, labels, P = as_dense(data), session.labels_, session.predict_proba()
    rows = np.arange(len(labels))
    met = labels < P.shape[1]
    sure = np.where(met, P[rows, np.where(met, labels, 0)], 0.0)  # no question was about the other clusters yet
    names = [str(k) for k in range(int(labels.max()) + 1)]
    clusters = cluster_table(X, labels, data.feature_names, names)
    questions = _questions(data, session, labels)
    outlook = session.outlook()
    return AskResult(
        reading=Reading.of(data, USES),
        model=None,
        assignments=columns_of(data, {"cluster": labels.tolist(), "probability": sure.round(4).tolist()}),
        tables={"questions": questions, "clusters": clusters},
        n_answers=session.n_answers,
        n_unsure=sum(answer == UNSURE for _, answer in session.history),
        n_broken=sum(fits == "no" for fits in questions["kept"]),
        eps=session.eps_,
        sizes=clusters["rows"],
        share_sure=float(np.mean(sure > SURE)),
        enough=outlook.enough,
        outlook=outlook.sentence,
        progress=progress,
        map=Map(cluster_map(standard(X), labels), labels, names, data.row_names, sure=sure),
        gallery=gallery_of(data, labels, sure, [f"cluster {name}" for name in names]),
    )


def _questions(data: Dataset, session: ActiveSession, labels: np.ndarray) -> Columns:
    """List the questions in their order, and whether the clusters keep each answer."""
    names = data.row_names

    def kept(rows: tuple[int, ...], answer: str) -> str:
        if answer not in ("same", "different"):
            return ""
        return "yes" if (labels[rows[0]] == labels[rows[1]]) == (answer == "same") else "no"

    return {
        "question": list(range(1, session.n_answers + 1)),
        "rows": [", ".join(str(names[row]) for row in rows) for rows, _ in session.history],
        "answer": [answer for _, answer in session.history],
        "clusters": [", ".join(str(labels[row]) for row in rows) for rows, _ in session.history],
        "kept": [kept(rows, answer) for rows, answer in session.history],
    }


def write_result(
    folder: Path,
    result: AskResult,
    session: ActiveSession,
    facts: dict[str, Any],
    *,
    spell: Spell = str,
    page: Page | None = None,
    command: str = "",
) -> list[str]:
    """Write tables and page into a folder; return the names of the files."""
    write_csv(folder / "assignments.csv", result.assignments)
    for name, columns in result.tables.items():
        write_csv(folder / f"{name}.csv", columns)
    answers, names = session.pairs.answers, next(iter(result.assignments.values()))
    pairs = {
        "left": [names[answer.rows[0]] for answer in answers],
        "right": [names[answer.rows[1]] for answer in answers],
        "answer": [answer.answer for answer in answers],
    }
    write_csv(folder / "pairs.csv", pairs)
    versions = ", ".join(f"{name} {number}" for name, number in versions_in_use().items())
    made = Provenance({**facts, "versions": versions}, FILES, command)
    write_text(folder / "report.html", to_html(page or page_of(result), made, spell=spell))
    return [*FILES, "report.html"]
