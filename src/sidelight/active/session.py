"""A conversation about rows: questions go out, answers come in, and the clusters are there at any moment.

The session never calls a human itself. Everything it knows follows from the rows, its options, its seed and the answers
in their order and in the steps they were learnt in, so undoing and resuming end bit for bit where they were.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import check_array

from sidelight._core.params import (
    as_generator,
    as_seed,
    as_sequence,
    check_choice,
    check_n_clusters,
    check_number,
    settled_csr,
)
from sidelight._core.process import one_thread
from sidelight.active.belief import Belief, as_belief, name_of
from sidelight.active.outlook import Outlook, PartitionHistory
from sidelight.active.people import (
    PersonSoFar,
    Rates,
    SecondLooks,
    doubt_of_untested,
    is_tested,
    report_people,
    test_due,
)
from sidelight.active.questions import UNSURE, Question, better_triplet, busy_questions, checked_answers, rows_of
from sidelight.active.rivals.cobras import CobrasBelief
from sidelight.active.row_belief import RowBelief
from sidelight.active.screens import MOVE, PileAct
from sidelight.active.sorting import Sorting, converse
from sidelight.active.strategies import STRATEGIES
from sidelight.active.sureness import Sureness
from sidelight.active.told import (
    Conversation,
    GivenAnswer,
    Known,
    SavedSession,
    Told,
    checked_about,
    checked_person,
    in_steps,
    is_move,
    told_by,
)
from sidelight.data.names import as_row_index
from sidelight.data.relations import Pairs
from sidelight.data.relations.facts import Contradiction, most_damaging_first
from sidelight.errors import InvalidData, InvalidParameter, as_invalid_data
from sidelight.estimators._base import fingerprint, refuse_unusable


class Recorder(Protocol):
    """Remembers what happened, one event at a time; an event that was recorded is never lost."""

    def record(self, event: Mapping[str, Any]) -> None:
        """Keep one event."""


class ActiveSession(Sorting):
    """Ask about pairs of rows, learn from the answers, and cluster all rows by them.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        The rows. Their scale does not matter.
    n_clusters : int or None, default=None
        How many clusters there are; None lets them be discovered.
    strategy : str or Strategy, default="rows"
        How questions are chosen: "rows" (ours), "pairs", "random", "info" and "uncertain" ([P17] chapter 4), "explore"
        (Basu), "minmax" (Mallapragada), "npu" (Xiong) or "cobras" (Van Craenendonck).
    belief : estimator, callable or None, default=None
        None is ours, which doubts answers where they disagree; for "cobras" it is COBRAS' own. A clusterer with
        ``fit(X, pairs=...)`` is fitted again as answers come in. A callable makes a belief from (X, n_clusters,
        generator).
    seconds : tuple of two float or None, default=None
        How long a person takes for a question about two rows and about three. With it, three rows are asked about where
        that buys more information a second; None asks about two rows only.
    recorder : object with ``record(event)``, default=None
        Remembers every event, for example ``sidelight.app.store.AnswerFile``.
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
        with as_invalid_data("ActiveSession"):
            self._X = check_array(settled_csr(X), accept_sparse="csr", dtype="float64", ensure_all_finite=False)
        refuse_unusable(self, self._X)
        if self._X.shape[0] < 2:
            raise InvalidData("ActiveSession asks about pairs of rows, but X has one row. Bring at least two.")
        if n_clusters is not None:
            advice = "With one cluster there is nothing to ask; None lets clusters be discovered."
            check_number(self, "n_clusters", n_clusters, integer=True, low=2, none=True, advice=advice)
            check_n_clusters(self, n_clusters, self._X.shape[0])
        if isinstance(strategy, str) or not callable(getattr(strategy, "choose", None)):
            check_choice(self, "strategy", strategy, tuple(STRATEGIES))
        self.n_clusters, self.strategy = n_clusters, strategy
        self.seconds = _as_seconds(seconds)
        if recorder is not None and not callable(getattr(recorder, "record", None)):
            raise InvalidParameter(
                f"The 'recorder' parameter of ActiveSession must have a method record(event), as AnswerFile has. Got "
                f"{recorder!r:.80} instead."
            )
        self.recorder = recorder
        self.seed_ = as_seed(as_generator(random_state))
        self._belief_name = None if belief is None else name_of(belief)
        ours = CobrasBelief if strategy == "cobras" else RowBelief
        self._new_belief = ours if belief is None else as_belief(belief)
        self._events: list[dict[str, Any]] = []
        self._belief: Any = Belief()
        self._begun_with: int | None = None  # the seed that the belief began with
        self._begin()

    @one_thread()
    def _begin(self) -> None:
        again = self._belief.anew() if self._begun_with == self.seed_ else None
        self._belief = again or self._new_belief(self._X, self.n_clusters, np.random.default_rng([self.seed_, 0]))
        if not isinstance(self._belief, Belief):
            raise InvalidData(
                f"ActiveSession: belief makes a {type(self._belief).__name__}, which does not say what it can do. Let "
                "its class inherit from sidelight.active.belief.Belief."
            )
        self._begun_with = self.seed_
        self._strategy = STRATEGIES[self.strategy]() if isinstance(self.strategy, str) else copy.deepcopy(self.strategy)
        self._said = Conversation(self._X.shape[0])
        self._known = Known(self._said, self._belief)
        self._screen, self._asked_for = None, 0  # the screen that is asked, and how many rows were wanted
        self._about: str | None = None
        self._pending: list[Question] = []
        self._held: list[Question] = []  # asked of several people at once, and not answered yet
        self._are_several = False
        self._second_looks = SecondLooks()
        self._rates_known: Rates | None = None
        self._history, self._is_due = PartitionHistory(), False
        self._labels: np.ndarray | None = None
        self._sureness: Sureness | None = None

    # -- the conversation --------------------------------------------------------------------------------------------

    @one_thread()
    def ask(self, n: int = 1, *, busy: Iterable[Any] = (), person: str | int | None = None) -> Any:
        """Return the next question; the same one until it is answered.

        Parameters
        ----------
        n : int, default=1
            How many different ones, for several people at once; more than one are returned as a list. Who asks alone
            after that is not given what another of them still has.
        busy : iterable of Question or tuple of int, default=()
            Questions that other people have. With some, another question is returned that counts on their being
            answered, and the session does not keep it.
        person : str, int or None, default=None
            Who will answer. Where several people answer, each first gets surprising answers of others to judge, and
            until everybody was tested some that were not surprising.

        Returns
        -------
        Question, list of Question or None
            None when there is nothing left to ask.
        """
        check_number("ActiveSession.ask", "n", n, integer=True, low=1)
        elsewhere = busy_questions(busy, self._X.shape[0])
        if person is not None:
            who, busy_rows = checked_person(person), {frozenset(rows) for rows in elsewhere}
            again = self._second_looks.due_for(who, self._said, busy_rows)
            again = again or test_due(who, self._said, busy_rows, self.seed_)
            if again is not None:
                return Question(again, len(self._said.told))
        if elsewhere:
            return self._choose(elsewhere)
        self._are_several |= n > 1
        held = self._held if n > 1 else []  # for one person: what no other has
        while len(held) + len(self._pending) < n:
            question = self._choose([question.rows for question in (*self._held, *self._pending)])
            if question is None:
                break
            self._pending.append(question)
        if n == 1:
            return self._pending[0] if self._pending else None
        return [*held, *self._pending][:n]

    def _choose(self, being_asked: Sequence[tuple[int, ...]]) -> Question | None:
        """Return the best question besides those that are being asked."""
        n_told, belief, known = len(self._said.told), self._belief, self._known
        generator = np.random.default_rng([self.seed_, 1, n_told, len(being_asked)])
        busy: frozenset[int] = frozenset()
        if being_asked:
            busy = frozenset(row for rows in being_asked for row in rows)
            if getattr(self._strategy, "shares_rows", False):  # else it places one row after the other
                belief, placed = belief.expecting(being_asked)
                busy = frozenset(placed)
            known = Known(self._said, belief, being_asked)
        chosen = self._strategy.choose(belief, known, generator, busy)
        if chosen is None:
            return None
        rows, gain = chosen
        if self.seconds is not None:
            rows = self._perhaps_three(rows, known)
        return Question(rows, n_told + len(being_asked), gain)

    def tell(self, question: Any, answer: str, **about: Any) -> None:
        """Learn the answer to a question.

        Parameters
        ----------
        question : Question or tuple of int
            A question of ``ask``, or any two or three rows.
        answer : {"same", "different", "unsure"}, or {"a", "b", "c", "none", "unsure"} about three rows
            What the person said; of three rows, which is the odd one out. "unsure" says nothing and is not asked again.
        **about : str or number
            ``person`` is who answered, a name or a number: people are weighed by how often they are wrong, and several
            may answer the same question about two rows. Seconds and so on are kept by the recorder.
        """
        self.tell_all([(question, answer)], **about)

    def tell_all(self, answers: Iterable[tuple[Any, ...]], **about: Any) -> None:
        """Learn several answers in one step, for example those of many people; what is recorded is the same.

        If one of them cannot be, none is recorded.

        Parameters
        ----------
        answers : iterable of (question, answer) or (question, answer, person)
            As for ``tell``, in their order.
        **about : str or number
            What the recorder keeps with each of them; ``person`` gave those that name no person.
        """
        default = about.pop("person", None)
        about = checked_about(about)
        told = [
            GivenAnswer(
                rows, answer, checked_person(default if person is None else person), is_move(rows, answer, about)
            )
            for rows, answer, person in checked_answers(answers, self._X.shape[0])
        ]
        self._said.check_new(told)
        recorded: list[GivenAnswer] = []
        try:
            for given in told:
                who = {} if given.person is None else {"person": given.person}
                self._record({"event": "answer", "rows": list(given.rows), "answer": given.answer, **who, **about})
                recorded.append(given)
        finally:  # a recorder that fails half way keeps what it has
            if recorded:
                self._learn(recorded)

    def undo(self) -> None:
        """Take the last answer back."""
        if not self._said.told:
            raise InvalidData("There is no answer to take back.")
        self._record({"event": "undo"})
        self._learn_anew(self._said.told[:-1], self._said.steps)

    def _record(self, event: dict[str, Any]) -> None:
        if self.recorder is not None:
            self.recorder.record(event)  # first, so that no answer is lost whatever happens next
        self._events.append(event)

    def place(self, row: int, cluster: int, *, person: str | int | None = None) -> None:
        """Correct the session: ``row`` belongs to ``cluster``, says ``person``."""
        if self._is_pile(cluster):
            row = int(as_row_index([row], self._X.shape[0], "ActiveSession")[0])
            pile = self.piles[cluster].number
            self._do(PileAct(MOVE, (row,), (pile,), {}, checked_person(person)))
        else:
            self._correct(row, cluster, "same", person)

    def reject(self, row: int, cluster: int, *, person: str | int | None = None) -> None:
        """Correct the session: ``row`` does not belong to ``cluster``, says ``person``."""
        self._correct(row, cluster, "different", person)

    def run(
        self,
        oracle: Callable[[Question], str],
        budget: int | None = None,
        *,
        seconds: float | None = None,
        by: str | None = None,
    ) -> None:
        """Ask ``oracle`` up to ``budget`` questions, or for so many seconds: the loop, for experiments.

        Parameters
        ----------
        oracle : callable
            Question -> answer. For seconds or piles an :class:`~sidelight.Oracle`.
        budget : int or None, default=None
            How many questions; a screen counts as one.
        seconds : float or None, default=None
            Instead: how long a person has. No question begins that would take longer.
        by : {"auto", "piles", "pairs"} or None, default=None
            Ask by screens of ten rows, by pairs, or by whichever promises more a second. None: "auto" where seconds
            are given, else "pairs".
        """
        converse(self, oracle, budget, seconds, by)

    def compare_with_before(self) -> None:
        """Compare the clusters with those of ten questions ago, if that is due; else the next ``tell`` does it.

        A server calls it while a person looks at the next question, so that no answer waits for it.
        """
        if self._is_due:
            self._history.add(self.labels_, self._share_wrong())
            self._is_due = False

    def _share_wrong(self) -> float:
        """Return the share of rows that are probably not where they are shown; NaN before anybody sorted."""
        return self._belief.share_wrong(self.predict_proba()) if self.piles else float("nan")

    def _learn_anew(self, told: Sequence[Told], steps: Sequence[int]) -> None:
        self._begin()
        for batch in in_steps(told, steps):
            if isinstance(batch[0], PileAct):
                self._learn_acts(batch)
            else:
                self._learn(batch)

    @one_thread()  # the products are thin: threads of BLAS and OpenMP would wait for each other most of the time
    def _learn(self, batch: Sequence[GivenAnswer]) -> None:
        """Learn answers in one step."""
        self.compare_with_before()
        n_before = len(self._said.told)
        self._notice_surprises(batch)
        for given in batch:
            if given.moves and self._belief.can_relink:
                self._move(given.rows[0], given.rows[1])
        learnt = self._said.add(batch, self._belief)
        n_told = len(self._said.told)
        done = {frozenset(given.rows) for given in batch}
        self._pending = [question for question in self._pending if frozenset(question.rows) not in done]
        self._held = [question for question in self._held if frozenset(question.rows) not in done]
        if self._are_several:  # the others still have theirs
            self._held, self._pending = [*self._held, *self._pending], []
        self._labels = self._rates_known = self._screen = self._sureness = None
        if learnt:
            generator = np.random.default_rng([self.seed_, 2, n_told])
            self._weigh_people()
            self._belief.tell_all([(a, b, word == "same") for a, b, word in learnt], generator)
            self._pending = []  # other questions were chosen before this was known
        unsure = [(given.rows[0], given.rows[1], UNSURE) for given in batch if given.answer == UNSURE]
        for a, b, word in [*learnt, *unsure]:
            self._strategy.after_answer(self._belief, (a, b), word)
        self._is_due = n_told // PartitionHistory.EVERY > n_before // PartitionHistory.EVERY

    def _move(self, row: int, other: int) -> None:
        """Take a row out of the rows that answers join it to, so that a correction of it joins no two clusters."""
        stand_in = self._said.take_out(row, other)
        if stand_in is not None:
            self._belief.relink(self._links(), row, stand_in)

    def _notice_surprises(self, batch: Sequence[GivenAnswer]) -> None:
        """Take note of answers of a team that the belief did not expect: another person should look at them."""
        for rows, answer, person, _ in batch:
            if person is None or len(rows) != 2 or answer == UNSURE:
                continue
            if given := self._said.given(rows):
                self._second_looks.note_again(rows, answer, given)
                continue
            same = self._belief.chance_of_same(*rows)
            if same is not None:
                self._second_looks.note(rows, same if answer == "same" else 1.0 - same, self._rates.rate(person))

    def _weigh_people(self) -> None:
        """Let the belief weigh answers by who gave them, where several people did."""
        people = [self._said.told[source].person for source in self._said.sources]
        if len(set(people)) > 1:
            weights = {person: self._rates.weight(person) for person in set(people)}
            self._belief.answer_weights = np.array([weights[person] for person in people])

    @property
    def _rates(self) -> Rates:
        """How often people are wrong, by the answers learnt so far."""
        if self._rates_known is None:
            people = [self._said.told[source].person for source in self._said.sources]
            placed = self._belief.placement_doubts
            wrong = np.append(self._wrong(), [doubt for _, doubt in placed])
            tested = np.append(is_tested(self._links(), self._X.shape[0]), np.ones(len(placed), dtype=bool))
            self._rates_known = Rates.of(wrong, tested, [*people, *(who for who, _ in placed)])
        return self._rates_known

    def _wrong(self) -> np.ndarray:
        """Return the chance of each answer to be wrong, 0 of those that the belief does not doubt."""
        wrong, doubted = np.zeros(len(self._said.sources)), self._belief.wrong[: len(self._said.sources)]
        wrong[: len(doubted)] = doubted
        return wrong

    def _links(self) -> list[tuple[int, int, int]]:
        pairs = self._said.pairs
        return [
            (a, b, int(code)) for (a, b), code in zip(pairs.rows.tolist(), pairs.codes == Pairs.WORDS.index("same"))
        ]

    def _perhaps_three(self, rows: tuple[int, ...], known: Known) -> tuple[int, ...]:
        assert self.seconds is not None  # the caller's condition
        belief, said = self._belief, self._said
        three = better_triplet(
            belief, rows, known, lambda a, b: said.relation(a, b, belief) == "different", self.seconds
        )
        return rows if three is None or known.was_asked(*three) else three

    def _correct(self, row: int, cluster: int, answer: str, person: str | int | None) -> None:
        row = int(as_row_index([row], self._X.shape[0], "ActiveSession")[0])
        last = max(self._belief.n_known - 1, int(self.labels_.max()))
        check_number("ActiveSession", "cluster", cluster, integer=True, low=0, high=last)
        if cluster < self._belief.n_known:
            other = self._belief.representative(row, cluster, self._said.was_asked)
        else:
            others = (int(one) for one in self.typical_rows(cluster) if one != row)
            other = next((one for one in others if not self._said.was_asked(row, one)), None)
        if other is None:
            raise InvalidData(
                f"Every row of cluster {cluster} was compared with row {row} already. Take an answer back with undo()."
            )
        who = {} if person is None else {"person": person}
        self.tell((row, other), answer, correction=True, **who)

    # -- what is known -----------------------------------------------------------------------------------------------

    @property
    @one_thread()
    def labels_(self) -> np.ndarray:
        """The cluster of each row so far."""
        if self._labels is None:
            self._labels = self._belief.partition(np.random.default_rng([self.seed_, 3, len(self._said.told)]))
        return self._labels.copy()

    def typical_rows(self, cluster: int) -> np.ndarray:
        """Return the rows of a cluster, the most typical by their features first.

        Parameters
        ----------
        cluster : int
            One of ``labels_``.
        """
        labels = self.labels_
        check_number("ActiveSession.typical_rows", "cluster", cluster, integer=True, low=0, high=int(labels.max()))
        rows = np.flatnonzero(labels == cluster)
        return rows[np.argsort(-self.typicality_[rows], kind="stable")]

    @property
    def typicality_(self) -> np.ndarray:
        """How near each row is to the middle of the cluster that the rows alone suggest for it; 1 is in the middle."""
        return np.asarray(self._belief.typicality(), dtype=np.float64)

    @property
    def eps_(self) -> float:
        """The share of wrong answers so far."""
        return float(self._belief.eps)

    @property
    def n_answers(self) -> int:
        """How many questions were answered."""
        return len(self._said.told)

    @property
    def pairs(self) -> Pairs:
        """The answers that say something, in their order."""
        return self._said.pairs

    @property
    def history(self) -> tuple[tuple[tuple[int, ...], str], ...]:
        """The rows and answer of every question, "unsure" among them."""
        return tuple((given.rows, given.answer) for given in self._said.told)

    def may_tell(self, rows: Sequence[int], person: str | int | None = None) -> bool:
        """Say whether an answer of this person would be taken: neither they nor an unnamed person gave one yet."""
        return self._said.may_answer(rows_of(rows, self._X.shape[0], "ActiveSession.may_tell"), person)

    def people(self) -> list[PersonSoFar]:
        """Return what the answers say about each person: how many they gave, and how often they seem to be wrong."""
        tested = is_tested(self._links(), self._X.shape[0])
        placed = [who for who, _ in self._belief.placement_doubts]
        return report_people(self._said.told, self._said.sources, self._wrong(), self._rates, tested, placed)

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Return the answers that cannot all be true, with the chain behind each; the most damaging first."""
        return tuple(most_damaging_first(self._said.pairs.contradictions()))

    def predict(self, X: Any = None) -> np.ndarray:
        """Return the cluster of each row of the session, or of new rows, by the clusters met so far."""
        return self.labels_ if X is None else np.asarray(self._posterior(X).argmax(axis=1))

    def predict_proba(self, X: Any = None) -> np.ndarray:
        """Return the probability of each cluster met so far, for the rows of the session or for new ones.

        They are as sure as rows asked about are right when all others judge them; see ``sureness``. Where these are
        fewer than 20, or than ten for each cluster, ``sureness().is_measured`` is False: the probabilities are then the
        belief's own, good for an order of rows, and too sure or not sure enough by .2 or more. In a team those
        whom nobody tested may be careless, and what they said nothing.
        """
        P, doubt = np.asarray(self.sureness().tempered(self._posterior(X))), doubt_of_untested(self._said)
        return P if doubt == 0.0 else (1.0 - doubt) * P + doubt / P.shape[1]

    def sureness(self) -> Sureness:
        """Say how sure rows may be: how right those asked about are, judged by all others."""
        if self._sureness is None:
            self._sureness = Sureness.of(*self._belief.left_out())
        return self._sureness

    def _posterior(self, X: Any) -> np.ndarray:
        if X is None:
            return np.asarray(self._belief.posterior())
        with as_invalid_data("ActiveSession"):
            X = check_array(settled_csr(X), accept_sparse="csr", dtype="float64")
        if X.shape[1] != self._X.shape[1]:
            raise InvalidData(f"The session's rows have {self._X.shape[1]} features; these have {X.shape[1]}.")
        return np.asarray(self._belief.posterior(X))

    def outlook(self) -> Outlook:
        """Say whether further questions will change much."""
        self.compare_with_before()
        drawn = list(self._belief.piles.drawn.values()) if self.piles else None
        P, is_measured = self.predict_proba(), self.sureness().is_measured
        unlike, wrong = self._belief.n_unlike(), self._share_wrong()
        return self._history.outlook(len(self._said.told), P, unlike, wrong, drawn, is_measured=is_measured)

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the answers and the seed to a JSON file; the rows are not in it."""
        SavedSession(
            rows=fingerprint(self._X),
            n_clusters=self.n_clusters,
            strategy=self.strategy if isinstance(self.strategy, str) else None,
            belief=self._belief_name,
            seconds=self.seconds,
            seed=self.seed_,
            steps=self._said.steps,
            events=self._events,
        ).write(path)

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
        saved = SavedSession.read(path)
        saved.check_options(path, options)
        recorder = options.pop("recorder", None)
        options.setdefault("seconds", saved.seconds)
        strategy = options.pop("strategy", saved.strategy)
        session = cls(X, saved.n_clusters, strategy=strategy, random_state=0, **options)  # the seed follows
        if fingerprint(session._X) != saved.rows:
            raise InvalidData(f"The session {str(path)!r} is about other rows than X. Give the rows it was begun with.")
        session.seed_ = saved.seed
        session.replay(saved.events, steps=saved.steps)
        session.recorder = recorder
        return session

    def replay(self, events: Iterable[Any], *, steps: Sequence[int] = ()) -> None:
        """Begin anew and take all ``events`` of a recorder in their order, without recording them again.

        Parameters
        ----------
        events : iterable of mapping
            What a recorder was given.
        steps : sequence of int, default=()
            How many answers to learn at a time; those beyond are learnt one by one.
        """
        kept = as_sequence("ActiveSession.replay", "events", events, "a list of events, as a recorder was given them")
        sizes = as_sequence("ActiveSession.replay", "steps", steps, "a list of whole numbers")
        for size in sizes:
            check_number("ActiveSession.replay", "steps", size, integer=True, low=0)
        told = told_by(kept, self._X.shape[0])
        self._events = [dict(event) for event in kept]
        self._learn_anew(told, sizes)

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
