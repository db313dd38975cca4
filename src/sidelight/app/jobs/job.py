"""What a job is: one object, in the ``__init__`` of its folder, that owns everything the shells ask about it.

Its functions import what they need when they are called, so that the list of jobs is quick to load.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any

from sidelight.app.jobs.options import Options, build, fields_of
from sidelight.errors import InvalidParameter, UnknownName, nearest
from sidelight.lazy import Late
from sidelight.words import Setting

if TYPE_CHECKING:
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.demonstration import Demo
    from sidelight.app.jobs.result import Result
    from sidelight.data.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Fit:
    """A job that fits a file: the roles to pass, and a number of clusters where a column labels the rows."""

    job: str
    why: str
    roles: Mapping[str, Any] = field(default_factory=dict)
    n_clusters: int | None = None
    table: str | None = None  # where the file is no table itself: what to write in the place of one


@dataclass(frozen=True, slots=True)
class Method:
    """One way to do a job: what it can be told, and the function that does it."""

    options: type[Options]
    work: Late
    in_parts: bool = False  # whether it can be done for rows that are read part by part


@dataclass(frozen=True, slots=True)
class Shown:
    """How ``sidelight.show`` makes the result of a fitted model: what else it needs, "bags" or "answers", and how."""

    needs: str
    result_of: Callable[..., Result]


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    Attributes
    ----------
    name : str
        The command.
    summary : str
        One line: what it does.
    text : str
        What it does and what it writes, for the help.
    you_have : str
        What a person has who needs this job.
    example : mapping
        Roles and options of a first call.
    methods : mapping of str to Method
        The first is the default. A job with one method calls it "".
    fits : callable
        ``fits(data, roles)`` returns the :class:`Fit` that ``describe`` suggests, or None.
    files : mapping of str to str
        What the tables that only this job writes hold, in a few words.
    demos : mapping of str to callable
        ``demo(seed)`` by the name of its folder.
    shows : mapping of str to Shown
        The estimators whose page this job makes, by class name.
    retired : mapping of str to tuple of str
        Options of 0.2.0 that nobody varied, by the estimator that says what they are for good; a run.toml may still
        name them.
    shown : collection of str
        Options and roles that a short help lists, a dozen; all where it is empty, with the roles that most runs say.
    """

    name: str
    summary: str
    text: str
    you_have: str
    example: Mapping[str, Any]
    methods: Mapping[str, Method]
    fits: Callable[[Dataset, Mapping[str, Any]], Fit | None]
    files: Mapping[str, str] = field(default_factory=dict)
    demos: Mapping[str, Callable[[int], Demo]] = field(default_factory=dict)
    shows: Mapping[str, Shown] = field(default_factory=dict)
    retired: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shown: Collection[str] = ()

    @property
    def models(self) -> dict[str, type[Options]]:
        """The options of each method."""
        return {name: method.options for name, method in self.methods.items()}

    def options(self, content: Any) -> Options:
        """Return the options of a run, checked against the method they name."""
        default = next(iter(self.methods))
        method = content.get("method", default) if default and isinstance(content, Mapping) else default
        if not isinstance(method, str) or method not in self.methods:
            raise UnknownName(f"There is no method {method!r:.80}. {nearest(method, self.methods)}")
        content = self._without_retired(content)
        own = {field.name for field in fields_of(self.methods[method].options)}
        for name in content if isinstance(content, Mapping) else ():
            others = [m for m in self.methods if name in {f.name for f in fields_of(self.methods[m].options)}]
            if name not in own and others:
                raise InvalidParameter(
                    f"{name} is an option of the method {others[0]!r}, and the method is {method!r}.",
                    do=["Choose it with ", Setting("method", others[0]), ", or leave ", Setting(name), " out."],
                )
        return build(self.methods[method].options, content, "option")

    def _without_retired(self, content: Any) -> Any:
        """Take out options of earlier versions that say what is so anyway; refuse another value by name."""
        if not isinstance(content, Mapping):
            return content
        gone = {name: estimator for estimator, names in self.retired.items() for name in names}
        for name in content.keys() & gone.keys():
            always, is_parameter = _always(gone[name], name)
            if content[name] is not None and content[name] != always:
                raise InvalidParameter(
                    f"{name} is no option of {self.name} any more: it is {always!r}, and the run says "
                    f"{content[name]!r:.80}. Leave it out{', or set it on the estimator in Python' * is_parameter}."
                )
        return {name: value for name, value in content.items() if name not in gone}

    def work_of(self, config: RunConfig) -> Callable[[RunConfig], Result]:
        """Return what does as ``config`` says; the libraries it needs are imported now."""
        default = next(iter(self.methods))
        method = config.options.settings()["method"] if default else default
        if not self.methods[method].in_parts and wants_parts(config):
            raise self._whole_table_only(config, method)
        return self.methods[method].work.load()

    def _whole_table_only(self, config: RunConfig, method: str) -> InvalidParameter:
        others = [name for name, other in self.methods.items() if other.in_parts]
        what = f"the method {method} of {self.name}" if method else self.name
        do: list[Any] = ["Run it on one table: a sample of the rows, for one."]
        if others and others != [""]:
            do = ["Choose ", Setting("method", others[0]), ", or run it on one table: a sample of the rows, for one."]
        return InvalidParameter(f"{config.table!r} stands for several files, and {what} reads one table.", do=do)


def _always(estimator: str, name: str) -> tuple[Any, bool]:
    """Return what an estimator takes for what is no option any more, and whether Python may still set it."""
    import sidelight
    from sidelight import peers

    found = getattr(sidelight, estimator, None) or getattr(peers, estimator)
    retired: Mapping[str, Any] = getattr(found, "RETIRED", {})
    if name in retired:
        return retired[name], False
    return signature(found).parameters[name].default, True


def wants_parts(config: RunConfig) -> bool:
    """Say whether the rows of a run are read part by part: it names several files, or who shall go over the rows."""
    from sidelight.app.jobs.first_look import is_pattern

    said = config.options.settings()
    return is_pattern(config.table) or said.get("engine", "auto") != "auto" or bool(said.get("scheduler"))
