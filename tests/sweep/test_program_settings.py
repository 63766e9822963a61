"""Literals of a program that a sweep replaces."""

from __future__ import annotations

import re

import pytest

import playgrad as pg
from playgrad.sweeps.program_settings import settings_of, with_settings

PROGRAM = '''"""Größen ändern sich."""
lr = 0.1  # "lr = 3"
units: int = 16
name, other = 1, 2
kind = "tanh"; text = """two
lines"""
def make():
    lr = 5
    return Dense(units, activation=kind, name="ä")
model.compile(Adam(lr, beta_1=0.9))
fit(epochs=3); fit(epochs=4)
'''


def test_settings_are_top_level_literals_and_arguments_given_by_name() -> None:
    found = {name: [each.value for each in places] for name, places in settings_of(PROGRAM).items()}
    assert found == {
        "lr": [0.1], "units": [16], "kind": ["tanh"], "text": ["two\nlines"],
        "name": ["ä"], "beta_1": [0.9], "epochs": [3, 4],
    }  # fmt: skip


def test_only_the_literals_change() -> None:
    changed = with_settings(PROGRAM, {"lr": -1e-05, "units": 7, "kind": "re'lu", "text": None})
    expected = PROGRAM.replace("lr = 0.1 ", "lr = -1e-05 ").replace("= 16", "= 7")
    expected = expected.replace('"tanh"', '"re\'lu"').replace('"""two\nlines"""', "None")
    assert changed == expected
    assert with_settings(changed, {"lr": 0.1, "name": "ö"}).count("'ö'") == 1


def test_values_that_the_program_computes_are_no_settings() -> None:
    source = "units = len(names)\nf(units=32)\nDense(width=8); Dense(width=units)\n"
    assert [each.line for each in settings_of(source)["units"]] == [2]
    assert "width" not in settings_of(source)
    with pytest.raises(pg.GraphError, match="a, b are one value"):
        with_settings("a = b = 3", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("rate", "no setting 'rate'.*Its settings are: beta_1, kind, lr, name, text, units"),
        ("epochs", "'epochs' is given in 2 places of digits: lines 11, 11"),
    ],
)
def test_settings_that_are_missing_or_ambiguous_are_named(setting: str, words: str) -> None:
    with pytest.raises(pg.GraphError, match=re.compile(words, re.DOTALL)):
        with_settings(PROGRAM, {setting: 1}, "digits")


def test_a_program_without_settings_is_told_how_to_have_one() -> None:
    with pytest.raises(pg.GraphError, match=r"Write `lr = \.\.\.` at the top"):
        with_settings("print(1)", {"lr": 1})
