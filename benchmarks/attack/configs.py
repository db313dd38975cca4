"""Broken run.toml: understood or refused by name, and so is the folder whose run.toml it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from attack.outcome import judged
from mutations import mutate

COUNT = 2_000
_RUNS = (
    'job = "relations"\ntable = "t.csv"\nseed = 3\nfiles = ["report.html"]\n[roles]\nid = "id"\nfeatures = ["f*"]\n'
    "[options]\nn_clusters = 4\n",
    'job = "instances"\ntable = "t.csv"\n[roles]\nbag = "bag"\nlabel = ["a", "b"]\nchannels = { face = ["f1"] }\n'
    '[options]\nmethod = "coverage"\nn_novel = "auto"\n',
    'job = "coclusters"\ntable = "t.csv"\n[roles]\nevents = ["u", "f"]\nweight = "n"\n[options]\nn_clusters = [3, 2]\n'
    "curve = [2, 5]\n",
)
_VALUES = (
    "-1", "1e999", "nan", "true", '""', "[]", "{}", '["a", 1]', "10000000000000000000000", "1979-05-27", '"\\u0000"',
    "[[[[1]]]]", '"../../x"', "{ a = { b = 1 } }", "0x7fffffffffffffff", "''''''",
)  # fmt: skip


def attack(number: int, folder: Path) -> str:
    """Change values and keys of a run.toml, then bytes, and read it."""
    from sidelight.app.jobs.config import RunConfig
    from sidelight.app.jobs.output import files_of_run

    rng = np.random.default_rng([3, number])
    lines = _RUNS[int(rng.integers(len(_RUNS)))].splitlines()
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        key, mark, _ = lines[at].partition(" = ")
        kind = int(rng.integers(4))
        if kind == 0 and mark:
            lines[at] = f"{key} = {_VALUES[int(rng.integers(len(_VALUES)))]}"
        elif kind == 1 and mark:
            lines[at] = lines[at].replace(key, key[::-1])
        elif kind == 2:
            lines.insert(at, lines[int(rng.integers(len(lines)))])
        else:
            del lines[at]
            lines = lines or [""]
    content = "\n".join(lines).encode()
    if rng.random() < 0.4:
        content = mutate(content, int(rng.integers(2**32)))
    path = folder / "run.toml"
    path.write_bytes(content)
    verdict = judged(lambda: (files_of_run(folder), RunConfig.from_toml(path)))
    return verdict if verdict in ("accepted", "refused") else f"{content[:200]!r}: {verdict}"
