"""The samples of a request: JSON checked against a signature, and turned into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import orjson

from playgrad.dtypes import converted, dtype
from playgrad.errors import DTypeError, shape_text
from playgrad.serving.errors import AnswerError
from playgrad.serving.signature import ModelSignature, TensorSignature

Array = np.ndarray[Any, Any]
DEEPEST = 64
"""Maximum number of lists inside each other, as many as an array has dimensions."""


def parsed(body: bytes | memoryview) -> dict[str, Any]:
    """Return the JSON object of a request.

    Raises:
        AnswerError: 400, it is no object of strict JSON, which has no NaN and no infinity.
    """
    try:
        data = orjson.loads(body)  # its own limit of depth is 1,024
    except orjson.JSONDecodeError as error:
        raise AnswerError(400, f"the body is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise AnswerError(400, f"the body must be a JSON object, got {_kind(data)}.")
    return data


def to_array(data: Any, signature: TensorSignature) -> Array:
    """Return nested lists of numbers as the array of an input.

    Raises:
        AnswerError: 400, the lists are ragged or too deep, or their values or their shape do not
            fit.
    """
    what = f"the input '{signature.name}'"
    if not isinstance(data, list):
        raise AnswerError(400, f"{what} must be a list of samples, got {_kind(data)}.")
    _check_leaves(data, signature.dtype == "bool", what)
    try:
        array = np.array(data)
    except ValueError:
        raise AnswerError(400, f"{what} is ragged: its lists differ in length.") from None
    if not array.size:
        raise AnswerError(400, f"{what} is empty.")
    return fitting(array, signature)


def fitting(array: Array, signature: TensorSignature) -> Array:
    """Return ``array`` in the dtype of an input.

    Raises:
        AnswerError: 400, its values or its shape do not fit.
    """
    what = f"the input '{signature.name}'"
    shape = signature.shape
    fits = array.ndim == len(shape) and all(
        expected in (None, size) for size, expected in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise AnswerError(
            400,
            f"{what} has shape {shape_text(array.shape)}, but the model takes {shape_text(shape)}.",
        )
    if not array.size:
        raise AnswerError(400, f"{what} is empty.")
    try:
        result = converted(array, signature.dtype, what)
    except DTypeError as error:
        raise AnswerError(400, error.message) from None
    if dtype(signature.dtype).floating and not np.isfinite(result).all():
        raise AnswerError(400, f"{what} has values that are NaN or infinite.")
    return result


def from_rows(rows: Any, signature: ModelSignature, most: int) -> list[Array]:
    """Return the arrays of TensorFlow's row format: a list with one entry for each sample.

    Raises:
        AnswerError: 400, the entries do not fit; 413, they are more than ``most``.
    """
    if not isinstance(rows, list):
        raise AnswerError(400, f"'instances' must be a list, got {_kind(rows)}.")
    if len(rows) > most:
        raise AnswerError(413, f"{len(rows):,} instances are too many: at most {most:,}.")
    if not rows:
        raise AnswerError(400, "'instances' is empty.")
    names = [tensor.name for tensor in signature.inputs]
    if not isinstance(rows[0], dict):
        if len(names) > 1:
            raise AnswerError(400, f"each instance must be an object with {', '.join(names)}.")
        return [to_array(rows, signature.inputs[0])]
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or sorted(row) != sorted(names):
            raise AnswerError(400, f"instance {number} must be an object with {', '.join(names)}.")
    return [to_array([row[each.name] for row in rows], each) for each in signature.inputs]


def from_columns(columns: Any, signature: ModelSignature, most: int) -> list[Array]:
    """Return the arrays of TensorFlow's column format: a list for each input.

    Raises:
        AnswerError: 400, the lists do not fit; 413, there are more samples than ``most``.
    """
    names = [tensor.name for tensor in signature.inputs]
    if not isinstance(columns, dict):
        if len(names) > 1:
            raise AnswerError(400, f"'inputs' must be an object with {', '.join(names)}.")
        columns = {names[0]: columns}
    if sorted(columns) != sorted(names):
        raise AnswerError(400, f"'inputs' must be an object with {', '.join(names)}.")
    for column in columns.values():
        if isinstance(column, list) and len(column) > most:
            raise AnswerError(413, f"{len(column):,} instances are too many: at most {most:,}.")
    arrays = [to_array(columns[tensor.name], tensor) for tensor in signature.inputs]
    check_rows(arrays, most)
    return arrays


def check_rows(arrays: Sequence[Array], most: int) -> None:
    """Check that all inputs have equally many samples.

    Raises:
        AnswerError: 400, they have not; 413, there are more than ``most``.
    """
    counts = {len(array) for array in arrays}
    if len(counts) > 1:
        listed = ", ".join(str(count) for count in sorted(counts))
        raise AnswerError(400, f"the inputs must have equally many samples, got {listed}.")
    if max(counts) > most:
        raise AnswerError(413, f"{max(counts):,} instances are too many: at most {most:,}.")


def check_finite(outputs: Sequence[Array], signature: ModelSignature) -> None:
    """Check that outputs can be written as JSON.

    Raises:
        AnswerError: 422, a number is NaN or infinite.
    """
    for array, tensor in zip(outputs, signature.outputs, strict=True):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise AnswerError(
                422,
                f"the output '{tensor.name}' for these inputs is NaN or infinite, which JSON "
                "cannot express.",
                hint="Ask for binary data.",
            )


def to_json(data: Mapping[str, Any]) -> bytes:
    """Return JSON, in which arrays are nested lists; a float32 has as few digits as it takes to
    read the same one."""
    return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):  # not contiguous, or of a dtype that orjson lacks
        return value.tolist()
    raise TypeError


def _check_leaves(data: list[Any], is_bool: bool, what: str) -> None:
    """Check the values in nested lists before NumPy makes room for them: among texts, each value
    would take as much as the longest one."""
    depth, level = 0, data
    while level and set(map(type, level)) == {list}:
        depth += 1
        if depth >= DEEPEST:
            raise AnswerError(400, f"{what} has more than {DEEPEST} lists inside each other.")
        level = list(chain.from_iterable(level))
    kinds = set(map(type, level))
    if list in kinds:
        raise AnswerError(400, f"{what} is ragged: its lists differ in length.")
    if not kinds <= ({bool} if is_bool else {int, float}):
        wanted = "true and false" if is_bool else "numbers"
        raise AnswerError(400, f"{what} must have {wanted} only.")


def _kind(data: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(data), "null" if data is None else "a number")
