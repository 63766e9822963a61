"""Answers to the page's requests about the trained model: weights, predictions, its graph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad import io
from playgrad.errors import GraphError
from playgrad.inspection.outputs import softmax
from playgrad.interchange.formats import format_of
from playgrad.interchange.webpage.about import Names
from playgrad.interchange.webpage.export import page_text
from playgrad.page.attention_view import attention_view
from playgrad.page.execution import measured_step
from playgrad.page.faults import FILE
from playgrad.page.graph_view import asynchronous_view, graph_view
from playgrad.page.inspected_sample import drawn_sample
from playgrad.page.layers_view import layers_view
from playgrad.page.next_tokens_view import next_tokens_view
from playgrad.page.operations_view import operations_view
from playgrad.page.restored_model import RestoredModel
from playgrad.page.sample_views import projection_view, sample_view, samples_view
from playgrad.page.task_view import task_view
from playgrad.page.weights_import import import_weights
from playgrad.runtime.hooks import Request

Answer = dict[str, Any]


def export_model(model: Any, request: Request) -> Answer:
    """Return the model or its weights as a file, with its SHA-256 for the page to compare.

    Raises:
        CheckpointError: the file, read back, differs from the weights.
        ExportError: the format has no equivalent of a layer or an operation.
    """
    kind = format_of("", request.get("format", "safetensors"))
    stem = "weights" if kind.name in io.FORMATS else "model"
    name = f"{stem}{kind.ending}"
    if kind.name == "page":  # the page knows what people call the data
        graph = model.inference_graph()
        content = page_text(model, graph, Names(**request.get("names", {}))).encode()
    else:
        content = kind.encode(model, name)
    digest = hashlib.sha256(content).hexdigest()
    return {"filename": name, "bytes": content, "sha256": digest}


def placement(model: Any, request: Request) -> Answer:
    """Return the device of each operation of a training step, and the reason."""
    _expect_program(model)
    summary = model.session.placement_summary(model.training_targets)
    return {"placement": summary.as_dict()}


def _expect_program(model: Any) -> None:
    if isinstance(model, RestoredModel):
        raise GraphError(
            "the model was restored without its program, which has the training step.",
            hint="Press Resume or Run.",
        )


def predict(model: Any, request: Request) -> Answer:
    """Classify a drawing, whose pixels are from 0 to 1.

    Raises:
        GraphError: the drawing does not have as many pixels as the model's input.
    """
    scores = model.predict(drawn_sample(model, request["pixels"]))[0]
    probabilities = softmax(scores) if model.gives_logits else scores
    return {
        "probabilities": [float(p) for p in probabilities.reshape(-1)],
        "label": int(np.argmax(probabilities)),
    }


def outputs(model: Any, request: Request) -> Answer:
    """Return the first output for inputs that the page has composed.

    Args:
        request: with ``x``, a list of the numbers of each input.

    Raises:
        GraphError: the model takes inputs of another size.
    """
    x, shape = np.asarray(request["x"], model.input_dtype), model.input_shape[1:]
    if None in shape or x.ndim != 2 or x.shape[1] != int(np.prod(shape)):
        raise GraphError(
            f"the model takes inputs of shape {shape}, but got {x.shape[-1]} numbers for each."
        )
    values = model.predict(x.reshape(len(x), *shape))
    first = values[0] if isinstance(values, (list, tuple)) else values
    return {"outputs": np.ascontiguousarray(first, "<f4").tobytes()}


def graph(model: Any, request: Request | None = None) -> Answer:
    """Return the graph of a training step, as the page draws it."""
    _expect_program(model)
    if model.parameter_server is not None:
        view = asynchronous_view(model.parameter_server, model.session.policy, FILE)
    else:
        view = graph_view(model.training_targets, model.session.policy, FILE)
    return {"graph": view}


def execution(model: Any, request: Request) -> Answer:
    """Return when each operation of a training step ran; the step is undone."""
    _expect_program(model)
    return {"execution": measured_step(model, apart=bool(request.get("apart")))}


def operations(model: Any, request: Request) -> Answer:
    """Return a training step operation by operation; it is run on copies of the variables."""
    _expect_program(model)
    return {"operations": operations_view(model)}


ANSWERS: dict[str, Callable[[Any, Request], Answer]] = {
    "export": export_model,
    "import": import_weights,
    "placement": placement,
    "predict": predict,
    "outputs": outputs,
    "graph": graph,
    "execution": execution,
    "operations": operations,
    "task_view": task_view,
    "inspect_layers": layers_view,
    "samples": samples_view,
    "one_sample": sample_view,
    "projection": projection_view,
    "attention": attention_view,
    "next_tokens": next_tokens_view,
}
"""A function of the model and the request, for each kind of request."""

OF_BUILT_MODELS = frozenset(
    {"attention", "inspect_layers", "next_tokens", "one_sample", "projection", "samples"}
)
"""The requests about a model that has not been trained, if the program has built or loaded one."""
