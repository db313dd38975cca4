"""Lines of a sheet that are no rows are found, left out and told; what stands between them is the table."""

import pytest

from sidelight.files.books.sheets import body_of
from sidelight.files.reading import read


def written(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_titles_totals_and_notes_are_no_rows(tmp_path):
    rows = "".join(f"R{i},{i},{3 * i + 1}\n" for i in range(8))
    text = f"Report 2021,,\n,,\nregion,units,sales\n{rows}Total,28,92\nSource: internal books,,\n"
    data = read(written(tmp_path, text))
    assert data.X.shape == (8, 2)
    assert data.feature_names == ("units", "sales")
    assert any("2 lines above the table" in note for note in data.notes)
    assert any("'Total' and 'Source: internal books'" in note for note in data.notes)
    assert data.location(0) == "line 4"


def test_a_last_row_that_only_has_a_name_is_a_row(tmp_path):
    rows = "".join(f"R{i},{i},{3 * i + 1}\n" for i in range(8))
    assert read(written(tmp_path, f"a title\nregion,units,sales\n{rows}R9,,\n")).n_rows == 9


def test_a_line_of_units_is_no_row(tmp_path):
    rows = "".join(f"p{i},{i}.5,{i * i},{'ab'[i % 2]}\n" for i in range(8))
    data = read(written(tmp_path, f"plant,height,mass,species\n,cm,g,\n{rows}"))
    assert data.n_rows == 8
    assert data.feature_names == ("height", "mass")


def test_two_lines_of_names_are_one_name():
    body = body_of(
        [["Sepal", "", "Petal", ""], ["length", "width", "length", "width"], *[[1, 2, 3, k] for k in range(9)]]
    )
    assert body.names == ["Sepal length", "Sepal width", "Petal length", "Petal width"]
    assert len(body.rows) == 9
    assert body.lines[0] == 3


def test_lines_of_types_and_flags_name_the_class(tmp_path):
    rows = "".join(f"{i}.5\t{i}\t{'ab'[i % 2]}\n" for i in range(9))
    data = read(written(tmp_path, f"u\tv\tzz\nc\tc\td\n\t\tclass\n{rows}", "t.tab"))
    assert data.columns("label") == ("zz",)
    assert data.X.shape == (9, 2)


def test_a_second_table_is_left_out():
    first = [["a", "b"], *[[k, 2 * k] for k in range(6)]]
    body = body_of([*first, [], ["name", "town"], ["x", "y"]])
    assert len(body.rows) == 6
    assert any("another table begins in line 9" in note for note in body.notes)


def test_numbers_above_numbers_are_a_row():
    assert len(body_of([[1.5, 2.5], [3.5, 4.0], [5.0, 6.0]]).rows) == 3
    assert len(body_of([[2001, 2002], [3.5, 4.0], [5.0, 6.0]]).rows) == 2  # years are names


def test_a_first_line_that_counts_the_rest_is_no_row(tmp_path):
    rows = "".join(f"{i}.5,{i},{i % 2}\n" for i in range(9))
    assert read(written(tmp_path, f"9,2,ant,bee\n{rows}")).n_rows == 9


def test_plain_tables_are_left_to_the_reader_of_text(tmp_path):
    assert "line" not in " ".join(read(written(tmp_path, "a,b\n1,2\n3,4\n5,6\n7,9\n")).notes)


@pytest.mark.parametrize("quote", ["", '"'])
def test_the_first_line_may_lack_the_name_of_the_row_names(tmp_path, quote):
    rows = "".join(f"{quote}row{i}{quote} {i} {i * i}\n" for i in range(9))
    data = read(written(tmp_path, f"{quote}x{quote} {quote}y{quote}\n{rows}", "t.txt"))
    assert data.feature_names == ("x", "y")
    assert data.row_names.tolist()[0] == "row0"


def test_names_of_which_the_first_is_missing_are_no_title():
    assert body_of([["", "0"], *[[k, 7] for k in range(6)]]).names == ["", "0"]
