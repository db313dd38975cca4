"""Plant faults in the code, one at a time, and count those that the tests of their room find: ``make mutants``.

A fault is small and looks innocent: an argument that is not passed on, two that changed places, a weight left out, a
bound off by one, a comparison or a condition turned round, a default changed, a lock taken away. It is planted in a
copy of ``src`` (benchmarks/.work/mutants), never in the tree itself. A first run of all tests of these rooms tells
which of them run a line (covering.py), so that a fault is tried on those alone, the quickest first; compiled loops,
which no tracer sees, are tried on the tests of their room. Every verdict is kept at once: a stopped run goes on where
it was, ``make mutants MINUTES=0`` writes the page from what was kept, and survivors are tried again when code or tests
have changed.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from covering import Map

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "benchmarks" / ".work" / "mutants"
PAGE = ROOT / "docs" / "benchmarks" / "mutants.md"
LIMIT = 240  # seconds for the tests of one fault; a fault that makes them hang is found
MOST_SECONDS = 60  # of tests that one fault is tried on, the quickest first
AIM = 0.9

# Where faults are planted, and the tests that must find them; the first prefix that fits counts.
TESTS = {
    "estimators/bags": ("tests/estimators/bags",),
    "estimators/coverage": ("tests/estimators/coverage",),
    "estimators/hierarchy": ("tests/estimators/hierarchy",),
    "estimators/instances": ("tests/estimators/instances",),
    "estimators/novelty": ("tests/estimators/novelty",),
    "estimators/relations": ("tests/estimators/relations",),
    "estimators/sources": ("tests/estimators/sources",),
    "estimators": ("tests/estimators",),
    "active": ("tests/active",),
    "files": ("tests/files",),
    "app/store": ("tests/app/store",),
    "app/studio": ("tests/app/studio",),
}
ROOMS = ("estimators", "active", "files", "app/store", "app/studio")
ALWAYS = ("tests/test_joints.py", "tests/test_refused_calls.py")
QUIET = {"warn", "report", "reporting", "counted", "check_number", "check_choice"}  # words for people, not joints
UNSEEN = {"stacklevel", "dtype", "axis", "kind", "copy", "do"}  # ties, copies and advice change no result
DRAWN = {"app/studio/sources.py", "app/studio/demos.py"}  # material of the demo, which is drawn at random
TURNED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """One change of one line."""

    path: str
    line: int
    kind: str
    begin: int  # bytes of the file
    end: int
    text: str

    @property
    def name(self) -> str:
        """What a ledger knows it by."""
        return f"{self.path}:{self.begin}:{self.end}:{self.text}"


def faults_of(path: Path, relative: str) -> Iterator[Fault]:
    """Find every place of a file where a fault can be planted."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def fault(node: ast.AST, kind: str, text: str) -> Fault:
        begin = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined] # only nodes with places come
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return Fault(relative, node.lineno, kind, begin, end, text)  # type: ignore[attr-defined]

    for node in _joints(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            yield fault(node, "comparison turned", f"({left} {TURNED[type(node.ops[0])]} {right})")
        elif isinstance(node, ast.BoolOp):
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield fault(node, "condition turned", "(" + word.join(f"({ast.unparse(v)})" for v in node.values) + ")")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield fault(node, "condition turned", f"bool({ast.unparse(node.operand)})")
        elif isinstance(node, ast.Call):
            yield from _of_call(node, fault)
        elif isinstance(node, ast.BinOp):
            yield from _of_sum(node, fault)
        elif isinstance(node, ast.FunctionDef):
            yield from _of_defaults(node, fault)
        elif isinstance(node, ast.With) and any("lock" in ast.unparse(i.context_expr) for i in node.items):
            item = node.items[0].context_expr
            yield fault(item, "lock removed", "__import__('contextlib').nullcontext()")


def _of_call(node: ast.Call, fault: object) -> Iterator[Fault]:
    for keyword in node.keywords:
        if keyword.arg and keyword.arg not in UNSEEN:
            rest = [k for k in node.keywords if k is not keyword]
            yield fault(node, "argument ignored", ast.unparse(ast.Call(node.func, node.args, rest)))  # type: ignore[operator]
    is_ordered = ast.unparse(node.func) not in ("min", "max", "np.minimum", "np.maximum")
    if is_ordered and len(node.args) >= 2 and all(isinstance(a, (ast.Name, ast.Attribute)) for a in node.args[:2]):
        turned = [node.args[1], node.args[0], *node.args[2:]]
        yield fault(node, "order swapped", ast.unparse(ast.Call(node.func, turned, node.keywords)))  # type: ignore[operator]


def _of_sum(node: ast.BinOp, fault: object) -> Iterator[Fault]:
    weighs = [side for side in (node.left, node.right) if "weight" in ast.unparse(side).lower()]
    if isinstance(node.op, (ast.Mult, ast.Pow, ast.Div)) and len(weighs) == 1:
        kept = node.right if weighs[0] is node.left and isinstance(node.op, ast.Mult) else node.left
        yield fault(node, "weight dropped", f"({ast.unparse(kept)})")  # type: ignore[operator]
    if isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.right, ast.Constant) and node.right.value == 1:
        yield fault(node, "off by one", f"({ast.unparse(node.left)})")  # type: ignore[operator]


def _of_defaults(node: ast.FunctionDef, fault: object) -> Iterator[Fault]:
    for default in [*node.args.defaults, *node.args.kw_defaults]:
        if isinstance(default, ast.Constant) and isinstance(default.value, (bool, int, float)):
            value = default.value
            changed = repr(not value) if isinstance(value, bool) else repr(value + 1)
            yield fault(default, "default changed", changed)  # type: ignore[operator]


def _joints(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk the code, leaving out messages, annotations and compiled kernels' signatures."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in QUIET:
            continue
        if isinstance(node, ast.FunctionDef):
            yield node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):  # not what stands above them, such as frozen=True
            waiting += node.body
            continue
        if isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
            continue
        if hasattr(node, "lineno"):
            yield node
        waiting += list(ast.iter_child_nodes(node))


def all_faults(room: str) -> list[Fault]:
    """Return every fault of a room, in the order of its files."""
    found: dict[str, Fault] = {}
    for path in sorted((ROOT / "src" / "sidelight" / room).rglob("*.py")):
        if path.name != "__init__.py" and str(path.relative_to(ROOT / "src" / "sidelight")) not in DRAWN:
            for fault in faults_of(path, str(path.relative_to(ROOT / "src" / "sidelight"))):
                found.setdefault(fault.name, fault)
    return list(found.values())


def tests_of(path: str) -> list[str]:
    """Return the tests of the room of a file."""
    own = next(tests for prefix, tests in TESTS.items() if path.startswith(prefix))
    return [test for test in (*ALWAYS, *own) if (ROOT / test).exists()]


def covering() -> Map:
    """Return which tests run which lines; all tests of the rooms run once, where that is not known yet."""
    folder = WORK / "covering" / _fingerprint()
    if not folder.exists():
        print("which tests run which lines: every test of these rooms once ...", flush=True)
        partial = folder.with_name("partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        tests = [*ALWAYS, *{test.split("/")[1] for tests in TESTS.values() for test in tests}]
        folders = [test if test in ALWAYS else f"tests/{test}" for test in tests]
        known = {"COVERING_FOLDER": str(partial), "PYTHONPATH": str(ROOT / "src")}
        left_out = ["--ignore-glob", "*test_browser*", "-k", "not scikit_learn_checks"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.covering", "-n", "2", *left_out]
        done = subprocess.run([*command, *folders, "tests/laws"], cwd=ROOT, env=_environment() | known, check=False)
        if done.returncode != 0:
            sys.exit("Tests fail without any fault, so they cannot find one.")
        partial.rename(folder)
    return Map.read(folder)


def _fingerprint() -> str:
    """Name the code and the tests."""
    paths = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()[:16]


def tests_for(fault: Fault, copy: Path, known: Map) -> list[str]:
    """Return the tests that run the line of a fault, or its function where the line runs only at import."""
    functions = [
        node
        for node in ast.walk(ast.parse((copy / "sidelight" / fault.path).read_bytes()))
        if isinstance(node, ast.FunctionDef) and node.lineno <= fault.line <= (node.end_lineno or 0)
    ]
    is_compiled = any("kernel" in ast.unparse(decorator) for node in functions for decorator in node.decorator_list)
    if is_compiled or not functions:  # no tracer sees it, or it runs when the module is imported
        return tests_of(fault.path)
    tests = known.tests_of(fault.path, {fault.line}, most_seconds=MOST_SECONDS)
    if tests:
        return tests
    inner = max(functions, key=lambda node: node.lineno)
    lines = set(range(inner.body[0].lineno, (inner.end_lineno or inner.lineno) + 1))
    return known.tests_of(fault.path, lines, most_seconds=MOST_SECONDS)


def verdict(fault: Fault, copy: Path, known: Map) -> str:
    """Plant a fault, run the tests, take it out again; say "found", "survived" or "found by hanging"."""
    tests = tests_for(fault, copy, known)
    if not tests:
        return "survived"
    target = copy / "sidelight" / fault.path
    whole = target.read_bytes()
    stat = target.stat()
    target.write_bytes(whole[: fault.begin] + fault.text.encode() + whole[fault.end :])
    try:
        return _run(tests, copy)
    finally:
        target.write_bytes(whole)
        os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # compiled kernels are kept by the time of the file


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _run(tests: list[str], copy: Path) -> str:
    (WORK / "tests.txt").write_text("\n".join(tests))
    environment = _environment() | {"PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", f"@{WORK / 'tests.txt'}"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return "survived" if process.wait(LIMIT) == 0 else "found"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "found by hanging"


def plant(minutes: float, each: int, seed: int, rooms: tuple[str, ...]) -> None:
    """Plant faults room by room, in turn, until the time is up; verdicts are added to the ledger."""
    copy = WORK / "src"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "sidelight", copy / "sidelight")
    (WORK / "ledger.jsonl").touch()
    tests = _fingerprint()
    done = {line["name"] for line in ledger() if line["verdict"] != "survived" or line["of"] == tests}
    queues = {}
    for room in rooms:
        drawn = all_faults(room)
        random.Random(f"{seed} {room}").shuffle(drawn)
        queues[room] = drawn[:each]
    known = covering()
    until = time.monotonic() + 60 * minutes
    for turn in range(each):
        for room, queue in queues.items():
            if turn >= len(queue) or queue[turn].name in done or time.monotonic() > until:
                continue
            fault = queue[turn]
            found = verdict(fault, copy, known)
            line = {"room": room, "seed": seed, "name": fault.name, "verdict": found, "of": tests, **asdict(fault)}
            with (WORK / "ledger.jsonl").open("a") as handle:
                handle.write(json.dumps(line) + "\n")
            print(f"{line['verdict']:17} {fault.kind:18} {fault.path}:{fault.line}  {fault.text[:70]}", flush=True)


def ledger() -> list[dict[str, object]]:
    """Return the last verdict about every fault whose place is still in the code."""
    path = WORK / "ledger.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    there = {fault.name for room in ROOMS for fault in all_faults(room)}
    return list({line["name"]: line for line in lines if line["name"] in there}.values())


def write_page() -> None:
    """Write the share of faults that were found, and those that were not."""
    lines = ledger()
    rows = ["| room | faults planted | found | share | at least 90 % |", "|---|---|---|---|---|"]
    for room in (*ROOMS, ""):
        mine = [line for line in lines if not room or line["room"] == room]
        found = sum(line["verdict"] != "survived" for line in mine)
        share = f"{found / len(mine):.0%} | {'yes' if found >= AIM * len(mine) else '**no**'}" if mine else "| not run"
        rows.append(f"| {room or 'all'} | {len(mine)} | {found} | {share} |")
    kinds = Counter(str(line["kind"]) for line in lines)
    left = Counter(str(line["kind"]) for line in lines if line["verdict"] == "survived")
    by_kind = ["| fault | planted | survived |", "|---|---|---|"]
    by_kind += [f"| {kind} | {n} | {left[kind]} |" for kind, n in sorted(kinds.items())]
    missed = [
        f"- `{line['path']}:{line['line']}` {line['kind']}: `{str(line['text'])[:90].replace('`', '')}`"
        for line in sorted(lines, key=lambda line: (str(line["path"]), int(str(line["line"]))))
        if line["verdict"] == "survived"
    ]
    text = (
        "# Mutants: faults planted in the code\n\n"
        "Written by `make mutants`. One small fault at a time is planted in a copy of the code, and the tests of its "
        "room run; a fault that no test finds has survived. Faults are drawn at random, and some of them change "
        "nothing that anybody could see: 100 % is not to be had.\n\n"
    )
    seeds = ", ".join(sorted({str(line["seed"]) for line in lines}))
    parts = ["\n".join(rows), "\n".join(by_kind), "## Survivors\n\n" + ("\n".join(missed) or "None.")]
    PAGE.write_text(text + f"Seeds: {seeds}.\n\n" + "\n\n".join(parts) + "\n")
    print(f"-> {PAGE.relative_to(ROOT)}")


def main() -> int:
    """Plant, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MINUTES") or 30))
    parser.add_argument("--each", type=int, default=40, help="most faults a room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", action="append", choices=ROOMS)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    if options.minutes > 0:
        plant(options.minutes, options.each, options.seed, tuple(options.room or ROOMS))
    write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
