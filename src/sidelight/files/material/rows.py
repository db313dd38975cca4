"""From a folder to rows: every file cut and described, in processes, only what is new, into one Parquet table.

The table's own metadata say how it was made (the recipe) and what its columns are for, so that it is read without a
guess, and so that a model cuts new material in the same way.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sidelight.data.dataset import TOLD, Note
from sidelight.errors import InvalidData, InvalidParameter, MissingExtra, SidelightError, UnreadableFile
from sidelight.files.cards.card import Card
from sidelight.files.cards.choosing import card_for, is_shipped
from sidelight.files.cards.describing import (
    PREFIX,
    Described,
    check_stranger,
    describe_pieces,
    describe_regions,
    describe_texts,
)
from sidelight.files.cards.networks import function_named
from sidelight.files.cards.words import notes_about
from sidelight.files.limited import MEMORY, limit_memory
from sidelight.files.material.copies import about_copies
from sidelight.files.material.labels import Labels, labels_from_folders, labels_from_table, selections_beside
from sidelight.files.material.listing import KEY, Listing, fingerprint, recipe_text
from sidelight.files.material.pictures import PictureRecipe, cut_picture, taken_at
from sidelight.files.material.selections import Selection
from sidelight.files.material.sounds import SoundRecipe, common_rate, cut_recording, describe_piece, rate_of, samples_of
from sidelight.files.text.folder import TextRecipe, cut_text
from sidelight.progress import report
from sidelight.words import counted, some_of

_VERSION = 1


_LITTLE = 0.75  # of the samples a second that a network takes: fewer are worth a word


_AT_ONCE = 500_000  # cells of rows that are kept as Python values


_AHEAD = 4  # files a process that are begun before the first of them was taken


_IN_THIS_PROCESS = 8  # files up to which starting processes takes longer than the work


Recipe = SoundRecipe | PictureRecipe | TextRecipe


Row = dict[str, Any]


_RECIPES: Mapping[str, Callable[..., Recipe]] = {
    "sounds": SoundRecipe,
    "pictures": PictureRecipe,
    "texts": TextRecipe,
}


@dataclass(frozen=True, slots=True)
class Material:
    """What a folder is cut into, and how: the metadata of the table.

    Attributes
    ----------
    kind : str
        ``"sounds"``, ``"pictures"``, ``"texts"``, or ``"rows"`` of an extractor of the user's own.
    recipe : mapping
        The settings of the cut; new material is cut with the same ones.
    roles : mapping
        What the columns of the table are for, as :func:`sidelight.read` takes it.
    files : mapping of str to str
        The fingerprint of every file that was cut.
    omitted : mapping of str to str
        The files that could not be read, and why.
    extractor : str
        ``"module:function"`` of the user's own, or empty.
    card : mapping
        The network that describes the rows, without its weights; empty for readable numbers alone.
    """

    kind: str
    recipe: Mapping[str, Any]
    roles: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    omitted: Mapping[str, str] = field(default_factory=dict)
    extractor: str = ""
    card: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps({"version": _VERSION, **asdict(self)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Material:
        """Read what :meth:`to_json` wrote; what it cannot have written is refused."""
        try:
            content = json.loads(text)
            if content.pop("version") != _VERSION or not isinstance(content["kind"], str):
                raise ValueError
            return cls(**{name: content[name] for name in cls.__dataclass_fields__ if name in content})
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InvalidData("The recipe of this material is damaged. Make the table again.") from None

    def without_files(self) -> Material:
        """Return how to cut, without which files were cut: what a model remembers."""
        return Material(self.kind, self.recipe, self.roles, extractor=self.extractor, card=self.card)

    def network(self) -> Card | None:
        """Return the card of the network that describes the rows, or None."""
        return Card.of(self.card, "The recipe of this material") if self.card else None

    def cutter(self) -> Recipe:
        """Return the recipe as the object that cuts."""
        try:
            return _RECIPES[self.kind](**self.recipe)
        except (KeyError, TypeError):
            raise InvalidData(f"There is no way to cut {self.kind!r} by {dict(self.recipe)!r:.120}.") from None


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows of one file, or why there are none."""

    file: str
    rows: Sequence[Row]
    reason: str = ""


def cut_file(folder: Path, name: str, material: Material, selections: Sequence[Selection] = ()) -> Cut:
    """Return the rows of one file; a file that cannot be read says so instead of raising."""
    try:
        if material.extractor:
            return Cut(name, [dict(row) for row in function_named(material.extractor, "extractor")(str(folder / name))])
        recipe, card = material.cutter(), material.network()
        if isinstance(recipe, SoundRecipe):
            return Cut(name, _sound_rows(folder / name, recipe, selections, card))
        if isinstance(recipe, PictureRecipe):
            return Cut(name, _picture_rows(folder / name, recipe, card))
        texts = cut_text(folder / name, recipe)
        said = [Described() for _ in texts] if card is None else describe_texts(card, texts)
        return Cut(name, [{"text": text, **numbers} for text, numbers in zip(texts, said)])
    except SidelightError as error:
        if isinstance(error, MissingExtra | InvalidParameter):
            raise
        return Cut(name, (), str(error).replace(str(folder) + os.sep, ""))
    except (MemoryError, OSError) as error:
        return Cut(name, (), f"{name}: {str(error) or 'out of memory'}")


def _sound_rows(path: Path, recipe: SoundRecipe, selections: Sequence[Selection], card: Card | None) -> list[Row]:
    if selections:
        made = [(one.start, max(one.end, one.start + 0.01), one.label) for one in selections]
        described = [(start, end, label, describe_piece(path, recipe, start, end)) for start, end, label in made]
    else:
        described = [(sound.start, sound.end, "", sound.features) for sound in cut_recording(path, recipe)]
    spans = [(start, end) for start, end, _, _ in described]
    said = (
        [Described() for _ in spans] if card is None else describe_pieces(card, path, partial(samples_of, path), spans)
    )
    rows = []
    for (start, end, label, features), numbers in zip(described, said):
        own = {"label": label} if selections else {}
        where = {} if recipe.whole and not selections else {"fragment": f"t={start:.3f},{end:.3f}"}
        rows.append({
            "start": round(start, 3), "end": round(end, 3), **own, **where,
            **dict(zip(recipe.feature_names, features.tolist())), **numbers,
        })  # fmt: skip
    return rows


def _picture_rows(path: Path, recipe: PictureRecipe, card: Card | None) -> list[Row]:
    facts = taken_at(path)
    rows = []
    for region in cut_picture(path, recipe, None if card is None else partial(describe_regions, card)):
        left, top, width, height = (round(value, 1) for value in region.box)
        where = {} if recipe.whole else {"fragment": f"xywh=percent:{left},{top},{width},{height}"}
        rows.append({
            **facts, "share of the picture": round(region.share, 4), **where,
            **dict(zip(recipe.feature_names, region.features.tolist())), **region.embedded,
        })  # fmt: skip
    return rows


def plan_material(
    listing: Listing, kind: str | None, settings: Mapping[str, Any], extractor: str = "", embed: str | None = None
) -> Material:
    """Decide how a folder is cut: its kind, settings that are the same for all files, and what describes rows."""
    if extractor:
        function_named(extractor, "extractor")  # or say at once that there is none
        return Material("rows", {}, extractor=extractor)
    kind = kind or listing.kind()
    if kind is None or not listing.files.get(kind):
        raise UnreadableFile(
            f"{listing.folder} holds {listing.in_words()}: expected recordings, pictures or texts.",
        )
    if kind not in _RECIPES:
        raise InvalidParameter(f"kind is one of {', '.join(_RECIPES)}. Got {kind!r}.")
    own = {name: value for name, value in settings.items() if name in _RECIPES[kind].__dataclass_fields__}  # type: ignore[attr-defined]  # all are dataclasses
    if kind == "sounds" and "rate" not in own:
        own["rate"] = _common_rate(listing)
    card = card_for(embed, kind)
    if card is not None and not is_shipped(card):
        check_stranger(card)
    return Material(kind, asdict(_RECIPES[kind](**own)), card={} if card is None else card.to_dict())


def _common_rate(listing: Listing) -> int:
    """Return the rate that the recordings of a folder are worked with."""
    return common_rate(_rates(listing))


def _rates(listing: Listing) -> list[int]:
    rates = []
    for name in listing.files["sounds"]:
        try:
            rates.append(rate_of(listing.folder / name))
        except UnreadableFile:
            continue  # named and left out when its turn comes
    return rates


def cut_folder(
    listing: Listing,
    material: Material,
    new: Sequence[str],
    *,
    n_jobs: int | None = None,
    selections: Mapping[str, Sequence[Selection]],
) -> Iterator[Cut]:
    """Yield the rows of every file in ``new``, in order, with progress."""
    n_jobs = max(1, n_jobs or os.cpu_count() or 1)
    card = material.network()
    is_strange = card is not None and card.runtime in ("onnx", "tflite") and not is_shipped(card)
    work = partial(cut_file, listing.folder, material=material)
    if not is_strange and (len(new) <= _IN_THIS_PROCESS or n_jobs == 1):
        cuts: Iterable[Cut] = (work(name, selections=selections.get(name, ())) for name in new)
    else:
        cuts = _in_processes(work, new, selections, n_jobs, memory=MEMORY if is_strange else None)
    stage = "cutting files" if card is None else f"cutting files, described by {card.in_words()}"
    for number, cut in enumerate(cuts):
        report(stage, number, len(new), cut.file)
        yield cut
    report(stage, len(new), len(new))


def _in_processes(
    work: Callable[..., Cut],
    names: Sequence[str],
    selections: Mapping[str, Sequence[Selection]],
    n_jobs: int,
    *,
    memory: int | None,
) -> Iterator[Cut]:
    """Yield cuts in order, made by processes of their own: they end with the folder, and their networks with them."""
    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    n_jobs = min(n_jobs, len(names))
    limits: dict[str, Any] = {} if memory is None else {"initializer": limit_memory, "initargs": (memory,)}
    pool = ProcessPoolExecutor(n_jobs, env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}, **limits)
    waiting: deque[Any] = deque()
    left = iter(names)
    try:
        while True:
            for name in islice(left, _AHEAD * n_jobs - len(waiting)):
                waiting.append(pool.submit(work, name, selections=selections.get(name, ())))
            if not waiting:
                return
            yield waiting.popleft().result()
    except TerminatedWorkerError:
        raise InvalidData(
            "A process ended while it cut one of the files, probably for want of memory. Use fewer processes, or find "
            "the file by cutting halves of the folder."
        ) from None
    finally:
        pool.shutdown(wait=True, kill_workers=bool(waiting))


def _names(listing: Listing, material: Material) -> Sequence[str]:
    if material.extractor:
        return tuple(name for kind in ("sounds", "pictures", "texts") for name in listing.files.get(kind, ()))
    return listing.files.get(material.kind, ())


def make_table(
    folder: Path,
    out: Path,
    *,
    labels: Path | None = None,
    kind: str | None = None,
    extractor: str = "",
    material: Material | None = None,
    n_jobs: int | None = None,
    min_confidence: float = 0.0,
    is_cache: bool = False,
    embed: str | None = None,
    separator: Any = None,
    settings: Mapping[str, Any],
) -> tuple[Material, list[str]]:
    """Cut a folder into the Parquet table ``out``; return how, and what is worth a word.

    Rows of files that did not change since ``out`` was made in the same way are taken from it.
    """
    import polars as pl

    folder = folder.absolute()  # processes may have another working folder
    listing = Listing.of(folder)
    planned = material or plan_material(listing, kind, settings, extractor, embed)
    names = _names(listing, planned)
    if not names:
        raise UnreadableFile(f"{folder} holds {listing.in_words()}, and no {planned.kind}.")
    notes: list[str] = []
    marked: dict[str, list[Selection]] = {}
    if planned.kind == "sounds":
        beside = [name for kind in ("texts", "tables") for name in listing.files.get(kind, ())]
        marked = selections_beside(beside, folder, names)
    if marked:
        notes.append(f"selection tables lie beside {counted(len(marked), 'recording')}: their pieces are the rows")
    if labels is not None:
        said = labels_from_table(labels, names, min_confidence=min_confidence, separator=separator)
    else:
        by_folder = {} if marked else labels_from_folders(names)
        said = Labels(by_folder, ["the folder that a file lies in was taken for its label"] if by_folder else [])
    notes += [*said.notes, *notes_about(planned.kind, planned.network(), embed)]
    before = _earlier(out, planned)
    fingerprints = {name: fingerprint(folder / name) for name in names}
    known = {} if before is None else before[0].files
    kept = {name for name in names if known.get(name) == fingerprints[name] and name not in marked}
    frames = [] if before is None else [before[1].filter(pl.col("file").is_in(sorted(kept)))]
    omitted = {} if before is None else {n: reason for n, reason in before[0].omitted.items() if n in kept}
    new = [name for name in names if name not in kept]
    cuts = cut_folder(listing, planned, new, n_jobs=n_jobs, selections=marked)
    frames += _frames(cuts, omitted)
    if before is not None and kept:
        were = "was" if len(new) == 1 else "were"
        notes.append(
            f"{counted(len(kept), 'file')} had not changed, and {len(new)} {were} cut" if new else "no file had changed"
        )
    frame = pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()
    if not frame.height:
        first = next(iter(omitted.values()), "they are silent or empty")
        raise UnreadableFile(f"{folder}: none of the {len(names)} files gave a row ({first}).")
    frame = dressed(frame, folder, None if is_cache else out.parent, planned, said)
    heard = {*frame["file"].unique().to_list(), *omitted}
    notes += about_copies(frame)
    if planned.kind == "sounds":
        notes += _about_pitch(listing, planned)
    notes += _about_silence([name for name in names if name not in heard], planned)
    notes += [Note(f"left out: {reason}", TOLD) for reason in list(omitted.values())[:5]]
    if len(omitted) > 5:
        notes.append(Note(f"and {len(omitted) - 5} more files were left out", TOLD))
    made = replace(planned, roles=roles_of(frame, planned, said), files=fingerprints, omitted=omitted)
    _write(frame, out, made)
    return made, notes


def _about_pitch(listing: Listing, material: Material) -> list[str]:
    """Say how much of what a network listens to recordings do not hold."""
    card = material.network()
    rates = [] if card is None else _rates(listing)
    if card is None or not rates or max(rates) > _LITTLE * card.input.rate:
        return []
    share = 1.0 - max(rates) / card.input.rate
    return [
        f"the recordings hold pitch up to {max(rates) // 2:,} Hz, and {card.name} listens up to "
        f"{card.input.rate // 2:,} Hz: {share:.0%} of what it listens to is missing"
    ]


def _about_silence(silent: Sequence[str], material: Material) -> list[str]:
    """Say which files gave no row, and up to which pitch recordings were heard where that may be the reason."""
    if not silent:
        return []
    what = "sound" if material.kind == "sounds" else "row"
    told = f"no {what} was found in {counted(len(silent), 'file')} ({some_of(silent, 3)})"
    pitch = f"; pitch was heard up to {material.recipe['rate'] // 2} Hz" if material.kind == "sounds" else ""
    return [Note(told + pitch, TOLD)]


def _frames(cuts: Iterable[Cut], omitted: dict[str, str]) -> Iterator[Any]:
    """Yield the rows of files as data frames, some thousand at a time: Python values take ten times the room."""
    rows: list[Row] = []
    for cut in cuts:
        if cut.reason:
            omitted[cut.file] = cut.reason
            continue
        is_alone = len(cut.rows) == 1 and not cut.rows[0].get("fragment")
        for number, row in enumerate(cut.rows, start=1):
            rows.append({"row": cut.file if is_alone else f"{cut.file}#{number}", "file": cut.file, **row})
        if rows and len(rows) * len(rows[-1]) > _AT_ONCE:
            yield _as_frame(rows)
            rows = []
    if rows:
        yield _as_frame(rows)


def _as_frame(rows: Sequence[Row]) -> Any:
    """Return rows as a data frame; what a network says has no more than seven digits."""
    import polars as pl

    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(pl.col([n for n in frame.columns if n.startswith(PREFIX)]).cast(pl.Float32, strict=False))


def _earlier(out: Path, planned: Material) -> tuple[Material, Any] | None:
    """Return the table that an earlier run wrote in the same way, without the labels of that time."""
    import polars as pl

    if not out.is_file():
        return None
    before = material_of(out)
    if before is None or (before.kind, dict(before.recipe), before.extractor, before.card) != (
        planned.kind, dict(planned.recipe), planned.extractor, planned.card,
    ):  # fmt: skip
        return None
    try:
        frame = pl.read_parquet(out, glob=False)
    except (Exception, pl.exceptions.PanicException):  # damaged: made anew
        return None
    return before, frame.drop("labels", "folder", "show", strict=False)


def _write(frame: Any, out: Path, made: Material) -> None:
    from sidelight._core.atomic import replacing

    with replacing(out) as handle:
        frame.write_parquet(handle, metadata={KEY: made.to_json()})


def material_of(path: Path) -> Material | None:
    """Return the recipe of a Parquet table that was cut from a folder, or None."""
    text = recipe_text(path)
    return None if text is None else Material.from_json(text)


# What the rows of a folder wear beside their features: labels, what to show, and what every column is for.


SEPARATOR = "|"  # between the labels of a file


_FIRST = ("row", "folder", "file", "labels", "label", "start", "end", "date", "show")


_ASIDE = ("start", "end", "date", "latitude", "longitude", "fragment", "share of the picture", "label", "file")


def dressed(frame: Any, folder: Path, beside: Path | None, material: Material, said: Labels) -> Any:
    """Add what to show (as seen from ``beside``, or by whole paths) and the labels, and put names first."""
    import polars as pl

    files = frame["file"].to_list()
    if material.kind != "texts":
        place = {n: str(folder / n) if beside is None else os.path.relpath(folder / n, beside) for n in set(files)}
        parts = frame["fragment"].to_list() if "fragment" in frame.columns else [None] * len(files)
        show = [place[name] + (f"#{part}" if part else "") for name, part in zip(files, parts)]
        frame = frame.with_columns(pl.Series("show", show, dtype=pl.String))
    if said.are_of_folders:
        frame = frame.with_columns(pl.Series("folder", [os.path.dirname(name) or "." for name in files]))
    if said.lists:
        joined = {name: SEPARATOR.join(sorted(labels)) for name, labels in said.lists.items()}
        cells = [joined.get(name) for name in files]
        frame = frame.with_columns(pl.Series("labels", cells, dtype=pl.String))
    first = [c for c in _FIRST if c in frame.columns]
    return frame.select(*first, *[c for c in frame.columns if c not in first])


def roles_of(frame: Any, material: Material, said: Labels) -> dict[str, Any]:
    """Say what the columns are for, as sidelight.read takes it."""
    roles: dict[str, Any] = {"id": "row"}
    is_alone = material.recipe.get("by") == "file" or bool(material.recipe.get("whole"))
    if said.are_of_folders or not is_alone:
        roles["bag"] = "folder" if said.are_of_folders else "file"
    if said.lists:
        roles |= {"label": "labels", "label_separator": SEPARATOR}
    elif "label" in frame.columns:
        roles["label"] = "label"
    if material.card:  # readable numbers stay beside it, for pages
        roles["features"] = [f"{PREFIX}*"]
    elif material.kind == "texts":
        roles["text"] = ["text"]
    else:  # said, not guessed: "mean time" is a feature here, and no time
        numbers = [name for name, kind in frame.schema.items() if kind.is_numeric()]
        roles["features"] = [name for name in numbers if name not in (*_FIRST, *_ASIDE)]
    used = {value for value in roles.values() if isinstance(value, str)}
    roles["ignore"] = [c for c in _ASIDE if c in frame.columns and c not in used]
    roles["keep"] = [c for c in ("file", "start", "end") if c in frame.columns]
    if "show" in frame.columns or "text" in frame.columns:
        roles["show"] = "show" if "show" in frame.columns else "text"
    return roles
