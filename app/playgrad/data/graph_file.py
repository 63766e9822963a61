"""Graphs with names in NPZ files: those of the user by name, and others by their paths."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.data.arrays_file import read_arrays
from playgrad.data.named_graph import NamedGraph
from playgrad.data.read_files import MOST_BYTES, file_name, opened
from playgrad.data.registry import user_file
from playgrad.data.text_table import ENDINGS
from playgrad.data.user_data import user_data
from playgrad.errors import ReadError, shape_text

Array = np.ndarray[Any, Any]
_LARGEST = np.iinfo(np.int32).max


def load_graph(file: str | PathLike[str] | Any) -> NamedGraph:
    """Return a graph of yours: one that you brought to the page, or that `NamedGraph.save` wrote.

    Args:
        file: its name, as in `load`: on the desktop that of an NPZ file in the working directory
            or in ``PLAYGRAD_DATA``, without the ending; or a path that ends in ``.npz``, or an
            open binary file.

    Raises:
        DataError: there is no graph of that name.
        ReadError: the file is damaged or too large, or holds something else.
    """
    if isinstance(file, str) and file not in user_data().names() and _is_path(file):
        file = Path(file)
    if isinstance(file, str):
        content, name = user_file(file)
        return read_graph(content, name)
    name = file_name(file)
    with opened(file) as opened_file:
        content = opened_file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ReadError(f"{name} has more than {MOST_BYTES:,} bytes.", file=name)
    return read_graph(content, fspath(name))


def _is_path(name: str) -> bool:
    return name.lower().endswith((".npz", *ENDINGS)) or "/" in name or "\\" in name


def read_graph(content: bytes | memoryview, name: str) -> NamedGraph:
    """Return the graph in the content of an NPZ file; see `load_graph`."""
    if name.lower().endswith(ENDINGS):
        raise ReadError(
            f"{name} is a table, and a graph needs two: of nodes and of edges.",
            hint="Read them with pg.data.graph_from_csv.",
            file=name,
        )
    arrays = read_arrays(content, name)
    if "x" not in arrays or "edge_index" not in arrays:
        listed = ", ".join(arrays) or "nothing"
        hint = "Load it with pg.data.load." if "x_train" in arrays else ""
        raise ReadError(
            f"{name} holds {listed}; a graph has x and edge_index.", hint=hint, file=name
        )
    file = _Arrays(name, arrays)
    x = file.numbers("x", (None, None))
    edges = file.numbers("edge_index", (2, None), "iu")
    nodes = len(x)
    _check_within(file, "edge_index", edges, 0, nodes - 1, f"there are {nodes:,} nodes")
    edge_attr = None
    if "edge_attr" in arrays:
        edge_attr = file.numbers("edge_attr", (edges.shape[1], None)).astype(np.float32)
    classes = file.texts("class_names", None)
    y = None
    if "y" in arrays:
        y = file.numbers("y", (nodes,), "iu" if classes else "iuf")
        if classes:
            most = len(classes) - 1
            _check_within(file, "y", y, -1, most, f"there are {len(classes):,} classes")
        y = y.astype(np.int32 if classes else np.float32)
    if "labelled" in arrays:
        labelled = file.numbers("labelled", (nodes,), "b")
    else:
        labelled = np.full(nodes, y is not None) if y is None or not classes else y >= 0
    return NamedGraph(
        x=x.astype(np.float32),
        edge_index=edges.astype(np.int32),
        edge_attr=edge_attr,
        y=y,
        labelled=labelled,
        classes=classes,
        names=file.texts("node_names", nodes) or [str(node) for node in range(nodes)],
        features=file.texts("feature_names", x.shape[1])
        or [f"feature {feature}" for feature in range(x.shape[1])],
    )


class _Arrays:
    """The arrays of a file, with their names for errors."""

    def __init__(self, name: str, arrays: Mapping[str, Array]) -> None:
        self.name = name
        self._arrays = arrays

    def numbers(self, part: str, shape: tuple[int | None, ...], kinds: str = "iuf") -> Array:
        """Return an array of finite numbers.

        Args:
            shape: None for any size.
            kinds: of NumPy's dtypes.
        """
        array = self._arrays[part]
        if array.dtype.kind not in kinds:
            words = {"b": "truth values", "iu": "whole numbers"}.get(kinds, "numbers")
            raise self.error(f"{part} in {self.name} holds {array.dtype}, not {words}.")
        fits = len(array.shape) == len(shape) and all(
            size is None or size == actual for size, actual in zip(shape, array.shape, strict=True)
        )
        if not fits:
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            actual = shape_text(array.shape)
            raise self.error(f"{part} in {self.name} has shape {actual} instead of ({sizes}).")
        with np.errstate(over="ignore"):
            is_finite = array.dtype.kind != "f" or np.isfinite(array.astype(np.float32)).all()
        if not is_finite:
            raise self.error(
                f"{part} in {self.name} has values that are NaN or infinite in float32."
            )
        return array

    def texts(self, part: str, count: int | None) -> list[str]:
        """Return an array of ``count`` names, or of any number for None; [] if there is none."""
        if part not in self._arrays:
            return []
        array = self._arrays[part]
        if array.dtype.kind != "U" or array.ndim != 1 or count not in (None, len(array)):
            wanted = "a name for each" if count is None else f"{count:,} names"
            actual = f"{array.dtype} of shape {shape_text(array.shape)}"
            raise self.error(f"{part} in {self.name} holds {actual}, not {wanted}.")
        texts: list[str] = array.tolist()
        return texts

    def error(self, problem: str) -> ReadError:
        return ReadError(problem, file=self.name)


def _check_within(
    file: _Arrays, part: str, values: Array, low: int, high: int, because: str
) -> None:
    """Raise ReadError for a number outside of ``low`` to ``high``."""
    outside = values[(values < low) | (values > min(high, _LARGEST))]
    if outside.size:
        raise file.error(f"{part} in {file.name} has the number {outside[0]}, but {because}.")
