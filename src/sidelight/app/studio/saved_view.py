"""The clusters as they were last worked out, in a file beside the rows: a restart shows them at once.

It is a copy that can be lost: the model learns everything anew from the answers. It counts only if it was made of the
same rows, settings and answers, by the same version of Sidelight; in doubt it is thrown away.
"""

from __future__ import annotations

import hashlib
import json
import logging
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import sidelight
from sidelight._core.atomic import replacing
from sidelight.active.outlook import Outlook
from sidelight.active.screens import PileAct
from sidelight.app.studio.learner import Snapshot
from sidelight.app.studio.rows import Rows
from sidelight.errors import SidelightError
from sidelight.estimators._base import fingerprint

FILE = "view.npz"
Told = Sequence[Any]
Curve = list[tuple[int, float]]
_log = logging.getLogger("sidelight.studio")


def mark_of(rows: Rows, settings: Any, told: Told) -> str:
    """Return a fingerprint of everything that clusters follow from."""
    about = [sidelight.__version__, fingerprint(rows.X), {name: settings.get(name) for name in sorted(settings)}]
    digest = hashlib.blake2b(json.dumps(about, sort_keys=True, default=str).encode(), digest_size=16)
    said = [one.event if isinstance(one, PileAct) else [*one[0], *one[1:]] for one in told]
    digest.update(json.dumps(said).encode())
    return digest.hexdigest()


def write_view(folder: Path, snapshot: Snapshot, curve: Curve, mark: str) -> None:
    """Keep the clusters; where that fails nothing is lost but the time of the next start."""
    about = {
        "sidelight view": 1,
        "mark": mark,
        "version": snapshot.version,
        "n_known": snapshot.n_known,
        "outlook": asdict(snapshot.outlook),
        "agreement": snapshot.agreement,
        "moved_by": snapshot.moved_by,
        "curve": curve,
        "is_judged": snapshot.is_judged,
    }
    try:
        with replacing(folder / FILE) as handle:
            np.savez(
                handle, about=np.array(json.dumps(about)), labels=snapshot.labels, sure=snapshot.sure,
                moved=snapshot.moved, typical=snapshot.typical,
            )  # fmt: skip
    except (OSError, SidelightError) as error:
        _log.warning("The clusters could not be kept for the next start: %s", error)


def read_view(rows: Rows, settings: Any, told: Told) -> tuple[Snapshot, Curve] | None:
    """Return the clusters that were kept, if they follow from the first of these answers; else nothing."""
    path = rows.folder / FILE
    try:
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as kept:
            about = json.loads(str(kept["about"]))
            labels, sure, moved, typical = (np.asarray(kept[name]) for name in ("labels", "sure", "moved", "typical"))
        version = int(about["version"])
        if version > len(told) or about["mark"] != mark_of(rows, settings, told[:version]):
            raise ValueError("it was made of other answers")
        snapshot = Snapshot(
            version, labels.astype(np.intp), sure.astype(np.float64), int(about["n_known"]),
            Outlook(**about["outlook"]), float(about["agreement"]), moved.astype(np.intp), int(about["moved_by"]),
            typical.astype(np.float64), bool(about.get("is_judged", True)),
        )  # fmt: skip
        if not (
            labels.shape == sure.shape == typical.shape == (rows.n,) and labels.min() >= 0 and np.isfinite(sure).all()
        ):
            raise ValueError("it is about other rows")
        if moved.size and not (moved.min() >= 0 and moved.max() < rows.n):
            raise ValueError("it is about other rows")
        return snapshot, [(int(n), float(value)) for n, value in about["curve"]]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, EOFError) as error:
        _log.info("The clusters kept in %s are not used: %s", path, error)
        return None
