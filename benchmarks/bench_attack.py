"""Attack everything that takes something from outside, and count what was clean: ``make bench BENCH=attack``.

``ATTACK=0.1 make bench BENCH=attack`` does a tenth. Every attack draws its cases from a fresh seed, which it prints.
Finished cases are kept in benchmarks/.work/attack by their seed: ``ATTACK_SEED=123456`` goes on with a stopped attack,
or does the same cases again when its files are removed. ``ATTACK=0`` writes the page from what the last attack kept;
``ATTACK_KINDS=races,routes`` does some kinds only.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter

from attack.worker import fresh_seed, last_seed, run, stored
from runner import Sheet

TITLE = "Attack: damaged files, odd calls, hostile places, sudden ends"
KINDS = {
    "files": "damaged files of every format",
    "calls": "calls made from the public signatures",
    "ragged": "tables whose lines do not agree, read, described and clustered",
    "parts": "parts of Parquet, one of them spoilt",
    "servers": "tables of a PostgreSQL server with odd types, names and addresses",
    "counted": "columns that count labels, share them or leave them in doubt, read, written and read again",
    "keywords": "hostile XMP beside photographs and inside JPEG files",
    "models": "damaged model files",
    "tampered": "model files whose arrays were changed, of every estimator",
    "networks": "networks and weights that were changed: .onnx, .tflite, .pth",
    "configs": "broken run.toml",
    "shell": "the command line under limits, on a full disk, with closed streams, signals and planted leftovers",
    "repeats": "run.toml of other versions, repeated",
    "sessions": "sessions that are told anything, saved and resumed",
    "permuted": "rows, columns, bags and labels in another order and by other names",
    "dask_kills": "workers of a Dask cluster killed in a fit",
    "corrections": "corrections by 24 owners at once while the model is busy, on SQLite and PostgreSQL",
    "people": "five thousand answers by thirty people, with memory over time",
    "kills": "kill -9, then a look at the folder, then another run",
    "races": "the same key, opposite answers and undos at once",
    "restarts": "PostgreSQL stopped and started while people answer",
    "studio_kills": "kill -9 of a studio with ten clients, on SQLite and PostgreSQL",
    "routes": "sequences of requests to the studio",
    "schema": "requests drawn by schemathesis, in sequences and roles",
    "strangers": "requests with false credentials, Hosts and Origins",
    "uploads": "uploads to the studio: bombs, damaged files, names that lead elsewhere",
    "pages": "pages with hostile names in a browser",
}


def fill(sheet: Sheet) -> None:
    """Run every kind and write what came out."""
    share = float(os.environ.get("ATTACK", "1"))
    seed = last_seed() if not share else int(os.environ.get("ATTACK_SEED") or fresh_seed())
    print(f"  ATTACK_SEED={seed}", flush=True)
    sheet.say_if_busy()
    chosen = os.environ.get("ATTACK_KINDS", ",".join(KINDS)).split(",")
    sheet.notes.append(
        "A case is clean when it is accepted or refused with one message of ours, in a minute of processor time and in "
        f"bounded memory, and leaves nothing half-written. Cases are drawn from a fresh seed; of this run: {seed}."
    )
    if not share:
        sheet.notes.append(
            "Written from the cases that were kept, which may come from several calls on the way to this code: a case "
            "that was not clean was mended with a test, taken out, and run again."
        )
    table = ["| kind | tried | accepted | refused | not clean |", "|---|---|---|---|---|"]
    findings: Counter[str] = Counter()
    n_all = 0
    for kind, title in ((kind, KINDS[kind]) for kind in chosen):
        count = max(1, round(importlib.import_module(f"attack.{kind}").COUNT * share))
        lines = run(kind, count, seed) if share else stored(kind, seed)
        if not lines:
            continue
        verdicts = Counter(verdict for line in lines for verdict in line["verdicts"])
        bad = {verdict: n for verdict, n in verdicts.items() if verdict not in ("accepted", "refused")}
        findings.update(bad)
        tried, n_bad = sum(verdicts.values()), sum(bad.values())
        n_all += tried
        table.append(f"| {title} | {tried} | {verdicts['accepted']} | {verdicts['refused']} | {n_bad} |")
        wanted = importlib.import_module(f"attack.{kind}").COUNT
        told = f"{n_bad} of {tried} not clean" + (
            "" if len(lines) >= wanted else f"; {len(lines)} of {wanted} cases run"
        )
        sheet.row(title, told, "0", n_bad == 0 and len(lines) >= wanted)
    n_bad = sum(findings.values())
    sheet.row("all kinds", f"{n_bad} of {n_all} not clean", "0 of 40000", n_bad == 0 and n_all >= 40_000)
    sheet.sections.append("\n".join(table))
    if findings:
        listed = [f"- {n} x `{verdict[:300].replace('`', '')}`" for verdict, n in findings.most_common(40)]
        sheet.sections.append("## Not clean\n\n" + "\n".join(listed))
