"""A fit on two real Dask workers, one of which is killed at any moment: the same clusters, or one message of ours."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED, judged

COUNT = 12
LIMITED = False  # workers are processes of their own
SECONDS = 120


def attack(number: int, folder: Path) -> str:
    """Fit, and kill a worker, or both, or stop one for a while."""
    import distributed

    import sidelight as sl

    warnings.simplefilter("ignore")
    rng = np.random.default_rng([14, number])
    kind = ("one", "both", "stopped", "one after the other")[number % 4]
    wanted, found = in_memory(), []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local,
        distributed.Client(local) as client,
    ):
        workers = sorted(client.run(os.getpid).values())  # a stopped one would not answer later

        def strike(which: int, how: int) -> None:
            with suppress(OSError):  # it has just gone
                os.kill(workers[which], how)

        moment = float(rng.uniform(0.05, 2.5))
        timers = [threading.Timer(moment, strike, (0, signal.SIGSTOP if kind == "stopped" else signal.SIGKILL))]
        if kind == "stopped":
            timers.append(threading.Timer(moment + 2, strike, (0, signal.SIGCONT)))
        elif kind != "one":
            timers.append(threading.Timer(moment + (0 if kind == "both" else 1.5), strike, (1, signal.SIGKILL)))
        for timer in timers:
            timer.daemon = True
            timer.start()
        (folder / "scratch").mkdir()
        engine = sl.OnDask(client, scratch=folder / "scratch", deadline=60)
        verdict = judged(lambda: found.append(_fit(engine)), SECONDS)
        for timer in timers:
            timer.cancel()
    if verdict != ACCEPTED:
        return verdict if verdict == "refused" else f"{kind} after {moment:.2f} s: {verdict}"
    left = sorted(path.name for path in (folder / "scratch").glob("*"))
    if left:
        return f"{kind}: left {left[:3]} in the scratch folder"
    is_same = all(np.array_equal(getattr(found[0], name), getattr(wanted, name)) for name in ("weights_", "intercept_"))
    return ACCEPTED if is_same else f"{kind} after {moment:.2f} s: other clusters"


@cache
def in_memory() -> Any:
    """Return what an undisturbed fit finds."""
    return _fit("memory")


def _fit(engine: Any) -> Any:
    import sidelight as sl

    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 60_000)
    X = 2 * rng.normal(size=(4, 6))[y] + rng.normal(size=(60_000, 6))
    codes = np.arange(60_000) // 5
    lists: dict[int, set[str]] = {}
    for bag, kind in zip(codes.tolist(), y.tolist()):
        lists.setdefault(bag, set()).add(f"k{kind}")
    parts = sl.Parts.from_arrays(X, sl.Bags(codes, labels=lists))
    return sl.CoverageClustering(boundary="straight", max_iter=40, random_state=0).fit(parts, engine=engine)
