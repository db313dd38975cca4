"""``sidelight.from_folder``: a folder of recordings, pictures or texts as a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sidelight._core.params import check_choice
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidParameter
from sidelight.files.material.reading import cached_table
from sidelight.files.material.rows import make_table
from sidelight.files.reading import read

Extractor = str | Callable[[str], Iterable[Mapping[str, Any]]]


def from_folder(
    folder: Any,
    *,
    labels: Any = None,
    out: Any = None,
    kind: str | None = None,
    cut: str | None = None,
    rate: int | None = None,
    regions: int | None = None,
    whole: bool = False,
    by: str | None = None,
    extractor: str = "",
    n_jobs: int | None = None,
    min_confidence: float = 0.0,
) -> Dataset:
    """Cut a folder into rows: a row for each sound of a recording, region of a picture, or text.

    Files are cut in processes; one that cannot be read is left out, and the notes of the data say so. Calling it again
    cuts only files that are new or have changed.

    Parameters
    ----------
    folder : str or path
        The folder; folders inside it count.
    labels : str or path, optional
        A table that says which labels each file has: one line a file with its labels in one cell or a column of 0 and
        1 for each, a line for each label, or a selection table of Raven, Audacity or BirdNET. Without it, the folders
        that files lie in are their labels where there are several.
    out : str or path, optional
        Where the table is kept, a name that ends with ``.parquet``; in the user's cache by default.
    kind : {"sounds", "pictures", "texts"}, optional
        What to cut in a folder that holds several kinds of files.
    cut : {"time", "masks"}, optional
        Sounds: pieces of time (the default), or patches of time and pitch, where calls overlap.
    rate : int, optional
        Sounds: samples a second up to half of which pitch is heard; 22,050, or what all files have, by default.
    regions : int, optional
        Pictures: regions of each, 6 by default.
    whole : bool
        Pictures: one row each, described as a whole and by its quarters.
    by : {"file", "paragraph"}, optional
        Texts: what is a row, a file by default.
    extractor : str
        Your own function as ``"module:function"``, from the path of a file to rows: mappings of names to values.
    n_jobs : int, optional
        Processes; as many as there are cores by default.
    min_confidence : float
        Selections below this confidence are left out.

    Returns
    -------
    Dataset
        Rows with their features, bags (files), labels and what to show.

    Examples
    --------
    >>> import sidelight as sl
    >>> data = sl.from_folder("recordings", labels="species.csv")  # doctest: +SKIP
    """
    if cut is not None:
        check_choice("sidelight.from_folder", "cut", cut, ("time", "masks"))
    if by is not None:
        check_choice("sidelight.from_folder", "by", by, ("file", "paragraph"))
    try:
        place = Path(folder).expanduser()
        beside = None if labels is None else Path(labels).expanduser()
        target = None if out is None else Path(out).expanduser()
    except (TypeError, RuntimeError):
        raise InvalidParameter(f"folder, labels and out of from_folder are paths. Got {folder!r:.80}.") from None
    if target is not None and target.suffix.lower() != ".parquet":
        raise InvalidParameter(f"The 'out' parameter of from_folder must end with .parquet. Got {str(out)!r}.")
    given = {"cut": cut, "rate": rate, "regions": regions, "whole": whole or None, "by": by}
    settings = {name: value for name, value in given.items() if value is not None}
    how: dict[str, Any] = {
        "labels": beside, "kind": kind, "extractor": extractor, "n_jobs": n_jobs, "min_confidence": min_confidence,
    }  # fmt: skip
    if target is None:
        made = cached_table(place, settings=settings, **how)
        target, notes = made.path, made.notes
    else:
        notes = make_table(place, target, settings=settings, **how)[1]
    data = read(target)
    return data.with_notes(*notes)
