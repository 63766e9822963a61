"""Random graphs for tests of arithmetic: strange shapes and strides, extreme values.

Unlike `tests.compiler.random_programs`, which draws programs of few operations to look at the order
of runs, these graphs are for the arithmetic: each node is to agree with its reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import ops
from playgrad.errors import PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor

Array = np.ndarray[Any, Any]
_SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
FLOATS = ("float32",) * 8 + ("float16",)
INTEGERS = ("int32", "int32", "uint32", "uint8", "int8")
_SPECIAL = np.array(
    [
        np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-38, -1e-40, 1e-45, 1e18, -1e-20, 88.7,
        -103.9, 89.0, 2.0**31, 2.0**24 + 1, 0.5, -0.5, 1.5, 2.5, -2.5, 100.0, 1e5, -1e5, 0.9999999,
    ],
    np.float32,
)  # fmt: skip


class RandomGraph:
    """A graph of about ``size`` operations.

    Args:
        kinds: functions that add some kind of operation, with their weights.

    Attributes:
        graph: the graph.
        tensors: its tensors, in the order of their creation.
        feeds: values for its placeholders.
    """

    def __init__(
        self, seed: int, kinds: Mapping[Callable[[RandomGraph], Tensor], int], size: int = 14
    ) -> None:
        self.random = np.random.default_rng(seed)
        self.graph = Graph(seed=seed)
        self.tensors: list[Tensor] = []
        self.feeds: dict[Tensor, Array] = {}
        weighted = [kind for kind, weight in kinds.items() for _ in range(weight)]
        with self.graph.as_default():
            for _ in range(size):
                with suppress(PlaygradError):  # such as of a dtype that the operation cannot take
                    tensor = self.pick(weighted)(self)
                    if math.prod(tensor.spec.static_shape) < 20_000:
                        self.tensors.append(tensor)

    def pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.random.integers(len(items)))]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def number(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        return int(self.random.integers(low, high + 1))

    def size(self) -> int:
        return int(self.pick(_SIZES))

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        rank = self.number(0, 4) if rank is None else rank
        least = 0 if self.chance(0.2) else 1
        shape = tuple(max(self.size(), least) for _ in range(rank))
        while math.prod(shape) > 6000:
            shape = tuple(max(1, size // 2) for size in shape)
        return shape

    def values(self, dtype: str, shape: Sequence[int]) -> Array:
        random, extreme = self.random, self.chance(0.3)
        if dtype == "bool":
            return random.random(shape) < 0.5
        if dtype.startswith("float"):
            values = random.normal(size=shape) * self.pick([1, 1, 1, 0.01, 30])
            if extreme:
                values = np.where(
                    random.random(shape) < 0.3, random.choice(_SPECIAL, size=shape), values
                )
            with np.errstate(over="ignore"):
                return np.asarray(values).astype(dtype)
        limits = np.iinfo(dtype)
        if extreme:
            edges = [limits.min, limits.max, 0, 1, 2, limits.max // 2, limits.max - 1]
            return np.asarray(random.choice(np.array(edges, np.int64), size=shape)).astype(dtype)
        low, high = max(limits.min, -20), min(limits.max, 20)
        return np.asarray(random.integers(low, high + 1, size=shape)).astype(dtype)

    def leaf(self, dtype: str, shape: Sequence[int], values: Any = None) -> Tensor:
        """Return a placeholder, constant or variable."""
        array = np.asarray(self.values(dtype, shape) if values is None else values, dtype)
        kind = self.random.random()
        if kind < 0.12:
            tensor: Tensor = ops.constant(array, dtype=dtype)
        elif kind < 0.25:
            tensor = pg.Variable(array, dtype=dtype)
        else:
            tensor = ops.placeholder(dtype, tuple(shape))
            self.feeds[tensor] = self._strided(array)
        self.tensors.append(tensor)
        return tensor

    def _strided(self, array: Array) -> Array:
        """Return equal values, perhaps with other strides."""
        kind = self.number(0, 5)
        if array.ndim and kind == 0:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        if array.ndim and kind == 1:
            return np.asfortranarray(array)
        return array[::-1].copy()[::-1] if array.ndim and kind == 2 else array

    def any(self, dtypes: Sequence[str], rank: int = 0) -> Tensor:
        """Return a tensor of one of ``dtypes`` and of at least ``rank`` axes, perhaps a new one."""
        fitting = [t for t in self.tensors if t.dtype in dtypes and t.spec.rank >= rank]
        if fitting and not self.chance(0.25):
            return self.pick(fitting)  # type: ignore[no-any-return]
        return self.leaf(self.pick(dtypes), self.shape(self.number(rank, 4)))

    def part(self, shape: Sequence[int | None]) -> tuple[int, ...]:
        """Return a shape that broadcasts to ``shape``."""
        sizes = [1 if self.chance(0.3) else int(size or 0) for size in shape]
        return tuple(sizes[self.number(0, len(sizes)) if self.chance(0.4) else 0 :])

    def axis(self, x: Tensor) -> int:
        return self.number(-x.spec.rank, x.spec.rank - 1)
