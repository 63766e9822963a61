"""playgrad, in a page and on the desktop: the step of ``Model.fit``, with data on the device.

The file is self-contained: it is also prepended to the program that runs in playgrad's page.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from functools import partial
from itertools import combinations

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.compiler.compile import Compiled
from playgrad.devices.kinds import GPU
from playgrad.runtime import programs
from playgrad.training.device_data import BatchStream
from playgrad.training.prepare_data import prepare_data
from playgrad.training.step_graphs import build_train_step


def layer_of(spec):
    """Return the playgrad layer for a layer's description."""
    kind = spec["kind"]
    if kind == "flatten":
        return nn.Flatten()
    if kind == "pool":
        return nn.MaxPool2D(2)
    if kind == "conv":
        return nn.Conv2D(
            spec["units"], spec["size"], padding=spec["padding"], activation=spec["activation"]
        )
    if kind == "embedding":
        return nn.Embedding(spec["size"], spec["units"])
    if kind == "positions":
        return AddPositions(spec["size"])
    if kind == "block":
        gelu = partial(pg.gelu, approximate=True)
        return nn.TransformerDecoder(
            spec["units"], spec["heads"], activation=gelu, normalize_first=True
        )
    if kind == "norm":
        return nn.LayerNormalization(epsilon=1e-5)
    if kind == "lstm":
        return nn.LSTM(spec["units"], return_sequences=spec["whole"])
    return nn.Dense(spec["units"], activation=spec["activation"])


class AddPositions(nn.PositionEmbedding):
    """Adds the vectors of the positions to a sequence, so that it can be an item of a model."""

    kind = "add_positions"

    def call(self, *inputs, training=False):
        return inputs[0] + super().call(*inputs, training=training)


def optimizer_of(spec):
    """Return the playgrad optimizer for a workload's description."""
    rate = spec["learning_rate"]
    if spec["optimizer"] == "adamw":
        return pg.optim.AdamW(rate, weight_decay=spec["decay"])
    return pg.optim.SGD(rate) if spec["optimizer"] == "sgd" else pg.optim.Adam(rate)


def least_bytes(runnable):
    """Return the least memory of a training step: parameters, optimizer state, data, and the two
    largest activations that must be alive together.

    Activations are results of the forward pass. Each is alive until the last node that reads it.
    """
    order = runnable.compiled.order
    state = sum(GPU.bytes_of(node.outputs[0].spec) for node in order if node.op.name == "variable")
    stored = {}  # for a view of a tensor, such as a reshape: the tensor
    written, read = {}, {}
    for now, node in enumerate(order):
        inputs = [stored.get(tensor, tensor) for tensor in node.inputs]
        read.update(dict.fromkeys(inputs, now))
        for tensor in node.outputs:
            if node.op.alias:
                stored[tensor] = inputs[0]
            elif node.phase == "forward" and node.op.name not in ("variable", "constant"):
                written[tensor] = now
    pairs = (
        GPU.bytes_of(a.spec) + GPU.bytes_of(b.spec)
        for a, b in combinations(written, 2)
        if written[b] <= read.get(a, -1) and written[a] <= read.get(b, -1)
    )
    return state + max(pairs, default=0)


@contextmanager
def spent_in(*places):
    """Collect the seconds of each call of the functions at ``places`` (owner, name)."""
    spent, originals = [], [(owner, name, getattr(owner, name)) for owner, name in places]

    def timed(function):
        def wrapper(*arguments, **named):
            started = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                spent.append(time.perf_counter() - started)

        return wrapper

    for owner, name, function in originals:
        setattr(owner, name, timed(function))
    try:
        yield spent
    finally:
        for owner, name, function in originals:
            setattr(owner, name, function)


class PlaygradTrainer:
    """A workload on a device of playgrad.

    Attributes:
        phases: seconds of each phase of preparation.
        device_bytes: peak bytes of buffers until the step was ready to run (steps allocate none);
            None without a GPU.
        least_bytes: the minimum to compare ``device_bytes`` with; None without a GPU.
    """

    def __init__(self, read, workload, device):
        started = time.perf_counter()
        spec = json.loads(bytes(read(f"{workload}.json")))
        blob = bytes(read(f"{workload}.bin"))

        def array(entry):
            count = int(np.prod(entry["shape"]))
            values = np.frombuffer(blob, entry["dtype"], count, entry["offset"])
            return values.reshape(entry["shape"])

        layers = [layer_of(layer) for layer in spec["layers"]]
        if spec["x"]["dtype"] == "int32":
            layers.insert(0, pg.Input(spec["input_shape"], dtype="int32"))
        model = pg.Sequential(layers)
        model.compile(
            optimizer=optimizer_of(spec),
            loss=nn.MeanSquaredError()
            if spec["loss"] == "mse"
            else nn.SparseCategoricalCrossentropy(from_logits=True),
            device=device,
        )
        xs, ys = prepare_data(model.recipe, array(spec["x"]), array(spec["y"]), "")
        weights = [array(entry) for entry in spec["weights"]["tensorflow"]]
        model.set_weights(dict(zip(model.named_variables, weights, strict=True)))
        model.optimizer.prepare(model.graph)
        data = model.recipe.data.upload("train", xs, ys)
        self.phases = {"data and model": time.perf_counter() - started}
        step = build_train_step(model.recipe, BatchStream(data, spec["batch"], shuffle=False))
        self.session, self.run = model.session, step.run
        (record,) = step.recorder.nodes
        self.history, self.loss = step.recorder.variables[0], record.inputs[2]
        started = time.perf_counter()
        with spent_in((programs, "compile_program"), (Compiled, "plan")) as compiling:
            self.dispatches = self.session.dispatches(self.run)
        self.phases["graph to Plan"] = sum(compiling)
        self.phases["pipelines"] = time.perf_counter() - started - sum(compiling)
        runnable = self.session.compiled(self.run)
        self.plans = runnable.plans
        peaks = [loaded.device.host.stats()["peak_bytes"] for loaded in self.plans.values()]
        self.device_bytes = sum(peaks) if peaks else None
        self.least_bytes = least_bytes(runnable) if self.plans else None
        self.backend = self.session.device.partition(":")[0]
        self.adapter = self.session.adapter
        self.count = 0

    def steps(self, count):
        self.session.repeat(self.run, count)
        self.count += count
        history = self.session.value(self.history)
        return float(history[(self.count - 1) % len(history), 0])

    def step_and_read(self):
        self.count += 1
        loss, _ = self.session.run([self.loss, self.run])
        return float(loss)

    def kernels(self):
        """Return family, workgroups and node of each dispatch in order; None without a GPU."""
        for loaded in self.plans.values():
            families = {kernel["id"]: kernel["family"] for kernel in loaded.plan["kernels"]}
            return [
                (families[command["kernel"]], command["workgroups"], command["node"])
                for command in loaded.plan["commands"]
            ]
        return None


def product_gflops(size=1024, times=5):
    """Return the speed of playgrad's matrix product on the GPU, in GFLOP/s."""
    with pg.Graph().as_default():
        random = np.random.default_rng(0)
        values = random.random((2, size, size), dtype=np.float32)
        a, b = (pg.Variable(value, trainable=False) for value in values)
        result = pg.Variable(np.zeros((size, size), np.float32), trainable=False)
        multiply = result.assign(pg.matmul(a, b))
        with pg.Session(device="gpu") as session:
            session.repeat(multiply, 1)
            started = time.perf_counter()
            session.repeat(multiply, times)
            return 2 * size**3 * times / (time.perf_counter() - started) / 1e9
