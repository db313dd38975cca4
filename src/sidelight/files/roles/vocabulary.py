"""What people call columns, in the languages that tables come in: a name is one piece of evidence among others.

A name is compared without case, accents, blanks and punctuation (``Espèce`` is ``espece``), and word by word where it
has several (``bird_species``). Names in ``WEAK_LABELS`` are called so for other reasons, too: values must agree.
"""

from __future__ import annotations

import re
import unicodedata


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
