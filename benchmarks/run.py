"""Run benchmarks and write their pages: ``python benchmarks/run.py [name ...]``; no name means all of them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
STOPPED = 130  # what shells say of a program that was interrupted


def main(names: list[str]) -> int:
    """Run the named benchmarks (``bench_<name>.py``), or all."""
    from runner import Sheet

    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no benchmark called {unknown[0]!r}. Known: {', '.join(known)}.", file=sys.stderr)
        return 2
    for name in names or known:
        module = import_module(f"bench_{name}")
        print(f"{name}: {module.TITLE}", flush=True)
        sheet = Sheet(name, module.TITLE)
        module.fill(sheet)
        print(f"  -> {sheet.write()}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("Stopped. Finished cells of long experiments are kept; the same command goes on.", file=sys.stderr)
        sys.exit(STOPPED)
