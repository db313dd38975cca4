"""Keywords for photographs: hostile XMP beside them and inside JPEG files.

A packet is refused by a message of ours, or what comes out is XML that holds the keywords and all that was there; a
JPEG file is the same but for the one segment.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from attack.outcome import judged
from mutations import mutate

COUNT = 6_000
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_DC = "http://purl.org/dc/elements/1.1/"
_WORDS = (
    "wren", "a < b & c", "]]>", "<!--", "\x00", "\ud800", "\u202e", "&amp;", "", " ", "a|b", "x/y", "{0}", "%s",
    "'\"", "\ufffe", "w" * 3000, "\U0001f426", "<rdf:li>",
)  # fmt: skip
_INSIDE = (
    "", "text", "<a>" * 40 + "</a>" * 40, "<a>" * 3000 + "</a>" * 3000, "<!-- c -->", "<![CDATA[<a>]]>",
    "<dc:subject/>", "<dc:subject>wren</dc:subject>", "<dc:subject><rdf:Bag/></dc:subject>", "<?pi x?>",
    "<dc:subject><rdf:Alt><rdf:li xml:lang='x'>owl</rdf:li></rdf:Alt></dc:subject>", "<x:a xmlns:x=''/>",
    "<dc:subject><rdf:Bag><rdf:li>wren</rdf:li><rdf:li><b/></rdf:li></rdf:Bag></dc:subject>", "&#0;", "&lol;", "\x01",
    "<lr:own xmlns:lr='urn:other'/>", "<rdf:Description><dc:subject/></rdf:Description>", "\udc80", "&#x1F426;",
)  # fmt: skip
_AROUND = (
    "{0}", "<?xpacket begin='' id='x'?>{0}<?xpacket end='w'?>", "<?xml version='1.0' encoding='{1}'?>{0}", "{0}{0}",
    "<!DOCTYPE x [<!ENTITY lol 'ha'>]>{0}", "<!DOCTYPE x SYSTEM 'file:///etc/passwd'>{0}", "\0\0{0}\0\0", "{0}\n\n  ",
    "<?xml version='1.1'?>{0}", "<x:xmpmeta xmlns:x='adobe:ns:meta/'>{0}</x:xmpmeta>",
)  # fmt: skip
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "utf-7")


def attack(number: int, folder: Path) -> str:
    """Add keywords to one packet, or one photograph, that somebody made."""
    from sidelight.files.material.keywords import in_jpeg, with_keywords

    rng = np.random.default_rng([19, number])
    words = [str(rng.choice(_WORDS)) for _ in range(int(rng.integers(1, 5)))]
    parents = {word: str(rng.choice(_WORDS)) for word in words if rng.random() < 0.4}
    packet = _packet(rng)
    if rng.random() < 0.3:
        packet = mutate(packet, int(rng.integers(2**32)), ".xmp")
    if rng.random() < 0.6:
        return _told(judged(lambda: _look(packet, with_keywords(packet, words, parents, "photo.xmp"), words)), packet)
    photograph = _photograph() if rng.random() < 0.2 else _with_segment(packet)
    if rng.random() < 0.5:
        photograph = mutate(photograph, int(rng.integers(2**32)), ".jpg")
    return _told(judged(lambda: _same_pixels(photograph, in_jpeg(photograph, words, parents, "photo.jpg"))), photograph)


def _told(verdict: str, given: bytes) -> str:
    return verdict if verdict in ("accepted", "refused") else f"{given[:150]!r}: {verdict}"


def _packet(rng: np.random.Generator) -> bytes:
    inside = "".join(str(rng.choice(_INSIDE)) for _ in range(int(rng.integers(0, 4))))
    r = str(rng.choice(["rdf", "r"]))
    body = (
        f"<{r}:RDF xmlns:{r}='{_RDF}' xmlns:rdf='{_RDF}'><{r}:Description xmlns:dc='{_DC}'>{inside}"
        f"</{r}:Description></{r}:RDF>"
    )
    encoding = str(rng.choice(_ENCODINGS))
    return str(rng.choice(_AROUND)).format(body, encoding).encode(encoding, "ignore")


def _look(before: bytes, after: bytes, words: list[str]) -> None:
    """Say whether keywords are in, and whether the texts that were there still are."""
    document = ElementTree.fromstring(after)
    items = [item.text for item in document.iter(f"{{{_RDF}}}li")]
    plain = [word for word in words if word.isprintable() and word.strip()]
    assert all(word in items or word.strip() in items for word in plain), "a keyword is missing"
    if b"owl" in before:
        assert b"owl" in after, "a keyword that was there is gone"


def _with_segment(packet: bytes) -> bytes:
    inside = b"http://ns.adobe.com/xap/1.0/\x00" + packet[:60_000]
    photograph = _photograph()
    return photograph[:2] + b"\xff\xe1" + (len(inside) + 2).to_bytes(2, "big") + inside + photograph[2:]


def _same_pixels(before: bytes, after: bytes) -> None:
    pixels = before[before.rfind(b"\xff\xda") :]
    assert after.endswith(pixels), "the pixels changed"
    assert after[:2] == before[:2], "the beginning changed"


@cache
def _photograph() -> bytes:
    import io

    from PIL import Image

    kept = io.BytesIO()
    Image.effect_noise((24, 16), 80).convert("RGB").save(kept, "JPEG")
    return kept.getvalue()
