"""What pairs and triplets share: numbered answers about rows, with optional weight, annotator and time.

Answers are numbered by position. Selecting rows renumbers the rows and drops answers about rows that went; selecting
answers (``only``, ``without``) keeps all rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import check_number
from sidelight.data.frozen import Frozen
from sidelight.data.names import Names, as_array, as_row_index, check_distinct, encode, is_one_row, look_up
from sidelight.data.relations import reading
from sidelight.data.relations.facts import Contradiction, question_codes
from sidelight.data.relations.labeller import Labeller, draw_questions
from sidelight.data.summaries import html_table
from sidelight.errors import ConflictingAnswers, InvalidData, WrongKind
from sidelight.words import counted

Ints = NDArray[np.intp]


class Agreement(NamedTuple):
    """Two annotators: the questions both answered, the share answered alike, and Cohen's kappa."""

    first: Hashable
    second: Hashable
    n_common: int
    share: float
    kappa: float


def compare(
    questions: Ints, codes: Ints, annotator_codes: Ints, annotators: tuple[Hashable, ...], n_words: int
) -> tuple[Agreement, ...]:
    """Compare every two annotators with a question in common; an annotator's last answer to a question counts."""
    given = [
        dict(zip(questions[mine].tolist(), codes[mine].tolist()))
        for mine in (annotator_codes == code for code in range(len(annotators)))
    ]
    rows = []
    for i, j in combinations(range(len(annotators)), 2):
        common = given[i].keys() & given[j].keys()
        if common:
            table = np.zeros((n_words, n_words))
            for question in common:
                table[given[i][question], given[j][question]] += 1
            rows.append(Agreement(annotators[i], annotators[j], len(common), *_share_and_kappa(table)))
    return tuple(rows)


def _share_and_kappa(table: NDArray[np.float64]) -> tuple[float, float]:
    """Kappa = (share - chance) / (1 - chance), with chance the agreement of independent annotators (Cohen 1960)."""
    table = table / table.sum()
    share = float(np.trace(table))
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    return share, (share - chance) / (1 - chance) if chance < 1 else float("nan")


class Answer(NamedTuple):
    """One answer: the rows it is about, in words what was said, and who said it when."""

    rows: tuple[int, ...]
    answer: str
    weight: float
    annotator: Hashable | None
    time: float


class Answers(Frozen, ABC):
    """The base of :class:`Pairs` and :class:`Triplets`."""

    WORDS: ClassVar[tuple[str, ...]]  # what can be answered; an answer's code is its position
    ALIASES: ClassVar[dict[Any, str]]  # other values that mean a word
    WIDTH: ClassVar[int]  # rows per answer

    rows: Ints
    codes: Ints
    n_rows: int
    weights: NDArray[np.float64]
    times: NDArray[np.float64]
    annotator_names: Names
    annotator_codes: Ints
    _fields = ("rows", "codes", "n_rows", "weights", "times", "annotator_names", "annotator_codes")

    def _with_state(
        self,
        columns: Sequence[Any],
        said: Any,
        n_rows: Any,
        weights: Any,
        annotators: Any,
        times: Any,
        *,
        ids: Names | None = None,
    ) -> Self:
        who = type(self).__name__
        n_rows = reading.as_n_rows(n_rows, who)
        rows = reading.as_rows(columns, n_rows, who, ids)
        codes = reading.as_codes(said, self.WORDS, self.ALIASES, len(rows), who)
        names, annotator_codes = reading.as_annotators(annotators, len(rows), who)
        self.__setstate__(
            {
                "rows": rows,
                "codes": codes,
                "n_rows": n_rows,
                "weights": reading.as_weights(weights, len(rows), who),
                "times": reading.as_times(times, len(rows), who),
                "annotator_names": names,
                "annotator_codes": annotator_codes,
            }
        )
        return self

    @classmethod
    def _from_table(
        cls, table: Any, n_rows: Any, ids: Any, columns: Sequence[str | None], extra: dict[str, Any]
    ) -> Self:
        found, more = reading.answer_columns(table, columns, extra, f"{cls.__name__}.from_table")
        rows = found[: cls.WIDTH]
        if ids is not None:
            ids = check_distinct(ids, "row id")
            if n_rows is not None and reading.as_n_rows(n_rows, f"{cls.__name__}.from_table") != len(ids):
                raise InvalidData(f"{cls.__name__}.from_table: n_rows={n_rows} but there are {len(ids)} ids.")
            n_rows, row_of = len(ids), {name: row for row, name in enumerate(ids)}
            rows = [[look_up(name, row_of, f"{cls.__name__}.from_table", "row id") for name in side] for side in rows]
        elif n_rows is None:
            raise InvalidData(
                f"{cls.__name__}.from_table: say how many rows there are with n_rows=, or name them in ids=."
            )
        return cls.__new__(cls)._with_state(rows, found[cls.WIDTH], n_rows, *more, ids=ids)

    @classmethod
    def empty(cls, n_rows: int) -> Self:
        """Return no answers about ``n_rows`` rows."""
        return cls.__new__(cls)._with_state([[]] * cls.WIDTH, [], n_rows, None, None, None)

    @classmethod
    def sample(
        cls,
        y_true: Any,
        n: int,
        *,
        noise: float = 0.0,
        labeller: Labeller | None = None,
        random_state: Any = None,
        annotator: Any = None,
    ) -> Self:
        """Ask ``n`` different random questions of a simulated person who knows the truth.

        Parameters
        ----------
        y_true : sequence
            The true class of each row.
        n : int
            How many questions, no two about the same rows.
        noise : float, default=0.0
            The probability of a wrong answer; all wrong answers are equally likely ([P17] tables 3.1 and 3.2).
        labeller : Labeller, default=None
            Who answers, with a confusion and seconds of its own, instead of ``noise``.
        random_state : int, RandomState, Generator or None
            Decides the questions, the mistakes and the times.
        annotator : hashable, default=None
            What the person who answers is called; by default the name of the labeller.
        """
        _, classes = encode(y_true, "true class")
        rows, rng = draw_questions(len(classes), cls.WIDTH, n, random_state, f"{cls.__name__}.sample")
        check_number(f"{cls.__name__}.sample", "noise", noise, low=0, high=1)
        person = Labeller(noise=noise) if labeller is None else labeller
        if not isinstance(person, Labeller):
            raise WrongKind(f"{cls.__name__}.sample needs a Labeller that answers, got {labeller!r:.80}.")
        codes, times = person.answer(cls._truth(classes[rows]), len(cls.WORDS), rng)
        name = person.name if annotator is None else annotator
        names, annotator_codes = reading.as_annotators([name] * len(rows), len(rows), f"{cls.__name__}.sample")
        return cls._make(
            rows=rows,
            codes=codes,
            n_rows=len(classes),
            weights=np.ones(len(rows)),
            times=times,
            annotator_names=names,
            annotator_codes=annotator_codes,
        )

    @classmethod
    @abstractmethod
    def _truth(cls, classes: Ints) -> Ints:
        """Return the codes of the true answers, given the true classes of the rows of each question."""

    # -- answers ------------------------------------------------------------------------------------------------------

    @property
    def n_answers(self) -> int:
        """The number of answers."""
        return len(self.rows)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """Every answer with its rows, what was said, weight, annotator and time (NaN when not known)."""
        words = [self.WORDS[code] for code in self.codes.tolist()]
        told = zip(map(tuple, self.rows.tolist()), words, self.weights.tolist(), self.annotators, self.times.tolist())
        return tuple(Answer(*answer) for answer in told)

    @property
    def annotators(self) -> tuple[Hashable | None, ...]:
        """Who gave each answer; None when that is not known."""
        names = (*self.annotator_names, None)
        return tuple(names[code] for code in self.annotator_codes.tolist())

    @property
    def question_codes(self) -> Ints:
        """The same number for answers about the same rows, in whatever order they are listed."""
        return question_codes(self.rows, self.n_rows)

    def only(self, answers: Any) -> Self:
        """Return these answers alone: numbers, a mask or a slice. All rows stay, answers are numbered anew."""
        kept = as_row_index(
            [answers] if is_one_row(answers) else answers, self.n_answers, f"{self._word}.only", "answer"
        )
        return self._keeping(kept, self.rows[kept], self.n_rows)

    def without(self, answers: Any) -> Self:
        """Return all answers but these: one number, several, a mask or a slice. The others are numbered anew."""
        dropped = as_row_index(
            [answers] if is_one_row(answers) else answers, self.n_answers, f"{self._word}.without", "answer"
        )
        kept = np.ones(self.n_answers, dtype=bool)
        kept[dropped] = False
        return self.only(kept)

    def each_once(self) -> Self:
        """Return the answers that count, each once: without those of weight 0, equal ones joined.

        The same answer of the same person to the same question is one answer with the sum of the weights. So whoever
        learns from these treats a weight of 2 as two answers, and a weight of 0 as none.
        """
        counts = np.flatnonzero(self.weights > 0)
        keys = np.column_stack([self.question_codes, self._comparable_codes(), self.annotator_codes])[counts]
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        if len(first) == self.n_answers:
            return self
        kept = np.sort(first)
        once = self.only(counts[kept])
        number = np.searchsorted(kept, first)[place.reshape(-1)]
        return once._make(
            **{name: getattr(once, name) for name in once._fields}
            | {"weights": np.bincount(number, self.weights[counts], minlength=len(kept))}
        )

    def broken_by(self, clusters: Any) -> Ints:
        """Return the numbers of the answers that clusters of the rows break, those of weight 0 aside."""
        labels = as_array(clusters, f"{type(self).__name__}.broken_by")
        if labels.shape != (self.n_rows,):
            raise InvalidData(
                f"{type(self).__name__}.broken_by: expected the cluster of each of the {self.n_rows} rows. "
                f"Got shape {labels.shape}."
            )
        truth = type(self)._truth(labels[self.rows])
        return np.flatnonzero((truth != self.codes) & (self.weights > 0))

    def __add__(self, other: object) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        if other.n_rows != self.n_rows:
            raise InvalidData(
                f"Answers about {self.n_rows} rows and about {other.n_rows} rows cannot be added. "
                "Make both with the same n_rows."
            )
        fields = ("rows", "codes", "weights", "times")
        joined = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in fields}
        names, codes = reading.as_annotators([*self.annotators, *other.annotators], len(joined["rows"]), self._word)
        return self._make(n_rows=self.n_rows, annotator_names=names, annotator_codes=codes, **joined)

    def agreement(self) -> tuple[Agreement, ...]:
        """Compare every two annotators on the questions both answered.

        Returns
        -------
        tuple of Agreement
            ``first``, ``second``, ``n_common`` questions, the ``share`` answered alike, and Cohen's ``kappa`` (NaN when
            both always gave one and the same answer). Of several answers to one question an annotator's last counts.
        """
        codes = self._comparable_codes()
        return compare(self.question_codes, codes, self.annotator_codes, self.annotator_names, len(self.WORDS))

    def _comparable_codes(self) -> Ints:
        """Return the codes as if the rows of every question were listed in ascending order."""
        return self.codes

    # -- what follows -------------------------------------------------------------------------------------------------

    @abstractmethod
    def groups(self) -> Ints:
        """Return a group number for each row; rows that must be alike, by whatever chain, share one."""

    @abstractmethod
    def contradictions(self, *, limit: int | None = None) -> tuple[Contradiction, ...]:
        """Return every contradiction: two rows, the chain of answers that links them, and the answer against it.

        Parameters
        ----------
        limit : int, default=None
            Stop after this many.
        """

    def check_consistent(self) -> None:
        """Raise :class:`~sidelight.errors.ConflictingAnswers` when not all answers can be true."""
        contradictions = self.contradictions(limit=2)
        if not contradictions:
            return
        more = f" There are more: see {self._word}.contradictions()." if len(contradictions) > 1 else ""
        raise ConflictingAnswers(
            f"{contradictions[0]} Drop one, for example with "
            f"{self._word}.without({contradictions[0].against[0]}).{more}"
        )

    # -- rows, as scikit-learn takes them -----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int]:
        """One value per row, as scikit-learn wants it."""
        return (self.n_rows,)

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.groups(), dtype=dtype, copy=copy)

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is not a sequence. Go through {self._word}.answers instead.")

    def __getitem__(self, key: Any) -> Self:
        if is_one_row(key):
            raise InvalidData(
                f"{self._word}[...] selects rows, not a single one. For answer {key} see {self._word}.answers[{key}]."
            )
        kept = as_row_index(key, self.n_rows, type(self).__name__)
        new_row = np.full(self.n_rows, -1, dtype=np.intp)
        new_row[kept] = np.arange(len(kept))
        repeated = kept[new_row[kept] != np.arange(len(kept))]
        if len(repeated):
            raise InvalidData(
                f"{self._word}[...]: row {repeated[0]} is selected more than once, and it is not known which copy an "
                "answer would be about. Select every row once; only Bags allow copies."
            )
        rows = new_row[self.rows]
        stay = np.flatnonzero((rows >= 0).all(axis=1))
        return self._keeping(stay, rows[stay], len(kept))

    def _keeping(self, answers: Ints, rows: Ints, n_rows: int) -> Self:
        names, codes = reading.still_used(self.annotator_names, self.annotator_codes[answers])
        return self._make(
            rows=rows,
            codes=self.codes[answers],
            n_rows=n_rows,
            weights=self.weights[answers],
            times=self.times[answers],
            annotator_names=names,
            annotator_codes=codes,
        )

    # -- looks, comparison, files -------------------------------------------------------------------------------------

    @property
    def _word(self) -> str:
        return type(self).__name__.lower()

    def summary(self) -> dict[str, Any]:
        """Return the counts worth knowing before anything is fitted, by name."""
        counts = np.bincount(self.codes, minlength=len(self.WORDS)).tolist()
        return {
            "rows": self.n_rows,
            "rows asked about": len(np.unique(self.rows)),
            "answers": self.n_answers,
            **dict(zip(self.WORDS, counts)),
            "annotators": len(self.annotator_names),
        }

    def __repr__(self) -> str:
        facts = self.summary()
        told = ", ".join(f"{facts[word]} {word}" for word in self.WORDS if facts[word])
        by = f"; {counted(facts['annotators'], 'annotator')}" if facts["annotators"] else ""
        asked = f"{counted(facts['answers'], 'answer')} about {facts['rows asked about']} of {facts['rows']} rows"
        return f"{type(self).__name__}({asked}{': ' + told if told else ''}{by})"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self.summary())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answers) or type(other) is not type(self):
            return NotImplemented
        return (
            self.n_rows == other.n_rows
            and self.annotators == other.annotators
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.times, other.times, equal_nan=True)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.n_rows, self.rows.tobytes(), self.codes.tobytes()))

    def __archive__(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "answers": self.codes,
            "n_rows": self.n_rows,
            "weights": self.weights,
            "times": self.times,
            "annotator_names": list(self.annotator_names),
            "annotator_codes": self.annotator_codes,
        }

    @classmethod
    def __unarchive__(cls, state: dict[str, Any]) -> Self:
        names = (*check_distinct(state["annotator_names"], "annotator"), None)
        rows, codes, who = (np.asarray(state[name]) for name in ("rows", "answers", "annotator_codes"))
        sound = rows.ndim == 2 and rows.shape[1] == cls.WIDTH and len(codes) == len(rows) == len(who)
        sound = sound and all(
            c.dtype.kind in "iu" and np.all((c >= -1) & (c < n))
            for c, n in ((codes, len(cls.WORDS)), (who, len(names) - 1))
        )
        if not sound or np.any(codes < 0):
            raise InvalidData(f"{cls.__name__}: the stored answers contradict themselves; the file is damaged.")
        words = [cls.WORDS[code] for code in codes.tolist()]
        annotators = [names[code] for code in who.tolist()]
        new = cls.__new__(cls)
        return new._with_state(list(rows.T), words, state["n_rows"], state["weights"], annotators, state["times"])
