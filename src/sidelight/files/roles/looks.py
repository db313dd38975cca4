"""What the first rows say about a column: numbers or words, how many different ones, names of files, sets in cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from sidelight.files.roles.cells import find_separator, is_gap, is_number, writing_of


def folded(name: str) -> str:
    """Return a name in small letters without accents; blanks and punctuation stay."""
    text = name.lower().replace("ß", "ss").replace("æ", "ae").replace("ø", "o").replace("ł", "l")
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def key_of(name: str) -> str:
    """Return a name without case, accents, blanks and punctuation."""
    return re.sub(r"[^a-z0-9]", "", folded(name))


def words_of(name: str) -> set[str]:
    """Return the words of a name: ``birdSpecies``, ``bird_species`` and ``bird species`` have the same two."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.findall("[a-z]{2,}", folded(apart)))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDS = _names(
    "id rowid index idx uid uuid key instance instanceid segmentid sampleid unnamed0 nr no lfdnr laufendenummer "
    "nummer kennung kennnummer schluessel identifiant identifier numero num cle codigo clave matricula rownames "
    "rowname objectid recordid caseid fallnr passengerid customerid kundennr"
)


BAGS = _names(
    "bag bagid recording recordingid image imageid img molecule moleculename document documentid doc docid "
    "patient patientid slide slideid group groupid scene file aufnahme aufnahmeid aufnahmenr bild bildid dokument "
    "patientennr gruppe szene datei enregistrement enregistrementid fichier grabacion archivo imagen documento "
    "paciente grupo escena registrazione opname afbeelding beutel sac bolsa tasche clip clipid conversation "
    "conversationid dialog probe session_bag photo foto echantillon muestra"
)


LABELS = _names(
    "label labels class classes target targets y category categories species tag tags genre genres topic topics "
    "outcome diagnosis classlabel digit kind klasse klassen art arten kategorie kategorien zielvariable "
    "zielgroesse diagnose spezies vogelart vogelarten tierart etikett classe espece especes categorie cible "
    "etiquette etiquettes especie especies clase clases categoria categorias objetivo diagnostico specie classi "
    "etichetta soort soorten diagnostic"
)


WEAK_LABELS = _names(
    "status state type typ tipo kinds result results ergebnis resultat resultado response survived churn churned "
    "defaulted ziel estado etat condition group grupo gruppe sorte variety variete variedad grade quality befund "
    "death deathevent event disease krankheit maladie enfermedad spam fraud malignant benign cluster verdict "
    "urteil sentiment emotion activity aktivitaet"
)


SEQUENCES = _names(
    "sequence sequenceid seq session sessionid video trial take utterance sitzung sequenz folge seance sesion"
)


SHOWN = _names(
    "image imagepath picture photo thumbnail file filename path url audio sound wav text title caption sentence "
    "name description comment datei dateiname pfad bild foto titel beschreibung kommentar fichier chemin titre "
    "nom archivo ruta titulo nombre descripcion clip"
)


COUNTS = _names(
    "count counts n weight weights freq frequency times number value amount anzahl haeufigkeit menge nombre "
    "effectif frequence cantidad frecuencia recuento aantal quantity qty plays clicks"
)


TIMES = _names(
    "time timestamp ts date datetime datum zeit zeitpunkt zeitstempel uhrzeit heure fecha hora jour dia "
    "tag_der_aufnahme begin beginn start end ende onset offset debut fin inicio created createdat updated "
    "updatedat when epoch unixtime"
)


LATITUDES = _names("lat latitude breite breitengrad latitud geobreite ylat declat decimallatitude")


LONGITUDES = _names(
    "lon long lng longitude laenge lange laengengrad langengrad longitud geolaenge xlon declon decimallongitude"
)


TRUTHS = _names(
    "truth groundtruth gt gold goldlabel goldstandard truelabel trueclass truekind truespecies ytrue actual "
    "actuallabel actualclass rightlabel correctlabel wahrheit wahreart wahreklasse verite veritas verdad "
    "etiquetareal gnd"
)


TRUE_WORDS = _names("truth true gold actual wahre wahrer wahrheit verite verdad")


YES = _names("1 1.0 true yes y t x ja j oui o si s sim da wahr vrai verdadero verdadeiro on")


NO = _names("0 0.0 false no n f nein non nao net falsch faux falso off -1 -1.0")


def is_called(key: str, name: str, known: frozenset[str]) -> bool:
    """Say whether a column bears one of the names, as a whole or as one of its words (of four letters or more)."""
    return key in known or any(word in known and len(word) > 3 for word in words_of(name))


_MEDIA = re.compile(r".*\.(png|jpe?g|gif|webp|bmp|tiff?|svg|wav|mp3|ogg|flac|m4a|mp4|txt|html?)$", re.IGNORECASE)


_CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*([ap]\.?m\.?)?"


_ZONE = r"(Z|[+-]\d{2}:?\d{2}|\s*UTC)?"


_TIME = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}([T ]{_CLOCK}{_ZONE})?|"
    rf"\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}(,?\s+{_CLOCK})?|{_CLOCK}",
    re.IGNORECASE,
)


_SECONDS, _MILLISECONDS = (6e8, 2.3e9), (6e11, 2.3e12)  # since 1970, from 1989 to 2042


_PROSE = 4  # words of a cell from which on it is a text and no name


@dataclass(frozen=True)
class Look:
    """What the first rows say about one column."""

    name: str
    kind: str  # "number", "0/1", "text" or "empty"
    n_seen: int
    n_distinct: int
    is_whole: bool
    is_sorted_run: bool  # equal values stand together
    mean_length: float
    separator: str | None  # cells hold several names between these
    is_media: bool
    low: float = 0.0
    high: float = 0.0
    odd: str = ""  # a word among numbers
    dressed: str = ""  # a number with a mark such as % in a column of such numbers
    n_rows: int = 0  # rows that were looked at
    is_tick: bool = False  # yes and no, in numbers or words
    is_time: bool = False
    is_prose: bool = False  # sentences
    is_consecutive: bool = False  # 1, 2, 3, ... in the order of the rows
    is_running: bool = False  # 1, 1, 1, 2, 2, ...

    @cached_property
    def key(self) -> str:
        """The name without case, accents, blanks and punctuation."""
        return key_of(self.name)

    def is_called(self, known: frozenset[str]) -> bool:
        """Say whether the column bears one of the names."""
        return is_called(self.key, self.name, known)

    @property
    def is_unique(self) -> bool:
        """Say whether no value was seen twice."""
        return self.n_distinct == self.n_seen

    @property
    def has_name(self) -> bool:
        """Say whether the column was named."""
        return re.fullmatch(r"column[_ ]\d+", self.name) is None


def inspect_column(name: str, cells: Sequence[str]) -> Look:
    """Summarise the first cells of a column."""
    seen = [cell for cell in cells if not is_gap(cell)]
    distinct = set(seen)
    numbers = [cell for cell in seen if is_number(cell)]
    if not seen:
        return Look(name, "empty", 0, 0, False, False, 0.0, None, False, n_rows=len(cells))
    is_numeric = len(numbers) >= 0.9 * len(seen)
    values = [float(cell) for cell in numbers] if is_numeric else []
    whole = is_numeric and all(v == v and abs(v) < 1e15 and v == int(v) for v in values)
    kind = ("0/1" if {float(v) for v in values} <= {0.0, 1.0} else "number") if is_numeric else "text"
    changes = sum(1 for a, b in pairwise(seen) if a != b)
    finite = [v for v in values if v == v and abs(v) != float("inf")]
    is_media = sum(bool(_MEDIA.match(cell)) for cell in seen) > 0.8 * len(seen)
    is_time = _is_time_of_words(seen) if not is_numeric else whole and _is_time_of_numbers(name, values)
    steps = {b - a for a, b in pairwise(values)} if whole and len(numbers) == len(cells) else {-1.0}
    writing = None if is_numeric or is_time else writing_of(sorted(distinct))
    is_prose = not is_numeric and not is_media and sum(len(cell.split()) for cell in seen) >= _PROSE * len(seen)
    is_prose = is_prose and len(distinct) > 0.5 * len(seen)
    lists = not (is_numeric or is_time or is_media or writing)
    return Look(
        name,
        kind,
        len(seen),
        len(distinct),
        whole,
        changes == len(distinct) - 1,
        sum(map(len, seen)) / len(seen),
        _inner_separator(seen, is_prose=is_prose) if lists else None,
        is_media,
        min(finite, default=0.0),
        max(finite, default=0.0),
        "" if is_numeric or len(numbers) < 0.3 * len(seen) else next(c for c in seen if not is_number(c)),
        "" if writing is None else writing.example,
        len(cells),
        _is_tick(distinct),
        is_time,
        is_prose,
        steps == {1.0} and values[0] in (0, 1),
        bool(values) and steps == {0.0, 1.0} and values[0] in (0, 1),
    )


def _is_tick(distinct: set[str]) -> bool:
    """Say whether cells say yes and no; one letter alone says neither."""
    words = {folded(cell.strip()) for cell in distinct}
    return len(words) == 2 and len(words & YES) == 1 and len(words & NO) == 1


def _is_time_of_words(cells: Sequence[str]) -> bool:
    return sum(bool(_TIME.fullmatch(cell.strip())) for cell in cells) >= 0.9 * len(cells)


def _is_time_of_numbers(name: str, values: Sequence[float]) -> bool:
    """Say whether whole numbers are seconds or milliseconds since 1970: of such size, and called so or in order."""
    low, high = min(values), max(values)
    if len(values) < 3 or low == high:
        return False
    if _MILLISECONDS[0] <= low and high <= _MILLISECONDS[1]:
        return True
    is_called_so = is_called(key_of(name), name, TIMES)
    in_order = all(a <= b for a, b in pairwise(values))
    return _SECONDS[0] <= low and high <= _SECONDS[1] and (is_called_so or in_order or high < 1.3 * low)


def _inner_separator(cells: Sequence[str], *, is_prose: bool) -> str | None:
    """Find the mark between several names in one cell; sentences have commas and blanks of their own."""
    mark = find_separator(cells)
    if mark is None:
        return None
    parts = [part.strip() for cell in cells for part in cell.split(mark)]
    if is_prose and (mark in (" ", ",", "/", " and ", " und ", " et ") or max(map(len, parts)) > 30):
        return None
    return mark if max(map(len, parts)) <= 60 else None
