"""Values and gradients of the nodes of a training step, between two steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from playgrad.devices.kinds import HOST
from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import FLOAT32, at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.inspection.problem import Unavailable
from playgrad.inspection.step_copy import StepCopy
from playgrad.ops.state import is_variable
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]
Sample = int | tuple[Array, Array] | Literal["last"] | None
"""A sample that takes all places of the batch: the number of one that is trained with, or input and
target (1, ...) of another; "last" for the batch of the last step, None for the first one."""
MOST_GROWTH = 8
"""The copy is made anew when gradients have made it this many times as large."""


class Holder(Protocol):
    """A session, or what is left of one."""

    @property
    def precision(self) -> str: ...

    def values(self, variables: Sequence[Tensor]) -> list[Array]: ...

    def run(self, fetches: Any, feeds: Any) -> Any: ...


class NodeValues:
    """Computes nodes of a step by NumPy, in a session of its own, with the current weights.

    The session of the training is only read: no variable, moving statistic or random state changes,
    and its graph does not grow.

    Args:
        session: that of the training, or whatever holds the variables; None if nothing does.
        targets: the nodes that are run in a step.
        feeds: values of placeholders of the program, by run: of the first with all that a node
            needs, it has its value.

    Attributes:
        feeds: the argument.
        precision: of the session.
    """

    def __init__(
        self,
        session: Holder | None,
        targets: Sequence[Node],
        feeds: Sequence[Mapping[Tensor, Array]] = (),
    ) -> None:
        self.targets = list(targets)
        self._session = session
        self.feeds = feeds
        self._copy = StepCopy(targets)
        self._size = len(self._copy.graph.nodes)
        self._gradients: dict[Tensor, Tensor | None] = {}
        self._private: Session | None = None
        self.precision = FLOAT32 if session is None else session.precision
        self._batch: tuple[Any, dict[Tensor, Array]] | None = None

    def close(self) -> None:
        """Free what looking needed."""
        if self._private is not None:
            self._private.close()
        self._private = self._batch = None

    def tensor(self, name: str, output: int = 0) -> Tensor:
        """Return an output of the node called ``name``.

        Raises:
            Unavailable: there is no such node, or it has no such output.
        """
        node = self._copy.node(name)
        if node is None:
            raise Unavailable("unknown", name=name)
        if not node.outputs:
            raise Unavailable("no_output")
        return node.outputs[output if 0 <= output < len(node.outputs) else 0]

    def copy_of(self, node: Node) -> Node:
        """Return the copy of a node, which has no effects."""
        return self._copy.copy_of(node)

    @property
    def samples(self) -> int | None:
        """The number of samples that one can be chosen of; None if the step draws no batch."""
        draws = self._draws()
        return min((node.attrs["count"] for node in draws), default=None)

    def values(self, tensors: Sequence[Tensor], sample: Sample = None) -> list[Array]:
        """Return the values of tensors of the step.

        Raises:
            Unavailable: a value depends on a placeholder without a value.
        """
        return self._computed([self._copy[tensor] for tensor in tensors], sample)

    def gradients(self, tensors: Sequence[Tensor], sample: Sample = None) -> list[Array]:
        """Return the gradients of the loss with respect to tensors of the step.

        Raises:
            Unavailable: the loss has no gradient with respect to one of them.
        """
        return self._computed([self._gradient(tensor) for tensor in tensors], sample)

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the step, in topological order."""
        return self._copy.originals

    def known_values(self, tensors: Sequence[Tensor], sample: Sample = None) -> list[Array | None]:
        """Return the values of tensors; None where a value depends on something unknown."""
        copies = [self._copy[tensor] for tensor in tensors]
        arrays = self._known(copies, sample)
        return [arrays.get(copy) for copy in copies]

    def known_gradients(
        self, tensors: Sequence[Tensor], sample: Sample = None
    ) -> list[Array | None]:
        """Return the gradients with respect to tensors; None where there is none.

        Raises:
            Unavailable: the program does not differentiate a loss.
        """
        self._differentiate_together(tensors)
        slopes: dict[Tensor, Tensor] = {}
        for tensor in tensors:
            try:
                slope = self._gradient(tensor)
            except Unavailable as problem:
                if problem.code == "no_loss":
                    raise
            else:
                slopes[tensor] = slope
        arrays = self._known(list(dict.fromkeys(slopes.values())), sample)
        return [arrays.get(slopes[t]) if t in slopes else None for t in tensors]

    def _known(self, tensors: Sequence[Tensor], sample: Sample) -> dict[Tensor, Array]:
        """Return the values of tensors of the copy, as far as they are known.

        Those that are computed with the feeds of one run are computed together.
        """
        groups: dict[int, list[Tensor]] = {}
        for tensor in tensors:
            sources = list(self._copy.feeds_of([tensor]).values())
            try:
                given = self._given(sources)
            except Unavailable:
                continue
            if self._session is not None or all(source in given for source in sources):
                groups.setdefault(id(given), []).append(tensor)
        arrays: dict[Tensor, Array] = {}
        for group in groups.values():
            arrays |= zip(group, self._computed(group, sample), strict=True)
        return arrays

    def _given(self, sources: Sequence[Tensor]) -> Mapping[Tensor, Array]:
        """Return the feeds of a run that has values for the placeholders among ``sources``.

        Raises:
            Unavailable: there is none.
        """
        needed = [source for source in sources if source.node.op.name == "placeholder"]
        if not needed:
            return {}
        for feeds in self.feeds:
            if all(source in feeds for source in needed):
                return feeds
        fed = self.feeds[0] if self.feeds else {}
        name = next((source.node.name for source in needed if source not in fed), None)
        raise Unavailable("needs_feed", name=name or needed[0].node.name)

    def _differentiate_together(self, tensors: Sequence[Tensor]) -> None:
        """Add the gradients with respect to many tensors in one pass, if all operations allow."""
        new = [t for t in tensors if dtype(t.dtype).floating and t not in self._gradients]
        if not new or not self._copy.losses:
            return
        losses = [self._copy[loss] for loss in self._copy.losses]
        try:
            with at_top(self._copy.graph):
                slopes = gradients(losses, [self._copy[tensor] for tensor in new])
        except GraphError:
            return  # then one by one
        self._gradients.update(zip(new, slopes, strict=True))

    def _gradient(self, tensor: Tensor) -> Tensor:
        if not dtype(tensor.dtype).floating:
            raise Unavailable("not_floating", dtype=tensor.dtype)
        if not self._copy.losses:
            raise Unavailable("no_loss")
        if tensor not in self._gradients:
            if len(self._copy.graph.nodes) > MOST_GROWTH * self._size:
                self._begin_anew()
            self._gradients[tensor] = self._differentiated(tensor)
        gradient = self._gradients[tensor]
        if gradient is None:
            raise Unavailable("independent")
        return gradient

    def _differentiated(self, tensor: Tensor) -> Tensor | None:
        losses = [self._copy[loss] for loss in self._copy.losses]
        try:
            with at_top(self._copy.graph):
                return gradients(losses, [self._copy[tensor]])[0]
        except GraphError as error:
            raise Unavailable("no_rule", message=error.message) from None

    def _begin_anew(self) -> None:
        self.close()
        self._copy = StepCopy(self.targets)
        self._gradients.clear()

    # Running

    def _computed(self, tensors: Sequence[Tensor], sample: Sample) -> list[Array]:
        feeds = self._feeds(tensors, sample)
        if self._private is None:
            self._private = Session(self._copy.graph, HOST, threads=1, precision=self.precision)
        results: list[Array] = self._private.run(list(tensors), feeds)
        return results

    def _feeds(self, tensors: Sequence[Tensor], sample: Sample) -> dict[Any, Array]:
        """Return the values of the inputs on which ``tensors`` of the copy depend."""
        sources = self._copy.feeds_of(tensors)
        given = self._given(list(sources.values()))
        fed: dict[Any, Array] = {}
        variables: dict[Tensor, Tensor] = {}
        for place, source in sources.items():
            if is_variable(source.node):
                variables[place] = source
            elif source in given:
                fed[place] = given[source]
            else:
                fed[place] = self._batch_of(sample)[source]
        if not variables:
            return fed
        values = self._open.values(list(variables.values()))
        return fed | dict(zip(variables, values, strict=True))

    @property
    def _open(self) -> Holder:
        if self._session is None:
            raise Unavailable("no_session")
        return self._session

    def _draws(self) -> list[Node]:
        before = ancestors([tensor.node for tensor in self._copy.batch])
        return [node for node in before if node.op.name == "batch_indices"]

    def _batch_of(self, sample: Sample) -> dict[Tensor, Array]:
        """Return the arrays of a batch, or of one sample in all its places."""
        if isinstance(sample, tuple):
            return self._batch_with(*sample)
        draws = self._draws()
        steps = self._last_steps(draws) if sample == "last" else [0] * len(draws)
        key = steps if sample == "last" else sample
        if self._batch is None or self._batch[0] != key:
            feeds: dict[Any, Array] = {}
            for node, step in zip(draws, steps, strict=True):
                if not isinstance(sample, int):
                    feeds[node.inputs[0]] = np.asarray(step, node.inputs[0].dtype)
                elif 0 <= sample < node.attrs["count"]:
                    feeds[node.output] = np.full(node.attrs["batch"], sample, np.int32)
                else:
                    raise Unavailable("no_sample", sample=sample, count=node.attrs["count"])
            arrays = self._open.run(list(self._copy.batch), feeds)
            self._batch = key, dict(zip(self._copy.batch, arrays, strict=True))
        return self._batch[1]

    def _batch_with(self, x: Array, y: Array) -> dict[Tensor, Array]:
        """Return the arrays of a batch in which a sample takes all places."""
        parts = {"x": x, "y": y, "weight": np.ones(1)}
        arrays: dict[Tensor, Array] = {}
        for tensor in self._copy.batch:
            source = next(each.node for each in tensor.node.inputs if is_variable(each.node))
            part = parts[source.name.rpartition("/")[2].partition("_")[0]]  # x_1: of a later fit
            arrays[tensor] = np.repeat(part, tensor.shape[0] or 1, axis=0).astype(tensor.dtype)
        return arrays

    def _last_steps(self, draws: Sequence[Node]) -> list[int]:
        """Return the number of the last step, for each node that draws a batch: a step counts
        itself when it has ended."""
        counters = [node.inputs[0] for node in draws]
        if not counters:
            return []
        if all(is_variable(counter.node) for counter in counters):
            counts = self._open.values(counters)
        else:
            counts = self._open.run(counters, {})
        return [max(int(count) - 1, 0) for count in counts]
