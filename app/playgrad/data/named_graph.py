"""A graph whose nodes, classes and features have names, and the file that keeps it."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from playgrad.errors import DataError
from playgrad.io.whole_files import write_whole

Array = np.ndarray[Any, Any]
MOST_TEXT = 1 << 28
"""Bytes of all names of a file together, each as long as the longest."""


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A graph whose nodes, classes and features have names.

    Attributes:
        x: features of nodes, float32 (nodes, features).
        edge_index: sources and targets of edges, int32 (2, edges).
        edge_attr: features of edges, float32 (edges, features); None for none.
        y: classes of nodes, int32 (nodes,), −1 for unknown ones, which losses leave out with
            ``ignore_class=-1``; or numbers, float32 (nodes,), 0 for unknown ones. None if the file
            has no column of them.
        labelled: whether the class or number of each node is known, bool (nodes,).
        classes: the names of the classes; [] for numbers.
        names: the names of the nodes.
        features: the names of the features.
    """

    x: Array
    edge_index: Array
    edge_attr: Array | None
    y: Array | None
    labelled: Array
    classes: list[str]
    names: list[str]
    features: list[str]

    def __post_init__(self) -> None:
        remember_names(self.edge_index, self.classes, self.names)

    def __repr__(self) -> str:
        (nodes, features), edges = self.x.shape, self.edge_index.shape[1]
        counts = f"{nodes:,} nodes, {features:,} features, {edges:,} edges"
        return f"<NamedGraph of {counts}, {len(self.classes):,} classes>"

    def save(self, file: str | PathLike[str] | Any) -> None:
        """Write the graph as an NPZ file, which `load_graph` reads.

        It holds ``x``, ``edge_index`` and ``labelled``, ``y`` and ``edge_attr`` if there are any,
        and the names as ``class_names``, ``node_names`` and ``feature_names``. Equal graphs have
        equal files.

        Args:
            file: the name of the file, to which ``.npz`` is added if it is missing, or an open
                binary file.

        Raises:
            DataError: the file cannot be written, or the names are too long for it.
        """
        arrays: dict[str, Any] = {
            "x": self.x, "edge_index": self.edge_index, "edge_attr": self.edge_attr,
            "y": self.y, "labelled": self.labelled,
            "class_names": _texts(self.classes, "classes"),
            "node_names": _texts(self.names, "nodes"),
            "feature_names": _texts(self.features, "features"),
        }  # fmt: skip
        kept = {name: array for name, array in arrays.items() if array is not None}
        content = BytesIO()
        np.savez_compressed(content, **kept)
        try:
            if isinstance(file, (str, PathLike)):
                path = Path(file)
                file = path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")
                write_whole(file, content.getbuffer())
            else:
                file.write(content.getbuffer())
        except OSError as error:
            raise DataError(f"{file} cannot be written: {error.strerror}.") from None


def _texts(names: Sequence[str], what: str) -> Array | None:
    """Return names as an array; None for none."""
    size = 4 * len(names) * max(map(len, names), default=0)
    if size > MOST_TEXT:
        raise DataError(
            f"the longest name of the {what} has {size // 4 // len(names):,} characters, which is "
            f"too long for {len(names):,} names.",
            hint="Give them shorter names.",
        )
    return np.array(names, np.str_) if len(names) else None


class GraphNames(NamedTuple):
    """The names of the classes and of the nodes of a graph, or ()."""

    classes: tuple[str, ...]
    nodes: tuple[str, ...]


_known: dict[int, tuple[weakref.ref[Array], GraphNames]] = {}
"""Names by the identity of the edges; an entry is forgotten with its array."""


def remember_names(edge_index: Array, classes: Sequence[str], nodes: Sequence[str] = ()) -> None:
    """Note the names of the graph that has these edges."""
    key = id(edge_index)
    reference = weakref.ref(edge_index, lambda _: _known.pop(key, None))
    _known[key] = reference, GraphNames(tuple(classes), tuple(nodes))


def names_of(edge_index: Any) -> GraphNames | None:
    """Return the names of the graph with these edges, or of which they are a view; None if they are
    not known, as of a copy."""
    each = edge_index
    while isinstance(each, np.ndarray):
        known = _known.get(id(each))
        if known is not None and known[0]() is each:
            return known[1] if each.size == edge_index.size else None
        each = each.base
    return None
