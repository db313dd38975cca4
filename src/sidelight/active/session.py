"""A conversation about rows: questions go out, answers come in, and the clusters are there at any moment.

The session never calls a human itself. Everything it knows follows from the rows, its options, its seed and the answers
in their order, so undoing and resuming replay the answers and end bit for bit where they were.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import check_array

from sidelight._core.atomic import replacing
from sidelight._core.fingerprint import fingerprint
from sidelight._core.params import as_generator, as_seed, check_choice, check_n_clusters, check_number
from sidelight.active.clusterer_belief import ClustererBelief
from sidelight.active.outlook import Outlook, PartitionHistory
from sidelight.active.questions import UNSURE, Question
from sidelight.active.row_belief import RowBelief
from sidelight.active.strategies import STRATEGIES
from sidelight.active.triplets import are_apart, better_triplet, pairs_of
from sidelight.data.relations import Pairs
from sidelight.data.relations.facts import Contradiction
from sidelight.data.row_keys import as_row_index
from sidelight.errors import InvalidData, UnknownName, UnreadableFile, as_invalid_data, nearest
from sidelight.progress import report

FORMAT = 1


class Recorder(Protocol):
    """Remembers what happened, one event at a time; an event that was recorded is never lost."""

    def record(self, event: Mapping[str, Any]) -> None:
        """Keep one event."""


class ActiveSession:
    """Ask about pairs of rows, learn from the answers, and cluster all rows by them.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        The rows. Their scale does not matter.
    n_clusters : int or None, default=None
        How many clusters there are; None lets them be discovered.
    strategy : str or Strategy, default="rows"
        How questions are chosen: "rows" (ours), "pairs", "random", "info" and "uncertain" ([P17] chapter 4), "explore"
        (Basu), "minmax" (Mallapragada) or "npu" (Xiong).
    belief : estimator, callable or None, default=None
        None is ours, which doubts answers where they disagree. A clusterer with ``fit(X, pairs=...)`` is fitted again
        as answers come in. A callable makes a belief from (X, n_clusters, generator).
    seconds : tuple of two float or None, default=None
        How long a person takes for a question about two rows and about three. With it, three rows are asked about where
        that buys more information a second; None asks about two rows only.
    recorder : object with ``record(event)``, default=None
        Remembers every event, for example ``sidelight.store.AnswerFile``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything that is drawn.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The cluster of each row so far; the number of a cluster stays while answers come in.
    eps_ : float
        The share of wrong answers so far.
    n_answers : int
        How many questions were answered, "unsure" among them.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    >>> session = sl.ActiveSession(X + 6 * y[:, None], n_clusters=2, random_state=0)
    >>> question = session.ask()
    >>> len(question.rows), question.words
    (2, ('same', 'different', 'unsure'))
    >>> session.run(sl.Oracle(y), budget=5)
    >>> len(set(session.labels_[y == 0])), len(set(session.labels_[y == 1]))
    (1, 1)
    """

    def __init__(
        self,
        X: Any,
        n_clusters: int | None = None,
        *,
        strategy: Any = "rows",
        belief: Callable[..., Any] | None = None,
        seconds: tuple[float, float] | None = None,
        recorder: Recorder | None = None,
        random_state: Any = None,
    ) -> None:
        with as_invalid_data():
            self._X = check_array(X, accept_sparse="csr", dtype="float64", estimator="ActiveSession")
        check_n_clusters(self, 1 if n_clusters is None else n_clusters, self._X.shape[0])
        if self._X.shape[0] < 2:
            raise InvalidData("ActiveSession asks about pairs of rows, but X has one row. Bring at least two.")
        if isinstance(strategy, str):
            check_choice(self, "strategy", strategy, tuple(STRATEGIES))
        self.n_clusters, self.strategy = n_clusters, strategy
        self.seconds = _as_seconds(seconds)
        self.recorder = recorder
        self.seed_ = as_seed(as_generator(random_state))
        if hasattr(belief, "fit") and not isinstance(belief, type):
            belief = partial(ClustererBelief, clusterer=belief)
        if belief is not None and not callable(belief):
            raise InvalidData(
                "ActiveSession: belief must be a clusterer with fit(X, pairs=...), a callable that makes a belief, or "
                f"None. Got {belief!r:.80}."
            )
        self._new_belief = belief or RowBelief
        self._events: list[dict[str, Any]] = []
        self._begin()

    def _begin(self) -> None:
        self._belief = self._new_belief(self._X, self.n_clusters, np.random.default_rng([self.seed_, 0]))
        self._strategy = STRATEGIES[self.strategy]() if isinstance(self.strategy, str) else self.strategy
        self._told: list[tuple[tuple[int, ...], str]] = []
        self._pending: list[Question] = []
        self._pairs = Pairs.empty(self._X.shape[0])
        self._asked: set[frozenset[int]] = set()
        self._history, self._is_due = PartitionHistory(), False
        self._labels: np.ndarray | None = None

    # -- the conversation --------------------------------------------------------------------------------------------

    def ask(self, n: int = 1, *, busy: Iterable[int] = ()) -> Any:
        """Return the next question; the same one until it is answered.

        Parameters
        ----------
        n : int, default=1
            How many, about different rows, for several people at once; more than one are returned as a list.
        busy : iterable of int, default=()
            Rows of questions that are open elsewhere. With some, one question is returned that is about other rows, and
            the session does not keep it.

        Returns
        -------
        Question, list of Question or None
            None when there is nothing left to ask.
        """
        check_number("ActiveSession.ask", "n", n, integer=True, low=1)
        elsewhere = frozenset(busy)
        if elsewhere:
            generator = np.random.default_rng([self.seed_, 1, len(self._told), len(elsewhere)])
            chosen = self._strategy.choose(self._belief, self._is_known, generator, elsewhere)
            return None if chosen is None else Question(chosen[0], len(self._told), chosen[1])
        while len(self._pending) < n:
            busy = frozenset(row for question in self._pending for row in question.rows)
            generator = np.random.default_rng([self.seed_, 1, len(self._told), len(self._pending)])
            chosen = self._strategy.choose(self._belief, self._is_known, generator, busy)
            if chosen is None:
                break
            rows, gain = chosen
            if self.seconds is not None:
                rows = self._perhaps_three(rows, busy)
            self._pending.append(Question(rows, len(self._told) + len(self._pending), gain))
        if n == 1:
            return self._pending[0] if self._pending else None
        return self._pending[:n]

    def tell(self, question: Any, answer: str, **about: Any) -> None:
        """Learn the answer to a question.

        Parameters
        ----------
        question : Question or tuple of int
            A question of ``ask``, or any two or three rows.
        answer : {"same", "different", "unsure"}, or {"a", "b", "c", "none", "unsure"} about three rows
            What the person said; of three rows, which is the odd one out. "unsure" says nothing and is not asked again.
        **about : str or number
            Who answered, in how many seconds, and so on; the recorder keeps it.
        """
        rows = self._rows_of(question)
        words = Question(rows, 0).words
        if not isinstance(answer, str) or answer not in words:
            count = "two" if len(rows) == 2 else "three"
            raise UnknownName(f"{answer!r} is no answer to a question about {count} rows. {nearest(answer, words)}")
        if frozenset(rows) in self._asked:
            raise InvalidData(
                f"Rows {', '.join(map(str, rows))} were asked about already: {self._answer_to(rows)!r}. "
                "Take it back with undo(), or ask about other rows."
            )
        event = {"event": "answer", "rows": list(rows), "answer": answer, **about}
        if self.recorder is not None:
            self.recorder.record(event)  # first, so that no answer is lost whatever happens next
        self._events.append(event)
        self._learn(rows, answer)

    def undo(self) -> None:
        """Take the last answer back."""
        if not self._told:
            raise InvalidData("There is no answer to take back.")
        event = {"event": "undo"}
        if self.recorder is not None:
            self.recorder.record(event)
        self._events.append(event)
        told = self._told[:-1]
        self._begin()
        for rows, answer in told:
            self._learn(rows, answer)

    def place(self, row: int, cluster: int) -> None:
        """Correct the session: ``row`` belongs to ``cluster``."""
        self._correct(row, cluster, "same")

    def reject(self, row: int, cluster: int) -> None:
        """Correct the session: ``row`` does not belong to ``cluster``."""
        self._correct(row, cluster, "different")

    def run(self, oracle: Callable[[Question], str], budget: int) -> None:
        """Ask ``oracle`` up to ``budget`` questions: the loop, for experiments.

        Parameters
        ----------
        oracle : callable
            Question -> answer.
        budget : int
            How many questions.
        """
        check_number("ActiveSession.run", "budget", budget, integer=True, low=0)
        for done in range(budget):
            question = self.ask()
            if question is None:
                return
            self.tell(question, oracle(question))
            report("asking", done + 1, budget)

    def settle(self) -> None:
        """Compare the clusters with those of ten questions ago, if that is due; else the next ``tell`` does it.

        A server calls it while a person looks at the next question, so that no answer waits for it.
        """
        if self._is_due:
            self._history.add(self.labels_)
            self._is_due = False

    def _learn(self, rows: tuple[int, ...], answer: str) -> None:
        self.settle()
        self._told.append((rows, answer))
        learnt = self._as_pairs(rows, answer)
        self._asked.add(frozenset(rows))
        self._pending = [question for question in self._pending if frozenset(question.rows) != frozenset(rows)]
        self._labels = None
        for number, (a, b, word) in enumerate(learnt):
            self._asked.add(frozenset((a, b)))
            self._pairs = self._pairs + Pairs([a], [b], [word], n_rows=self._X.shape[0])
            generator = np.random.default_rng([self.seed_, 2, len(self._told), *([number] if number else [])])
            self._belief.tell(a, b, word == "same", generator)
            self._pending = []  # other questions were chosen before this was known
        for a, b, word in learnt or [(rows[0], rows[1], UNSURE)]:
            self._strategy.heard(self._belief, (a, b), word)
        self._is_due = len(self._told) % PartitionHistory.EVERY == 0

    def _as_pairs(self, rows: tuple[int, ...], answer: str) -> list[tuple[int, int, str]]:
        """Return what an answer says about pairs that were not asked about."""
        if answer == UNSURE:
            return []
        if len(rows) == 2:
            return [(rows[0], rows[1], answer)]
        said = pairs_of(rows, answer, self._relation(rows[1], rows[2]))
        return [(a, b, word) for a, b, word in said if frozenset((a, b)) not in self._asked]

    def _relation(self, a: int, b: int) -> str | None:
        """Return what is known of two rows: it follows from answers, or both are sure of their clusters."""
        known = self._pairs.implies(a, b) if self._belief.is_consistent else None
        if known is not None:
            return str(known)
        return "different" if are_apart(self._belief, a, b) else None

    def _perhaps_three(self, rows: tuple[int, ...], busy: frozenset[int]) -> tuple[int, ...]:
        assert self.seconds is not None  # the caller's condition
        three = better_triplet(
            self._belief, rows, self._is_known, lambda a, b: self._relation(a, b) == "different", self.seconds
        )
        return rows if three is None or busy & set(three) else three

    def _is_known(self, a: int, b: int) -> bool:
        """Whether two rows were asked about, or their relation follows; where answers were wrong nothing follows."""
        if frozenset((a, b)) in self._asked:
            return True
        return self._belief.is_consistent and self._pairs.implies(a, b) is not None

    def _rows_of(self, question: Any) -> tuple[int, ...]:
        rows = question.rows if isinstance(question, Question) else question
        try:
            rows = tuple(int(row) for row in as_row_index(list(rows), self._X.shape[0], "ActiveSession.tell"))
        except TypeError:
            raise InvalidData(
                f"ActiveSession.tell takes a question of ask(), or two or three rows. Got {question!r:.80}."
            ) from None
        if len(rows) not in (2, 3) or len(set(rows)) < len(rows):
            raise InvalidData(
                f"ActiveSession.tell takes a question about two or three different rows. Got {rows!r:.80}."
            )
        return rows

    def _answer_to(self, rows: tuple[int, ...]) -> str:
        return next(answer for asked, answer in self._told if frozenset(rows) <= frozenset(asked))

    def _correct(self, row: int, cluster: int, answer: str) -> None:
        rows = as_row_index([row], self._X.shape[0], "ActiveSession")
        check_number("ActiveSession", "cluster", cluster, integer=True, low=0, high=self._belief.n_known - 1)
        other = self._belief.representative(int(rows[0]), cluster, lambda a, b: frozenset((a, b)) not in self._asked)
        if other is None:
            raise InvalidData(
                f"Every row of cluster {cluster} was compared with row {row} already. Take an answer back with undo()."
            )
        self.tell((int(rows[0]), other), answer, correction=True)

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    def labels_(self) -> np.ndarray:
        """The cluster of each row so far."""
        if self._labels is None:
            self._labels = self._belief.partition(np.random.default_rng([self.seed_, 3, len(self._told)]))
        return self._labels.copy()

    @property
    def eps_(self) -> float:
        """The share of wrong answers so far."""
        return float(self._belief.eps)

    @property
    def n_answers(self) -> int:
        """How many questions were answered."""
        return len(self._told)

    @property
    def pairs(self) -> Pairs:
        """The answers that say something, in their order."""
        return self._pairs

    @property
    def history(self) -> tuple[tuple[tuple[int, ...], str], ...]:
        """The rows and answer of every question, "unsure" among them."""
        return tuple(self._told)

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Return the answers that cannot all be true, with the chain behind each."""
        return self._pairs.contradictions()

    def predict(self, X: Any = None) -> np.ndarray:
        """Return the cluster of each row of the session, or of new rows, by the clusters met so far."""
        return self.labels_ if X is None else np.asarray(self._posterior(X).argmax(axis=1))

    def predict_proba(self, X: Any = None) -> np.ndarray:
        """Return the probability of each cluster met so far, for the rows of the session or for new ones."""
        return self._posterior(X)

    def _posterior(self, X: Any) -> np.ndarray:
        if X is None:
            return np.asarray(self._belief.posterior())
        with as_invalid_data():
            X = check_array(X, accept_sparse="csr", dtype="float64", estimator="ActiveSession")
        if X.shape[1] != self._X.shape[1]:
            raise InvalidData(f"The session's rows have {self._X.shape[1]} features; these have {X.shape[1]}.")
        return np.asarray(self._belief.posterior(X))

    def outlook(self) -> Outlook:
        """Say whether further questions will change much."""
        self.settle()
        return self._history.outlook(len(self._told), np.asarray(self._belief.posterior()))

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the answers and the seed to a JSON file; the rows are not in it."""
        content = {
            "sidelight session": FORMAT,
            "rows": fingerprint(self._X),
            "n_clusters": self.n_clusters,
            "strategy": self.strategy if isinstance(self.strategy, str) else None,
            "seconds": self.seconds,
            "seed": self.seed_,
            "events": self._events,
        }
        with replacing(path, "w", encoding="utf-8") as handle:
            json.dump(content, handle, indent=1)

    @classmethod
    def resume(cls, path: str | os.PathLike[str], X: Any, **options: Any) -> ActiveSession:
        """Take up a saved session; it goes on exactly as it would have.

        Parameters
        ----------
        path : str or path
            A file that ``save`` wrote.
        X : array, CSR matrix or data frame
            The rows of the session.
        **options
            ``recorder``, and ``belief`` or ``strategy`` if they were objects of your own.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            n_clusters, strategy, seed = content["n_clusters"], content["strategy"], int(content["seed"])
            seconds = content.get("seconds")
            known, events, version = content["rows"], list(content["events"]), int(content["sidelight session"])
        except OSError as error:
            raise UnreadableFile(f"Cannot read the session {str(path)!r}: {error.strerror}.") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UnreadableFile(f"{str(path)!r} is not a session that ActiveSession.save wrote.") from error
        if version > FORMAT or version < 1:
            raise UnreadableFile(f"{str(path)!r} has format {version}; this version reads formats 1 to {FORMAT}.")
        session = cls.__new__(cls)
        recorder = options.pop("recorder", None)
        options.setdefault("seconds", seconds)
        session.__init__(X, n_clusters, strategy=options.pop("strategy", strategy), random_state=0, **options)  # type: ignore[misc] # the seed follows
        if fingerprint(session._X) != known:
            raise InvalidData(f"The session {str(path)!r} is about other rows than X. Give the rows it was begun with.")
        session.seed_ = seed
        session.replay(events)
        session.recorder = recorder
        return session

    def replay(self, events: Any) -> None:
        """Begin anew and take all ``events`` of a recorder in their order, without recording them again."""
        told: list[tuple[tuple[int, ...], str]] = []
        kept = []
        for number, event in enumerate(events):
            kind = event.get("event") if isinstance(event, Mapping) else None
            if kind == "undo" and told:
                told.pop()
            elif (
                kind == "answer" and event.get("answer") in Question(rows := self._rows_of(event.get("rows")), 0).words
            ):
                told.append((rows, event["answer"]))
            else:
                raise InvalidData(f"Event {number} of the session makes no sense: {event!r:.80}.")
            kept.append(dict(event))
        self._events = kept
        self._begin()
        for rows, answer in told:
            self._learn(rows, answer)

    def __repr__(self) -> str:
        clusters = "an unknown number of" if self.n_clusters is None else str(self.n_clusters)
        return f"ActiveSession({self._X.shape[0]} rows, {clusters} clusters, {self.n_answers} answers)"


def _as_seconds(seconds: Any) -> tuple[float, float] | None:
    if seconds is None:
        return None
    if not isinstance(seconds, (tuple, list)) or len(seconds) != 2:
        raise InvalidData(
            "ActiveSession: seconds are two numbers, of a question about two rows and of one about three. "
            f"Got {seconds!r:.80}."
        )
    for value in seconds:
        check_number("ActiveSession", "seconds", value, low=0, open_low=True)
    return float(seconds[0]), float(seconds[1])
