"""Small files as people keep them, written here, with what a careful person would say about each.

A case is a function that writes a file and returns what its columns are. ``clear`` cases leave no doubt: to ask about
one is a mistake. The score of all of them is a figure in docs/benchmarks/understanding.md.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sidelight as sl


@dataclass(frozen=True)
class Expected:
    """What a careful person says: roles by name; a role that is not named is none of anybody's."""

    roles: dict[str, tuple[str, ...]]
    clear: bool = True
    options: tuple[tuple[str, Any], ...] = ()
    more: Callable[[sl.Dataset], bool] | None = None


Case = Callable[[Path], tuple[Path, Expected]]
CASES: dict[str, Case] = {}
_JUDGED = ("id", "bag", "label", "truth", "sequence", "event", "feature", "candidates")


def case(function: Case) -> Case:
    """Add a case to the list."""
    CASES[function.__name__] = function
    return function


def judge(name: str, folder: Path) -> tuple[str, str]:
    """Return "right", "asked" or "wrong", and why."""
    path, expected = CASES[name](folder)
    data = sl.read(path, **dict(expected.options))
    found = {role: data.columns(role) for role in _JUDGED if data.columns(role)}
    told = f"read {found}, expected {expected.roles}; asks {[doubt.question for doubt in data.doubts]}"
    if data.doubts:
        return ("wrong" if expected.clear else "asked"), told
    is_right = {k: set(v) for k, v in found.items()} == {k: set(v) for k, v in expected.roles.items() if v}
    is_right = is_right and (expected.more is None or expected.more(data))
    return ("right" if is_right else "wrong"), told


def table(folder: Path, name: str, header: str, rows: Sequence[Sequence[object]], mark: str = ",") -> Path:
    """Write a delimited file."""
    path = folder / name
    lines = [header] if header else []
    lines += [mark.join(str(cell) for cell in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def draw(seed: int = 0) -> random.Random:
    """Return the numbers of a case, the same in every run."""
    return random.Random(seed)


WORDS = ("the", "a", "bird", "sings", "loud", "in", "old", "tree", "near", "our", "small", "house", "day")
WORTE = ("der", "vogel", "singt", "laut", "im", "alten", "baum", "nahe", "dem", "kleinen", "haus")
BIRDS = ("wren", "owl", "jay", "tit")


def sounds(
    mark: str, *, seed: int = 1, first_only: bool = False, empty: bool = False, sep: str = ","
) -> list[list[object]]:
    """Return rows of recordings with lists of birds."""
    r, rows = draw(seed), []
    for bag in range(10):
        birds = mark.join(r.sample(BIRDS, r.randint(1, 3)))
        birds = "" if empty and bag in (3, 7) else birds
        for k in range(r.randint(2, 5)):
            cells = [f"{r.gauss(0, 1):.3f}", f"{r.gauss(5, 2):.3f}"]
            rows.append([f"rec{bag:02d}", birds if not first_only or k == 0 else "", *cells])
    return rows


def lists_case(name: str, header: str, roles: dict[str, tuple[str, ...]], mark: str, **how: Any) -> None:
    """Add a case of recordings with lists."""
    sep = how.pop("sep", ",")

    def write(folder: Path) -> tuple[Path, Expected]:
        more = None
        if mark:
            more = lambda data: data.bags is not None and set(map(str, data.bags.classes)) == set(BIRDS)  # noqa: E731
        return table(folder, f"{name}.csv", header, sounds(mark, **how), sep), Expected(roles, more=more)

    CASES[name] = write


def in_bags(bag: str, label: str, *features: str) -> dict[str, tuple[str, ...]]:
    """Say that a table has bags with labels."""
    return {"bag": (bag,), "label": (label,), "feature": features}


lists_case("lists_bar", "recording,species,f1,f2", in_bags("recording", "species", "f1", "f2"), "|")
lists_case("lists_plus", "recording,species,f1,f2", in_bags("recording", "species", "f1", "f2"), " + ")
lists_case("lists_ampersand", "Aufnahme,Arten,f1,f2", in_bags("Aufnahme", "Arten", "f1", "f2"), " & ")
lists_case("lists_slash", "clip,birds,f1,f2", in_bags("clip", "birds", "f1", "f2"), "/")
lists_case("lists_semicolon", "enregistrement,espèces,f1,f2", in_bags("enregistrement", "espèces", "f1", "f2"), ";")
lists_case("lists_blank", "grabación,especies,f1,f2", in_bags("grabación", "especies", "f1", "f2"), " ")
lists_case("lists_comma", "Datei;Vogelarten;a;b", in_bags("Datei", "Vogelarten", "a", "b"), ", ", sep=";")
lists_case("lists_unnamed", "Ort,gehört,a,b", in_bags("Ort", "gehört", "a", "b"), "+")
lists_case(
    "lists_first_row", "recording,species,f1,f2", in_bags("recording", "species", "f1", "f2"), "|", first_only=True
)
lists_case("lists_empty", "recording,species,f1,f2", in_bags("recording", "species", "f1", "f2"), "|", empty=True)


def flowers(r: random.Random, n: int = 60) -> list[list[object]]:
    """Return rows of measurements and a class."""
    rows: list[list[object]] = []
    for i in range(n):
        kind = i * 3 // n
        rows.append([f"{r.gauss(5 + kind, 1):.1f}", f"{r.gauss(3, 0.5):.2f}", f"{r.gauss(kind, 1):.2f}", kind])
    return rows


@case
def iris_words(folder: Path) -> tuple[Path, Expected]:
    names = ("setosa", "versicolor", "virginica")
    rows = [[*row[:3], names[int(str(row[3]))]] for row in flowers(draw())]
    return table(folder, "iris.csv", "a,b,c,species", rows), Expected(
        {"label": ("species",), "feature": ("a", "b", "c")}
    )


@case
def iris_headerless(folder: Path) -> tuple[Path, Expected]:
    roles = {"label": ("column_4",), "feature": ("column_1", "column_2", "column_3")}
    return table(folder, "iris.data", "", flowers(draw())), Expected(roles)


@case
def wine_class_first(folder: Path) -> tuple[Path, Expected]:
    rows = [[int(str(row[3])) + 1, *row[:3]] for row in flowers(draw(), 90)]
    roles = {"label": ("column_1",), "feature": ("column_2", "column_3", "column_4")}
    return table(folder, "wine.data", "", rows), Expected(roles)


@case
def german_classes(folder: Path) -> tuple[Path, Expected]:
    rows = [
        [str(row[0]).replace(".", ","), str(row[1]).replace(".", ","), "ABC"[int(str(row[3]))]]
        for row in flowers(draw())
    ]
    return table(folder, "k.csv", "Länge;Breite;Klasse", rows, ";"), Expected(
        {"label": ("Klasse",), "feature": ("Länge", "Breite")}, more=lambda d: 2 < float(np.nanmean(d.X[:, 1])) < 4
    )


@case
def french_species(folder: Path) -> tuple[Path, Expected]:
    rows = [[*row[:2], ("chêne", "hêtre", "pin")[int(str(row[3]))]] for row in flowers(draw())]
    return table(folder, "f.csv", "hauteur,largeur,espèce", rows), Expected(
        {"label": ("espèce",), "feature": ("hauteur", "largeur")}
    )


@case
def spanish_class_in_front(folder: Path) -> tuple[Path, Expected]:
    rows = [[("rojo", "verde", "azul")[int(str(row[3]))], *row[:2]] for row in flowers(draw())]
    return table(folder, "s.csv", "clase,alto,ancho", rows), Expected(
        {"label": ("clase",), "feature": ("alto", "ancho")}
    )


def medical(r: random.Random, n: int = 80) -> list[list[object]]:
    """Return rows of patients: age, cholesterol, a yes or no, pressure."""
    return [[r.randint(30, 85), r.randint(150, 320), int(r.random() < 0.4), r.randint(90, 170)] for _ in range(n)]


@case
def status_in_the_middle(folder: Path) -> tuple[Path, Expected]:
    return table(folder, "m.csv", "age,chol,status,bp", medical(draw())), Expected(
        {"label": ("status",), "feature": ("age", "chol", "bp")}
    )


@case
def outcome_with_a_name_of_its_own(folder: Path) -> tuple[Path, Expected]:
    rows = [[a, c, b, s] for a, c, s, b in medical(draw())]
    return table(folder, "m.csv", "age,chol,bp,relapse5y", rows), Expected(
        {"label": ("relapse5y",), "feature": ("age", "chol", "bp")}, clear=False
    )


@case
def death_event_last(folder: Path) -> tuple[Path, Expected]:
    rows = [[a, c, int(i % 3 == 0), b, s] for i, (a, c, s, b) in enumerate(medical(draw()))]
    return table(folder, "h.csv", "age,platelets,smoking,ejection,DEATH_EVENT", rows), Expected(
        {"label": ("DEATH_EVENT",), "feature": ("age", "platelets", "smoking", "ejection")}
    )


@case
def yes_and_no_are_features(folder: Path) -> tuple[Path, Expected]:
    rows = [[a, c, "ja" if s else "nein", "x" if i % 2 else "y"] for i, (a, c, s, _) in enumerate(medical(draw()))]
    return table(folder, "h.csv", "Alter,Wert,Raucher,Diagnose", rows), Expected(
        {"label": ("Diagnose",), "feature": ("Alter", "Wert", "Raucher")}
    )


@case
def series_of_features(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"{r.gauss(0, 1):.3f}" for _ in range(4)] + [r.randint(0, 1)] for _ in range(50)]
    return table(folder, "x.csv", "f1,f2,f3,f4,f5", rows), Expected({"feature": ("f1", "f2", "f3", "f4", "f5")})


@case
def continuous_target(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[r.randint(1, 9), r.randint(20, 200), f"{r.gauss(200, 40):.2f}"] for _ in range(60)]
    return table(folder, "t.csv", "rooms,area,target", rows), Expected({"feature": ("rooms", "area")}, clear=False)


@case
def plain_numbers(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"{r.gauss(0, 1):.3f}" for _ in range(4)] for _ in range(40)]
    return table(folder, "n.csv", "width,height,depth,weight_g", rows), Expected(
        {"feature": ("width", "height", "depth", "weight_g")}
    )


@case
def x_and_y_are_places(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    return table(folder, "p.csv", "x,y", [[f"{r.random():.3f}", f"{r.random():.3f}"] for _ in range(30)]), Expected(
        {"feature": ("x", "y")}
    )


@case
def ids_by_name(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"k{i:03d}", *row[:3]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "i.csv", "Kennung,a,b,c", rows), Expected({"id": ("Kennung",), "feature": ("a", "b", "c")})


@case
def ids_by_values(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"AX-{i * 37 % 1000:03d}", *row[:3]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "i.csv", "Gerät,a,b,c", rows), Expected({"id": ("Gerät",), "feature": ("a", "b", "c")})


@case
def running_number_of_rows(folder: Path) -> tuple[Path, Expected]:
    rows = [[i + 1, *row[:3]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "i.csv", "Zeile,a,b,c", rows), Expected({"id": ("Zeile",), "feature": ("a", "b", "c")})


@case
def unnamed_index(folder: Path) -> tuple[Path, Expected]:
    rows = [[i, *row[:3]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "i.csv", ",a,b,c", rows), Expected({"id": ("column_1",), "feature": ("a", "b", "c")})


def running(r: random.Random, n_bags: int = 20) -> list[list[object]]:
    """Return a class, a running number and measurements, as chemists keep molecules."""
    rows: list[list[object]] = []
    for bag in range(1, n_bags + 1):
        kind = r.randint(0, 1)
        rows += [
            [kind, bag, f"{r.gauss(kind, 1):.3f}", f"{r.gauss(0, 1):.3f}", f"{r.gauss(0, 2):.3f}"]
            for _ in range(r.randint(2, 6))
        ]
    return rows


@case
def leading_class_and_running_number(folder: Path) -> tuple[Path, Expected]:
    roles = {"bag": ("column_2",), "label": ("column_1",), "feature": ("column_3", "column_4", "column_5")}
    return table(folder, "musk.data", "", running(draw())), Expected(roles)


@case
def running_number_with_a_name(folder: Path) -> tuple[Path, Expected]:
    roles = {"bag": ("Versuch",), "label": ("aktiv",), "feature": ("a", "b", "c")}
    return table(folder, "v.csv", "aktiv,Versuch,a,b,c", running(draw())), Expected(roles)


@case
def true_and_false_of_bags(folder: Path) -> tuple[Path, Expected]:
    r, rows = draw(), []
    for bag in range(12):
        has = [r.choice(["TRUE", "FALSE"]) for _ in range(3)]
        rows += [[f"p{bag}", f"{r.gauss(0, 1):.3f}", f"{r.gauss(0, 1):.3f}", *has] for _ in range(3)]
    return table(folder, "b.csv", "patient,a,b,wren,owl,jay", rows), Expected(
        {"bag": ("patient",), "label": ("wren", "owl", "jay"), "feature": ("a", "b")}
    )


@case
def zeros_and_ones_of_bags(folder: Path) -> tuple[Path, Expected]:
    r, rows = draw(), []
    for bag in range(12):
        has = [r.randint(0, 1) for _ in range(4)]
        rows += [[f"bild{bag}.png", f"{r.gauss(0, 1):.3f}", f"{r.gauss(0, 1):.3f}", *has] for _ in range(4)]
    return table(folder, "b.csv", "Bild,a,b,Himmel,Wald,See,Haus", rows), Expected(
        {"bag": ("Bild",), "label": ("Himmel", "Wald", "See", "Haus"), "feature": ("a", "b")}
    )


@case
def ja_and_nein_of_bags(folder: Path) -> tuple[Path, Expected]:
    r, rows = draw(), []
    for bag in range(12):
        has = [r.choice(["ja", "nein"]) for _ in range(2)]
        rows += [[f"A{bag}", f"{r.gauss(0, 1):.3f}".replace(".", ","), *has] for _ in range(3)]
    return table(folder, "b.csv", "Aufnahme;Pegel;Amsel;Meise", rows, ";"), Expected(
        {"bag": ("Aufnahme",), "label": ("Amsel", "Meise"), "feature": ("Pegel",)}
    )


@case
def empty_pixels_are_no_labels(folder: Path) -> tuple[Path, Expected]:
    r, rows = draw(), []
    for i in range(120):
        birds = "|".join(BIRDS[k] for k in range(4) if i % 15 >> k & 1) or "tit"
        rows.append([f"b{i % 15}", birds, 0, r.randint(0, 16), int(i == 7), r.randint(0, 9)])
    return table(folder, "p.csv", "bag,bag_labels,pixel_0,pixel_1,pixel_2,pixel_3", rows), Expected(
        {"bag": ("bag",), "feature": ("pixel_0", "pixel_1", "pixel_2", "pixel_3")},
        more=lambda d: len(d.bags.classes) == 4,
    )


@case
def class_of_a_bag_in_words(folder: Path) -> tuple[Path, Expected]:
    r, rows = draw(), []
    for bag in range(12):
        kind = r.choice(["gesund", "krank"])
        rows += [[f"Probe {bag}", f"{r.gauss(0, 1):.3f}", f"{r.gauss(0, 1):.3f}", kind] for _ in range(3)]
    return table(folder, "b.csv", "Kolben,a,b,Urteil der Ärztin", rows), Expected(
        {"bag": ("Kolben",), "label": ("Urteil der Ärztin",), "feature": ("a", "b")}
    )


@case
def lists_with_truth_of_rows(folder: Path) -> tuple[Path, Expected]:
    r, rows = draw(), []
    for bag in range(12):
        birds = r.sample(BIRDS, 2)
        rows += [[f"r{bag}", ";".join(birds), r.choice(birds), f"{r.gauss(0, 1):.3f}"] for _ in range(4)]
    rows = [[a, f'"{b}"', c, d] for a, b, c, d in rows]
    return table(folder, "b.csv", "recording,heard,true species,a", rows), Expected(
        {"bag": ("recording",), "label": ("heard",), "truth": ("true species",), "feature": ("a",)}
    )


@case
def files_name_rows(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"clips/{i:03d}.wav", *row[:2]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "w.csv", "Aufzeichnung,a,b", rows), Expected(
        {"id": ("Aufzeichnung",), "feature": ("a", "b")}, more=lambda d: "Aufzeichnung" in d.show
    )


@case
def files_name_rows_when_told(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"clips/{i:03d}.wav", *row[:2]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "w.csv", "Datei,a,b", rows), Expected(
        {"id": ("Datei",), "feature": ("a", "b")}, options=(("id", "Datei"),), more=lambda d: "Datei" in d.show
    )


@case
def files_name_bags(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"clips/{i // 4:03d}.wav", *row[:2]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "w.csv", "source,a,b", rows), Expected(
        {"bag": ("source",), "feature": ("a", "b")}, more=lambda d: "source" in d.show
    )


@case
def times_are_no_features(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"2024-05-{i % 28 + 1:02d} 12:{i:02d}", *row[:3]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "t.csv", "wann,a,b,c", rows), Expected({"feature": ("a", "b", "c")})


@case
def german_dates(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"{i % 28 + 1:02d}.05.2024", *row[:3]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "t.csv", "Tag,a,b,c", rows), Expected({"feature": ("a", "b", "c")})


@case
def milliseconds(folder: Path) -> tuple[Path, Expected]:
    rows = [[1700000000000 + 997 * i, *row[:3]] for i, row in enumerate(flowers(draw()))]
    return table(folder, "t.csv", "moment,a,b,c", rows), Expected({"feature": ("a", "b", "c")})


@case
def coordinates(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"{48 + r.random():.5f}", f"{11 + r.random():.5f}", r.randint(1, 300)] for _ in range(40)]
    said = lambda d: "coordinates" in {c.name: c.why for c in d.roles}["Breitengrad"]  # noqa: E731
    return table(folder, "c.csv", "Breitengrad,Längengrad,Höhe", rows), Expected(
        {"feature": ("Breitengrad", "Längengrad", "Höhe")}, more=said
    )


def events(r: random.Random, n: int = 400) -> list[list[object]]:
    """Return users, items and times."""
    return [[r.randint(1, 60), r.randint(1, 90), 1500000000 + 13 * i] for i in range(n)]


@case
def events_with_times(folder: Path) -> tuple[Path, Expected]:
    return table(folder, "e.csv", "user,item,time", events(draw())), Expected({"event": ("user", "item")})


@case
def events_with_milliseconds(folder: Path) -> tuple[Path, Expected]:
    rows = [[u, i, int(str(t)) * 1000] for u, i, t in events(draw())]
    return table(folder, "e.csv", "visitorid,itemid,timestamp", rows), Expected({"event": ("visitorid", "itemid")})


@case
def events_of_words(folder: Path) -> tuple[Path, Expected]:
    rows = [[f"Kunde{u}", f"Buch{i}", "2024-01-02 10:00"] for u, i, _ in events(draw())]
    return table(folder, "e.csv", "Kunde;Artikel;Zeitpunkt", rows, ";"), Expected({"event": ("Kunde", "Artikel")})


@case
def ratings_without_names(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[u, i, r.randint(1, 5), t] for u, i, t in events(r)]
    return table(folder, "u.data", "", rows, "\t"), Expected({"event": ("column_1", "column_2")})


@case
def words_counted(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"doc{r.randint(1, 20)}", r.choice("abcdefgh") * 3, r.randint(1, 9)] for _ in range(100)]
    return table(folder, "w.csv", "dokument,wort,anzahl", rows), Expected({"event": ("dokument", "wort")})


def gaps(folder: Path, word: str, features: tuple[str, ...] = ("a", "b")) -> tuple[Path, Expected]:
    """Write a table with a word for "nothing" among its numbers."""
    r = draw()
    rows = [[f"{r.gauss(20, 3):.1f}", word if i % 7 == 0 else f"{r.gauss(9, 2):.1f}"] for i in range(50)]
    return table(folder, "g.csv", ",".join(features), rows), Expected(
        {"feature": features}, more=lambda d: int(np.isnan(d.X[:, 1]).sum()) == 8
    )


for _word in ("-999", "9999", "-99.0", "k. A.", "n/a", "?", "-", "unbekannt", "NULL", "s/d", "#NV", "fehlt leider"):

    def _gap(folder: Path, word: str = _word) -> tuple[Path, Expected]:
        return gaps(folder, word)

    CASES[f"gap {_word}"] = _gap


@case
def nines_that_are_measured(folder: Path) -> tuple[Path, Expected]:
    rows = [[990 + i % 20, i * 7 % 50] for i in range(60)]
    return table(folder, "g.csv", "a,b", rows), Expected(
        {"feature": ("a", "b")}, more=lambda d: not np.isnan(d.X).any()
    )


@case
def thousands_with_points(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"{r.randint(1, 9)}.{r.randint(100, 999)},{r.randint(10, 99)}", f"{r.randint(1, 9)},5"] for _ in range(30)]
    return table(folder, "n.csv", "Umsatz;Quote", rows, ";"), Expected(
        {"feature": ("Umsatz", "Quote")}, more=lambda d: bool((d.X[:, 0] > 1000).all() and (d.X[:, 1] < 10).all())
    )


@case
def thousands_with_blanks(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"{r.randint(1, 9)} {r.randint(100, 999)}.5", r.randint(1, 9)] for _ in range(30)]
    return table(folder, "n.csv", "ventes;jours", rows, ";"), Expected(
        {"feature": ("ventes", "jours")}, more=lambda d: bool((d.X[:, 0] > 1000).all())
    )


@case
def thousands_without_fractions(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [
        [f"{r.randint(1, 9)}.{r.randint(100, 999)}.{r.randint(100, 999)}", f"{r.randint(1, 9)},5"] for _ in range(30)
    ]
    return table(folder, "n.csv", "Einwohner;Quote", rows, ";"), Expected(
        {"feature": ("Einwohner", "Quote")}, more=lambda d: bool((d.X[:, 0] > 1e6).all())
    )


@case
def texts_only(folder: Path) -> tuple[Path, Expected]:
    r, words = draw(), WORDS
    rows = [[" ".join(r.sample(words, 8))] for _ in range(20)]
    return table(folder, "t.csv", "review,", [[*row, ""] for row in rows]), Expected(
        {}, more=lambda d: d.X.shape == (20, 0)
    )


@case
def sentences_one_a_line(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[" ".join(r.sample(WORDS, r.randint(5, 9)))] for _ in range(20)]
    return table(folder, "t.csv", "review", rows), Expected({}, more=lambda d: d.X.shape == (20, 0))


@case
def texts_as_features(folder: Path) -> tuple[Path, Expected]:
    r, words = draw(), WORTE
    rows = [[i, " ".join(r.sample(words, 6))] for i in range(20)]
    return table(folder, "t.csv", "id,Bericht", rows), Expected(
        {"id": ("id",), "feature": ("Bericht",)},
        options=(("text", "Bericht"),),
        more=lambda d: "vogel" in d.feature_names,
    )


@case
def words_of_two_columns(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [
        [r.choice(["red", "blue"]), f"{r.random():.3f}", f"{r.random():.3f}", r.choice(["left", "right"])]
        for _ in range(40)
    ]
    return table(folder, "w.csv", "colour,a,b,side", rows), Expected(
        {"label": ("side",), "feature": ("a", "b")}, clear=False
    )


@case
def block_of_ticks_at_the_end(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"{r.gauss(0, 1):.3f}" for _ in range(5)] + [r.randint(0, 1) for _ in range(4)] for _ in range(60)]
    return table(folder, "e.csv", "a,b,c,d,e,happy,calm,sad,angry", rows), Expected(
        {"label": ("happy", "calm", "sad", "angry"), "feature": ("a", "b", "c", "d", "e")}, clear=False
    )


@case
def ticks_by_name(folder: Path) -> tuple[Path, Expected]:
    r = draw()
    rows = [[f"{r.gauss(0, 1):.3f}", f"{r.random():.2f}"] + [r.randint(0, 1) for _ in range(3)] for _ in range(40)]
    return table(folder, "e.csv", "a,b,tag_x,tag_y,tag_z", rows), Expected(
        {"label": ("tag_x", "tag_y", "tag_z"), "feature": ("a", "b")}
    )


@case
def attributes_are_no_counts(folder: Path) -> tuple[Path, Expected]:
    from sidelight.app.jobs.describe import describe_data

    r = draw()
    rows = [[f"animal{i}", *(int(r.random() < 0.3) for _ in range(8)), r.choice([0, 2, 4])] for i in range(60)]
    fits = lambda d: all(fit.job != "coclusters" for fit in describe_data(d).fits)  # noqa: E731
    header = "animal,hair,feathers,eggs,milk,airborne,aquatic,fins,tail,legs"
    return table(folder, "z.csv", header, rows), Expected(
        {"id": ("animal",), "feature": tuple(header.split(",")[1:])}, more=fits
    )


def bundle(folder: Path, arrays: dict[str, Any], *, matlab: bool = True) -> Path:
    """Write arrays as a MATLAB or NPZ file."""
    from scipy.io import savemat

    path = folder / ("views.mat" if matlab else "views.npz")
    if matlab:
        savemat(path, arrays)
    else:
        np.savez(path, **arrays)
    return path


def numbers(*shape: int, seed: int = 0) -> Any:
    """Draw a matrix."""
    return np.random.default_rng(seed).normal(size=shape)


KINDS = np.random.default_rng(5).integers(1, 4, 40)


def cells(*matrices: Any) -> Any:
    """Return a cell array."""
    out = np.empty((1, len(matrices)), dtype=object)
    for k, matrix in enumerate(matrices):
        out[0, k] = matrix
    return out


def channels(*widths: int) -> Callable[[sl.Dataset], bool]:
    """Expect channels of these widths."""
    return lambda d: d.channels is not None and [s.stop - s.start for s in d.channels.values()] == list(widths)


for _kind in (True, False):

    def _views(folder: Path, matlab: bool = _kind) -> tuple[Path, Expected]:
        arrays = {"X1": numbers(40, 5), "X2": numbers(40, 3), "X3": numbers(40, 9), "Y": KINDS}
        return bundle(folder, arrays, matlab=matlab), Expected(
            {"truth": ("Y",), "feature": ("X1", "X2", "X3")}, more=channels(5, 3, 9)
        )

    CASES["views matlab" if _kind else "views npz"] = _views

for _name in ("gt", "truth", "truelabel", "labels", "gnd", "Y"):

    def _cell(folder: Path, name: str = _name) -> tuple[Path, Expected]:
        arrays = {"X": cells(numbers(6, 40), numbers(11, 40)), name: KINDS[:, None]}
        return bundle(folder, arrays), Expected({"truth": (name,), "feature": ("X", "X1", "X2")}, more=channels(6, 11))

    CASES[f"cell of views on their side, {_name}"] = _cell


@case
def matrix_on_its_side(folder: Path) -> tuple[Path, Expected]:
    return bundle(folder, {"fea": numbers(70, 40), "gnd": KINDS[:, None]}), Expected(
        {"label": ("gnd",), "feature": ("fea",)}, more=lambda d: d.X.shape == (40, 70)
    )


@case
def candidates_and_truth(folder: Path) -> tuple[Path, Expected]:
    truth = np.eye(4)[KINDS]
    some = np.maximum(truth, np.random.default_rng(1).random(truth.shape) < 0.3)
    arrays = {"data": numbers(40, 6), "partial_target": some.T, "target": truth.T}
    return bundle(folder, arrays), Expected(
        {"candidates": ("partial_target",), "truth": ("target",), "feature": ("data",)},
        more=lambda d: d.candidates is not None and d.candidates.shape == (40, 4),
    )


@case
def matrix_of_labels(folder: Path) -> tuple[Path, Expected]:
    marks = (np.random.default_rng(2).random((40, 5)) < 0.4).astype(float)
    return bundle(folder, {"X": numbers(40, 6), "T": marks}), Expected(
        {"label": ("T",), "feature": ("X",)}, more=lambda d: d.Y is not None and d.Y.shape == (40, 5)
    )


@case
def cell_of_bags(folder: Path) -> tuple[Path, Expected]:
    bags = cells(*(numbers(n, 6, seed=n) for n in (3, 5, 4, 7, 2)))
    targets = np.array([[1, -1, 1, 1, -1], [-1, 1, 1, -1, 1]])
    return bundle(folder, {"data": bags, "targets": targets}), Expected(
        {"label": ("targets",), "feature": ("data",)}, more=lambda d: d.bags is not None and d.bags.n_bags == 5
    )


@case
def views_of_two_names(folder: Path) -> tuple[Path, Expected]:
    arrays = {"mfcc": numbers(40, 5), "lbp": numbers(40, 8), "labels": KINDS}
    return bundle(folder, arrays, matlab=False), Expected(
        {"truth": ("labels",), "feature": ("mfcc", "lbp")}, clear=False
    )


@case
def views_by_name(folder: Path) -> tuple[Path, Expected]:
    arrays = {"mfcc": numbers(40, 5), "lbp": numbers(8, 40), "labels": KINDS}
    said = (("channels", {"voice": "mfcc", "face": "lbp"}), ("transpose", "lbp"), ("label", "labels"))
    return bundle(folder, arrays), Expected(
        {"label": ("labels",), "feature": ("mfcc", "lbp")}, options=said, more=channels(5, 8)
    )
