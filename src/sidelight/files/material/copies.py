"""Files that are copies or near copies of others, told by what a pretrained network says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._affinity.copies import near_copies
from sidelight.files.cards.describing import PREFIX
from sidelight.words import counted, some_of


def about_copies(frame: Any) -> list[str]:
    """Say which files of a table are copies of others, or nearly."""
    copies = copies_among(frame)
    if not copies:
        return []
    told = some_of([f"{name} of {first}" for name, first in copies.items()], 3)
    one = len(copies) == 1
    return [
        f"{counted(len(copies), 'file')} {'is a copy or near copy' if one else 'are copies or near copies'} ({told})"
    ]


def copies_among(frame: Any) -> dict[str, str]:
    """Return the files that are copies of an earlier file, with the earlier one.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows with the column ``file`` and what a network says of them; none is a copy where no network did.
    """
    columns = [name for name in frame.columns if name.startswith(PREFIX)]
    if not columns:
        return {}
    means = frame.select("file", *columns).group_by("file", maintain_order=True).mean()
    names, M = means["file"].to_list(), means.select(columns).to_numpy().astype(np.float64)
    return {name: names[first] for name, first in zip(names, near_copies(M).tolist()) if names[first] != name}
