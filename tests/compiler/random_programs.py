"""Random graphs for property tests: variables with updates, feeds, aliases, control edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from playgrad import ops
from playgrad.compiler.program import Program
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor

Array = np.ndarray[Any, Any]
BATCH = 3


@dataclass
class Sampled:
    """A program with values for its feeds and variables."""

    program: Program
    feeds: dict[str, Array]
    state: dict[str, Array]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: array.shape for name, array in self.feeds.items()}

    def feed_dict(self) -> dict[Tensor, Array]:
        return {self.program.feeds[name]: array for name, array in self.feeds.items()}


_UNARY = (
    ops.relu, ops.tanh, ops.neg, ops.square, ops.sigmoid, ops.identity, ops.stop_gradient,
    lambda x: x * 0.5, lambda x: 1.0 - x,
)  # fmt: skip
_BINARY = (ops.add, ops.sub, ops.mul, ops.maximum, lambda a, b: ops.where(a < b, a, b))


class _Builder:
    """Adds nodes to a graph one by one, with inputs drawn from its tensors."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.graph = Graph()
        self.random = np.random.default_rng(draw(st.integers(0, 2**16)))
        self.tensors: list[Tensor] = []
        self.updates: list[Node] = []
        self.feeds: dict[str, Array] = {}
        self.state: dict[str, Array] = {}
        self.variables: list[ops.Variable] = []

    def leaves(self) -> None:
        for i, shape in enumerate([(None, 4), (4, 3)]):
            x = ops.placeholder("float32", shape, name=f"x{i}")
            self.feeds[x.name] = self._values(tuple(dim or BATCH for dim in shape))
            self.tensors.append(x)
        for i, shape in enumerate([(4, 3), (BATCH, 4), (4,), ()]):
            value = self._values(shape)
            variable = ops.Variable(value, name=f"w{i}")
            self.state[variable.node.name] = value
            self.variables.append(variable)
            self.tensors.append(variable)
        self.tensors.append(ops.constant(self._values((4,))))
        self.tensors.append(ops.constant(0.5))

    def _values(self, shape: tuple[int, ...]) -> Array:
        return self.random.uniform(-1, 1, shape).astype(np.float32)

    def step(self) -> None:
        kind = self.draw(st.sampled_from(["unary", "binary", "structured", "alias", "update"]))
        after = self.draw(st.booleans()) and self.updates and self.draw(st.booleans())
        controls = [self.draw(st.sampled_from(self.updates))] if after else []
        with self.graph.control_dependencies(controls):
            getattr(self, f"_{kind}")()

    def _pick(self, rank: int | None = None) -> Tensor:
        fitting = [t for t in self.tensors if rank is None or t.spec.rank == rank]
        return self.draw(st.sampled_from(fitting))

    def _unary(self) -> None:
        self.tensors.append(self.draw(st.sampled_from(_UNARY))(self._pick()))

    def _binary(self) -> None:
        first = self._pick()
        second = self.draw(st.sampled_from([t for t in self.tensors if _broadcasts(first, t)]))
        self.tensors.append(self.draw(st.sampled_from(_BINARY))(first, second))

    def _structured(self) -> None:
        first = self._pick(rank=2)
        second = self.draw(st.sampled_from([t for t in self.tensors if t.spec.rank == 2]))
        if first.shape[1] == second.shape[0] and first.shape[1] is not None:
            self.tensors.append(ops.matmul(first, second) * 0.3)
        elif first.shape[1] == second.shape[1]:
            self.tensors.append(ops.matmul(first, second, transpose_b=True) * 0.3)
        else:
            self.tensors.append(
                ops.reduce_mean(first, axis=self.draw(st.sampled_from([0, 1, None])))
            )

    def _alias(self) -> None:
        x = self._pick()
        if None in x.shape or x.spec.rank != 2:
            self.tensors.append(ops.identity(x))
        else:
            self.tensors.append(ops.reshape(x, x.shape[::-1]))

    def _update(self) -> None:
        variable = self.draw(st.sampled_from(self.variables))
        fitting = [t for t in self.tensors if _fits(t, variable)]
        value = self.draw(st.sampled_from(fitting))
        write = self.draw(st.sampled_from(["assign", "assign_add", "assign_sub"]))
        new = getattr(variable, write)(value)
        self.updates.append(new.node)
        self.tensors.append(new)

    def sampled(self) -> Sampled:
        fetches = self.draw(st.lists(st.sampled_from(self.tensors), min_size=1, max_size=5))
        targets = self.draw(st.lists(st.sampled_from(self.updates), max_size=3, unique=True)
                            if self.updates else st.just([]))  # fmt: skip
        feeds = {tensor.name: tensor for tensor in self.tensors[:2]}
        return Sampled(Program(self.graph, fetches, targets, feeds), self.feeds, self.state)


def _broadcasts(a: Tensor, b: Tensor) -> bool:
    pairs = zip(reversed(a.shape), reversed(b.shape), strict=False)
    return all(x == y or 1 in (x, y) for x, y in pairs)


def _fits(value: Tensor, variable: Tensor) -> bool:
    """Return whether ``value`` broadcasts to the variable's shape for any batch size."""
    return value.spec.rank <= variable.spec.rank and all(
        x == y for x, y in zip(reversed(value.shape), reversed(variable.shape), strict=False)
    )


@st.composite
def sampled_programs(draw: Any, steps: int = 16) -> Sampled:
    """Draw a program of up to ``steps`` operations, with values for its feeds and variables."""
    builder = _Builder(draw)
    with builder.graph.as_default():
        builder.leaves()
        for _ in range(draw(st.integers(1, steps))):
            builder.step()
    return builder.sampled()
