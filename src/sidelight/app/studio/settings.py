"""How a project asks: the strategies and kinds of question there are, and the session that each begins."""

from __future__ import annotations

from typing import Any

from sidelight.active.bayesian import BayesianActiveClustering
from sidelight.active.session import ActiveSession
from sidelight.app.studio.rows import Rows
from sidelight.errors import InvalidData

STRATEGIES = ("rows", "pairs", "info", "uncertain", "random", "fixed")
KINDS = ("pair", "triplet")


def new_session(rows: Rows, settings: Any) -> ActiveSession:
    """Begin a session of the project's strategy."""
    strategy, K, seed = settings.get("strategy", "rows"), settings.get("clusters"), int(settings.get("seed", 0))
    if strategy in ("info", "uncertain"):
        return BayesianActiveClustering(int(K or 8), criterion=strategy, random_state=seed).start(rows.Z)
    return ActiveSession(rows.Z, K, strategy="rows" if strategy == "fixed" else strategy, random_state=seed)


def check_settings(settings: Any, n_rows: int) -> None:
    """Raise when a project's settings make no sense."""
    if settings.get("strategy") not in STRATEGIES:
        raise InvalidData(
            f"A project's strategy is one of {', '.join(STRATEGIES)}. Got {settings.get('strategy')!r:.40}."
        )
    if settings.get("kind") not in KINDS:
        raise InvalidData(f"A project asks about a pair or a triplet. Got {settings.get('kind')!r:.40}.")
    if settings.get("strategy") in ("info", "uncertain") and not settings.get("clusters"):
        raise InvalidData("The strategies info and uncertain need the number of clusters.")
    if settings.get("strategy") == "fixed" and not settings.get("questions"):
        raise InvalidData("The strategy fixed needs a list of questions.")
    K = settings.get("clusters")
    if K is not None and not 2 <= int(K) <= n_rows:
        raise InvalidData(f"The number of clusters lies between 2 and the {n_rows} rows. Got {K}.")
