"""Words that name columns, in several languages: what people call ids, bags, classes, times, codes, answers."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a name in small letters without accents; blanks and punctuation stay."""
    text = name.lower().replace("ß", "ss").replace("æ", "ae").replace("ø", "o").replace("ł", "l")
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def key_of(name: str) -> str:
    """Return a name without case, accents, blanks and punctuation."""
    return re.sub(r"[^a-z0-9]", "", folded(name))


@lru_cache(maxsize=4096)
def word_list(name: str) -> tuple[str, ...]:
    """Return the words of a name in order: ``birdSpecies``, ``bird_species`` and ``bird species`` have the same two."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(re.findall("[a-z]{2,}", folded(apart)))


def words_of(name: str) -> set[str]:
    """Return the different words of a name."""
    return set(word_list(name))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDS = _names(
    "obs observation obsno obsnum record row rowno "
    "id rowid index idx uid uuid guid key instance instanceid segmentid sampleid unnamed0 nr no lfdnr laufendenummer "
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
    "label labels class classes diag target targets y category categories species tag tags genre genres topic topics "
    "outcome diagnosis classlabel digit kind klasse klassen art arten kategorie kategorien zielvariable "
    "zielgroesse diagnose spezies vogelart vogelarten tierart etikett classe espece especes categorie cible "
    "etiquette etiquettes especie especies clase clases categoria categorias objetivo diagnostico specie classi "
    "etichetta soort soorten diagnostic klas klasa gatunek tur classname"
)
WEAK_LABELS = _names(
    "status state type typ tipo kinds result results ergebnis resultat resultado response survived churn churned "
    "defaulted default ziel estado etat condition group grupo gruppe sorte variety variete variedad grade quality "
    "befund death deathevent event disease krankheit maladie enfermedad spam fraud malignant benign cluster verdict "
    "urteil sentiment emotion activity aktivitaet cultivar breed rasse decision signal weather wetter severity "
    "admit admitted approved purchased attrition subscribed dataset language sprache langue author autor auteur "
    "subtype signal letter phoneme"
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
    "effectif frequence cantidad frecuencia recuento aantal quantity qty plays clicks cases faelle cas casos people "
    "deaths visits views total occurrences hits"
)
TIMES = _names(
    "time timestamp ts date datetime datum zeit zeitpunkt zeitstempel uhrzeit heure fecha hora jour dia "
    "tag_der_aufnahme begin beginn start end ende onset offset debut fin inicio created createdat updated "
    "updatedat when epoch unixtime dob birthday geburtstag month monat mois mes quarter quartal week woche semaine "
    "semana season"
)
MOMENTS = _names("time timestamp date datetime datum zeit zeitpunkt zeitstempel temps tiempo tempo tijd epoch")
CLOCKS = {  # parts of times in numbers, by their names, and the values that they take
    "year": (0, 2300), "jahr": (0, 2300), "annee": (0, 2300), "ano": (0, 2300), "anno": (0, 2300),
    "yr": (0, 2300), "jaar": (0, 2300), "rok": (0, 2300), "gradyear": (0, 2300),
    "decade": (0, 2300), "century": (0, 2300),
    "month": (0, 12), "monat": (0, 12), "mois": (0, 12), "mes": (0, 12), "maand": (0, 12), "mnth": (0, 12),
    "mon": (0, 12), "day": (0, 366), "tag": (0, 366), "jour": (0, 366), "dia": (0, 366), "dayofmonth": (0, 31),
    "dayofweek": (0, 7), "weekday": (0, 7), "wochentag": (0, 7), "dayofyear": (0, 366), "doy": (0, 366),
    "hour": (0, 24), "stunde": (0, 24), "heure": (0, 24), "hora": (0, 24), "hr": (0, 24), "hourofday": (0, 24),
    "minute": (0, 60), "week": (0, 54), "woche": (0, 54), "semaine": (0, 54), "semana": (0, 54), "quarter": (0, 4),
    "quartal": (0, 4),
}  # fmt: skip
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

CODED = _names(  # last words of names of things in numbers
    "id ids uid code codes number nummer nr no num numero zip zipcode postcode postalcode plz phone telephone fips "
    "iata ean isbn sku ref reference key pin ssn kennung codigo index"
)
THINGS = _names(  # whole numbers under these names say who or where, and not how much
    "entity subject school user customer client store shop vendor person participant respondent student pupil teacher "
    "employee worker speaker house household family plot block site station sensor device machine batch lot ward "
    "hospital clinic county region district zone area_code country nation product item order invoice account "
    "seller buyer driver player team club vehicle bus route line flight room office department dept branch "
    "schule schueler kunde laden geraet haus station proband teilnehmer sujet ecole client magasin eleve sujeto "
    "escuela cliente tienda alumno parent parentid neighborhood neighbourhood cell litter animal mouse rat cage"
)
HOW_MANY = _names("n num number count counts anzahl nombre numero total sum mean avg average max min size amount of")
SPLITS = _names(
    "fold folds split splits train test training traintest istrain istest partition cv crossval usage holdout "
    "validation subset trainortest"
)
PLACE_CODES = _names("plz zip zipcode postcode postalcode postleitzahl codigopostal codepostal cap area_code phone")
PLACES = _names(
    "city town state country county region province district address street place location ort stadt land bundesland "
    "ville pays ciudad pais estado continent nation site island borough neighborhood airport zone postcode outcode"
)
PERSONAL = _names("sex gender geschlecht sexe sexo race ethnicity nationality married maritalstatus religion")
WORKERS = _names(
    "worker workerid annotator annotatorid annotators rater raterid coder coderid labeler labeller labelerid judge "
    "judgeid assessor assessorid turker crowdworker reviewer reviewerid annotateur annotateurid bewerter kodierer "
    "anotador evaluator evaluatorid expert experte observer beobachter tagger contributor"
)
ITEMS = _names(
    "item itemid unit unitid task taskid hit hitid question questionid object objectid example exampleid image "
    "imageid doc document docid text textid query sentence tweet tweetid instance sample"
)
ANSWERS = _names(
    "answer answers response responses vote votes judgment judgement rating ratings annotation label decision "
    "choice antwort urteil reponse respuesta score verdict value stimme class category"
)
STARTS = _names(
    "start begin onset from tmin starttime begintime onsets startseconds startsec startms beginn anfang debut inicio "
    "startframe von onsettime starts offset_begin mintime"
)
ENDS = _names(
    "end stop offset to tmax endtime stoptime offsets endseconds stopseconds stop_s ende fin endframe bis offsettime "
    "ends finish maxtime duration dauer duree"
)
BOXES = (
    {"xmin", "ymin", "xmax", "ymax"}, {"x1", "y1", "x2", "y2"}, {"left", "top", "right", "bottom"},
    {"left", "top", "width", "height"}, {"x", "y", "w", "h"}, {"x", "y", "width", "height"},
    {"bboxx", "bboxy", "bboxwidth", "bboxheight"}, {"bboxx", "bboxy", "bboxw", "bboxh"},
    {"xcenter", "ycenter", "width", "height"}, {"x0", "y0", "x1", "y1"}, {"minx", "miny", "maxx", "maxy"},
)  # fmt: skip


def is_called(key: str, name: str, known: frozenset[str]) -> bool:
    """Say whether a column bears one of the names, as a whole or as one of its words (of four letters or more)."""
    return key in known or any(word in known and len(word) > 3 for word in word_list(name))


def is_label_name(name: str) -> bool:
    """Say whether a column is called like a label."""
    return key_of(name) in LABELS


def is_called_id(name: str) -> bool:
    """Say whether a column is called an id, or has such a word in its name."""
    key = key_of(name)
    return key in IDS or key.endswith("id") or bool(words_of(name) & {"id", "nr", "uid", "nummer", "uuid", "guid"})


def is_code_name(name: str) -> bool:
    """Say whether whole numbers under a name say who or which: ``School``, ``VendorID``, ``Speaker Number``."""
    words, key = word_list(name), key_of(name)
    if not words or (words[0] in HOW_MANY and len(words) > 1) or "of" in words:
        return False
    apart = re.split(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", name.strip())
    return (
        words[-1] in CODED
        or key in THINGS
        or key in PLACES
        or key in CODED
        or (key.endswith("id") and apart[-1].lower() == "id")
    )
