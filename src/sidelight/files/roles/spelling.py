"""Labels as people write them: several marks between names, blanks and capitals, and names that look alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from sidelight.data.dataset import TOLD, Note
from sidelight.files.problems import listing
from sidelight.files.roles.labels import RowLabels
from sidelight.words import Setting, counted, in_words

_MOST_LABELS = 2000  # of more, spellings are not compared letter by letter
_OFTEN = 4  # times as often: a spelling beside which another of the same letters is a slip
_MUCH_OFTEN = 8  # the same, where a letter is another one
_LONG = 6  # letters from which on one that is missing is no name of its own
_MOST_TOLD = 6
_UMLAUTS = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue", ord("ø"): "oe", ord("å"): "aa"}


def tidied(said: RowLabels, same: Mapping[str, str], *, guesses: bool = True) -> tuple[RowLabels, list[str]]:
    """Bring spellings of one name together, and say which others look alike.

    Parameters
    ----------
    said : RowLabels
        The labels as written.
    same : mapping of str to str
        Names that somebody said are others; one that stands for itself is left as it is.
    guesses : bool
        Whether slips of blanks and capitals are mended, and look-alikes told; not for a part of a table.
    """
    told: list[str] = []
    strangers = [name for name in same if name not in said.names]
    if strangers and guesses:
        told.append(Note(f"no label is called {listing(strangers)}, which was said to be another name", TOLD))
    said = said.renamed({name: other for name, other in same.items() if name in said.names})
    if not guesses or len(said.names) > _MOST_LABELS:
        return said, told
    counts = {name: n for name, n in said.counts().items() if same.get(name) != name}
    slips = _slips(counts, said)
    if slips:
        written = [f"{name!r} for {right!r}" for name, right in list(slips.items())[:_MOST_TOLD]]
        more = f" and {len(slips) - _MOST_TOLD} more" if len(slips) > _MOST_TOLD else ""
        told.append(
            Note(f"blanks and capitals make no other label: {in_words(written)}{more} {_was(len(slips))} mended", TOLD)
        )
        said = said.renamed(slips)
    alike = _alike({name: n for name, n in said.counts().items() if same.get(name) != name}, said)
    if alike:
        told.append(_about_alike(alike, said.counts()))
    return said, told


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _about_alike(alike: Mapping[str, str], counts: Mapping[str, int]) -> Note:
    some = list(alike.items())[:_MOST_TOLD]
    pairs = [f"{name!r} ({counts[name]}) and {right!r} ({counts[right]})" for name, right in some]
    more = f", and {counted(len(alike) - len(some), 'other pair')}" if len(alike) > len(some) else ""
    advice: list[str | Setting] = ["If they are one: ", Setting("same", dict(some)), "."]
    return Note(f"labels that look alike were kept apart: {in_words(pairs)}{more}", TOLD, advice)


def _slips(counts: Mapping[str, int], said: RowLabels) -> dict[str, str]:
    """Return spellings that differ in blanks or in how letters are stored, or in capitals from a much commoner one."""
    groups: dict[str, list[str]] = {}
    for name in counts:
        groups.setdefault(_plain(name).casefold(), []).append(name)
    slips: dict[str, str] = {}
    for names in groups.values():
        ordered = sorted(names, key=lambda name: (-counts[name], name != _plain(name), name))
        for place, name in enumerate(ordered):
            right = next((other for other in ordered if _plain(other) == _plain(name)), name)
            if place and len(name) > 2 and counts[name] * _OFTEN <= counts[ordered[0]]:
                right = ordered[0] if not said.are_together(name, ordered[0]) else right
            if right != name:
                slips[name] = right
    return {name: slips.get(right, right) for name, right in slips.items()}


def _alike(counts: Mapping[str, int], said: RowLabels) -> dict[str, str]:
    """Return pairs of names that may be one: accents or capitals alone differ, or a letter of a rare one."""
    spelled: dict[str, list[str]] = {}
    nearly: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for name in sorted(counts, key=lambda name: (-counts[name], name)):  # a rare one is held against commoner ones
        forms = _forms(name)
        near = dict.fromkeys(sorted(forms)) | dict.fromkeys(_without_a_letter(forms))
        others = [other for form in sorted(forms) for other in spelled.get(form, ())]
        others += [o for key in near for o in nearly.get(key, ()) if counts[name] * _MUCH_OFTEN <= counts[o]]
        right = next((other for other in others if not said.are_together(name, other)), None)
        if right is not None:
            found[name] = right
            continue
        for form in forms:
            spelled.setdefault(form, []).append(name)
        for key in near:
            nearly.setdefault(key, []).append(name)
    return found


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def _forms(name: str) -> set[str]:
    """Return a name without accents, capitals and marks between words; an umlaut may be two letters, too."""
    letters = re.sub(r"[\s_-]+", " ", _plain(name)).casefold()
    both = {letters, letters.translate(_UMLAUTS)}
    return {"".join(c for c in unicodedata.normalize("NFKD", form) if not unicodedata.combining(c)) for form in both}


def _without_a_letter(forms: Iterable[str]) -> list[str]:
    """Return long forms with any one letter left out: those of names that differ in a letter meet; digits count."""
    long = sorted(form for form in forms if len(form) >= _LONG and not any(c.isdigit() for c in form))
    return [form[:k] + form[k + 1 :] for form in long for k in range(len(form))]
