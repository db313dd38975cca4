"""Keywords of photographs in XMP: added to what is there, readable by others; nothing else of a photograph changes."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest

from sidelight.errors import UnreadableFile
from sidelight.files.material.keywords import in_jpeg, path_of, with_keywords

DC = "{http://purl.org/dc/elements/1.1/}subject"
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
LR = "{http://ns.adobe.com/lightroom/1.0/}hierarchicalSubject"
DIGIKAM = "{http://www.digikam.org/ns/1.0/}TagsList"
RATED = (  # as a program writes it, with a prefix of its own for RDF
    b"<?xpacket begin='' id='x'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF "
    b"xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description r:about='' "
    b"xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmp:Rating='5' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
    b"<dc:subject><r:Bag><r:li>harbour</r:li></r:Bag></dc:subject></r:Description></r:RDF></x:xmpmeta>"
    b"<?xpacket end='w'?>"
)


def listed(packet, name):
    return [item.text for item in ElementTree.fromstring(packet).find(f".//{name}").iter(f"{RDF}li")]


def photograph():
    pytest.importorskip("PIL")
    from PIL import Image

    kept = io.BytesIO()
    exif = Image.Exif()
    exif[270] = "the harbour"
    Image.effect_noise((60, 40), 80).convert("RGB").save(kept, "JPEG", exif=exif)
    return kept.getvalue()


def test_keywords_and_their_paths_are_where_programs_look():
    packet = with_keywords(None, ["wren", "a < b & c"], {"wren": "bird", "bird": "animal"}, "x")
    assert listed(packet, DC) == ["wren", "a < b & c"]
    assert listed(packet, LR) == ["animal|bird|wren", "a < b & c"]
    assert listed(packet, DIGIKAM) == ["animal/bird/wren", "a < b & c"]


def test_what_a_packet_holds_is_kept_and_nothing_is_added_twice():
    once = with_keywords(RATED, ["boat", "harbour"], {}, "x")
    assert b"xmp:Rating" in once
    assert listed(once, DC) == ["harbour", "boat"]
    again = with_keywords(once, ["boat", "harbour"], {}, "x")
    assert [listed(again, name) for name in (DC, LR)] == [listed(once, name) for name in (DC, LR)]


def test_a_packet_in_wide_characters_is_read():
    wide = RATED.decode().encode("utf-16")
    assert listed(with_keywords(wide, ["boat"], {}, "x"), DC) == ["harbour", "boat"]


def test_a_prefix_that_means_something_else_keeps_its_meaning():
    own = RATED.replace(b"<dc:subject>", b"<lr:mine/><dc:subject>").replace(b"xmlns:x=", b"xmlns:lr='urn:me' xmlns:x=")
    packet = with_keywords(own, ["boat"], {}, "x")
    assert ElementTree.fromstring(packet).find(".//{urn:me}mine") is not None
    assert listed(packet, LR) == ["boat"]


def test_characters_that_xml_cannot_write_are_left_out():
    packet = with_keywords(None, ["wr\x01en", "Zaunkönig\ud800"], {"wr\x01en": "bird\ud800"}, "x")
    assert listed(packet, DC) == ["wren", "Zaunkönig"]
    assert listed(packet, LR) == ["bird|wren", "Zaunkönig"]


def test_a_circle_of_parents_ends():
    assert path_of("a", {"a": "b", "b": "a"}) == ["b", "a"]


@pytest.mark.parametrize(
    "packet",
    [
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>",
        b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>",
        b"<p>no metadata</p>",
        b"\xff\xfe\x00nonsense",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>".encode("utf-16"),
        RATED.replace(b"<dc:subject>", b"<a>" * 5000 + b"</a>" * 5000 + b"<dc:subject>"),
    ],
)
def test_what_is_no_xmp_is_refused_by_name(packet):
    with pytest.raises(UnreadableFile, match=r"photo\.xmp"):
        with_keywords(packet, ["boat"], {}, "photo.xmp")


def test_a_jpeg_keeps_its_pixels_and_everything_else():
    from PIL import Image

    before = photograph()
    once = in_jpeg(before, ["boat"], {}, "x.jpg")
    twice = in_jpeg(once, ["harbour"], {}, "x.jpg")
    for data in (once, twice):
        assert Image.open(io.BytesIO(data)).tobytes() == Image.open(io.BytesIO(before)).tobytes()
        place = data.index(b"http://ns.adobe.com/xap")
        length = int.from_bytes(data[place - 2 : place], "big")
        assert data[: place - 4] + data[place - 2 + length :] == before  # nothing but the one segment is new
    packet = twice[twice.index(b"<?xpacket") :].partition(b"end='w'?>")[0] + b"end='w'?>"
    assert listed(packet, DC) == ["boat", "harbour"]


@pytest.mark.parametrize("data", [b"", b"\x89PNG....", b"\xff\xd8", b"\xff\xd8\xff\xe1\xff\xff short"])
def test_what_is_no_whole_jpeg_is_refused(data):
    with pytest.raises(UnreadableFile, match=r"x\.jpg"):
        in_jpeg(data, ["boat"], {}, "x.jpg")


def test_more_than_a_segment_holds_is_refused_with_the_numbers():
    with pytest.raises(UnreadableFile, match="65,533"):
        in_jpeg(photograph(), [f"keyword {k}" for k in range(2000)], {}, "x.jpg")
