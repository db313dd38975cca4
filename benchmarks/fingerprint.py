"""Which code a benchmark measures: the modules of Sidelight that its file leads to, and a fingerprint of their text.

Imports are followed as they are written, in functions too, so that the answer does not depend on what was run or on the
version of Python. Docstrings, comments and empty lines do not count: a better sentence makes no page old.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
PAGES = HERE.parent / "docs" / "benchmarks"
STAMP = re.compile(r"`(\w+\.py) ([0-9a-f]{12}|unknown)`")
# Rooms that read files, speak and draw: they count only where a benchmark's own file names them, else every sentence
# and every reader that changes would make every page old. What is read is checked against the sizes papers print.
ASIDE = ("app", "errors", "files", "lazy", "plot", "progress", "words")
LIST = "lazy_names("  # a package that only says which module has which name: one more name makes no page old
BEFORE = "measured before fingerprints were kept"
EARLIER = "measured with earlier code"
SAME = "measured with this code"
SAMPLED = "measured with earlier code, and a sample of its cells with this code: the same"
KEPT_CELLS = "A sample of the cells of earlier code is the same with this code, so these were kept:"


def fingerprint(file: str) -> str:
    """Return twelve digits that change when a module changes that ``benchmarks/<file>`` leads to."""
    whole = hashlib.sha256()
    for name in modules_of(file):
        code = code_of(_file_of(name))
        if LIST not in code:
            whole.update(f"{name}\n{code}\n".encode())
    return whole.hexdigest()[:12]


def freshness(page: str, pages: Path = PAGES) -> str:
    """Say in a few words whether a page of benchmarks was measured with the code as it is now."""
    text = (pages / f"{page}.md").read_text(encoding="utf-8")
    stamps = STAMP.findall(text.split("\n## ")[0])
    if not stamps or any(code == "unknown" for _, code in stamps):
        found = re.search(r"sidelight ([\w.]*\w)", text)
        return f"{BEFORE}{' for all of its cells' if stamps else ''}, with version {found[1] if found else 'unknown'}"
    if not all((HERE / file).exists() and fingerprint(file) == code for file, code in stamps):
        return EARLIER
    return SAMPLED if KEPT_CELLS in text.split("\n## ")[0] else SAME


@cache
def modules_of(file: str) -> tuple[str, ...]:
    """Name the modules of Sidelight that a file of benchmarks imports, directly or through others, sorted."""
    own = _named_in(HERE / file)
    todo, seen = set(own), set[str]()
    for helper in _helpers(HERE / file, {file}):
        todo |= _named_in(HERE / helper)
    while todo:
        name = todo.pop()
        if name not in seen and (name in own or name.split(".")[1] not in ASIDE):
            seen.add(name)
            todo |= _named_in(_file_of(name))
    return tuple(sorted(seen))


@cache
def code_of(path: Path) -> str:
    """Return the text of a module without docstrings, comments and empty lines."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            lines[line - 1] = lines[line - 1][:column]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            told = node.body[0]
            lines[told.lineno - 1 : told.end_lineno] = [""] * ((told.end_lineno or told.lineno) - told.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _helpers(path: Path, seen: set[str]) -> list[str]:
    """Name the files beside a benchmark that it imports, and those that they import."""
    found = []
    for node in ast.walk(_tree(path)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            file = f"{name}.py"
            if file not in seen and (HERE / file).exists():
                seen.add(file)
                found += [file, *_helpers(HERE / file, seen)]
    return found


@cache
def _named_in(path: Path) -> set[str]:
    """Name the modules of Sidelight that a file imports, or reaches as ``sl.something``."""
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sidelight":
            found |= {_home(node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("sidelight.")}
        elif isinstance(node, ast.Attribute) and (chain := _chain(node))[:1] in (["sl"], ["sidelight"]):
            room = "sidelight"
            for name in chain[1:]:
                home = _home(room, name)
                if home == room:
                    break
                found.add(home)
                room = home
    return {name for name in found if name != "sidelight" and _file_of(name).exists()}


@cache
def _home(room: str, name: str) -> str:
    """Find the module behind ``from room import name``: a module, or where a package's ``__init__`` has it from."""
    if _file_of(f"{room}.{name}").exists():
        return f"{room}.{name}"
    file = _file_of(room)
    if file.name != "__init__.py":
        return room
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return _home(node.module or room, name)
        if isinstance(node, ast.Dict):  # names that are loaded on first use: {"module": ("Name", ...)}
            for key, names in zip(node.keys, node.values):
                listed = getattr(names, "elts", [])
                if isinstance(key, ast.Constant) and any(getattr(one, "value", None) == name for one in listed):
                    return _home(f"{room}.{key.value}", name)
    return room


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _chain(node: ast.Attribute) -> list[str]:
    """Return a.b.c as its names; nothing where it begins with something else than a name."""
    names = [node.attr]
    inner = node.value
    while isinstance(inner, ast.Attribute):
        names.insert(0, inner.attr)
        inner = inner.value
    return [inner.id, *names] if isinstance(inner, ast.Name) else []


def _file_of(name: str) -> Path:
    path = SOURCE.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
