"""Say what a file is by looking inside it; names only break ties (a .names file beside a .data file)."""

from __future__ import annotations

import re
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from sidelight.errors import UnreadableFile
from sidelight.files.source import Source, guess_encoding, refuse_web
from sidelight.files.text.baskets import basket_separator
from sidelight.files.text.tracks import has_boxes, is_text_grid
from sidelight.words import Setting

FORMATS = (
    "delimited",
    "parquet",
    "npz",
    "npy",
    "matlab",
    "arff",
    "keel",
    "c45",
    "svmlight",
    "idx",
    "folder",
    "workbook",
    "sqlite",
    "server",
    "json",
    "feather",
    "archive",
    "material",
    "track",
    "baskets",
    "distances",
)
_NOT_TABLES = {
    b"%PDF": "a PDF document. Export its table as CSV",
    b"\x89PNG": "a PNG image. A table of image paths and features is needed",
    b"\xff\xd8\xff": "a JPEG image. A table of image paths and features is needed",
    b"RIFF": "a sound or video file. A table of features is needed",
    b"BZh": "a bzip2 file. Unpack it first (bunzip2 FILE)",
    b"\xfd7zXZ": "an xz file. Unpack it first (xz -d FILE)",
    b"\x28\xb5\x2f\xfd": "a zstd file. Unpack it first (zstd -d FILE)",
    b"7z\xbc\xaf": "a 7-zip archive. Unpack it first",
    b"Rar!": "a RAR archive. Unpack it first",
    b"\x80\x04": "a Python pickle, which can run code when it is opened. Save the arrays as .npz",
    b"\x80\x05": "a Python pickle, which can run code when it is opened. Save the arrays as .npz",
    b"\x7fELF": "a program",
}

_NAMED = (  # signature, where it stands, what it is and the way out
    (
        b"$FL2",
        0,
        "an SPSS file (.sav)",
        "in SPSS: Save as CSV; in Python: pandas.read_spss(FILE).to_parquet('t.parquet')",
    ),
    (
        b"$FL3",
        0,
        "an SPSS file (.zsav)",
        "in SPSS: Save as CSV; in Python: pandas.read_spss(FILE).to_parquet('t.parquet')",
    ),
    (
        b"<stata_dta>",
        0,
        "a Stata file (.dta)",
        "in Stata: export delimited; in Python: pandas.read_stata(FILE).to_parquet('t.parquet')",
    ),
    (b"DUCK", 8, "a DuckDB database", "in DuckDB: COPY tablename TO 't.parquet'"),
    (
        b"\xc2\xea\x81\x60",
        12,
        "a SAS file (.sas7bdat)",
        "in SAS: proc export; in Python: pandas.read_sas(FILE).to_parquet('t.parquet')",
    ),
    (
        b"HEADER RECORD*******LIB",
        0,
        "a SAS transport file (.xpt)",
        "in Python: pandas.read_sas(FILE).to_parquet('t.parquet')",
    ),
    (b"RDX", 0, "an R data file", "in R: write.csv(x, 't.csv')"),
    (b"RDA", 0, "an R data file", "in R: write.csv(x, 't.csv')"),
    (b"X\n\x00\x00\x00", 0, "an R data file (.rds)", "in R: write.csv(readRDS(FILE), 't.csv')"),
    (b"A\n2\n", 0, "an R data file (.rds, as text)", "in R: write.csv(readRDS(FILE), 't.csv')"),
    (b"CDF\x01", 0, "a NetCDF file", "in Python: xarray.open_dataset(FILE).to_dataframe().to_parquet('t.parquet')"),
    (b"CDF\x02", 0, "a NetCDF file", "in Python: xarray.open_dataset(FILE).to_dataframe().to_parquet('t.parquet')"),
    (b"SIMPLE  =", 0, "a FITS file", "in Python: astropy.table.Table.read(FILE).write('t.csv')"),
    (b"Obj\x01", 0, "an Avro file", "in Python: polars.read_avro(FILE).write_parquet('t.parquet')"),
    (b"ORC", 0, "an ORC file", "in Python: pyarrow.orc.read_table(FILE).to_pandas().to_parquet('t.parquet')"),
    (b"FEA1", 0, "a Feather file of version 1", "in Python: pandas.read_feather(FILE).to_parquet('t.parquet')"),
    (b"Standard Jet DB", 4, "an Access database", "in Access: export the table as text"),
    (b"Standard ACE DB", 4, "an Access database", "in Access: export the table as text"),
    (b"\x00\x00\x27\x0a", 0, "a shapefile", "save its attribute table as CSV, in QGIS for one"),
    (b"GGUF", 0, "the weights of a language model", "a table of rows is needed"),
    (b"II*\x00", 0, "a TIFF picture", "a folder of pictures is cut with `sidelight from FOLDER`"),
    (b"MM\x00*", 0, "a TIFF picture", "a folder of pictures is cut with `sidelight from FOLDER`"),
    (b"GIF8", 0, "a GIF picture", "a folder of pictures is cut with `sidelight from FOLDER`"),
    (b"OggS", 0, "a sound file", "a folder of recordings is cut with `sidelight from FOLDER`"),
    (b"fLaC", 0, "a sound file", "a folder of recordings is cut with `sidelight from FOLDER`"),
    (b"ID3", 0, "a sound file", "a folder of recordings is cut with `sidelight from FOLDER`"),
)
_STATA = (0x69, 0x6C, 0x6E, 0x6F, 0x71, 0x72, 0x73)  # first byte of older Stata files, then byte order, then 1
_XML = (
    ("annotation_document", "an ELAN annotation file: a label track. Export it from ELAN as tab-delimited text"),
    ("<audacityproject", "an Audacity project. Export its label track as text"),
    ("<annotation", "annotations of a picture (Pascal VOC, for one): boxes with names, a label track and no rows. "
     "Cut the pictures into rows with `sidelight from FOLDER`, and give the names that each one has as a table"),
    ("<pmml", "a model in PMML and no table"),
    ("<gpx", "a GPS track. Convert it to CSV"),
    ("<kml", "places in KML. Save them as CSV"),
    ("<svg", "a picture (SVG) and no table"),
    ("<worksheet", "a spreadsheet in XML. Save the sheet as CSV"),
)  # fmt: skip


class Recognised(NamedTuple):
    """A format and what gave it away."""

    format: str
    evidence: str


def recognise(file: Source | Path) -> Recognised:
    """Return the format of a file, or raise what to do about it.

    Parameters
    ----------
    file : Source or Path
        A file, or a folder of text files.
    """
    source = Source.of(file)
    path = source.path
    if source.address:
        return Recognised("server", "the address of a database")
    if path.is_dir():
        return _folder(path)
    refuse_web(str(source.given))
    if not path.exists():
        if any(mark in path.name for mark in "*?") and any(path.parent.glob(path.name)):
            raise UnreadableFile(f"{path}: stands for several files, and one table is read here. Name one of them.")
        raise UnreadableFile(f"{path}: there is no such file.{_siblings(path)}")
    if not path.is_file():
        raise UnreadableFile(f"{path}: this is not a regular file (a pipe or a device). Save it to a file first.")
    if path.stat().st_size == 0:
        raise UnreadableFile(f"{path}: the file is empty (0 bytes). Was it written or downloaded completely?")
    start = source.head(1 << 16)
    if not start:
        raise UnreadableFile(f"{path}: the gzip file holds nothing. Was it written completely?")
    binary = _binary(path, start, packed=source.is_packed)
    return binary or _text(path, start)


def _binary(path: Path, start: bytes, *, packed: bool) -> Recognised | None:
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(path, packed)
    if start.startswith(b"SQLite format 3"):
        return Recognised("sqlite", "the SQLite signature")
    if start.startswith(b"ARROW1"):
        return Recognised("feather", "the Arrow signature")
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        if path.suffix.lower() in (".doc", ".msg", ".ppt"):
            raise UnreadableFile(f"{path}: this is not a table but an old office document. Save it as text or .docx.")
        return Recognised("workbook", "an old Excel file")
    if start.startswith(b"PAR1"):
        return Recognised("parquet", "the Parquet signature")
    if start.startswith(b"\x93NUMPY"):
        return Recognised("npy", "the NumPy signature")
    if start.startswith(b"MATLAB 7.3") or (start.startswith(b"\x89HDF") and path.suffix.lower() == ".mat"):
        raise UnreadableFile(
            f"{path}: this is a MATLAB 7.3 (HDF5) file; MATLAB 5 files are read. "
            "In MATLAB: load it and save it again with save('FILE', '-v7')."
        )
    if start.startswith(b"\x89HDF"):
        raise UnreadableFile(
            f"{path}: an HDF5 file, which is not read. In Python: `with h5py.File(FILE) as f: "
            "numpy.savez('t.npz', **{k: v[()] for k, v in f.items()})`; a table that pandas wrote: "
            "`pandas.read_hdf(FILE).to_parquet('t.parquet')`."
        )
    if start.startswith(b"\xff\xff\xff\xff") and len(start) > 8 and path.suffix.lower() != ".bin":
        return Recognised("feather", "an Arrow stream")
    if start.startswith(b"MATLAB 5.0") or (len(start) >= 128 and start[124:128] in (b"\x00\x01IM", b"\x01\x00MI")):
        return Recognised("matlab", "the MATLAB 5 header")
    if len(start) >= 4 and start[:2] == b"\0\0" and start[2] in (8, 9, 11, 12, 13, 14) and 1 <= start[3] <= 4:
        return Recognised("idx", "the IDX magic number")
    if len(start) >= 262 and start[257:262] == b"ustar":
        return _tar(path)
    for magic, at, what, way_out in _NAMED:
        if start[at : at + len(magic)] == magic:
            raise UnreadableFile(f"{path}: {what}, which is not read. {way_out[:1].upper()}{way_out[1:]}.")
    if len(start) > 4 and start[0] in _STATA and start[1] in (1, 2) and start[2] == 1 and start[3] == 0:
        raise UnreadableFile(
            f"{path}: a Stata file (.dta), which is not read. In Stata: export delimited; in Python: "
            "pandas.read_stata(FILE).to_parquet('t.parquet')."
        )
    for magic, what in _NOT_TABLES.items():
        if start.startswith(magic):
            raise UnreadableFile(f"{path}: this is not a table but {what}.")
    return None


def _zip(path: Path, packed: bool) -> Recognised:
    if packed:
        raise UnreadableFile(f"{path}: a zip archive inside a gzip file. Unpack it first.")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path}: a damaged zip archive ({error}). Fetch it again.") from None
    if names and all(name.endswith(".npy") for name in names):
        return Recognised("npz", "a zip of NumPy arrays")
    if any(name.startswith("xl/") for name in names):
        return Recognised("workbook", "an Excel workbook")
    if "content.xml" in names and _mimetype(path) == "application/vnd.oasis.opendocument.spreadsheet":
        return Recognised("workbook", "an OpenDocument spreadsheet")
    if "mimetype" in names or "[Content_Types].xml" in names:
        raise UnreadableFile(f"{path}: this is an office document, whatever its name says. Save the sheet as CSV.")
    if any(name.endswith("data.pkl") for name in names):
        raise UnreadableFile(
            f"{path}: a model or tensors of PyTorch. In Python: numpy.savez('t.npz', X=tensor.numpy())."
        )
    if any(may_be_table(name) for name in names):
        return Recognised("archive", "a zip archive of tables")
    listed = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    raise UnreadableFile(
        f"{path}: expected a table, found a zip archive of {len(names)} files ({listed}). "
        "Unpack it, then read the file inside, or the folder."
    )


TABLES = (
    ".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".parquet", ".json", ".jsonl", ".ndjson", ".geojson", ".xlsx",
    ".xls", ".ods", ".arff", ".mat", ".npz", ".sqlite", ".db", ".arrow", ".feather", ".svm", ".libsvm", ".gz",
)  # fmt: skip


def may_be_table(name: str) -> bool:
    """Say whether a member of an archive may be a table, by its ending; hidden files and notes are none."""
    own = PurePosixPath(name).name
    is_hidden = own.startswith(".") or name.startswith("__MACOSX/")
    is_note = own.lower().startswith(("readme", "license", "licence", "changelog"))
    return not is_hidden and not is_note and PurePosixPath(own).suffix.lower() in TABLES


def _tar(path: Path) -> Recognised:
    """A tar archive of tables is an archive like a zip one; one of texts is read as their folder."""
    tables, others = 0, 0
    with suppress(tarfile.TarError, EOFError, OSError, ValueError), tarfile.open(path, "r:*") as archive:
        for _, member in zip(range(200), archive):
            own = PurePosixPath(member.name).suffix.lower()
            if member.isfile() and may_be_table(member.name) and own != ".txt":
                tables += 1
            elif member.isfile():
                others += 1
    return Recognised("archive" if tables > others else "folder", "a tar archive")


def _text(path: Path, start: bytes) -> Recognised:
    encoding = guess_encoding(start)
    text = start.decode(encoding, errors="replace")
    if "\0" in text and not _is_noise(text):
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UnreadableFile(
            f"{path}, line {line}: expected text, found a zero byte. The file is damaged, or it is not text."
        )
    if _is_noise(text):
        raise UnreadableFile(
            f"{path}: expected a table, found bytes that are not text in any encoding Sidelight knows "
            f"(it starts with {start[:8]!r}). Formats: {', '.join(FORMATS)}."
        )
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines:
        raise UnreadableFile(f"{path}: the file holds only white space. Was it written completely?")
    markup = lines[0].lower()
    if markup.startswith(("<!doctype html", "<html")):
        raise UnreadableFile(
            f"{path}: expected a table, found a web page. The download was probably answered by an error or log-in "
            "page: open it in a browser and look."
        )
    if markup.startswith("<") and not markup.startswith("<labels"):
        whole = " ".join(lines[:20]).lower()
        named = next((what for mark, what in _XML if mark in whole), None)
        if named is not None:
            raise UnreadableFile(f"{path}: {named}.")
    if markup.startswith(("<?xml", "<labels")):
        raise UnreadableFile(
            f"{path}: an XML file.",
            do=[
                "If it lists the labels of an ARFF file, read the ARFF file: the XML beside it is found by its name, "
                "or pass ",
                Setting("label_file"),
                ".",
            ],
        )
    if _is_json(text):
        return Recognised("json", "JSON records")
    if is_text_grid(text) or has_boxes(lines):
        return Recognised("track", "times with names")
    found = _arff_or_keel(lines) or _c45(path, lines) or _svmlight(lines)
    if found is None and basket_separator(lines[:-1] if len(start) >= 1 << 16 else lines) is not None:
        return Recognised("baskets", "lines of any length, of things that come back")
    return found or Recognised("delimited", "lines of text")


def _is_json(text: str) -> bool:
    """Say whether a text is JSON, by its first two marks that are not blank."""
    first = text.lstrip("\ufeff \t\r\n")
    second = first[1:].lstrip()[:1]
    if first[:1] == "{":
        return second in ('"', "}")
    return first[:1] == "[" and (second in ("{", "[") or (second == '"' and re.match(r'\[\s*"[^"]*"\s*[,\]]', first)
                                                         is not None))  # fmt: skip


def _folder(path: Path) -> Recognised:
    """A folder of texts is counted word by word; recordings and pictures are cut into rows."""
    from sidelight.files.material.listing import Listing

    listing = Listing.of(path)
    if listing.files.get("sounds") or listing.files.get("pictures"):
        kind = listing.kind()
        if kind in ("sounds", "pictures"):
            return Recognised("material", f"a folder of {kind}")
    if listing.files.get("tables") and not listing.files.get("texts"):
        raise UnreadableFile(
            f"{path}: a folder of tables ({', '.join(listing.files['tables'][:3])}). Name one of them, or Parquet "
            f"files that are parts of one table as {str(path / '*.parquet')!r}."
        )
    return Recognised("folder", "a folder")


def _mimetype(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive, archive.open("mimetype") as file:
            return file.read(100).decode("ascii", errors="replace").strip()
    except (KeyError, OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return ""


def _is_noise(text: str) -> bool:
    strange = sum(1 for c in text[:4096] if ord(c) < 32 and c not in "\t\n\r\f\v\x1a")
    return strange * 20 > max(min(len(text), 4096), 1)


def _arff_or_keel(lines: list[str]) -> Recognised | None:
    body = [line for line in lines if not line.startswith("%")]
    declares = [line for line in body if re.match(r"@attribute\s", line, re.IGNORECASE)]
    opening = body[0].lower() if body else ""
    if not declares and not opening.startswith("@relation"):
        return None
    bounds = any(re.search(r"\b(real|integer)\s*\[[^\]]*\]\s*$", line, re.IGNORECASE) for line in declares)
    named = any(re.match(r"@(inputs?|outputs?)\b", line, re.IGNORECASE) for line in body)
    if bounds or named:
        return Recognised("keel", "@attribute lines with ranges, @inputs or @outputs")
    return Recognised("arff", "@relation and @attribute lines")


def _c45(path: Path, lines: list[str]) -> Recognised | None:
    """C4.5 data end every line with a dot after the class; the .names file lies beside or is the file itself."""
    rows = [line for line in lines[:50] if not line.startswith("|")]
    whole = rows[:-1] or rows  # the last line of the sample may be cut
    dotted = [line for line in whole if re.fullmatch(r".*,\s*[^,]*[^,\s.]\.", line)]
    ends = [line.rsplit(",", 1)[-1].strip() for line in dotted]
    is_class = bool(ends) and all(re.fullmatch(r"[+-]?\d+\.|[^\d.,][^,]*\.", end) for end in ends)
    if whole and len(dotted) == len(whole) and is_class:
        return Recognised("c45", "a class and a dot at the end of each line")
    if path.suffix == ".names" or re.fullmatch(r"[^:,]+:\s*(continuous|ignore|discrete).*\.", rows[-1] if rows else ""):
        raise UnreadableFile(
            f"{path}: this lists the names of a C4.5 data set, not its rows. Read {path.with_suffix('.data').name}."
        )
    return None


def _svmlight(lines: list[str]) -> Recognised | None:
    rows = [line.split("#", 1)[0].split() for line in lines[:50]]
    rows = [row for row in (rows[:-1] or rows) if row]
    if len(rows) > 1 and re.fullmatch(r"\d+:\d+:\S+", rows[1][0]):
        rows = rows[1:] if re.fullmatch(r"\d+ \d+", " ".join(rows[0])) else rows  # how many rows and features
    label = re.compile(r"\d+:\d+:[+-]?\d+|[+-]?[\d.]+(e[+-]?\d+)?(,[+-]?\d+)*", re.IGNORECASE)
    pair = re.compile(r"(\d+|qid):[^\s:]+")
    n_pairs = 0
    for row in rows:
        pairs = row[1:] if label.fullmatch(row[0]) else row  # a row without labels starts with its pairs
        if not all(pair.fullmatch(token) for token in pairs):
            return None
        n_pairs += len(pairs)
    return Recognised("svmlight", "label index:value pairs") if n_pairs else None


def _siblings(path: Path) -> str:
    from difflib import get_close_matches

    folder = path.parent
    if not folder.is_dir():
        return f" There is no folder {folder} either."
    close = get_close_matches(path.name, sorted(p.name for p in folder.iterdir())[:10_000], n=3, cutoff=0.5)
    return " Did you mean " + " or ".join(close) + "?" if close else ""
