"""ARFF: headers, values, sparse rows, bags in quotation marks, labels that XML or a relation's name lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, SidelightError, UnreadableFile
from sidelight.files.arff.header import Attribute, parse_header, split_values
from sidelight.files.arff.labels import node_parents
from sidelight.files.arff.reading import sparse_pairs

PATH = Path("a.arff")


def header(*lines):
    """Parse a header."""
    return parse_header(PATH, iter(enumerate((*lines, "@data"), start=1)))


def arff(tmp_path, attributes, rows, relation="r", **said):
    """Write a file of attributes and rows, and read it."""
    lines = [f"@relation {relation}", *(f"@attribute {a}" for a in attributes), "@data", *rows]
    (tmp_path / "a.arff").write_text("\n".join(lines) + "\n")
    data = sl.read(tmp_path / "a.arff", **said)
    assert data.path == str(tmp_path / "a.arff")
    return data


def role_of(data):
    """Return the role of every attribute."""
    return {role.name: role.role for role in data.roles}


# ---- headers and values


def test_attributes():
    for text, attribute in [
        ("a numeric", Attribute("a", "numeric")),
        ("'a b' REAL", Attribute("a b", "numeric")),
        ('"a \\" b" integer', Attribute('a " b', "numeric")),
        ("a {x, 'y z',\"w\"}", Attribute("a", "nominal", ("x", "y z", "w"))),
        ("a{x,y}", Attribute("a", "nominal", ("x", "y"))),
        ("a {x,y", Attribute("a", "nominal", ("x", "y"))),
        ("a string", Attribute("a", "string")),
        ("a date 'yyyy'", Attribute("a", "date")),
        ("a hierarchical 1, 1/2,,3", Attribute("a", "hierarchical", ("1", "1/2", "3"))),
    ]:
        assert header("% note", "", f"@ATTRIBUTE {text}").attributes == (attribute,)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["@attribute a"], 1),
        (["@attribute"], 1),
        (["@attribute a something"], 1),
        (["@attribute a numeric", "@attribute a numeric"], 3),
        (["hello"], 1),
        (["@end b"], 1),
        (["@attribute b relational", "@attribute a numeric"], 3),
        ([], 1),
        ([f"@attribute b{k} relational" for k in range(5)], 5),
    ],
)
def test_headers_that_are_wrong_say_in_which_line(lines, line):
    with pytest.raises(UnreadableFile, match=f"a.arff, line {line}:"):
        header(*lines)


def test_relations_hold_attributes_of_their_own():
    lines = ["@attribute b relational", "@attribute a numeric", "@attribute c relational", "@attribute d numeric"]
    inner = Attribute("c", "relational", (), (Attribute("d", "numeric"),))
    found = header("@relation 'my r'", *lines, "@end c", "@end b", "@attribute e numeric", "@other x")
    assert found.relation == "my r"
    assert found.attributes == (
        Attribute("b", "relational", (), (Attribute("a", "numeric"), inner)), Attribute("e", "numeric"),
    )  # fmt: skip
    four = [f"@attribute b{k} relational" for k in range(4)] + [f"@end b{k}" for k in range(4)]
    assert len(header(*four).attributes) == 1
    with pytest.raises(UnreadableFile, match="expected @data"):
        parse_header(PATH, iter([(1, "@attribute a numeric")]))


def test_values_of_a_row():
    for text, values in [
        ("1, 2 ,3", ["1", "2", "3"]),
        ("1\t2\t3", ["1", "2", "3"]),
        ("1\t2,3", ["1\t2", "3"]),
        ("", [""]),
        ("'a, b',c", ["a, b", "c"]),
        ("'a\\'b\\n\\t\\\\\\%',\"c\\\"d\"", ["a'b\n\t\\%", 'c"d']),
        ("'a', ,'b'", ["a", "", "b"]),
        ("'a',", ["a", ""]),
        ("'a' , x y ", ["a", "x y"]),
        ("x,'a'", ["x", "a"]),
    ]:
        assert split_values(PATH, 1, text) == values


@pytest.mark.parametrize("text", ["'a,b", "x,'a", "'a'b,c", '"a'])
def test_quotation_marks_that_are_not_closed(text):
    with pytest.raises(UnreadableFile, match="line 7: a quotation mark"):
        split_values(PATH, 7, text)


# ---- dense rows


def test_dense_rows(tmp_path):
    data = arff(tmp_path, ["a numeric", "c {x,y}", "b real", "s string"], ["% n", "1,x,?,hello", "2,y,3.5,'you, too'"])
    assert data.feature_names == ("a", "c=x", "c=y", "b")
    assert data.X[1].tolist() == [2, 0, 1, 3.5]
    assert np.isnan(data.X[0, 3])
    assert (data.row_ids, data.format) == (None, "ARFF")


@pytest.mark.parametrize(
    ("attributes", "said", "label"),
    [
        (["a numeric", "c {x,y}"], {}, "c"),
        (["c {x,y}", "a numeric"], {}, None),
        (["Class {x,y}", "a numeric"], {}, "Class"),
        (["Class {x,y}", "c {x,y}"], {}, "Class"),
        (["c {x,y}", "d {x,y}"], {}, "d"),
        (["c {x,y}", "d {x,y}"], {"label": "c"}, "c"),
        (["c {x,y}", "d {x,y}"], {"label": False}, None),
        (["c {x,y}", "d {x,y}"], {"label": ["c"]}, "c"),
    ],
)
def test_the_class_of_a_dense_file(tmp_path, attributes, said, label):
    rows = [",".join("1" if "numeric" in a else value for a in attributes) for value in "xyx"]
    data = arff(tmp_path, attributes, rows, **said)
    assert data.columns("label") == ((label,) if label else ())
    assert (data.y is None) == (label is None)
    assert not any(name.startswith(f"{label}=") for name in data.feature_names)


def test_rows_that_do_not_fit_the_header_say_in_which_line(tmp_path):
    for rows, error, match in (
        (["1,x", "2"], UnreadableFile, "line 6"),
        (["1,x", "z,y"], InvalidData, "line 6, column 'a'"),
        (["1,x", "?,z"], UnreadableFile, "line 6, attribute 'c': expected a declared value, found 'z'"),
        (["1,x", "1,x,{5}", "1,x"], UnreadableFile, "line 6"),
        ([], UnreadableFile, "expected rows after @data"),
    ):
        with pytest.raises(error, match=match):
            arff(tmp_path, ["a numeric", "c {x,y}"], rows)
    data = arff(tmp_path, ["a numeric", "c {x,y}"], ["1,x,{5}", "2,y,{3}"])
    assert data.X.tolist() == [[1], [2]]
    assert any("weights" in note for note in data.notes)
    assert arff(tmp_path, ["a numeric", "c {x,y}"], ["1,?", "2,y"]).y.tolist() == ["", "y"]


# ---- sparse rows


def test_pairs_of_a_sparse_row():
    for text, pairs in [
        ("{}", []),
        ("{0 1.5, 2 x}", [(0, "1.5"), (2, "x")]),
        ("{0 'a, b',2 \"c\"}", [(0, "a, b"), (2, "c")]),
        ("{0 'a\\'b, c',2 d}", [(0, "a\\'b, c"), (2, "d")]),
        (" {1 2} % note", [(1, "2")]),
    ]:
        assert list(sparse_pairs(PATH, 1, text, 3)) == pairs


@pytest.mark.parametrize("text", ["0 1}", "{0 1", "{3 1}", "{x 1}", "{0}", "{0 }", "{-1 2}", "{0 'a}", "{0 1,}"])
def test_pairs_that_are_wrong(text):
    with pytest.raises(UnreadableFile, match="line 7"):
        list(sparse_pairs(PATH, 7, text, 3))


def test_sparse_rows_and_their_class(tmp_path):
    attributes = ["a numeric", "t {0,1}", "s string", "w {no,yes}", "c {x,y}"]
    data = arff(tmp_path, attributes, ["{0 1.5,4 y}", "{1 1,3 yes,2 hello}", "{0 ?,4 ?}"])
    assert data.feature_names == ("a", "t", "w")
    assert np.array_equal(data.X.toarray(), [[1.5, 0, 0], [0, 1, 1], [np.nan, 0, 0]], equal_nan=True)
    assert (data.y.tolist(), data.label_names, data.format) == (["y", "x", ""], ("x", "y"), "ARFF, sparse")
    assert role_of(data) == {"a": "feature", "t": "feature", "s": "ignored", "w": "feature", "c": "label"}


@pytest.mark.parametrize(
    ("said", "features", "y"),
    [
        ({}, ("a", "b"), ["x", "y"]),
        ({"label": False}, ("a", "b"), None),
        ({"label": "s"}, ("a", "b"), ["0", "hello"]),
        ({"features": "a"}, ("a",), ["x", "y"]),
        ({"ignore": "a"}, ("b",), ["x", "y"]),
        ({"label": "a"}, ("b",), ["1.5", "0"]),
    ],
)
def test_what_was_said_of_sparse_rows(tmp_path, said, features, y):
    data = arff(tmp_path, ["a numeric", "b numeric", "s string", "c {x,y}"], ["{0 1.5,1 2}", "{2 hello,3 y}"], **said)
    assert data.feature_names == features
    assert (None if data.y is None else data.y.tolist()) == y


def test_several_label_attributes_of_sparse_rows(tmp_path):
    attributes = ["a numeric", "p {0,1}", "q {0,1}"]
    data = arff(tmp_path, attributes, ["{0 1,1 1}", "{2 1}", "{1 ?}"], relation="'r: -C -2'")
    assert (data.Y.tolist(), data.label_names) == ([[1, 0], [0, 1], [-1, 0]], ("p", "q"))
    assert data.format == "ARFF, sparse with label names"
    for rows, error, match in (
        (["{0 1}", "{1 7}"], InvalidData, "line 7, attribute 'p'"),
        (["{0 1}", "{0 z}"], InvalidData, "line 7, column 'a'"),
        (["{0 1}", "{0 1, 0 2}"], UnreadableFile, "line 7: attribute 0 comes twice"),
    ):
        with pytest.raises(error, match=match):
            arff(tmp_path, attributes, rows, relation="'r: -C -2'")
    assert arff(tmp_path, ["p {0,1}", "a numeric"], ["{1 5}", "{0 1}"]).y is None


def test_words_that_are_not_yes_and_no_are_no_numbers(tmp_path):
    """Both x and y say yes where they stand alone; as the two values of an attribute they are words."""
    attributes = ["a numeric", "w {x,y}", "v {-1,0,1}", "n {no,yes}", "c {p,q}"]
    data = arff(tmp_path, attributes, ["{0 1,1 x,2 -1}", "{1 y,3 yes}"])
    assert data.feature_names == ("a", "v", "n")
    assert data.X.toarray().tolist() == [[1, -1, 0], [0, -1, 1]]  # what is left out is the first declared value


# ---- bags


def bags(tmp_path, outer, rows, inner=("f numeric", "g {u,v}"), relation="r", **said):
    """Write bags, with attributes before and after the relation."""
    lines = [f"@relation {relation}", *(f"@attribute {a}" for a in outer[0]), "@attribute b relational"]
    lines += [*(f"@attribute {a}" for a in inner), "@end b", *(f"@attribute {a}" for a in outer[1]), "@data", *rows]
    (tmp_path / "a.arff").write_text("\n".join(lines) + "\n")
    return sl.read(tmp_path / "a.arff", **said)


def test_bags_are_unfolded_beside_what_is_said_of_them(tmp_path):
    rows = ["m1,'1,u\\n2,v',x", "m2,'{1 v}\\n\\n{0 4}',y", "m3,'',x", "m4,'5,?',?"]
    data = bags(tmp_path, (["mol {m1,m2,m3,m4}"], ["c {x,y}"]), rows)
    assert data.X.tolist() == [[1, 1, 0], [2, 0, 1], [0, 0, 1], [4, 1, 0], [5, 0, 0]]
    assert data.feature_names == ("f", "g=u", "g=v")
    assert dict(data.bags.labels) == {"m1": {"x"}, "m2": {"y"}, "m4": None}
    assert data.bags.codes.tolist() == [0, 0, 1, 1, 2]
    assert any("1 bags without rows" in note for note in data.notes)
    assert role_of(data) == {"mol": "bag", "c": "label", "f": "feature", "g": "feature"}
    assert data.location(4) == "line 12"
    assert not any("without rows" in note for note in bags(tmp_path, ([], ["c {x,y}"]), ["'1,u',x", "'2,v',x"]).notes)


@pytest.mark.parametrize(
    ("outer", "rows", "names"),
    [
        (([], ["c {x,y}"]), ["'1,u',x", "'2,v',x"], (1, 2)),
        ((["bag_id {x,y}"], []), ["x,'1,u'", "y,'2,v'"], ("x", "y")),
        ((["Bag_ID numeric"], []), ["5,'1,u'", "7,'2,v'"], (5, 7)),
        ((["size numeric"], []), ["5,'1,u'", "7,'2,v'"], (1, 2)),
        ((["m {x,y}"], ["c {p,q}"]), ["x,'1,u',p", "x,'2,v',q"], ("p", "q")),
        ((["m {x,y}"], []), ["x,'1,u'"], (1,)),
    ],
)
def test_a_bag_is_called_by_what_differs_in_every_line(tmp_path, outer, rows, names):
    assert bags(tmp_path, outer, rows).bags.names == names


def test_labels_of_bags_may_be_listed_and_names_may_meet(tmp_path):
    data = bags(tmp_path, (["p {0,1}", "q {0,1}"], ["f numeric"]), ["1,0,'1,u',5", "0,1,'2,v',6"], relation="'r: -C 2'")
    assert data.label_names == ("p", "q")
    assert data.bags.names == (1, 2)
    assert data.feature_names == ("f_", "g=u", "g=v")
    assert bags(tmp_path, (["c {x,y}"], []), ["x,'1,u'", "x,'2,v'"], label=False).label_names == ()


@pytest.mark.parametrize(
    ("rows", "inner", "match"),
    [
        (["'1,u',x", "'1',x"], ["f numeric", "g {u,v}"], "line 9"),
        (["'1,u',x", "'1,u'"], ["f numeric", "g {u,v}"], "line 9"),
        (["'1,u',z"], ["f numeric", "g {u,v}"], "line 8, attribute 'c'"),
        (["'1,w',x"], ["f numeric", "g {u,v}"], "line 8, attribute 'g'"),
        (["'',x"], ["f numeric", "g {u,v}"], "only empty bags"),
        (["'',x"], [], "declares no attributes"),
        (["'1',x"], ["h relational\n@attribute f numeric\n@end h"], "another relation"),
    ],
)
def test_bags_that_are_wrong(tmp_path, rows, inner, match):
    with pytest.raises(UnreadableFile, match=match):
        bags(tmp_path, ([], ["c {x,y}"]), rows, inner=inner)


# ---- labels beside the file, and hierarchies


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("'r: -C 1'", ("a",)), ("'r: -C -2'", ("b", "c")), ("'r: -C 2'", ("a", "b")), ("'r: -C 3'", None),
        ("'r: -C 0'", None), ("'r: -C -3'", None), ("r", None),
    ],
)  # fmt: skip
def test_the_name_of_a_relation_counts_labels(tmp_path, relation, labels):
    data = arff(tmp_path, ["a {0,1}", "b {0,1}", "c {0,1}"], ["0,1,1", "1,0,1", "1,1,0"], relation=relation)
    assert data.columns("label") == (labels or ("c",))


def xml(*names):
    """Return labels as XML."""
    return "<labels>" + "".join(f'<label name="{name}"/>' for name in names) + "</labels>"


def test_labels_are_listed_in_the_xml_whose_name_fits_best(tmp_path):
    attributes, rows = ["p {0,1}", "q {0,1}", "f numeric"], ["0,1,5", "1,1,6"]
    (tmp_path / "b.xml").write_text(xml("q"))
    assert arff(tmp_path, attributes, rows).columns("label") == ()
    (tmp_path / "a.xml").write_text(xml("p", "q"))
    assert arff(tmp_path, attributes, rows).columns("label") == ("p", "q")
    assert arff(tmp_path, attributes, rows).tree is None
    (tmp_path / "a-train.arff").write_text((tmp_path / "a.arff").read_text())
    (tmp_path / "a-.xml").write_text(xml("q"))
    assert sl.read(tmp_path / "a-train.arff").columns("label") == ("q",)
    assert sl.read(tmp_path / "a-train.arff", label_file=tmp_path / "a.xml").columns("label") == ("p", "q")
    (tmp_path / "a.xml").write_text(xml("p", "z"))
    assert arff(tmp_path, attributes, rows).columns("label") == ()
    with pytest.raises(SidelightError, match="z"):
        arff(tmp_path, attributes, rows, label_file=tmp_path / "a.xml")


@pytest.mark.parametrize("text", ["<labels/>", "<labels><tag name='p'/></labels>", "<labels><label/></labels>", "<la",
                                  "<!DOCTYPE x><labels><label name='p'/></labels>"])  # fmt: skip
def test_lists_of_labels_that_are_wrong(tmp_path, text):
    (tmp_path / "l.xml").write_text(text)
    with pytest.raises(UnreadableFile, match="expected"):
        arff(tmp_path, ["p {0,1}", "f numeric"], ["0,1"], label_file=tmp_path / "l.xml")
    with pytest.raises(SidelightError, match="no such file"):
        arff(tmp_path, ["p {0,1}", "f numeric"], ["0,1"], label_file=tmp_path / "none.xml")


def test_paths_and_pairs_of_a_hierarchy():
    assert node_parents(["1", "1/2", "3/4/5"]) == (
        {"1": (), "1/2": ("1",), "3": (), "3/4": ("3",), "3/4/5": ("3/4",)}, True,
    )  # fmt: skip
    assert node_parents(["root/A", "A/B", "root/C"]) == ({"A": (), "B": ("A",), "C": ()}, True)
    assert node_parents(["root/A", "A/B", "C/B"]) == ({"A": (), "B": ("A", "C"), "C": ()}, False)


def test_labels_bring_their_ancestors(tmp_path):
    attributes = ["f numeric", "c hierarchical 1,1/2,3"]
    data = arff(tmp_path, attributes, ["5,1/2@3", "6,3", "7,?"])
    assert (data.label_names, data.Y.tolist()) == (("1", "1/2", "3"), [[1, 1, 1], [0, 0, 1], [-1, -1, -1]])
    assert data.tree.parents.tolist() == [-1, 0, -1]
    assert data.format == "ARFF, hierarchical labels"
    assert not any("several parents" in note for note in data.notes)
    data = arff(tmp_path, attributes, ["5,1/2", "6,3", "7,?"])  # one a row
    assert data.Y.tolist() == [[1, 1, 0], [0, 0, 1], [-1, -1, -1]]
    assert arff(tmp_path, attributes, ["5,1/2@3", "6,3"], label=False).tree is None
    with pytest.raises(UnreadableFile, match="'9'"):
        arff(tmp_path, attributes, ["5,1/2@9"])
    pairs = arff(tmp_path, ["f numeric", "c hierarchical root/A,root/B,A/C,B/C"], ["1,C", "2,A"])
    assert any("several parents" in note for note in pairs.notes)


def test_what_a_sparse_row_leaves_out_is_the_first_declared_value(tmp_path):
    path = tmp_path / "few.arff"
    path.write_text(
        "@relation few\n@attribute a {yes,no}\n@attribute b numeric\n@attribute c {1,0}\n@attribute k {p,q}\n"
        "@data\n{1 3}\n{0 no, 2 0, 3 q}\n{0 yes}\n"
    )
    X = sl.read(path).X
    assert X.toarray().tolist() == [[1, 3, 1], [0, 0, 0], [1, 0, 1]]


def test_first_values_that_are_not_0_are_asked_for_before_they_are_made(tmp_path):
    path = tmp_path / "wide.arff"
    names = "\n".join(f"@attribute a{j} {{yes,no}}" for j in range(2_000))
    path.write_text(f"@relation wide\n{names}\n@data\n" + "{}\n" * 2_000)
    with pytest.raises(sl.errors.TooLarge, match="2000 rows and 1999 columns"):
        sl.read(path, max_memory="50MB")
