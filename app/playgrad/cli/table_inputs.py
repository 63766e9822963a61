"""The samples that ``playgrad predict`` takes from tables."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.data.table_columns import Column, columns_of, is_missing
from playgrad.data.table_file import remarks
from playgrad.data.text_table import TextTable, read_table
from playgrad.errors import DTypeError, ReadError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.inspection.input_pixels import described_input
from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]


class _Feature(NamedTuple):
    """The numbers of the rows, and the column that they are made of."""

    column: Column
    values: Array
    is_category: bool = False


def table_samples(content: bytes, name: str, model: Network) -> Array:
    """Return the rows of a table as samples.

    If the model knows the names of its features, they are taken by name from a table with a header,
    and normalized as in its training. Otherwise all columns are features. The rows must be whole.
    A line on standard error says how the table is read, where that is not plain.

    Raises:
        ReadError: a row is not whole, or a column is missing.
        ShapeError: the rows do not have as many features as the model takes.
        DTypeError: the model takes whole numbers, and the table has others.
    """
    table = read_table(content, name, least_columns=1)
    if table.ragged:
        raise ReadError(
            f"{name}, line {table.ragged[0]} has another number of cells than the others.",
            file=name,
            record=table.ragged[0],
        )
    columns = columns_of(table)
    described = described_input(model.inputs[0], model.input_description)
    found = []
    if described is not None and described.columns and table.has_header:
        features = [_feature(feature, columns, table, name) for feature in described.columns]
    else:
        features = [_Feature(column, column.numbers) for column in columns]
        if table.has_header and len(columns) > 1:
            found.append("The model does not know names of columns; they are taken in order.")
    rows = np.stack([feature.values for feature in features], axis=1)
    _check_rows(rows, features, table, name, model.input_dtype)
    used = [column for column in columns if any(column is each.column for each in features)]
    for remark in [*found, *remarks(table, used)]:
        print(f"playgrad: {name}: {remark}", file=sys.stderr)
    samples = _as_samples(rows, name, model.input_shape[1:])
    if described is not None:
        samples = described.normalized(samples)
    is_whole = np.dtype(model.input_dtype).kind in "iu"
    return samples.astype(model.input_dtype if is_whole else np.float32)


def _feature(feature: str, columns: Sequence[Column], table: TextTable, name: str) -> _Feature:
    """Return a feature by its name: a column of numbers, or one value of a category."""
    for column in columns:
        if column.title == feature:
            return _Feature(column, column.numbers)
    for column in columns:
        if feature.startswith(f"{column.title}="):
            category = feature[len(column.title) + 1 :]
            values = [
                math.nan if is_missing(cell) else float(cell == category) for cell in column.cells
            ]
            return _Feature(column, np.array(values), is_category=True)
    title = feature.rpartition("=")[0] or feature
    raise ReadError(
        f"{name} has no column {title!r}, which the model takes; it has {', '.join(table.titles)}.",
        file=name,
    )


def _check_rows(
    rows: Array, features: Sequence[_Feature], table: TextTable, name: str, dtype: str
) -> None:
    wrong = wrong_value(rows, dtype)
    if wrong is not None:
        place, error = wrong
        row, at = divmod(place, len(features))
        column = features[at].column
        is_named = table.has_header
        number = table.titles.index(column.title) + 1
        title = repr(column.title) if is_named else f"{number} of {len(table.titles)}"
        where = f"{name}, line {table.lines[row]}, column {title}"
        if isinstance(error, DTypeError):
            raise DTypeError(f"{where}: {error.message}")
        cell = column.cells[row]
        what = f"{cell!r} is not a number" if cell else "the cell is empty"
        raise ReadError(f"{where}: {what}.", file=name, record=table.lines[row])
    _check_categories(features, table, name)


def _check_categories(features: Sequence[_Feature], table: TextTable, name: str) -> None:
    """Raise ReadError for a category without a feature, which would be 0 everywhere."""
    found: dict[str, Array] = {}
    for column, values, is_category in features:
        if is_category:
            found[column.title] = found.get(column.title, 0) + values
    for title, count in found.items():
        if not count.all():
            row = int(np.argmin(count))
            cell = table.column(table.titles.index(title))[row]
            raise ReadError(
                f"{name}, line {table.lines[row]}, column {title!r}: the model was not trained "
                f"with the category {cell!r}.",
                file=name,
                record=table.lines[row],
            )


def _as_samples(table: Array, name: str, sample: Shape) -> Array:
    """Reshape the rows of a table to samples."""
    columns = table.shape[1]
    if len(sample) == 1 and sample[0] in (None, columns):
        return table
    known = math.prod(dim for dim in sample if dim is not None)
    opens = sample.count(None)
    if (opens == 0 and known == columns) or (opens == 1 and columns % known == 0):
        return table.reshape(len(table), *(dim or columns // known for dim in sample))
    raise ShapeError(
        f"the model takes samples of shape {shape_text(sample)}, but {name} has rows of {columns} "
        "columns."
    )


def wrong_value(values: Array, dtype: str) -> tuple[int, ReadError | DTypeError] | None:
    """Return the place and the error of the first number that the model cannot take.

    Args:
        dtype: that of the inputs of the model.

    Returns:
        The place in the flattened ``values``, and the error; None if all are finite and fit into
        ``dtype``, and are whole if the model takes whole numbers.
    """
    is_whole = np.dtype(dtype).kind in "iu"
    limits = np.iinfo(dtype) if is_whole else np.finfo(np.float32)
    is_finite = np.isfinite(values)
    is_between = (values >= limits.min) & (values <= limits.max)
    wrong = ~is_finite | ~is_between | (is_whole & (values != np.floor(values)))
    if not wrong.any():
        return None
    place = int(wrong.argmax())
    value = values.flat[place]
    if not is_finite.flat[place]:
        return place, ReadError(f"{value} is not a finite number.")
    if not is_between.flat[place]:
        span = f"{limits.min:.12g} to {limits.max:.12g}"
        return place, DTypeError(f"{value:.12g}, but the model takes {dtype}: {span}.")
    return place, DTypeError(f"{value:g}, but the model takes whole numbers ({dtype}).")
