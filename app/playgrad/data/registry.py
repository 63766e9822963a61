"""The data sets that are available offline, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from playgrad.data import made_up, toys
from playgrad.data.mnist import mnist
from playgrad.errors import DataError

_DATA_SETS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        mnist,
        toys.circle,
        toys.xor,
        toys.gauss,
        toys.spiral,
        toys.moons,
        made_up.used_cars,
        made_up.film_ratings,
        made_up.citation_graph,
        made_up.rhyme,
    )
}


def available() -> dict[str, str]:
    """Return the names of the data sets, each with a line about it."""
    return {
        name: (inspect.getdoc(function) or "").partition("\n")[0].removeprefix("Return ")
        for name, function in _DATA_SETS.items()
    }


def load(name: str, **options: Any) -> Any:
    """Return the data set called ``name``, as the function ``pg.data.<name>`` does.

    Args:
        name: one of `available`.
        options: arguments of the function, such as ``samples`` and ``seed``.

    Raises:
        DataError: there is no data set of that name, or it has no such option.
    """
    if name not in _DATA_SETS:
        raise DataError(
            f"there is no data set {name!r}.", hint=f"Use one of: {', '.join(_DATA_SETS)}."
        )
    function = _DATA_SETS[name]
    known = inspect.signature(function).parameters
    for option in options:
        if option not in known:
            raise DataError(
                f"the data set {name!r} has no option {option!r}.",
                hint=f"Its options are: {', '.join(known)}." if known else "It has none.",
            )
    return function(**options)
