"""Read thousands of damaged files: each must give a clean result or one of our messages, in bounded time and memory.

``python benchmarks/fuzz_readers.py [--cases 3000] [--seed 0] [--only .mat]``. The files come from the public data sets
(SIDELIGHT_DATA or ../shared/data) and from small files written here. Finished cases are kept in benchmarks/.work, so
that a stopped run goes on where it was; ``--fresh`` begins again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from mutations import mutate  # noqa: E402 - found beside this file

WORK = HERE / ".work"
SECONDS = 60  # wall-clock limit of one case, generous because machines are shared
MEGABYTES = 2_000  # growth of the worker's peak in one case
SMALLER_THAN = 6 << 20  # bytes of a real file; larger ones are cut to whole lines


def main() -> int:
    """Run the cases in worker processes and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a file name")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--worker", nargs=2, metavar=("FIRST", "LAST"), type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    log = WORK / f"fuzz-{options.seed}-{options.only.strip('.') or 'all'}.jsonl"
    if options.worker:
        work(log, options)
        return 0
    if options.fresh:
        log.unlink(missing_ok=True)
    done = finished(log)
    while len(done) < options.cases:
        first = next(k for k in range(options.cases) if k not in done)
        command = [sys.executable, __file__, "--seed", str(options.seed), "--only", options.only]
        code = subprocess.run([*command, "--worker", str(first), str(options.cases)], check=False).returncode
        now = finished(log)
        if code and len(now) < options.cases:  # the worker died: blame the case it had begun
            blamed = next(k for k in range(options.cases) if k not in now)
            note(log, {"case": blamed, "kind": "DIED", "message": f"worker ended with {code}", "file": "", "s": 0})
            now = finished(log)
        if len(now) == len(done):
            raise RuntimeError(f"no progress; look at {log}")
        done = now
        print(f"{len(done)} of {options.cases} cases", flush=True)
    return summarise(done)


def summarise(done: dict[int, dict[str, Any]]) -> int:
    """Print counts by kind and the failures."""
    kinds = Counter(case["kind"] for case in done.values())
    slowest = max(done.values(), key=lambda case: case["s"])
    print(", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()))
    print(f"slowest case: {slowest['s']:.1f} s ({slowest['file']})")
    bad = [case for case in done.values() if case["kind"] not in ACCEPTED]
    for case in bad[:30]:
        print(f"case {case['case']} ({case['file']}): {case['kind']}: {case['message'][:300]}")
    return 1 if bad else 0


ACCEPTED = {"read", "UnreadableFile", "InvalidData", "UnknownName", "InvalidParameter"}


def work(log: Path, options: argparse.Namespace) -> None:
    """Do the cases from FIRST on that are not done; stop early now and then, so that memory can be judged."""
    import warnings

    import sidelight as sl

    warnings.simplefilter("ignore")
    files = [f for f in sources() if options.only in f.name]
    done = finished(log)
    signal.signal(signal.SIGALRM, _too_late)
    todo = [k for k in range(*options.worker) if k not in done][:200]
    for case in todo:
        rng = np.random.default_rng([options.seed, case])
        source = files[int(rng.integers(len(files)))]
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            target = stage(source, Path(folder))
            target.write_bytes(mutate(target.read_bytes(), int(rng.integers(2**32))))
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            begin = time.perf_counter()
            signal.alarm(SECONDS)
            try:
                data = sl.read(target)
                kind, message = "read", repr(data)
            except sl.SidelightError as error:
                kind, message = type(error).__name__, str(error)
                if target.name not in message and "xml" not in message and ".names" not in message:
                    kind = "NO FILE NAMED: " + kind
            except BaseException as error:  # whatever else comes out is what we look for
                kind, message = "LEAKED " + type(error).__name__, str(error)
            signal.alarm(0)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            if grown > MEGABYTES:
                kind = f"MEMORY {grown:.0f} MB"
            if kind not in ACCEPTED:
                shutil.copy(target, WORK / f"case-{options.seed}-{case}-{target.name}")
            seconds = time.perf_counter() - begin
        note(log, {"case": case, "kind": kind, "message": message, "file": source.name, "s": round(seconds, 2)})


def _too_late(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def stage(source: Path, folder: Path) -> Path:
    """Copy a file with what lies beside it (names, XML, labels); a large one keeps its first lines."""
    for beside in source.parent.iterdir():
        if beside.suffix in (".names", ".xml") and beside.is_file():
            shutil.copy(beside, folder)
        if "labels" in beside.name and "images" in source.name:
            shutil.copy(beside, folder)
    target = folder / source.name
    data = source.read_bytes()
    is_binary = source.suffix in (".mat", ".gz", ".npz", ".parquet", ".npy") or b"\0" in data[:1000]
    if len(data) > SMALLER_THAN and not is_binary:
        data = data[: data.rfind(b"\n", 0, SMALLER_THAN) + 1]
    target.write_bytes(data if len(data) < 40_000 or is_binary else data[: data.rfind(b"\n", 0, 400_000) + 1])
    return target


def sources() -> list[Path]:
    """List the real files, and small ones of the formats that no real file has."""
    named = os.environ.get("SIDELIGHT_DATA")
    folder = Path(named) if named else HERE.parents[1] / "shared" / "data"
    kinds = (".csv", ".gz", ".dat", ".data", ".arff", ".mat")
    real = sorted(p for p in folder.rglob("*") if p.suffix in kinds) if folder.is_dir() else []
    return [*real, *small_files(WORK / "small")]


def small_files(folder: Path) -> list[Path]:
    """Write one small file of each format that the public sets lack."""
    import io

    import scipy.io

    import sidelight as sl

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)).round(3)
    bags = sl.Bags(
        [f"b{i // 4}" for i in range(40)], labels={f"b{k}": {"x"} if k % 2 else {"x", "y"} for k in range(10)}
    )
    data = sl.Dataset(X, tuple("abcde"), bags=bags)
    for ending in (".csv", ".csv.gz", ".parquet", ".npz"):
        data.write(folder / f"small{ending}")
    np.save(folder / "small.npy", X)
    (folder / "small.svm").write_text("".join(f"{i % 3} 1:{r[0]} 4:{r[1]}\n" for i, r in enumerate(X)))
    rows = "".join(f"b{i},'{r[0]},{r[1]}\\n{r[2]},{r[3]}',{i % 2},1\n" for i, r in enumerate(X))
    ids = ",".join(f"b{i}" for i in range(40))
    (folder / "relational.arff").write_text(
        f"@relation r\n@attribute id {{{ids}}}\n@attribute bag relational\n@attribute f numeric\n@attribute g numeric\n"
        f"@end bag\n@attribute l1 {{0,1}}\n@attribute l2 {{0,1}}\n@data\n{rows}"
    )
    sparse = "".join(f"{{0 {r[0]},2 {r[1]},3 y}}\n" for r in X)
    head = "@relation s\n" + "".join(f"@attribute a{j} numeric\n" for j in range(3)) + "@attribute class {x,y}\n@data\n"
    (folder / "sparse.arff").write_text(head + sparse)
    cells = np.empty((3, 1), dtype=object)
    cells[:, 0] = [X[:4], X[4:9], X[9:]]
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"bags": cells, "targets": np.eye(3)}, do_compression=True)
    (folder / "compressed.mat").write_bytes(buffer.getvalue())
    events = "".join(f"u{i % 7},f{i % 5}\n" for i in range(200))
    (folder / "events.csv").write_text("user,film\n" + events)
    return sorted(p for p in folder.iterdir() if p.is_file())


def finished(log: Path) -> dict[int, dict[str, Any]]:
    """Return the cases that were done."""
    if not log.is_file():
        return {}
    cases = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line)
    return {case["case"]: case for case in cases}


def note(log: Path, case: dict[str, Any]) -> None:
    """Append one case."""
    with log.open("a", encoding="utf-8") as handle:
        handle.write(json.dumps(case) + "\n")


if __name__ == "__main__":
    sys.exit(main())
