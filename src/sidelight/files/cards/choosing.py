"""Which card a word stands for: one that is shipped, a file, a function, a model of another library, or none."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from sidelight.errors import InvalidParameter, MissingExtra, UnknownName, UnreadableFile, nearest
from sidelight.files.cards.card import RUNTIMES, Card, check_kind
from sidelight.words import Setting

AUTO, NONE = "auto", "none"
ADAPTORS = {"sentence-transformers": "texts", "fastembed": "texts", "timm": "pictures", "open-clip": "pictures"}
_IMPORTED = {
    "onnx": "onnxruntime",
    "tflite": "ai_edge_litert",
    "sentence-transformers": "sentence_transformers",
    "fastembed": "fastembed",
    "timm": "timm",
    "open-clip": "open_clip",
}
LARGEST = 1 << 30  # bytes of a model file


@lru_cache(maxsize=1)
def shipped() -> tuple[Card, ...]:
    """Return the cards that come with Sidelight, the best of each kind first."""
    folder = package_files("sidelight.files.cards") / "shipped"
    return tuple(Card.read(Path(str(folder / f"{name}.toml"))) for name in ("efficientnet-lite0", "birdnet"))


def card_for(word: str | None, kind: str) -> Card | None:
    """Return the card that a word stands for, with the checksum of its weights; None for readable numbers alone.

    Parameters
    ----------
    word : str or None
        ``auto`` (also None), ``none``, the name of a card, a file that ends with .toml, .onnx or .tflite, the name of
        another library's model (``timm:NAME``), or ``module:function``.
    kind : str
        What the folder holds.
    """
    if word is None or word == AUTO:
        found = next((card for card in shipped() if card.kind == kind and not missing_package(card)), None)
        return None if found is None else with_checksum(found)
    if word == NONE:
        return None
    card = _meant(word, kind)
    check_kind(card, kind)
    return with_checksum(card)


def is_shipped(card: Card) -> bool:
    """Say whether a card and its weights came with packages of the index, not as somebody's file."""
    return any(replace(card, checksum="") == one for one in shipped())


def _meant(word: str, kind: str) -> Card:
    known = {card.name: card for card in shipped()}
    if word in known:
        return known[word]
    ending = Path(word).suffix.lower()
    if ending in (".toml", ".onnx", ".tflite"):
        path = Path(word).expanduser()
        if not path.is_file():
            raise UnreadableFile(f"{word}: there is no such file. `sidelight embeddings` lists the cards there are.")
        if ending == ".toml":
            return Card.read(path)
        return Card(path.stem, kind, ending[1:], str(path.resolve()))
    before, mark, after = word.partition(":")
    if mark and after and before in ADAPTORS:
        return Card(word, ADAPTORS[before], before, after)
    if mark and after and before.replace(".", "").isidentifier():
        return Card(word, kind, "function", word)
    raise UnknownName(
        f"There is no card called {word!r:.80}. {nearest(word, [AUTO, NONE, *known])} A card is also a file that ends "
        "with .toml, .onnx or .tflite, a function as module:function, or a model such as timm:NAME."
    )


def missing_package(card: Card) -> str:
    """Return the package that a card needs and that is not installed; empty where nothing is missing."""
    for name in (_IMPORTED.get(card.runtime, ""), _package(card)[0]):
        if name and not _is_there(name):
            return name
    return ""


@lru_cache(maxsize=64)
def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def check_installed(card: Card) -> None:
    """Raise where the runtime or the weights of a card are not installed, and say what to type."""
    missing = missing_package(card)
    if missing and (card.extra or card.runtime in ("onnx", "tflite")):
        extra = card.extra or {"onnx": "eyes", "tflite": "ears"}[card.runtime]
        raise MissingExtra(missing, extra, f"Describing {card.kind} by {card.name}")
    if missing:
        raise InvalidParameter(f"{card.name} needs the package {missing!r}, which is not installed. Install it first.")


def _package(card: Card) -> tuple[str, str]:
    before, mark, rest = card.source.partition("package:")
    if before or not mark:
        return "", ""
    package, _, file = rest.partition("/")
    return package, file


def weights_of(card: Card) -> Path:
    """Return the file of a card's weights, and refuse one that is not there or too large."""
    check_installed(card)
    package, file = _package(card)
    path = Path(card.source)
    if package:
        spec = importlib.util.find_spec(package)
        homes: Sequence[str] = (spec.submodule_search_locations or []) if spec is not None else []
        path = next((Path(home) / file for home in homes if (Path(home) / file).is_file()), Path(file))
        if ".." in Path(file).parts:
            raise UnreadableFile(f"The card {card.name!r} leads out of the package {package!r}.")
    try:
        size = path.stat().st_size
    except OSError:
        where = f"in the package {package!r}" if package else f"at {card.source}"
        raise UnreadableFile(
            f"The weights of {card.name} are not {where}. Say where they are: the name of the file is the card."
        ) from None
    if size > LARGEST:
        raise UnreadableFile(f"{path}: {size:,} bytes of weights are more than are read.")
    return path


def with_checksum(card: Card) -> Card:
    """Return a card with the checksum of its weights; where it has one already, the weights must have it, too."""
    if card.runtime not in ("onnx", "tflite"):
        check_installed(card)
        return card
    path = weights_of(card)
    found = _digest(str(path), path.stat().st_mtime_ns)
    if card.checksum and card.checksum != found:
        raise InvalidParameter(
            f"The weights of {card.name} ({path}) are not those that the rows were described by: checksum {found}, "
            f"expected {card.checksum}. Install the version of that time, or cut and fit again."
        )
    return replace(card, checksum=found)


def known_again(card: Card, word: str | None) -> Card:
    """Return the card of a model for new material: the same weights, wherever they lie now.

    Parameters
    ----------
    card : Card
        What the model remembers.
    word : str or None
        What the user says it is; needed for a function, because opening a model runs no code unasked.
    """
    if word is not None and word != AUTO:
        said = card_for(word, card.kind)
        if said is None or (said.runtime, said.checksum or said.source) != (card.runtime, card.checksum or card.source):
            raise InvalidParameter(
                f"The model was fitted to rows that {card.name} described ({card.checksum or card.source}), and "
                f"{word} is something else. Cut and fit again to describe rows by it."
            )
        return replace(card, source=said.source)
    if card.runtime == "function":
        raise InvalidParameter(
            f"The rows of this model were described by the function {card.source}, and a model runs no code unasked.",
            do=["If you know it, say so: ", Setting("embed", card.source), "."],
        )
    return with_checksum(card)


@lru_cache(maxsize=16)
def _digest(path: str, _: int) -> str:
    digest = hashlib.blake2b(digest_size=12)
    with Path(path).open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of ``sidelight embeddings``."""

    name: str
    kind: str
    licence: str
    how: str  # "installed", or what to type

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"name": self.name, "kind": self.kind, "licence": self.licence, "how": self.how}


def listed() -> Iterator[Listed]:
    """Yield every card there is, and every library that has an adaptor."""
    for card in shipped():
        there = not missing_package(card)
        how = "installed" if there else f'pip install "sidelight[{card.extra}]"'
        yield Listed(card.name, card.kind, card.licence, how)
    for runtime in RUNTIMES:
        if runtime in ADAPTORS:
            package = _IMPORTED[runtime]
            how = "installed; fetches its models itself" if _is_there(package) else f"pip install {runtime}"
            yield Listed(
                f"{runtime}:NAME", ADAPTORS[runtime], "of the model", how.replace("open-clip", "open-clip-torch")
            )
