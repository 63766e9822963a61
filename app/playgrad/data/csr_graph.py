"""Graphs by the edges that arrive at each node, in memory or in files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.data.edges import as_attributes, as_edges
from playgrad.data.pipeline.base import whole_number
from playgrad.errors import DataError, shape_text
from playgrad.io.whole_files import write_whole
from playgrad.io.writing import writing

Array = np.ndarray[Any, Any]
_FILES = ("indptr", "indices", "edge_attr")


class CSRGraph:
    """A graph by the edges that arrive at each node, in memory or in files.

    Attributes:
        indptr: the edges that arrive at node i are those from ``indptr[i]`` up to
            ``indptr[i + 1]``; int64 (nodes + 1,).
        indices: the nodes that they leave, int32 (edges,).
        edge_attr: their features, (edges, ...); None for none.

    Raises:
        DataError: the arrays do not fit each other.
    """

    def __init__(self, indptr: Array, indices: Array, edge_attr: Array | None = None) -> None:
        indptr, indices = np.asanyarray(indptr), np.asanyarray(indices)
        for name, array in (("indptr", indptr), ("indices", indices)):
            if array.ndim != 1 or array.dtype.kind not in "iu":
                raise DataError(
                    f"{name} must be a row of whole numbers, got {shape_text(array.shape)} of "
                    f"{array.dtype}."
                )
        if len(indptr) < 1 or indptr[0] != 0 or indptr[-1] != len(indices):
            raise DataError(
                f"indptr must lead from 0 to the number of edges, {len(indices)}, got "
                f"{shape_text(indptr.shape)}."
            )
        if (indptr[1:] < indptr[:-1]).any():
            raise DataError("indptr must not decrease.")
        self.indptr, self.indices = indptr, indices
        self.edge_attr = None if edge_attr is None else as_attributes(edge_attr, len(indices))

    @staticmethod
    def from_edges(edge_index: Any, num_nodes: int, edge_attr: Any = None) -> CSRGraph:
        """Return the graph with these edges, (2, edges).

        Raises:
            DataError: the arrays do not fit.
        """
        num_nodes = whole_number(num_nodes, "num_nodes")
        edges = as_edges(edge_index, num_nodes)
        source, target = edges
        # Two passes of NumPy's radix sort, which takes 16 bits.
        order = np.argsort(target.astype(np.uint16), kind="stable")
        if num_nodes > 1 << 16:
            order = order[np.argsort((target >> 16).astype(np.uint16)[order], kind="stable")]
        indptr = np.zeros(num_nodes + 1, np.int64)
        np.cumsum(np.bincount(target, minlength=num_nodes), out=indptr[1:])
        attributes = None if edge_attr is None else as_attributes(edge_attr, len(source))[order]
        return CSRGraph(indptr, source[order], attributes)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the arrays as .npy files into ``folder``, which is created."""
        writing.once(lambda: self._write(Path(folder)))

    def _write(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            array, file = getattr(self, name), path / f"{name}.npy"
            if array is None:
                file.unlink(missing_ok=True)  # of a graph that was saved here before
                continue
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=False)
            write_whole(file, content.getbuffer())

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> CSRGraph:
        """Return the graph in ``folder``, whose files are mapped into memory, not read.

        Raises:
            DataError: a file is missing or damaged.
        """
        arrays = []
        for name in _FILES:
            file = Path(folder) / f"{name}.npy"
            if name == "edge_attr" and not file.exists():
                continue
            try:
                arrays.append(np.lib.format.open_memmap(file, mode="r"))
            except (OSError, ValueError) as error:
                raise DataError(f"{file} cannot be read: {error}") from None
        return CSRGraph(*arrays)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """The number of edges."""
        return len(self.indices)

    def positions(
        self, nodes: Array, most: int | None = None, random: np.random.Generator | None = None
    ) -> tuple[Array, Array]:
        """Return edges that arrive at ``nodes``: their positions, and the rows of their nodes.

        Args:
            nodes: numbers of nodes.
            most: the most edges of a node, which are drawn without replacement; None for all.
            random: draws them.
        """
        starts = self.indptr[nodes]
        counts = self.indptr[nodes + 1] - starts
        limit = counts if most is None else np.minimum(counts, most)
        rows = np.repeat(np.arange(len(nodes)), limit)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(limit) - limit, limit)
        many = np.flatnonzero(counts > limit)
        if many.size and most:
            assert random is not None
            chosen = _without_replacement(counts[many], most, random)
            offsets[np.isin(rows, many, assume_unique=False)] = chosen.reshape(-1)
        return starts[rows] + offsets, rows

    def sources(self, positions: Array) -> Array:
        """Return the nodes that the edges at ``positions`` leave, int64.

        Raises:
            DataError: there is no such node: the graph, or its file, is damaged.
        """
        nodes = np.asarray(self.indices[positions], np.int64)
        if nodes.size and (nodes.min() < 0 or nodes.max() >= self.num_nodes):
            raise DataError(
                f"indices must hold numbers of {self.num_nodes} nodes from 0 to "
                f"{self.num_nodes - 1}, got {nodes.min() if nodes.min() < 0 else nodes.max()}."
            )
        return nodes


def _without_replacement(counts: Array, most: int, random: np.random.Generator) -> Array:
    """Return ``most`` different numbers below each of ``counts`` (Floyd's algorithm)."""
    chosen = np.empty((len(counts), most), np.int64)
    for i in range(most):
        last = counts - most + i
        drawn = (random.random(len(counts)) * (last + 1)).astype(np.int64)
        is_taken = (chosen[:, :i] == drawn[:, None]).any(axis=1)
        chosen[:, i] = np.where(is_taken, last, drawn)
    return chosen
