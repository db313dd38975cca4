"""Rules that further files asked for: panels, second ids, groups, pieces that last, answers about pairs, bounds."""

import random

import pytest

from sidelight.files.reading import read


@pytest.fixture
def roles_of(tmp_path):
    def roles(text, name="t.csv"):
        (tmp_path / name).write_text(text)
        data = read(tmp_path / name)
        return {role.name: role.role for role in data.roles} | {"kind of table": data.kind}

    return roles


def numbers(n, seed=0):
    generator = random.Random(seed)
    return [round(generator.random() * 9, 2) for _ in range(n)]


def test_runs_of_one_length_name_things_and_years_of_two_digits_are_times(roles_of):
    rows = "".join(f"{i // 5 * 7 + 3},{60 + i % 5},{x}\n" for i, x in enumerate(numbers(60)))
    told = roles_of(f"firm_nr_of_list,year,sales\n{rows}")
    assert told["year"] == "ignored"
    assert told["firm_nr_of_list"] != "feature"


def test_a_second_id_is_no_feature(roles_of):
    rows = "".join(f"{i},{100 + 3 * i + i % 2},{x},{x * x}\n" for i, x in enumerate(numbers(60), start=1))
    assert roles_of(f",pidnum,a,b\n{rows}")["pidnum"] != "feature"


def test_few_words_under_a_name_that_means_both_are_classes(roles_of):
    rows = "".join(f"{x},{y},{'control' if i % 3 else 'treated'}\n" for i, (x, y) in
                   enumerate(zip(numbers(60), numbers(60, 1))))  # fmt: skip
    assert roles_of(f"T,E,group\n{rows}")["group"] == "label"


def test_a_start_and_how_long_it_lasts_are_a_label_track(roles_of):
    rows = "".join(f"sw1 A {i * 0.5:.2f} {0.2 + i % 3 * 0.1:.2f} word{i % 7}\n" for i in range(30))
    assert roles_of(rows, "t.ctm")["kind of table"] == "label track"


def test_answers_about_pairs_are_no_rows(roles_of):
    generator = random.Random(1)
    pairs = [generator.sample(range(20), 2) for _ in range(60)]
    rows = "".join(f"im{a},im{b},{(a + b) % 2}\n" for a, b in pairs)
    assert roles_of(f"a,b,same\n{rows}")["kind of table"] == "pair answers"


def test_measurements_below_what_can_be_measured_are_no_bag(roles_of):
    rows = "".join(f"{'<' if i % 2 else ''}0.0{i // 4 + 10},{x},{'yes' if i % 8 < 4 else 'no'}\n" for i, x in
                   enumerate(numbers(60)))  # fmt: skip
    assert roles_of(f"nh4,depth,censored\n{rows}")["nh4"] != "bag"


def test_two_crossed_columns_are_no_bag(roles_of):
    rows = "".join(f"{x},{i // 5 + 1},{i % 5 + 1}\n" for i, x in enumerate(numbers(25)))
    assert roles_of(f"share,origin,destination\n{rows}")["origin"] != "bag"


def test_counts_of_crossed_columns_may_have_names_of_rows(roles_of):
    rows = "".join(f"{i + 1},{i % 4},{i // 4},{17 + i * i % 11}\n" for i in range(16))
    assert roles_of(f",whorls,loops,count\n{rows}")["count"] == "weight"


def test_the_code_of_a_place_is_no_id(roles_of):
    rows = "".join(f"{10000 + 37 * i % 997 + i},{x},{'ab'[i % 2]}\n" for i, x in enumerate(numbers(40)))
    assert roles_of(f"plz,size,kind\n{rows}")["plz"] == "ignored"


def test_places_in_lines_are_no_times(roles_of):
    rows = "".join(f"{i % 3},{5 * i + 60}:{5 * i + 64},{x}\n" for i, x in enumerate(numbers(30)))
    assert roles_of(f"foot,lines,x\n{rows}")["lines"] != "time"
