"""playgrad, in a page and on the desktop: the step of ``Model.fit``, with data on the device.

The file needs only the library: it is also prepended to the program that runs in playgrad's page.
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
from playgrad.benchmark import workload_trainer
from playgrad.benchmark.product import ProductTrainer
from playgrad.benchmark.workload_trainer import WorkloadTrainer
from playgrad.benchmark.workloads import WORKLOADS
from playgrad.compiler.compile import Compiled
from playgrad.devices.kinds import GPU
from playgrad.runtime import programs


def layer_of(layer):
    """Return the playgrad layer for a layer's description, also of a network for sequences."""
    if layer.kind == "embedding":
        return nn.Embedding(layer.size, layer.units)
    if layer.kind == "positions":
        return AddPositions(layer.size)
    if layer.kind == "block":
        gelu = partial(pg.gelu, approximate=True)
        return nn.TransformerDecoder(
            layer.units, layer.heads, activation=gelu, normalize_first=True
        )
    if layer.kind == "norm":
        return nn.LayerNormalization(epsilon=1e-5)
    if layer.kind == "lstm":
        return nn.LSTM(layer.units, return_sequences=layer.whole)
    return workload_trainer.layer_of(layer)


class AddPositions(nn.PositionEmbedding):
    """Adds the vectors of the positions to a sequence, so that it can be an item of a model."""

    kind = "add_positions"

    def call(self, *inputs, training=False):
        return inputs[0] + super().call(*inputs, training=training)


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


class PlaygradTrainer(WorkloadTrainer):
    """A workload on a device of playgrad, with the numbers of the workload's files.

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

        weights = [array(entry) for entry in spec["weights"]["tensorflow"]]
        arrays = array(spec["x"]), array(spec["y"]), weights
        super().__init__(WORKLOADS[workload], device, arrays, layer_of)
        self.phases = {"data and model": time.perf_counter() - started}
        started = time.perf_counter()
        with spent_in((programs, "compile_program"), (Compiled, "plan")) as compiling:
            self.dispatches = self.prepare()
        self.phases["graph to Plan"] = sum(compiling)
        self.phases["pipelines"] = time.perf_counter() - started - sum(compiling)
        runnable = self.session.compiled(self.run)
        self.plans = runnable.plans
        peaks = [loaded.device.host.stats()["peak_bytes"] for loaded in self.plans.values()]
        self.device_bytes = sum(peaks) if peaks else None
        self.least_bytes = least_bytes(runnable) if self.plans else None
        self.backend = self.session.device.partition(":")[0]
        self.adapter = self.session.adapter

    def kernels(self):
        """Return family, workgroups and node of each dispatch in order; None without a GPU."""
        for loaded in self.plans.values():
            families = {kernel["id"]: kernel["family"] for kernel in loaded.plan["kernels"]}
            return [
                (families[command["kernel"]], command["workgroups"], command["node"])
                for command in loaded.plan["commands"]
            ]
        return None


def product_gflops():
    """Return the speed of playgrad's matrix product on the GPU, in GFLOP/s."""
    trainer = ProductTrainer("gpu")
    try:
        return trainer.gflops()
    finally:
        trainer.close()
