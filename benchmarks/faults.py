"""Faults that can be planted in the code, found in its syntax tree: mutants.py plants them.

A fault is small and looks innocent: an argument that is not passed on, two that changed places, a weight left out, a
bound off by one, a comparison or a condition turned round, a default changed, a lock taken away.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUIET = {"warn", "report", "reporting", "counted", "check_number", "check_choice"}  # words for people, not joints
# ties, copies and advice change no result; the encoding of a text file is held by the linter
UNSEEN = {"stacklevel", "dtype", "axis", "kind", "copy", "do", "encoding"}
DRAWN = {"app/studio/sources.py", "app/studio/making.py"}  # material of the demo, which is drawn at random
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


@dataclass(frozen=True)
class Function:
    """A function of the package, and where its body lies."""

    path: str
    name: str
    lines: range
    is_compiled: bool


def surroundings(fault: Fault) -> tuple[Function | None, bool]:
    """Return the innermost function of a fault, if it lies in one, and whether it is compiled."""
    around = [f for f in _functions() if f.path == fault.path and fault.line in f.lines]
    return (max(around, key=lambda f: f.lines.start), any(f.is_compiled for f in around)) if around else (None, False)


def callers(function: Function) -> set[tuple[str, int]]:
    """Return the lines that call a compiled function, or another that calls it, where a tracer can see them."""
    compiled = {f.name: f for f in _functions() if f.is_compiled}
    waiting, asked, lines = [function.name], set(), set()
    while waiting:
        name = waiting.pop()
        asked.add(name)
        for path, line in _uses().get(name, ()):
            inside = [f.name for f in compiled.values() if f.path == path and line in f.lines]
            waiting += [caller for caller in inside if caller not in asked]
            if not inside:
                lines.add((path, line))
    return lines


@cache
def _functions() -> list[Function]:
    found = []
    for path, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                is_compiled = any("kernel" in ast.unparse(decorator) for decorator in node.decorator_list)
                found.append(Function(path, node.name, range(node.lineno, (node.end_lineno or 0) + 1), is_compiled))
    return found


@cache
def _uses() -> dict[str, list[tuple[str, int]]]:
    """Return the lines where a function is called, by its name."""
    uses: dict[str, list[tuple[str, int]]] = {}
    for path, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rpartition(".")[2]
                uses.setdefault(name, []).append((path, node.lineno))
    return uses


@cache
def _trees() -> list[tuple[str, ast.Module]]:
    package = ROOT / "src" / "sidelight"
    return [(str(path.relative_to(package)), ast.parse(path.read_bytes())) for path in sorted(package.rglob("*.py"))]
