"""Studies of a folder; one at work: where each participant is, what they are asked, and people who are simulated."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count, islice, product
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.app.jobs.media import of_array
from sidelight.app.store.studio_store import Event, Person, Project, StudioStore
from sidelight.app.studio.answers import check_answer, words_of
from sidelight.app.studio.project import card_of
from sidelight.app.studio.rows import read_rows
from sidelight.app.studio.sources import Source, digits
from sidelight.app.studio.studio import Studio
from sidelight.data.relations import Labeller, Pairs, Triplets
from sidelight.errors import InvalidData, UnknownName
from study.design import KINDS, Pool, Task, check_size, practice_of, right, tasks_of

FACTORS = {
    "performance": "In which task do you have more confidence about your answers?",
    "effort_query": "In which task did you spend less effort on each question?",
    "effort_all": "In which task did you spend less effort on all questions together?",
    "frustration": "In which task did you feel less stressed or discouraged?",
    "preference": "Which task do you prefer in general?",
}
CHOICES = ("pair", "triplet", "none")
# [P17] table 3.7: how many of 24 chose pairs, triplets, neither; what simulated participants answer by.
_SURVEY = {
    "performance": (16, 6, 2), "effort_query": (17, 5, 2), "effort_all": (15, 6, 3), "frustration": (13, 3, 8),
    "preference": (17, 4, 3),
}  # fmt: skip
_STUDY_ROWS = 300  # rows of each set of a study
_STUDY_OF_SET = ("flower", "birdsong")  # whose confusions and times simulated people have on the first and second set


class Studies(Studio):
    """A studio whose projects are studies; one of 0.2.0, where they lay among projects, is opened as it is."""

    def __init__(self, folder: str | Path, database: str | None = None) -> None:
        super().__init__(folder, database)
        self._studies: dict[int, OpenStudy] = {}

    def add_study(
        self, name: str, counts: Mapping[str, int], *, seed: int = 0, sets: Sequence[tuple[str, Source]] = (),
        pools: Mapping[tuple[int, str], Pool] | None = None, has_unsure: bool = False,
    ) -> Project:  # fmt: skip
        """Make a study of pairs against triplets on two sets, by default the bundled digits and generated pictures.

        ``pools`` are questions that were brought for a set (0 or 1) and kind; others are drawn.
        """
        self.check_free(name)
        sets = sets or [
            ("digits", _some(digits(), _STUDY_ROWS, seed)),
            ("generated pictures", pictures(_STUDY_ROWS, seed=seed)),
        ]
        for (number, (title, source)), kind in product(enumerate(sets), KINDS):
            n_drawn = 0 if (number, kind) in (pools or {}) else counts[kind]
            check_size(title, len(source.ids), kind, n_drawn)
        brought = [
            [number, kind, pool.questions.tolist(), pool.difficult.tolist()]
            for (number, kind), pool in (pools or {}).items()
        ]
        settings = {"is_study": True, "counts": dict(counts), "seed": seed, "pools": brought, "unsure": has_unsure}
        with self._places([source for _, source in sets]) as places:
            placed = [{"name": title, "place": place} for (title, _), (place, _) in zip(sets, places)]
            return self.store.add_project(name, settings | {"sets": placed})

    def study(self, number: int) -> OpenStudy:
        """Return a study, opened."""
        if number not in self._studies:
            project = self.store.project(number)
            if not project.settings.get("is_study"):
                raise UnknownName(f"Project {number} is no study.")
            self._studies[number] = OpenStudy(self.store, project, self.folder / "projects")
        return self._studies[number]


class OpenStudy:
    """A study with its rows.

    Parameters
    ----------
    store : StudioStore
        Where everything is kept.
    project : Project
        The study: its settings name the sets, the number of questions of each kind, and the seed.
    folder : Path
        Where the rows of all projects are.
    """

    def __init__(self, store: StudioStore, project: Project, folder: Path) -> None:
        self.store, self.project = store, project
        self.settings: Mapping[str, Any] = project.settings
        self.set_names = [str(one["name"]) for one in self.settings["sets"]]
        self.sets = [read_rows(folder / str(one["place"])) for one in self.settings["sets"]]
        self.counts = {kind: int(self.settings["counts"][kind]) for kind in KINDS}
        self.seed = int(self.settings["seed"])
        self._pools = {
            (number, kind): Pool(np.array(questions, dtype=int), np.array(difficult, dtype=bool))
            for number, kind, questions, difficult in self.settings.get("pools", ())
        }
        self._tasks = lru_cache(maxsize=256)(
            lambda number: tasks_of(self.sets, self.counts, self.seed, number, self._pools)
        )
        self._adding = threading.Lock()

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The answers of either kind; no "unsure" unless the study asks for it."""
        end = None if self.settings.get("unsure") else -1
        return {"pair": words_of(2)[:end], "triplet": words_of(3)[:end]}

    def tasks(self, person: Person) -> list[Task]:
        """Return the four tasks of a participant in their order."""
        return list(self._tasks(person.id))

    def events(self, person: Person | None = None) -> list[Event]:
        """Return what one participant did, or all."""
        events = self.store.events(self.project.id)
        return events if person is None else [event for event in events if event.person == person.id]

    def where(self, person: Person) -> dict[str, Any]:
        """Return where a participant is: introduction, practice, a task, questionnaire or done."""
        mine = self.events(person)
        kinds = {event.kind for event in mine}
        if "questionnaire" in kinds:
            return {"step": "done"}
        if "began" not in kinds:
            return {"step": "introduction"}
        practice = practice_of(self.sets[0], self.seed)
        n_practised = sum(event.kind == "practice" for event in mine)
        if n_practised < len(practice):
            question = practice[n_practised]
            kind = KINDS[len(question) - 2]
            return {
                "step": "practice",
                "set": 0,
                "kind": kind,
                "open": practice[n_practised : n_practised + 2],
                "done": n_practised,
                "of": len(practice),
            }
        done = self._done(mine)
        for number, task in enumerate(self.tasks(person)):
            left = [q for q in task.questions if (number, frozenset(q)) not in done]
            if left:
                n = len(task.questions)
                return {
                    "step": "task",
                    "task": number,
                    "set": task.set,
                    "kind": task.kind,
                    "open": left[:2],
                    "done": n - len(left),
                    "of": n,
                }
        return {"step": "questionnaire"}

    def shown(self, person: Person) -> dict[str, Any]:
        """Return the open questions of a participant as the page shows them, with a place to go when a part is over."""
        where = self.where(person)
        if where["step"] not in ("practice", "task"):
            return {"questions": [], "go": f"/s/{person.token}", "where": _without_rows(where)}
        rows = self.sets[where["set"]]
        questions = []
        for question in where["open"]:
            kind = KINDS[len(question) - 2]
            if kind == where["kind"]:
                cards = [card_of(rows, row, self._address(where["set"])) for row in question]
                questions.append(
                    {"kind": kind, "rows": list(question), "words": list(self.words[kind]), "cards": cards}
                )
        what = "practice" if where["step"] == "practice" else f"part {where['task'] + 1} of 4"
        status = {
            "answers": where["done"],
            "sentence": f"{where['done']} of {where['of']} questions of {what}.",
            "failure": "",
        }
        return {"questions": questions, "status": status, "where": _without_rows(where), "part": _part(where)}

    def begin(self, person: Person) -> None:
        """Take note that the introduction was read."""
        with self._adding:
            if self.where(person)["step"] == "introduction":
                self.store.append(person, "began", {})

    def answer(self, person: Person, rows: Sequence[int], answer: str, *, seconds: float, key: str = "") -> str:
        """Keep an answer; return what to say about it (practice says whether it was right)."""
        with self._adding:
            where = self.where(person)
            if key and any(event.key == key and _is_answer(event, rows, answer) for event in self.events(person)):
                return ""  # sent again, because the acknowledgement was lost
            if where["step"] not in ("practice", "task"):
                raise InvalidData("There is no open question in this part of the study.")
            of_set = self.sets[where["set"]]
            asked = check_answer(rows, answer, of_set.n)
            if frozenset(asked) not in {frozenset(question) for question in where["open"]}:
                raise InvalidData("This question is not open. Load the page again.")
            if answer not in self.words[KINDS[len(asked) - 2]]:
                raise InvalidData('This study takes no "unsure".')
            correct = right(of_set, asked)
            content = {"rows": list(asked), "answer": answer, "right": correct}
            if where["step"] == "practice":
                self._append(person, "practice", content, seconds, key)
                return "That is right." if answer == correct else f"The right answer was: {correct}."
            task = self.tasks(person)[where["task"]]
            at = [frozenset(question) for question in task.questions].index(frozenset(asked))
            about = {"task": where["task"], "set": task.set, "kind": task.kind, "difficult": task.difficult[at]}
            self._append(person, "study answer", content | about, seconds, key)
            return ""

    def _append(self, person: Person, kind: str, content: Mapping[str, Any], seconds: float, key: str) -> None:
        if key:
            self.store.append_once(person, key, kind, content, seconds=seconds)
        else:
            self.store.append(person, kind, content, seconds=seconds)

    def finish(self, person: Person, survey: Mapping[str, str], comment: str) -> None:
        """Keep the questionnaire and end the study of a participant."""
        wrong = [name for name in FACTORS if survey.get(name) not in CHOICES]
        with self._adding:
            if self.where(person)["step"] != "questionnaire":
                raise InvalidData("The questionnaire comes after all four tasks.")
            if wrong:
                raise InvalidData(f"Please choose one answer for: {', '.join(wrong)}.")
            chosen = {name: survey[name] for name in FACTORS}
            self.store.append(person, "questionnaire", {**chosen, "comment": comment[:2000]})

    def simulate(self, n: int) -> int:
        """Add ``n`` simulated participants, with the times and confusions of [P17] tables 3.6 to 3.9."""
        if not 1 <= n <= 48:
            raise InvalidData(f"A study simulates 1 to 48 participants at a time. Got {n}.")
        taken = {person.name for person in self.store.people(self.project.id)}
        free = (name for name in (f"simulated {number}" for number in count(1)) if name not in taken)
        for name in islice(free, n):
            person = self.store.add_person(self.project.id, name, is_simulated=True)
            rng = np.random.default_rng([self.seed, 9, person.id])
            pace = rng.lognormal(
                0.0, 0.3
            )  # people differ in pace: a standard deviation of about a third, as in table 3.6
            events: list[tuple[str, Mapping[str, Any], float]] = [("began", {}, float("nan"))]
            events += [
                ("practice", {"rows": list(q), "answer": right(self.sets[0], q), "right": right(self.sets[0], q)}, 2.0)
                for q in practice_of(self.sets[0], self.seed)
            ]
            for number_of_task, task in enumerate(self.tasks(person)):
                events += self._simulated(task, number_of_task, pace, rng)
            survey = {name: CHOICES[rng.choice(3, p=np.array(shares) / 24)] for name, shares in _SURVEY.items()}
            events.append(("questionnaire", {**survey, "comment": "(simulated)"}, float("nan")))
            self.store.append_all(person, events)
        return n

    def _simulated(
        self, task: Task, number: int, pace: float, rng: np.random.Generator
    ) -> list[tuple[str, Mapping[str, Any], float]]:
        kind: Any = Pairs if task.kind == "pair" else Triplets
        labeller = Labeller.of_study(_STUDY_OF_SET[task.set % 2])
        truth = [right(self.sets[task.set], question) for question in task.questions]
        codes, seconds = labeller.answer(np.array([kind.WORDS.index(word) for word in truth]), len(kind.WORDS), rng)
        return [
            (
                "study answer",
                {
                    "rows": list(question), "answer": kind.WORDS[code], "right": word, "task": number, "set": task.set,
                    "kind": task.kind, "difficult": hard,
                },
                float(took * pace),
            )
            for question, code, word, hard, took in zip(task.questions, codes.tolist(), truth, task.difficult, seconds)
        ]  # fmt: skip

    def _address(self, number: int) -> Any:
        return lambda row, part: f"/study-media/{self.project.id}/{number}/{row}/{part}"

    @staticmethod
    def _done(events: Sequence[Event]) -> set[tuple[int, frozenset[int]]]:
        return {(e.content["task"], frozenset(e.content["rows"])) for e in events if e.kind == "study answer"}

    def reference(self, number: int) -> list[tuple[str, dict[str, Any]]]:
        """Return one example per class of a set."""
        rows = self.sets[number]
        return [(name, card_of(rows, row, self._address(number))) for name, row in rows.examples]


def _is_answer(event: Event, rows: Sequence[int], answer: str) -> bool:
    """Whether an event is this answer to this question."""
    return event.content.get("answer") == answer and list(event.content.get("rows", ())) == list(rows)


def _part(where: Mapping[str, Any]) -> str:
    return f"{where['step']}-{where.get('task', '')}-{where['kind']}"


def _without_rows(where: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in where.items() if name != "open"}


def _some(source: Source, n: int, seed: int) -> Source:
    """Return some rows of a source, drawn at random."""
    chosen = np.sort(np.random.default_rng(seed).choice(len(source.ids), n, replace=False))
    ids, y = [source.ids[i] for i in chosen], None if source.y is None else [source.y[i] for i in chosen]
    return Source(source.X[chosen], ids, source.features, lambda row: source.look(int(chosen[row])), y)


def pictures(n: int = 400, *, seed: int = 0, side: int = 24) -> Source:
    """Draw small pictures of seven shapes, of any size and place, on a noisy ground; generated, for studies."""
    rng = np.random.default_rng(seed)
    shapes = ("disc", "ring", "square", "frame", "cross", "bar", "triangle")
    down, across = np.mgrid[0:side, 0:side] / side - 0.5
    images, classes = [], []
    for _ in range(n):
        kind = shapes[int(rng.integers(len(shapes)))]
        x, y = across - rng.uniform(-0.1, 0.1), down - rng.uniform(-0.1, 0.1)
        r = rng.uniform(0.2, 0.32)
        far, box = np.hypot(x, y), np.maximum(np.abs(x), np.abs(y))
        drawn: Any = {
            "disc": far < r,
            "ring": (far < r) & (far > 0.6 * r),
            "square": box < 0.85 * r,
            "frame": (box < 0.9 * r) & (box > 0.5 * r),
            "cross": (box < r) & (np.minimum(np.abs(x), np.abs(y)) < 0.25 * r),
            "bar": (np.abs(x) < r) & (np.abs(y) < 0.3 * r),
            "triangle": (y < 0.7 * r) & (y > 2 * np.abs(x) - 0.9 * r),
        }[kind]
        images.append(drawn * rng.uniform(0.6, 1.0) + rng.normal(scale=0.12, size=(side, side)))
        classes.append(kind)
    X = np.array([_shape_features(image) for image in images])
    ids = [f"picture {i}" for i in range(n)]
    return Source(X, ids, [f"feature {j}" for j in range(X.shape[1])], lambda row: of_array(images[row]), classes)


def _shape_features(image: np.ndarray) -> np.ndarray:
    """Return how dark rings around the centre of mass are, and how they vary with the angle: place does not matter."""
    side = len(image)
    mass = np.maximum(image - 0.3, 0)  # 0.3: above the noise of the ground, below the faintest shape
    down, across = np.mgrid[0:side, 0:side]
    total = mass.sum() or 1.0
    y, x = down - (mass * down).sum() / total, across - (mass * across).sum() / total
    spread = np.sqrt((mass * (x**2 + y**2)).sum() / total) or 1.0
    far, angle = np.hypot(x, y) / spread, np.arctan2(y, x)
    rings = [(far >= a) & (far < a + 0.4) for a in np.arange(0, 2.0, 0.4)]
    means = [float(image[ring].mean()) if ring.any() else 0.0 for ring in rings]
    waves = [
        abs(complex((image[ring] * np.exp(1j * k * angle[ring])).mean())) if ring.any() else 0.0
        for ring in rings[2:]
        for k in (2, 3, 4)
    ]
    return np.array([*means, *waves])
