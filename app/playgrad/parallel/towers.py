"""Synchronous data parallelism: one copy of the network for each device, each with its share of
the batch.

The copies share their variables. What they compute is sent between devices by the pairs of ``send``
and ``receive`` that the compiler puts on every edge from one device to another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from playgrad.errors import GraphError, ShapeError, shape_text
from playgrad.graph.autodiff import gradients
from playgrad.graph.tensor import Tensor
from playgrad.ops.layout import slice_

LossFunction = Callable[..., Tensor]


def mirrored_gradients(
    loss_of: LossFunction,
    batch: Sequence[Tensor],
    variables: Sequence[Tensor],
    devices: Sequence[str],
) -> tuple[Tensor, list[Tensor]]:
    """The loss of a batch and its gradients, computed by several devices at the same time.

    Args:
        loss_of: builds the mean loss (a scalar) of the samples it is given: one argument for each
            tensor of ``batch``.
        batch: tensors with the same known first dimension, the samples.
        variables: what to differentiate with respect to.
        devices: names of the devices; the batch is shared out among them as evenly as it goes.

    Returns:
        Loss and gradients, equal to those of one device on the whole batch but for rounding: the
        shares are weighted by their numbers of samples, and added in the order of ``devices``.

    Raises:
        ShapeError: the tensors differ in their number of samples, or it is not known.
        GraphError: there are fewer samples than devices, no devices, or a variable that the loss
            does not depend on.
    """
    count = _samples(batch)
    if not devices or count < len(devices):
        raise GraphError(f"{count} samples cannot be shared out among {len(devices)} devices.")
    graph = batch[0].graph
    bounds = [count * i // len(devices) for i in range(len(devices) + 1)]
    losses: list[Tensor] = []
    shares: list[list[Tensor]] = [[] for _ in variables]
    for number, (device, first, last) in enumerate(zip(devices, bounds, bounds[1:], strict=False)):
        with graph.name_scope(f"tower_{number}"), graph.device(device):
            weight = (last - first) / count
            loss = loss_of(*(_rows(tensor, first, last) for tensor in batch))
            losses.append(loss * weight)
            for share, variable, gradient in zip(
                shares, variables, gradients(loss, variables), strict=True
            ):
                if gradient is None:
                    raise GraphError(f"the loss does not depend on '{variable.node.name}'.")
                share.append(gradient * weight)
    with graph.name_scope("all_reduce"):
        return _total(losses), [_total(share) for share in shares]


def _samples(batch: Sequence[Tensor]) -> int:
    counts = {tensor.shape[0] if tensor.shape else None for tensor in batch}
    if len(counts) != 1 or None in counts:
        shapes = ", ".join(shape_text(tensor.shape) for tensor in batch)
        raise ShapeError(f"the tensors of a batch need one known number of samples, not {shapes}.")
    (count,) = counts
    assert count is not None
    return count


def _rows(tensor: Tensor, first: int, last: int) -> Tensor:
    begin = [first] + [0] * (tensor.spec.rank - 1)
    return slice_(tensor, begin, [last - first, *tensor.spec.static_shape[1:]])


def _total(terms: Sequence[Tensor]) -> Tensor:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
