"""Runs of other versions, repeated: they say so, or are refused by name; never another result unsaid."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np

from attack.outcome import ACCEPTED, judged
from attack.shell import sources
from attack.worker import WORK

COUNT = 60
_RETIRED = ("cap = 12", "solver = 'lbfgs'", "cv = 5", "max_novel = 6", "neighbours = 0.0", "solver = 'em'", "cap = 3")


def attack(number: int, folder: Path) -> str:
    """Change what a run.toml says of its origin, repeat it, and look at what is said."""
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.run import run, what_changed

    rng = np.random.default_rng([15, number])
    shutil.copytree(written(), folder, dirs_exist_ok=True)  # as deep as it was: paths are relative
    path = folder / "run.toml"
    text = path.read_text(encoding="utf-8")
    kind = int(rng.integers(4))
    is_other = kind in (0, 1)
    if kind == 0:  # another version
        names = re.findall(r"^(\w[\w-]*) = \"[\d.]+\w*\"", text.partition("[versions]")[2], re.MULTILINE)
        name = str(rng.choice(names))
        text = re.sub(rf"(?m)^{name} = .*$", f'{name} = "0.{int(rng.integers(90))}.0"', text)
    elif kind == 1:  # Sidelight's own
        text = re.sub(r"(?m)^sidelight = .*$", f'sidelight = "{rng.choice(["0.1.0", "0.2.0", "9.0", "x"])}"', text)
    elif kind == 2:  # options that are gone
        text = text.replace("[options]\n", f"[options]\n{rng.choice(_RETIRED)}\n".replace("'", '"'))
    path.write_text(text, encoding="utf-8")
    told: list[dict[str, str]] = []

    def repeat() -> None:
        config = RunConfig.from_toml(path)
        told.append(what_changed(path, config))
        run(config, folder / "again")

    verdict = judged(repeat)
    if verdict != ACCEPTED:
        return verdict if verdict == "refused" else f"{kind}: {verdict}"
    if ("versions" in told[0]) != is_other:
        return f"{kind}: said {told[0]} of another version" if is_other else f"{kind}: said {told[0]} of the same one"
    same = (folder / "again" / "assignments.csv").read_bytes() == (written() / "assignments.csv").read_bytes()
    return ACCEPTED if same or is_other else f"{kind}: other results, and nothing was said"


@cache
def written() -> Path:
    """Return a folder of results."""
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.run import run

    out = WORK / "a run"
    if not (out / "run.toml").exists():
        run(RunConfig("instances", str(sources()["bags.csv"])), out, overwrite=out.exists())
    return out
