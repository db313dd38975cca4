"""The jobs there are. A new job is a folder of its own, one import here and one place in the list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sidelight.app.jobs import ask, bags, coclusters, hierarchy, instances, relations, sources
from sidelight.app.jobs.job import Job
from sidelight.errors import UnknownName, nearest

if TYPE_CHECKING:
    from sidelight.app.jobs.demonstration import Demonstration

# The most specific first: this is the order in which `describe` suggests them.
_JOBS = (instances.JOB, hierarchy.JOB, bags.JOB, sources.JOB, coclusters.JOB, relations.CLUSTER, relations.JOB)

JOBS: Mapping[str, Job] = {job.name: job for job in _JOBS}
ALIASES = {"coverage": ("instances", {"method": "coverage"})}  # what an older name means now
DEMOS: Mapping[str, Callable[[int], Demonstration]] = {
    **{name: demo for job in _JOBS for name, demo in job.demos.items()},
    **ask.DEMOS,
}


def find_job(name: str) -> Job:
    """Return the job called ``name``."""
    if not isinstance(name, str) or name not in JOBS:
        raise UnknownName(f"There is no job called {name!r:.80}. {nearest(name, JOBS)}")
    return JOBS[name]
