"""The exception tree is what its docstring draws."""

from __future__ import annotations

import inspect

from sidelight import errors


def test_every_class_is_drawn_and_has_one_root():
    for name, thing in vars(errors).items():
        if inspect.isclass(thing) and thing.__module__ == errors.__name__:
            assert name in errors.__doc__
            assert issubclass(thing, (errors.SidelightError, errors.SidelightWarning))


def test_an_unknown_name_prints_without_quotes_around_it():
    assert str(errors.UnknownName("There is no 'x'.")) == "There is no 'x'."


def test_a_missing_extra_says_what_to_type():
    assert 'pip install "sidelight[studio]"' in str(errors.MissingExtra("fastapi", "studio", "The studio"))


def test_nearest_prefers_close_names_and_else_lists_some():
    assert errors.nearest("heigth", ["height", "width"]) == "Did you mean 'height'?"
    assert errors.nearest("zzz", [f"column{i}" for i in range(20)]).endswith("and 12 more.")
