"""The public files as the field passes them around, against the facts that are known about them."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl

pytestmark = pytest.mark.data


def labels_a_bag(bags):
    return round(float(bags.label_matrix.sum() / bags.n_bags), 2)


def test_hja_segments_are_bags_of_recordings_with_species(data_dir):
    data = sl.read(data_dir / "hja" / "segments.csv.gz")
    assert data.X.shape == (10232, 38)
    assert (data.bags.n_bags, data.bags.n_classes, (data.y != "").sum()) == (548, 13, 4998)
    assert labels_a_bag(data.bags) == 2.02
    assert int((np.diff(data.bags.label_matrix.indptr) == 1).sum()) == 199


def test_msrc_cells_hold_bags_as_columns(data_dir):
    data = sl.read(data_dir / "msrcv2" / "MSRC_MIML.mat")
    assert data.X.shape == (1758, 48)
    assert (data.bags.n_bags, data.bags.n_classes, labels_a_bag(data.bags)) == (591, 23, 2.51)
    assert set(data.y) == {str(k) for k in range(1, 24)}


def test_letter_carroll_struct_names_the_bag_of_each_row(data_dir):
    data = sl.read(data_dir / "letter_carroll" / "letter_carroll.mat")
    assert data.X.shape == (717, 16)
    assert (data.bags.n_bags, data.bags.n_classes, labels_a_bag(data.bags)) == (166, 26, 3.93)
    assert len(set(data.y)) == 24


@pytest.mark.slow
def test_corel_bags_are_half_positive(data_dir):
    positive_rows = positive_bags = 0
    for name in ("elephant", "fox", "tiger"):
        data = sl.read(data_dir / "corel" / f"{name}.data")
        is_positive = data.bags.label_matrix.toarray()[:, data.bags.classes.index("1")] == 1
        assert (data.bags.n_bags, int(is_positive.sum()), data.n_features) == (200, 100, 230)
        positive_bags += int(is_positive.sum())
        positive_rows += int(data.bags.sizes[is_positive].sum())
    assert (positive_bags, positive_rows) == (300, 1953)


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("letter.dat", (20000, 16), 26),
        ("penbased.dat", (10992, 16), 10),
        ("sonar.dat", (208, 60), 2),
        ("pima.dat", (768, 8), 2),
        ("ionosphere.csv", (351, 34), 2),
    ],
)
def test_uci_sets_end_with_their_class(data_dir, name, shape, n_classes):
    data = sl.read(data_dir / "uci" / name)
    assert data.X.shape == shape
    assert len(set(data.y)) == n_classes


def test_three_digits_of_penbased_together(data_dir):
    y = sl.read(data_dir / "uci" / "penbased.dat").y
    assert int(np.isin(y, ["3", "8", "9"]).sum()) == 3165


def test_two_columns_of_words_make_four_kinds_of_crabs(data_dir):
    data = sl.read(data_dir / "uci" / "crabs.csv", label=["sp", "sex"])
    assert data.X.shape == (200, 5)
    assert sorted(set(data.y)) == ["B/F", "B/M", "O/F", "O/M"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "width"), [("fac", 216), ("fou", 76), ("kar", 64), ("mor", 6), ("pix", 240), ("zer", 47)]
)
def test_mfeat_header_counts_its_columns(data_dir, name, width):
    data = sl.read(data_dir / "mfeat" / f"mfeat-{name}.csv")
    assert data.X.shape == (2000, width)
    assert len(set(data.y)) == 10


def test_classic3_is_sparse_with_terms(data_dir):
    data = sl.read(data_dir / "classic3" / "classic3.mat")
    assert data.X.format == "csr"
    assert data.X.shape == (3891, 4303)
    assert sorted(np.unique(data.y, return_counts=True)[1].tolist()) == [1033, 1398, 1460]
    assert data.feature_names[:3] == ("contribution", "catheterization", "distribution")


@pytest.mark.parametrize(("part", "n_rows"), [("train", 1630), ("valid", 844), ("test", 1281)])
def test_church_functions_form_a_hierarchy(data_dir, part, n_rows):
    data = sl.read(data_dir / "church_fun" / f"church_FUN.{part}.arff")
    assert (data.n_rows, len(data.columns("feature")), len(data.label_names)) == (n_rows, 27, 499)
    assert (data.tree.names, len(data.tree.tops)) == (data.label_names, 18)
    assert data.n_features == 26 + 5  # one column for each value that the nominal attribute declares
    child = data.Y[:, data.label_names.index("30/05")] == 1
    assert (data.Y[child, data.label_names.index("30")] == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_rows", "width", "n_labels"),
    [("emotions", 593, 72, 6), ("yeast-train", 1500, 103, 14), ("yeast-test", 917, 103, 14)],
)
def test_mulan_labels_come_from_the_xml_beside(data_dir, name, n_rows, width, n_labels):
    data = sl.read(data_dir / "multilabel" / f"{name}.arff")
    assert (data.X.shape, data.Y.shape) == ((n_rows, width), (n_rows, n_labels))


@pytest.mark.slow
def test_mulan_sets_have_the_known_number_of_labels_a_row(data_dir):
    emotions = sl.read(data_dir / "multilabel" / "emotions.arff").Y
    yeast = np.concatenate([sl.read(data_dir / "multilabel" / f"yeast-{part}.arff").Y for part in ("train", "test")])
    assert round(float(emotions.sum(axis=1).mean()), 2) == 1.87
    assert round(float(yeast.sum(axis=1).mean()), 2) == 4.24


def test_mnist_labels_lie_beside_the_images(data_dir):
    data = sl.read(data_dir / "mnist" / "t10k-images-idx3-ubyte.gz")
    assert data.X.shape == (10000, 784)
    assert len(data.label_names) == 10


def test_balance_comes_with_a_keel_header(data_dir):
    data = sl.read(data_dir / "uci" / "balance.dat")
    assert (data.X.shape, sorted(set(data.y))) == ((625, 4), ["B", "L", "R"])


@pytest.mark.slow
def test_newsgroups_are_a_hierarchy_of_dotted_names(data_dir):
    data = sl.read(data_dir / "newsgroups" / "mini_newsgroups.tar.gz")
    assert (data.n_rows, len(set(data.y)), len(data.label_names)) == (2000, 20, 27)
    inner = set(data.label_names) - set(data.y)
    assert inner == {"comp", "comp.sys", "rec", "rec.sport", "sci", "talk", "talk.politics"}
    assert data.tree.names[data.tree.parents[data.tree.index("rec.sport.hockey")]] == "rec.sport"
