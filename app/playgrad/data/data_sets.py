"""The data sets of the library: functions with their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from playgrad.records import DataSetRecord

Function = TypeVar("Function", bound=Callable[..., Any])

_FUNCTIONS: dict[str, tuple[Callable[..., Any], DataSetRecord]] = {}


def data_set(record: DataSetRecord) -> Callable[[Function], Function]:
    """Register a function that returns a data set in the library, by its name."""

    def add(function: Function) -> Function:
        _FUNCTIONS[function.__name__] = function, record
        return function

    return add


def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions by their names, in the order of their places."""
    ordered = sorted(_FUNCTIONS.items(), key=lambda item: item[1][1].place)
    return {name: function for name, (function, _) in ordered}


def records() -> dict[str, DataSetRecord]:
    """Return the records by the names of the functions, in the same order."""
    return {name: _FUNCTIONS[name][1] for name in functions()}
