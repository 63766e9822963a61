"""Data sets by name, of the library and of the user."""

from __future__ import annotations

import inspect
from typing import Any

from playgrad.data.arrays_file import load_arrays, load_class_names
from playgrad.data.data_sets import functions, records
from playgrad.data.table_file import load_table, table_class_names
from playgrad.data.text_table import ENDINGS
from playgrad.data.user_data import user_data
from playgrad.errors import DataError


def available() -> dict[str, str]:
    """Return the names of the data sets, each with a line about it.

    Data sets of yours are listed with their files: in the page all files of the browser, and
    on the desktop each NPZ and CSV file in the working directory and in ``PLAYGRAD_DATA``.
    """
    of_user = {name: f"your data, {file}." for name, file in user_data().names().items()}
    return of_user | {
        name: (inspect.getdoc(function) or "").partition("\n")[0].removeprefix("Return ")
        for name, function in functions().items()
    }


def load(name: str, **options: Any) -> Any:
    """Return a data set of the library, as the function ``pg.data.<name>`` does, or one of yours.

    Yours are NPZ and CSV files by name, ``(x_train, y_train), (x_test, y_test)``. Inputs are
    float32; pixels, which files hold as bytes, are from 0 to 1. Targets are int32 labels, or
    float32.

    Args:
        name: one of `available`.
        options: arguments of the function, such as ``samples`` and ``seed``; yours take none.

    Raises:
        DataError: there is no data set of that name, it cannot be read, or it has no such option.
    """
    function = functions().get(name)
    known = () if function is None else inspect.signature(function).parameters
    if function is None:
        content, file = user_file(name)
    for option in options:
        if option not in known:
            raise DataError(
                f"the data set {name!r} has no option {option!r}.",
                hint=f"Its options are: {', '.join(known)}." if known else "It has none.",
            )
    if function is not None:
        return function(**options)
    return (load_table if _is_table(file) else load_arrays)(content, file)


def class_names(name: str) -> list[str]:
    """Return the names of the classes of a data set: label 0 is the first of them.

    Args:
        name: the name of a data set of yours, or of one of the library whose classes have names.

    Returns:
        [] if its targets are numbers.

    Raises:
        DataError: you have no data set of that name, or it cannot be read.
    """
    record = records().get(name)
    if record is not None and record.class_names:
        return list(record.class_names)
    content, file = user_file(name)
    return (table_class_names if _is_table(file) else load_class_names)(content, file)


def _is_table(file: str) -> bool:
    return file.lower().endswith(ENDINGS)


def user_file(name: str) -> tuple[bytes | memoryview, str]:
    """Return the content of the file of a data set of the user, and the name of the file.

    Raises:
        DataError: there is no such data set, or it cannot be read.
    """
    source = user_data()
    files = source.names()
    if name not in files:
        yours = f"yours: {', '.join(files)}" if files else "you have added none"
        raise DataError(
            f"there is no data set {name!r}; {yours}.",
            hint=f"{source.advice} Of the library: {', '.join(functions())}.",
        )
    return source.read(name), files[name]
