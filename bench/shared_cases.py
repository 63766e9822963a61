"""Operations that threads share in chunks which do more than the whole, for `bench.shared_nodes`.

The file is self-contained: it is also prepended to the program that runs in playgrad's page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import playgrad as pg
from playgrad import ops
from playgrad.ops.core.build import add_node
from playgrad.ops.reductions.sparse import gather_sum

_NODES, _EDGES, _ROWS = 10_000, 100_000, 25_000


Case = tuple[str, Callable[[], pg.Tensor]]


def cases(only: str) -> Iterator[Case]:
    """Yield the name of each case that contains ``only``, and what builds its tensor."""
    yield from (case for case in _cases() if only in case[0])


def _cases() -> Iterator[Case]:
    random = np.random.default_rng(0)
    sources = random.integers(0, _NODES, _EDGES).astype(np.int32)
    targets = np.sort(random.integers(0, _NODES, _EDGES)).astype(np.int32)
    for width in (16, 64, 128):
        x = random.normal(size=(_NODES, width)).astype(np.float32)
        for ordered in (False, True):
            yield (
                f"{_EDGES:,} edges between {_NODES:,} nodes, {width} features"
                + ordered * ", in order",
                lambda x=x, ordered=ordered: gather_sum(
                    *map(pg.Variable, (x, sources, targets)), _NODES, indices_are_sorted=ordered
                ),
            )
        rows = random.normal(size=(_ROWS, width)).astype(np.float32)
        yield (
            f"sums of {_ROWS:,} rows of {width} in {_NODES:,} segments",
            lambda rows=rows: pg.segment_sum(
                pg.Variable(rows), pg.Variable(sources[:_ROWS]), _NODES
            ),
        )
    lines = random.normal(size=(64, 1000)).astype(np.float32)
    yield "sorting 64 rows of 1,000", lambda: ops.argsort(pg.Variable(lines))
    image = random.normal(size=(16, 28, 28, 128)).astype(np.float32)
    for groups in (128, 8):

        def filter_gradient(groups: int = groups) -> pg.Tensor:
            operands = [pg.Variable(image), pg.Variable(image[::-1])]
            window = {"strides": [1, 1], "padding": [[1, 1], [1, 1]], "kernel_size": [3, 3]}
            attrs = {**window, "groups": groups}
            return add_node("conv2d_filter_gradient", operands, attrs).output

        yield f"gradient by the filters of {groups} groups, 3×3, 16×28×28×128", filter_gradient
