"""Advice of the library is given in the options of the command line."""

from __future__ import annotations

import pytest

from sidelight.app.cli.options import as_flag
from sidelight.errors import InvalidData
from sidelight.words import Setting


@pytest.mark.parametrize(
    ("setting", "python", "flag"),
    [
        (Setting("ignore", "field note"), "ignore='field note'", "--ignore 'field note'"),
        (Setting("bag"), "bag=", "--bag"),
        (Setting("id", False), "id=False", "--id none"),
        (Setting("events"), "events=", "--event"),
        (Setting("header", False), "header=False", "--no-header"),
    ],
)
def test_each_shell_spells_a_setting_its_own_way(setting, python, flag):
    error = InvalidData("Column 'label=wren' is odd.", do=["Pass ", setting, "."])
    assert str(error) == f"Column 'label=wren' is odd. Pass {python}."
    assert error.told(as_flag) == f"Column 'label=wren' is odd. Pass {flag}."
