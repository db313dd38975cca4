"""Asking a person about the rows of a table: a session whose answers stay in a folder, and the clusters so far.

The folder holds ``answers.jsonl`` (every answer, appended and on the disk before it counts), ``session.toml`` (table,
seed and number of clusters) and, after each sitting, tables of the clusters and the answers and ``report.html``.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._core.atomic import replacing
from sidelight.active.outlook import UNSURE_BELOW
from sidelight.active.questions import UNSURE, Question
from sidelight.active.screens import Screen
from sidelight.active.session import ActiveSession
from sidelight.app.jobs.ask.result import AskResult, Progress
from sidelight.app.jobs.gallery import cluster_table, gallery_of
from sidelight.app.jobs.output import SESSION, check_sitting, write_csv, write_text
from sidelight.app.jobs.page import page_of
from sidelight.app.jobs.reading import as_dense, read_rows, standard
from sidelight.app.jobs.result import Columns, Map, Reading, columns_of
from sidelight.app.jobs.roles import Roles
from sidelight.app.jobs.run import versions_in_use
from sidelight.app.report.page import Page, Provenance, to_html
from sidelight.app.store.answer_file import AnswerFile
from sidelight.data.dataset import Dataset
from sidelight.errors import CannotWrite, InvalidData, InvalidParameter, UnreadableFile
from sidelight.estimators._base import fingerprint
from sidelight.plot.layout import cluster_map
from sidelight.words import Setting, Spell

USES = ("id", "feature", "show")
SURE = 0.9  # probability of its cluster from which a row counts as sure
NOTED = 5  # answers after which the share of unsure rows is written down, for the curve of the page
SHOWN_OF_MANY = 4  # features of each of many rows that are shown
SHOWN = 8  # features of a row that are shown: those in which the two rows differ most
FILES = {
    "assignments.csv": "the cluster of each row so far",
    "clusters.csv": "one line for each cluster",
    "pairs.csv": "the answers, for sidelight relations and sidelight score",
    "questions.csv": "every question, its answer, and whether the clusters keep it",
}


class Sitting:
    """One sitting of a person with a table; the next one goes on where this one ended."""

    def __init__(self, table: str, roles: Roles, folder: str, *, n_clusters: int | None, seed: int) -> None:
        self.folder = Path(folder)
        check_sitting(self.folder)
        self.data: Dataset = read_rows(table, roles)
        self.X = standard(as_dense(self.data), self.data)
        varies = np.flatnonzero(np.ptp(self.X, axis=0) > 0)
        self._telling = varies if len(varies) else np.arange(self.data.n_features)  # features that can tell rows apart
        file = AnswerFile(self.folder / "answers.jsonl")
        if file.events():
            n_clusters, seed = self._begun_with(table, n_clusters)
        self._check_numbers(table, n_clusters)
        self.session = ActiveSession(self.X, n_clusters, random_state=seed)
        self._remember(table, n_clusters, seed)
        self._file = file
        self.session.replay(file.events())
        self.n_before = self.session.n_answers
        self._facts = {"table": table, "rows": self.data.n_rows, "features": self.data.n_features, "seed": seed}
        self.session.recorder = file

    def _begun_with(self, table: str, n_clusters: int | None) -> tuple[int | None, int]:
        """Return the number of clusters and the seed of the answers that are there, if they are about these rows."""
        path = self.folder / SESSION
        try:
            known = tomllib.loads(path.read_text(encoding="utf-8"))
            rows, seed, K = str(known["rows"]), int(known["seed"]), known.get("clusters")
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(f"{str(path)!r} is not what a session wrote: {error}.") from error
        if rows != fingerprint(self.X):
            raise InvalidData(
                f"The answers in {str(self.folder)!r} are about other rows than those of {table!r}.",
                do=["Give the table they were begun with, or another folder: ", Setting("out"), "."],
            )
        if n_clusters not in (None, K):
            begun = "without a number of clusters" if K is None else f"with {K} clusters"
            raise InvalidParameter(
                f"The answers in {str(self.folder)!r} were begun {begun}, not with {n_clusters}.",
                do=["Leave out ", Setting("n_clusters"), ", or take another folder: ", Setting("out"), "."],
            )
        return K, seed

    def _check_numbers(self, table: str, n_clusters: int | None) -> None:
        """Raise unless there are rows enough to ask about, and as many as clusters."""
        n_rows = self.data.n_rows
        if n_rows < 2:
            raise InvalidData(f"{table!r} has one row, and questions are about two. Bring more rows.")
        if n_clusters is not None and n_clusters > n_rows:
            raise InvalidParameter(
                f"{table!r} has {n_rows} rows, too few for {n_clusters} clusters.",
                do=["Ask for fewer with ", Setting("n_clusters"), ", or bring more rows."],
            )

    def _remember(self, table: str, n_clusters: int | None, seed: int) -> None:
        """Write down what the session is about."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(f"Cannot make the folder {str(self.folder)!r}: {error.strerror}.") from error
        lines = [f"table = {json.dumps(table)}", f"rows = {json.dumps(fingerprint(self.X))}", f"seed = {seed}"]
        lines += [] if n_clusters is None else [f"clusters = {n_clusters}"]
        with replacing(self.folder / SESSION, "w", encoding="utf-8") as handle:
            handle.write("\n".join(lines) + "\n")

    @property
    def texts_not_shown(self) -> list[str]:
        """The columns of texts that are not shown; with ``show`` they stand beside each row."""
        return [role.name for role in Reading.of(self.data, USES).unused if role.kind == "text" and role.is_guess]

    def shown(self, question: Question) -> dict[str, list[str]]:
        """Return what tells two rows apart: their names, what there is to show, and the features that differ most."""
        a, b = question.rows
        names = self.data.row_names
        lines: dict[str, list[str]] = {"row": [str(names[a]), str(names[b])]}
        for name, column in self.data.show.items():
            lines[name] = [str(column[a]), str(column[b])]
        apart = self._telling[np.argsort(-np.abs(self.X[a] - self.X[b])[self._telling], kind="stable")[:SHOWN]]
        X = as_dense(self.data)
        for j in apart.tolist():
            lines[self.data.feature_names[j]] = [f"{float(X[row, j]):.4g}" for row in (a, b)]
        return lines

    def shown_rows(self, screen: Screen) -> list[dict[str, str]]:
        """Return what tells the rows of a screen apart: names, what there is to show, and features that differ."""
        rows, names, X = list(screen.rows), self.data.row_names, as_dense(self.data)
        spread = np.ptp(self.X[rows], axis=0)[self._telling]
        apart = self._telling[np.argsort(-spread, kind="stable")[:SHOWN_OF_MANY]].tolist()
        return [
            {
                "row": str(names[row]),
                **{name: str(column[row]) for name, column in self.data.show.items()},
                **{self.data.feature_names[j]: f"{float(X[row, j]):.4g}" for j in apart},
            }
            for row in rows
        ]

    def tell(self, question: Question, answer: str) -> None:
        """Learn an answer; now and then the share of unsure rows before it is kept with it."""
        is_noted = self.session.n_answers % NOTED == 0 and self.session.n_answers > 0
        about = {"unsure": round(share_unsure(self.session), 4)} if is_noted else {}
        self.session.tell(question, answer, **about)

    def finish(self, *, spell: Spell = str, command: str = "") -> list[str]:
        """Write the clusters so far, the answers as a table of pairs, and the page; return the files."""
        result = result_of(self.data, self.session, self._progress())
        files = write_result(self.folder, result, self.session, self._facts, spell=spell, command=command)
        return sorted(["answers.jsonl", SESSION, *files])

    def _progress(self) -> Progress:
        """Read from the answers how doubt fell; answers that were taken back are not on the curve."""
        stack: list[float | None] = []
        for event in self._file.events():
            if event.get("event") == "undo":
                stack.pop()
            else:
                value = event.get("unsure")
                stack.append(float(value) if isinstance(value, (int, float)) else None)
        noted = [(at, value) for at, value in enumerate(stack) if value is not None]
        noted.append((len(stack), round(share_unsure(self.session), 4)))
        return Progress([at for at, _ in noted], [value for _, value in noted])


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
    clusters = cluster_table(data.telling[0], labels, data.telling[1], names)
    questions = _questions(data, session, labels)
    outlook, judged = session.outlook(), session.sureness()
    shown = sure if judged.is_measured else None
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
        share_sure=float(np.mean(sure > SURE)) if judged.is_measured else None,
        n_judged=judged.n_rows,
        n_said=judged.n_sure,
        n_right=judged.n_right,
        enough=outlook.enough,
        outlook=outlook.sentence,
        progress=progress,
        n_piles=len(session.piles),
        map=Map(cluster_map(standard(X, data), labels), labels, names, data.row_names, sure=shown),
        gallery=gallery_of(data, labels, sure, [f"cluster {name}" for name in names], is_measured=judged.is_measured),
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
    placed = [(row, pile.name) for pile in session.piles for row in pile.rows]
    piles = {"row": [names[row] for row, _ in placed], "pile": [pile for _, pile in placed]}
    more = {"piles.csv": "the rows on each pile, for sidelight relations"} if placed else {}
    if placed:
        write_csv(folder / "piles.csv", piles)
    versions = ", ".join(f"{name} {number}" for name, number in versions_in_use().items())
    made = Provenance({**facts, "versions": versions}, {**FILES, **more}, command)
    write_text(folder / "report.html", to_html(page or page_of(result), made, spell=spell))
    return [*FILES, *more, "report.html"]
