"""Steps that a model computes in methods ``train_step`` and ``test_step`` of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.named_inputs import input_names
from playgrad.networks.network import Network
from playgrad.nn.metric_state import values_of_batches
from playgrad.nn.ratio_metrics import ResultOfBatches
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import cast, is_finite, logical_and
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum
from playgrad.ops.state import RANDOM_ADVANCE
from playgrad.optim.optimizer import Optimizer, gated_updates
from playgrad.training.layer_updates import assign_updates, collected_updates


@dataclass(frozen=True)
class OwnStep:
    """The nodes that a ``train_step`` or a ``test_step`` has added to the graph.

    Attributes:
        names: the names of the logs, of which the first is the loss.
        columns: the logs, scalars, or (n,) with n names.
        writes: the nodes that update variables.
    """

    names: list[str]
    columns: list[Tensor]
    writes: list[Node]


def has_own_step(network: Network) -> bool:
    """Return whether the class of ``network`` overrides ``train_step``."""
    return bool(getattr(network, "has_own_step", False))


def has_own_test_step(network: Network) -> bool:
    """Return whether the class of ``network`` overrides ``test_step``."""
    return bool(getattr(network, "has_own_test_step", False))


def has_targets(network: Network) -> bool:
    """Return whether the data of the step that is built has targets."""
    return not getattr(network, "without_targets", False)


@contextmanager
def with_targets(network: Network) -> Iterator[None]:
    """Build steps in the block for data with targets, whatever the training has."""
    before = getattr(network, "without_targets", False)
    network.without_targets = False  # type: ignore[attr-defined]
    try:
        yield
    finally:
        network.without_targets = before  # type: ignore[attr-defined]


def own_test_step(
    network: Any, xs: Sequence[Tensor], ys: Sequence[Tensor], weights: Sequence[Tensor]
) -> OwnStep:
    """Add what ``test_step`` of a model does with a batch.

    Raises:
        GraphError: it returns something else than logs.
    """
    graph = network.graph
    before = len(graph.nodes)
    with values_of_batches() as batch:
        logs = network.test_step(_data(network, xs, ys, weights))
    _warn_of_missing(network, "test_step", batch.missing)
    names, columns = _columns(logs, network, "test_step")
    return OwnStep(names, columns, _writes(graph.nodes[before:]))


def own_step(
    network: Any,
    optimizer: Optimizer,
    xs: Sequence[Tensor],
    ys: Sequence[Tensor],
    weights: Sequence[Tensor],
    healthy: Tensor | None,
) -> OwnStep:
    """Add what ``train_step`` of a model does with a batch.

    An update whose gradients are not finite changes nothing.

    Args:
        healthy: bool scalar; where it is false, no weight changes.

    Raises:
        GraphError: it returns something else than logs, or the training has a strategy.
    """
    graph = network.graph
    before = len(graph.nodes)

    def gate(grads: Sequence[Tensor]) -> Tensor:
        total = reduce_sum(grads[0])
        for grad in grads[1:]:
            total = total + reduce_sum(grad)
        finite = is_finite(total)
        return finite if healthy is None else logical_and(healthy, finite)

    with (
        values_of_batches() as batch,
        gated_updates(gate),
        collected_updates(graph) as updates,
    ):
        logs = network.train_step(_data(network, xs, ys, weights))
    _warn_of_missing(network, "train_step", batch.missing)
    names, columns = _columns(logs, network, "train_step")
    assign_updates(updates, healthy)
    writes = _writes(graph.nodes[before:])
    if not any(optimizer.iterations.node.name in node.attrs["variables"] for node in writes):
        writes.append(optimizer.iterations.assign_add(1).node)
    return OwnStep(names, columns, writes)


def _data(
    network: Any, xs: Sequence[Tensor], ys: Sequence[Tensor], weights: Sequence[Tensor]
) -> Any:
    """Return a batch as the methods take it."""
    data: Any = xs[0] if len(xs) == 1 else list(xs)
    if network.takes_dictionary:
        data = dict(zip(input_names(network), xs, strict=True))
    if network.without_targets:
        return data
    return (data, ys[0] if len(ys) == 1 else list(ys), *weights[:1])


def _warn_of_missing(network: Any, method: str, missing: Sequence[str]) -> None:
    if missing and not network.has_unset_metrics:
        network.has_unset_metrics = True
        warn_user(
            f"{method} of '{network.name}' returns metrics that it does not update, which are 0: "
            f"{', '.join(missing)}. Call their update_state."
        )


def _writes(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if node.op.writes and node.name != RANDOM_ADVANCE]


def _columns(logs: Any, network: Any, method: str) -> tuple[list[str], list[Tensor]]:
    if not isinstance(logs, Mapping) or not logs:
        raise GraphError(
            f"{method} of '{network.name}' must return a dictionary of numbers by name, got "
            f"{type(logs).__name__}.",
            source=network.source,
            hint='End it with: return {"loss": loss}.',
        )
    names, columns = [], []
    loss: Tensor | None = None
    for name, value in _flat(logs):
        if isinstance(value, ResultOfBatches):
            names += network.recipe.objectives.names_of_parts(name, value.metric, value.names)
            columns.append(value.means)
            continue
        scalar = cast(reduce_mean(cast(as_tensor(value, network.graph), "float32")), "float32")
        if name == "loss":
            loss = scalar
        else:
            names.append(name)
            columns.append(scalar)
    first = columns[0] if loss is None else loss
    return ["loss", *names], [first if first.shape == () else first[0], *columns]


def _flat(logs: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the logs, dictionaries within them flattened, as in Keras."""
    for name, value in logs.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        else:
            yield str(name), value
