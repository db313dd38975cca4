"""What a table is as a whole: label tracks, answers of annotators, counts, distances; and what is no feature."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.files.understanding.planned import amounts, beside, each, plan_of, roles, turns
from tests.files.understanding.understanding_cases import draw, table

import sidelight as sl
from sidelight.app.jobs.describe import describe


def spans(n=20, per=1.5):
    """Return starts and ends in order."""
    return [f"{i * per + 0.25}" for i in range(n)], [f"{i * per + 1.125}" for i in range(n)]


START, END = spans()
CALLS = turns("wren", "owl", "jay", "tit", times=5)


@pytest.mark.parametrize(
    "columns",
    [
        {"Begin Time (s)": START, "End Time (s)": END, "Species": CALLS},
        {"onset_s": START, "offset_s": END, "label": turns("1", "2", times=10)},
        {"Datei": ["a.wav"] * 20, "Anfang": START, "Ende": END, "Art": CALLS},
        {"debut": START, "fin": END, "espece": CALLS, "confiance": amounts(20)},
        {"column_1": range(20), "name": CALLS, "start_seconds": START, "stop_seconds": END},
        {"column_1": START, "column_2": END, "column_3": CALLS},
        {"column_1": ["song"] * 20, "column_2": START, "column_3": END, "column_4": CALLS},
        {"filename": each("a.jpg", "b.jpg", times=10), "class": CALLS} | {c: range(5, 25) for c in ("xmin", "ymin")}
        | {c: range(40, 60) for c in ("xmax", "ymax")},
        {"image_id": each("a", "b", times=10), "label": CALLS, "x": START, "y": END, "width": END, "height": END},
    ],
)  # fmt: skip
def test_times_or_corners_beside_a_name_are_a_label_track(columns):
    plan = plan_of(columns)
    assert plan.kind == "label track"
    assert not plan.features


@pytest.mark.parametrize(
    "columns",
    [
        {"start": START, "end": END, "species": CALLS} | {f"f{i}": amounts(20, i + 3) for i in range(9)},
        {"column_1": amounts(20), "column_2": amounts(20, 11), "column_3": CALLS},
        {"column_1": [i % 5 for i in range(20)], "column_2": [7 + i % 3 for i in range(20)], "column_3": CALLS},
        {"x": amounts(20), "y": amounts(20, 11), "width": amounts(20, 5), "height": amounts(20, 3)},
    ],
)
def test_measures_beside_a_name_are_rows(columns):
    assert plan_of(columns).kind == ""


def answers(r, n_items=30, n_people=6, wrong=0.15, kinds=("cat", "dog", "fox")):
    """Return worker, item and answer, most of them right."""
    rows = []
    for item in range(n_items):
        truth = r.choice(kinds)
        people = r.sample(range(n_people), 4)
        rows += [(f"W{p}", f"pic{item}", r.choice(kinds) if r.random() < wrong else truth) for p in people]
    return rows


def test_people_who_answer_about_the_same_things_are_annotators():
    rows = answers(draw())
    who, what, said = (list(column) for column in zip(*rows))
    for names in (("worker", "image", "label"), ("column_1", "column_2", "column_3"), ("user", "task", "answer")):
        plan = plan_of(dict(zip(names, (who, what, said))))
        assert plan.kind == "annotations"
        assert [role for role, _ in (plan.why[j] for j in range(3))] == ["annotator", "item", "answer"]
    numbers = {"a": [w[1:] for w in who], "b": [p[3:] for p in what], "c": [str(len(s) + ord(s[0])) for s in said]}
    assert plan_of({f"column_{k + 1}": cells for k, cells in enumerate(numbers.values())}).kind == "annotations"


def test_answers_that_agree_by_chance_alone_are_events():
    rows = answers(draw(), wrong=1.0)
    who, what, said = zip(*rows)
    assert plan_of({"column_1": who, "column_2": what, "column_3": said}).kind != "annotations"
    r = draw()
    stars = [str(r.randint(1, 5)) for _ in rows]
    assert plan_of({"userId": [w[1:] for w in who], "movieId": [p[3:] for p in what], "rating": stars,
                    "timestamp": [1500000000 + 13 * i for i in range(len(rows))]}).events  # fmt: skip


def test_a_column_for_each_annotator_is_their_answers():
    r = draw()
    truth = [r.choice("ab") for _ in range(30)]
    columns = {f"annotator_{k}": [t if r.random() < 0.8 else "a" for t in truth] for k in range(3)}
    assert plan_of({"item": [f"i{k}" for k in range(30)]} | columns).kind == "annotations"


def test_crossed_columns_with_a_count_are_counted():
    cells = [(c, s, a) for c in ("1st", "2nd", "3rd") for s in ("m", "f") for a in ("child", "adult")]
    columns = dict(zip(("Class", "Sex", "Age"), map(list, zip(*cells))))
    plan = plan_of(columns | {"Freq": [i * 37 % 101 for i in range(12)]})
    assert (plan.events, plan.weight) == ([0, 1, 2], 3)
    assert not plan_of(columns | {"size": amounts(12)}).events


def test_row_column_count_is_a_sparse_table():
    r = draw()
    cells = sorted({(r.randint(0, 40), r.randint(0, 60)) for _ in range(300)})
    i, j = zip(*cells)
    plan = plan_of({"column_1": i, "column_2": j, "column_3": [r.randint(1, 9) for _ in cells]})
    assert (plan.kind, plan.weight) == ("counts", 2)


def test_distances_are_asked_about_and_become_coordinates(tmp_path):
    r = np.random.default_rng(0)
    X = r.normal(size=(12, 3))
    D = np.linalg.norm(X[:, None] - X[None], axis=-1).round(6)
    names = [f"town{i}" for i in range(12)]
    path = table(tmp_path, "d.csv", "," + ",".join(names), [[n, *row] for n, row in zip(names, D.tolist())])
    data = sl.read(path)
    assert not data.n_features
    assert [settings for _, settings in data.doubts[0].readings] == [{"format": "distances"}, {"events": False}]
    read = sl.read(path, format="distances")
    assert list(read.row_names) == names
    np.testing.assert_allclose(np.linalg.norm(read.X[:, None] - read.X[None], axis=-1), D, atol=0.3)
    assert sl.read(path, events=False).n_features == 12
    broken = table(tmp_path, "b.csv", "", [[0, 1, 2], [1, 0, 3], [5, 3, 0]])
    with pytest.raises(sl.errors.InvalidData, match="symmetric"):
        sl.read(broken, format="distances")


def a_log(n=400, **more):
    """Return who was where and when, beside more columns."""
    r = np.random.default_rng(0)
    who = [f"u{k}" for k in r.integers(40, size=n)]
    where = [f"/page/{k}" for k in r.integers(25, size=n)]
    return {"user": who, "page": where, "when": [f"2026-11-{1 + k % 19:02d}T10:00:00" for k in range(n)], **more}


def test_a_log_with_measures_of_events_is_asked_about(tmp_path):
    columns = a_log(ms=amounts(400), agent=each("firefox", "chrome", times=200))
    path = table(tmp_path, "log.csv", ",".join(columns), list(zip(*columns.values())))
    data = sl.read(path)
    assert data.counts.axes == ("user", "page")
    assert [settings for _, settings in data.doubts[0].readings] == [{"events": ["user", "page"]}, {"events": False}]
    assert sl.read(path, events=False).n_features == 1


@pytest.mark.parametrize(
    "columns",
    [
        {name: cells for name, cells in a_log(ms=amounts(400)).items() if name != "when"},  # no time
        a_log(a=amounts(400), b=amounts(400, 5), c=amounts(400, 7)),  # more measures than a log has
        a_log()
        | {"page": [f"/of/{user}" for user in a_log()["user"]], "ms": amounts(400)},  # a page a user: a property
    ],
)
def test_names_beside_measures_are_rows_without_a_time_or_with_many_measures(columns):
    assert not plan_of(columns).events


def test_lines_of_any_length_are_baskets(tmp_path):
    r = draw()
    goods = ["milk", "bread", "eggs", "whole milk", "tea", "rice", "beer", "salt"]
    lines = [",".join(r.sample(goods, r.randint(1, 6))) for _ in range(60)]
    (tmp_path / "g.csv").write_text("\n".join(lines) + "\n")
    data = sl.read(tmp_path / "g.csv")
    assert data.reader == "baskets"
    assert data.counts.total == sum(len(line.split(",")) for line in lines)
    assert describe(str(tmp_path / "g.csv")).fits[0].job == "coclusters"


def test_names_codes_times_and_parts_are_no_features():
    for columns in [
        {"school": [i * 7 % 5 + 1 for i in range(40)]},
        {"VendorID": [i * 7 % 9 + 1 for i in range(40)]},
        {"Speaker Number": [i * 7 % 9 + 1 for i in range(40)]},
        {"zip code": [10_000 + i * 7 % 9 for i in range(40)]},
        {"_task_hash": [(i + 1) * 2654435761 % 2**32 - 2**31 for i in range(40)]},
        {"code": [f"{i * 7 % 30:03d}" for i in range(40)]},
        {"year": [1990 + i % 7 for i in range(40)]},
        {"hour": [i % 24 for i in range(40)]},
        {"day": [20240101 + i % 28 for i in range(40)]},
        {"fold": [i % 5 + 1 for i in range(40)]},
        {"train": turns("T", "F", times=20)},
        {"when": [f"Jan {i % 28 + 1:02d}, 2012" for i in range(40)]},
        {"week": [f"2012-W{i % 50 + 1:02d}" for i in range(40)]},
    ]:
        plan = beside(columns, label=False)
        assert roles(plan)[next(iter(columns))] in ("ignored", "id", "bag"), columns
    for columns in [
        {"number of rooms": [i * 7 % 5 + 1 for i in range(40)]},
        {"n_children": [i * 7 % 5 for i in range(40)]},
        {"age": [i * 7 % 50 + 18 for i in range(40)]},
        {"years at company": [i % 30 for i in range(40)]},
        {"weight": [i * 7 % 50 + 50 for i in range(40)]},
        {"days": [i * 7 % 400 for i in range(40)]},
    ]:
        assert roles(beside(columns, label=False))[next(iter(columns))] == "feature", columns


def test_a_guess_that_does_not_hold_is_dropped_and_told(tmp_path):
    rows = [[f"r{i}", f"{i * 7 % 11}.5", f"{i * 5 % 13}.25"] for i in range(1500)]
    rows[1200][0] = ""
    data = sl.read(table(tmp_path, "a.csv", "id,a,b", rows))
    assert data.row_ids is None
    assert any("'id' looked like the id" in note for note in data.notes)
    rows = [[f"r{i // 3}", *row[1:]] for i, row in enumerate(rows)]
    rows[1400][0] = ""
    data = sl.read(table(tmp_path, "b.csv", "recording,a,b", rows))
    assert data.bags is None
    assert data.n_rows == 1500
    with pytest.raises(sl.errors.InvalidData):
        sl.read(tmp_path / "b.csv", bag="recording")


def test_none_that_comes_back_among_few_words_is_a_value(tmp_path):
    rows = [[f"{i * 7 % 11}.5", ("none", "low", "high")[i % 3]] for i in range(30)]
    assert set(sl.read(table(tmp_path, "a.csv", "a,grade", rows)).y.tolist()) == {"none", "low", "high"}
    (tmp_path / "a.arff").write_text("@relation r\n@attribute a numeric\n@attribute class {none,low,high}\n@data\n"
                                     + "".join(f"{a},{c}\n" for a, c in rows))  # fmt: skip
    assert (sl.read(tmp_path / "a.arff").y != "").all()


def test_a_total_of_a_column_or_a_row_is_left_out(tmp_path):
    rows = [{"year": 2000 + i, "wind": 3 * i + 1, "sun": 2 * i, "Total": 5 * i + 1} for i in range(9)]
    rows.append({"year": "Total", **{k: sum(row[k] for row in rows) for k in ("wind", "sun", "Total")}})
    (tmp_path / "t.json").write_text(json.dumps(rows))
    data = sl.read(tmp_path / "t.json")
    assert data.feature_names == ("wind", "sun")
    assert data.n_rows == 9


def test_a_text_grid_and_an_audacity_track_are_read(tmp_path):
    grid = (
        'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n2\n<exists>\n1\n"IntervalTier"\n"birds"\n0\n2\n3\n'
    )
    (tmp_path / "a.TextGrid").write_text(grid + '0\n0.5\n""\n0.5\n1.25\n"wren"\n1.25\n2\n"owl"\n', encoding="utf-16")
    (tmp_path / "b.txt").write_text("0.5\t1.25\twren\n\\\t100.0\t900.0\n1.25\t2.0\towl\n\\\t100.0\t800.0\n" * 3)
    for name in ("a.TextGrid", "b.txt"):
        found = describe(str(tmp_path / name))
        assert found.kind == "label track"
        assert [role["name"] for role in found.roles][:3] == ["start", "end", "label"]


def test_words_alone_are_features_where_there_are_no_numbers():
    r = draw()
    columns = {f"m{k}": [f"w{r.randint(0, k + 2)}" for _ in range(60)] for k in range(4)}
    plan = plan_of(columns | {"class": turns("u", "v", times=30)})
    assert plan.features == [0, 1, 2, 3]
    assert plan.labels == [4]


def test_every_rule_says_why(tmp_path):
    data = sl.read(table(tmp_path, "a.csv", "a,b,kind", [[f"{i}.5", f"{i * i % 7}.5", "uv"[i % 2]] for i in range(20)]))
    told = data.evidence["kind"]
    assert any(line.startswith("label +6.0: its name") for line in told)
    assert told[-1].startswith("taken for label")
