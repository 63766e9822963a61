"""Training a workload: the step of ``Model.fit``, with the data on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad import nn, optim
from playgrad.benchmark.workload_data import data, initial_weights
from playgrad.benchmark.workloads import Workload, WorkloadLayer
from playgrad.graph.graph import Graph
from playgrad.models.inputs import Input
from playgrad.models.sequential import Sequential
from playgrad.training.device_data import BatchStream
from playgrad.training.prepare_data import prepare_data
from playgrad.training.step_graphs import build_train_step

Array = np.ndarray[Any, Any]


def layer_of(layer: WorkloadLayer) -> nn.Layer:
    """Return the layer of a network for images or points."""
    if layer.kind == "flatten":
        return nn.Flatten()
    if layer.kind == "pool":
        return nn.MaxPool2D(2)
    if layer.kind == "conv":
        return nn.Conv2D(
            layer.units, layer.size, padding=layer.padding, activation=layer.activation
        )
    return nn.Dense(layer.units, activation=layer.activation)


def optimizer_of(workload: Workload) -> optim.Optimizer:
    """Return the optimizer of ``workload``."""
    if workload.optimizer == "adamw":
        return optim.AdamW(workload.learning_rate, weight_decay=workload.decay)
    if workload.optimizer == "sgd":
        return optim.SGD(workload.learning_rate)
    return optim.Adam(workload.learning_rate)


class WorkloadTrainer:
    """A workload on a device, in a graph and a session that nothing else uses.

    Args:
        device: "cpu", "gpu" or "gpu:1".
        arrays: inputs, targets and initial weights; by default those of `workload_data`.
        layer: returns the layer for a description; by default `layer_of`.

    Raises:
        PlaygradError: the device cannot be opened, or its memory does not suffice.
    """

    def __init__(
        self,
        workload: Workload,
        device: str,
        arrays: tuple[Array, Array, list[Array]] | None = None,
        layer: Callable[[WorkloadLayer], nn.Layer] = layer_of,
    ) -> None:
        x, y, weights = arrays or (*data(workload), initial_weights(workload))
        with Graph().as_default():
            layers: list[Any] = [layer(each) for each in workload.layers]
            if x.dtype == np.int32:
                layers.insert(0, Input(workload.input_shape, dtype="int32"))
            self.model = model = Sequential(layers)
            optimizer = optimizer_of(workload)
            cross_entropy = nn.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(
                optimizer=optimizer,
                loss=nn.MeanSquaredError() if workload.loss == "mse" else cross_entropy,
                device=device,
            )
            try:
                xs, ys = prepare_data(model.recipe, x, y, "")
                names = model.named_variables
                model.set_weights(dict(zip(names, weights, strict=True)))
                optimizer.prepare(model.graph)
                held = model.recipe.data.upload("train", xs, ys)
                stream = BatchStream(held, workload.batch, shuffle=False)
                step = build_train_step(model.recipe, stream)
            except BaseException:
                model.close()
                raise
        self.session, self.run = model.session, step.run
        (record,) = step.recorder.nodes
        self.history, self.loss = step.recorder.variables[0], record.inputs[2]
        self.count = 0

    def prepare(self) -> int | None:
        """Compile the step; return the number of its dispatches, None without a GPU."""
        return self.session.dispatches(self.run)

    def steps(self, count: int) -> float:
        """Train ``count`` steps in a row; return the loss of the last one."""
        self.session.repeat(self.run, count)
        self.count += count
        history = self.session.value(self.history)
        return float(history[(self.count - 1) % len(history), 0])

    def step_and_read(self) -> float:
        """Train one step; return its loss."""
        self.count += 1
        loss, _ = self.session.run([self.loss, self.run])
        return float(loss)

    def close(self) -> None:
        """Free everything on the device."""
        self.model.close()
