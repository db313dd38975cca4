"""Advice of the library is given in the options of the command that was typed."""

from __future__ import annotations

import pytest

from sidelight.cli.wording import in_options


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Leave it out with ignore='field note'.", "Leave it out with --ignore 'field note'."),
        ("pass it as bag=; or pass row_id=False.", "pass it as --bag; or pass --id none."),
        ("features=, label=, bag=, events=.", "--features, --label, --bag, --event."),
        ("pass header=False.", "pass sidelight convert --no-header."),
        ("column 'label=wren' and n_rows=3", "column 'label=wren' and n_rows=3"),
    ],
)
def test_parameters_become_options(said, told):
    known = {"--ignore", "--bag", "--id", "--features", "--label", "--event"}
    assert in_options(said, known) == told


def test_a_switch_that_the_command_has_is_named_alone():
    assert in_options("pass header=False.", {"--no-header"}) == "pass --no-header."
