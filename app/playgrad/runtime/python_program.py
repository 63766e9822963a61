"""Programs, or segments, of one processor, written out as a Python function.

Where nothing can run in parallel, a table of ready tasks and a dictionary of values would cost a
small network more than its arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable
from playgrad.runtime.interpreter import Computation, compute_of, explained

Array = np.ndarray[Any, Any]

STOP_EVERY = 64
"""Small operations between two checks for a stop, which together take an unnoticeable time."""


@dataclass(frozen=True)
class _Line:
    """``results = f(arguments)``, the line that computes ``node``."""

    node: Node
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    checks_stop: bool  # before it


class PythonProgram:
    """Nodes in a fixed order, each a line of Python.

    Args:
        order: all nodes, each after the nodes that it depends on.
        fetches: the tensors that a run returns.
        feeds: the tensors that are fed, by the name under which they are.
        heavy: nodes that are preceded by a check for a stop.
    """

    def __init__(
        self,
        order: Sequence[Node],
        fetches: Sequence[Tensor],
        feeds: Mapping[str, Tensor],
        heavy: Collection[Node],
    ) -> None:
        self._feeds = tuple(feeds)
        self._names = {tensor: f"fed{number}" for number, tensor in enumerate(feeds.values())}
        self._variables: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._globals: dict[str, Any] = {}
        self._lines: list[_Line] = []
        for node in order:
            self._add(node, heavy)
        self._nodes: list[Node] = []  # the node of each line of the text
        text = self._text([self._names[tensor] for tensor in fetches])
        exec(compile(text, "<python program>", "exec"), self._globals)
        self._run = self._globals["run"]

    def run(
        self,
        values: Callable[[str], Array],
        feeds: Mapping[str, Array],
        stop: Callable[[], bool],
    ) -> tuple[list[Array], dict[str, Array]]:
        """Run once.

        Args:
            values: returns the value of a variable by its name.
            feeds: arrays by the names under which they are fed.

        Returns:
            The fetched arrays in order, and the new values of variables by name.

        Raises:
            KeyboardInterrupt: ``stop`` returned true between two operations.
        """
        return self.run_with(values, [feeds[name] for name in self._feeds], stop)

    def run_with(
        self, values: Callable[[str], Array], fed: list[Array], stop: Callable[[], bool]
    ) -> tuple[list[Array], dict[str, Array]]:
        """Run once, with the feeds in order.

        ``fed`` is emptied, so that arrays without other references are freed after their last use.
        """
        variables = [values(name) for name in self._variables]
        try:
            # Infinity and NaN without a warning, as on a GPU.
            with np.errstate(all="ignore"):
                fetched, written = self._run(variables, fed, stop)
        except Exception as error:
            node = self._node(error)
            if node is None:
                raise
            raise explained(error, Computation.of(node)) from None
        return fetched, dict(zip(self._written, written, strict=True))

    def _node(self, error: Exception) -> Node | None:
        """Return the node that raised ``error``; None if a signal's handler did, beside all."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not self._run.__code__:
            trace = trace.tb_next
        return None if trace is None else self._nodes[trace.tb_lineno - 1]

    def _add(self, node: Node, heavy: Collection[Node]) -> None:
        kind = node.op.name
        if kind in ("placeholder", "no_op"):
            return
        if kind == "constant":
            name = self._names[node.outputs[0]] = f"constant{len(self._names)}"
            self._globals[name] = node.attrs["value"]
        elif is_variable(node):
            self._names[node.outputs[0]] = self._value(node.name)
        elif kind == "read_variable":
            name = node.attrs["variable"]
            self._names[node.outputs[0]] = self._written.get(name) or self._value(name)
        else:
            number = len(self._lines)
            self._globals[f"f{number}"] = compute_of(Computation.of(node))
            for place, tensor in enumerate(node.outputs):
                self._names[tensor] = f"v{number}_{place}"
            arguments = tuple(self._names[tensor] for tensor in node.inputs)
            results = tuple(self._names[tensor] for tensor in node.outputs)
            checks_stop = node in heavy or number % STOP_EVERY == 0
            self._lines.append(_Line(node, arguments, results, checks_stop))
            if node.op.writes:
                self._written.update(zip(node.attrs["variables"], results, strict=False))

    def _value(self, variable: str) -> str:
        """Return the name in the text for the value that a variable has at the start of a run."""
        return self._variables.setdefault(variable, f"initial{len(self._variables)}")

    def _text(self, fetched: Sequence[str]) -> str:
        """Return the text of the function, which frees each array after its last use."""
        dying = self._dying({*fetched, *self._written.values()})
        text = ["def run(variables, fed, stop):"]
        if self._variables:
            text.append(f" {_tuple(self._variables.values())} = variables")
        if self._feeds:
            names = _tuple(f"fed{number}" for number in range(len(self._feeds)))
            text.append(f" {names} = fed; fed.clear()")
        self._nodes = [line.node for line in self._lines[:1]] * len(text)
        for number, line in enumerate(self._lines):
            if line.checks_stop:
                text.append(" if stop(): raise KeyboardInterrupt")
                self._nodes.append(line.node)
            call = f" {_tuple(line.results)} = f{number}({_tuple(line.arguments)})"
            text.append(f"{call}; del {', '.join(dying[number])}" if dying[number] else call)
            self._nodes.append(line.node)
        text.append(f" return [{', '.join(fetched)}], [{', '.join(self._written.values())}]")
        return "\n".join(text)

    def _dying(self, lasting: Collection[str]) -> list[list[str]]:
        """Return for each line the results and feeds that no later line needs."""
        needed = set(lasting)
        dying: list[list[str]] = []
        for line in reversed(self._lines):
            names = dict.fromkeys((*line.results, *line.arguments))
            dying.append([n for n in names if n[0] in "vf" and n not in needed])
            needed.update(names)
        return dying[::-1]


def _tuple(names: Iterable[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"
