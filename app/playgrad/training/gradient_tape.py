"""``GradientTape``: gradients of the computations in a block of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Self

from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.graph.autodiff import gradients
from playgrad.graph.eager import (
    at_once,
    is_detached,
    start_recording,
    stop_recording,
)
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.core.build import as_tensor
from playgrad.ops.state import Variable


class GradientTape:
    """Records the operations of a ``with`` block, to differentiate them::

        for x, y in data.batch(32):
            with pg.GradientTape() as tape:
                loss = pg.mean(loss_of(y, model(x, training=True)))
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))

    Operations in the block are computed at once by NumPy, and so are the gradients and further
    operations on them. They are not added to the graph, so that a loop does not make it grow.
    In a function of ``pg.function`` the same lines build a part of the graph, which then runs on
    the model's device.

    Args:
        persistent: whether `gradient` can be called more than once.
        watch_accessed_variables: whether trainable variables are watched by themselves.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent = bool(persistent)
        self._watches_variables = bool(watch_accessed_variables)
        self._nodes: set[Node] = set()
        self._watched: dict[Tensor, None] = {}
        self._accessed: dict[Variable, None] = {}
        self._used = False
        self._block = ExitStack()

    def __enter__(self) -> Self:
        self._block.enter_context(at_once())
        start_recording(self)
        return self

    def __exit__(self, *exception: object) -> None:
        stop_recording(self)
        self._block.close()

    def __del__(self) -> None:
        self._release()

    def record(self, node: Node) -> None:
        """Note a new node. For the graph."""
        self._nodes.add(node)
        node.holders += 1
        for tensor in node.inputs:
            if isinstance(tensor, Variable) and self._watches_variables and tensor.trainable:
                self._accessed[tensor] = None

    def watch(self, tensor: Any) -> None:
        """Differentiate with respect to ``tensor`` or tensors, which are not trainable variables.

        Raises:
            GraphError: something among them is not a tensor of floats.
        """
        for each in _leaves(tensor):
            if not isinstance(each, Tensor) or not dtype(each.dtype).floating:
                kind = each.dtype if isinstance(each, Tensor) else type(each).__name__
                raise GraphError(
                    f"GradientTape.watch takes tensors of floats, got {kind}.",
                    hint="Make one of an array with pg.constant(array, 'float32').",
                )
            self._watched[each] = None

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that the block has used or passed to `watch`."""
        watched = (tensor for tensor in self._watched if isinstance(tensor, Variable))
        return tuple(dict.fromkeys([*watched, *self._accessed]))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Do not record the computations in this block."""
        stop_recording(self)
        try:
            yield
        finally:
            start_recording(self)

    def reset(self) -> None:
        """Forget everything that was recorded or watched."""
        self._release()
        self._watched, self._accessed = {}, {}
        self._used = False

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """Return the derivative of the sum of ``target`` with respect to each of ``sources``.

        Args:
            target: a tensor that the block has computed, or several in a list or a dictionary.
            sources: variables and watched tensors: one, or several in lists and dictionaries.
            output_gradients: the gradient that flows into each target; None for ones.
            unconnected_gradients: "none" or "zero": the gradient of a source on which no target
                depends.

        Returns:
            Tensors in the structure of ``sources``; None for a source on which no target depends.

        Raises:
            GraphError: a tape that is not persistent was asked before, or ``target`` has a number
                in place of a tensor.
        """
        if self._used and not self.persistent:
            raise GraphError(
                "a GradientTape that is not persistent returns gradients once.",
                hint="Use pg.GradientTape(persistent=True), or list all variables in one call.",
            )
        if unconnected_gradients not in ("none", "zero"):
            raise GraphError(
                f"unconnected_gradients must be 'none' or 'zero', got {unconnected_gradients!r}."
            )
        self._used = True
        seeds = None if output_gradients is None else _leaves(output_gradients)
        targets = [_checked_target(each) for each in _leaves(target)]
        with self._inner_nodes():
            found = self._gradients(targets, _leaves(sources), seeds)
        if not self.persistent:
            self._release()

        def of(source: Any) -> Any:
            result = found.get(source)
            if result is None and unconnected_gradients == "zero":
                with at_once(*targets):
                    return zeros_like(source)
            return result

        return _mapped(of, sources)

    def _gradients(
        self, targets: Sequence[Tensor], sources: Sequence[Any], seeds: Sequence[Any] | None
    ) -> dict[Any, Tensor | None]:
        known = dict.fromkeys(source for source in sources if self._is_source(source))
        ys = [y for y in targets if y.node in self._nodes or y in known]
        if not ys or not known:
            return {}
        grads = None
        with at_once() if any(map(is_detached, ys)) else ExitStack():
            if seeds is not None:
                of = dict(zip(targets, seeds, strict=True))
                grads = [_as_seed(of[y], y) for y in ys]
            results = gradients(ys, list(known), grads, self._nodes)
        return dict(zip(known, results, strict=True))

    def _is_source(self, source: Any) -> bool:
        return (
            source in self._watched
            or source in self._accessed
            or (isinstance(source, Tensor) and source.node in self._nodes)
        )

    @contextmanager
    def _inner_nodes(self) -> Iterator[None]:
        """Let the nodes of gradients keep their inputs until all of them are there."""
        holder = _Holder()
        start_recording(holder)
        try:
            yield
        finally:
            stop_recording(holder)
            holder.release()

    def _release(self) -> None:
        _release(self._nodes)
        self._nodes = set()


class _Holder:
    """Keeps the inputs of nodes for a while."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []

    def record(self, node: Node) -> None:
        node.holders += 1
        self._nodes.append(node)

    def release(self) -> None:
        _release(self._nodes)


def _release(nodes: Any) -> None:
    for node in nodes:
        node.holders -= 1
        if node.detached:
            node.forget_inputs()


def _as_seed(seed: Any, y: Tensor) -> Tensor | None:
    """Return the gradient that flows into ``y`` as a tensor; None for ones."""
    if seed is None or isinstance(seed, Tensor):
        return seed
    return as_tensor(seed, y.graph, y.dtype)


def _checked_target(target: Any) -> Tensor:
    if isinstance(target, Tensor):
        return target
    raise GraphError(
        f"GradientTape.gradient differentiates tensors, got {type(target).__name__}.",
        hint="Do not use numpy(), float() or predict() on the way to the loss.",
    )


def _leaves(structure: Any) -> list[Any]:
    found: list[Any] = []
    _mapped(found.append, structure)
    return found


def _mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """Return ``structure`` of lists, tuples and dictionaries with ``function`` of each leaf."""
    if isinstance(structure, Mapping):
        return {key: _mapped(function, value) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)):
        return [_mapped(function, value) for value in structure]
    return function(structure)
