"""Masks in TensorFlow.js, which some of its layers treat otherwise than playgrad and Keras."""

from __future__ import annotations

from playgrad.errors import ExportError
from playgrad.interchange.keras.graph import CallGraph, KerasCall
from playgrad.nn.layer import layer_type, record_of


def expect_equal_masks(graph: CallGraph) -> None:
    """Check that a prediction in TensorFlow.js skips the same steps.

    It passes a mask through layers that lose it here, and to every recurrent layer after them.

    Raises:
        ExportError: it treats the mask otherwise; the message names the layer.
    """
    calls = [call for call in graph.calls if call.layer is not None]
    ours: set[str] = set()
    theirs: set[str] = set()
    for call in calls:
        kind = layer_type(graph.kind(call))
        begins = graph.kind(call) == "masking" or _config(graph, call).get("mask_zero", False)
        if begins or ((kind.passes_mask or kind.uses_mask) and ours.intersection(call.inputs)):
            ours.update(call.outputs)
        if begins or theirs.intersection(call.inputs):
            theirs.update(name for name in call.outputs if _rank(graph, name) > 2)
    for call in calls:
        lacks = _lacks(graph, call, ours, theirs) if theirs else None
        if lacks:
            raise ExportError(
                f"layer '{graph.name(call)}': TensorFlow.js has no {lacks}.",
                hint="Export the model as a page, which runs in any browser.",
            )


def _lacks(graph: CallGraph, call: KerasCall, ours: set[str], theirs: set[str]) -> str | None:
    kind = graph.kind(call)
    record = record_of(kind)
    if kind == "global_average_pooling1d" and ours.intersection(call.inputs):
        return "mean of the steps that a mask keeps"
    if (record.is_merge or kind == "softmax") and theirs.intersection(call.inputs):
        return f"{kind} of sequences with a mask"
    if (record.is_recurrent or kind == "bidirectional") and call.inputs[0] not in ours:
        return "recurrent layer that ignores the mask of another layer"
    return None


def _config(graph: CallGraph, call: KerasCall) -> dict[str, object]:
    assert call.layer is not None
    config: dict[str, object] = graph.config["layers"][call.layer]["config"]
    return config


def _rank(graph: CallGraph, tensor: str) -> int:
    return len(graph.config["tensors"][tensor][0])
