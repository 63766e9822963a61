"""playgrad, in a page and on the desktop: the step of ``Model.fit``, on data that is resident.

The file stands by itself: it is also pasted before the program that runs in playgrad's page.
"""

from __future__ import annotations

import json
import time

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.nn.batches import prepare
from playgrad.nn.resident import make_resident
from playgrad.nn.steps import build_train_step


def layer_of(spec):
    """A layer of playgrad from the description of one."""
    kind = spec["kind"]
    if kind == "flatten":
        return nn.Flatten()
    if kind == "pool":
        return nn.MaxPool2D(2)
    if kind == "conv":
        return nn.Conv2D(
            spec["units"], spec["size"], padding=spec["padding"], activation=spec["activation"]
        )
    return nn.Dense(spec["units"], activation=spec["activation"])


class PlaygradTrainer:
    """A workload on a device of playgrad.

    Attributes:
        phases: seconds that each phase of getting ready took.
    """

    def __init__(self, read, workload, device):
        started = time.perf_counter()
        spec = json.loads(bytes(read(f"{workload}.json")))
        blob = bytes(read(f"{workload}.bin"))

        def array(entry):
            count = int(np.prod(entry["shape"]))
            values = np.frombuffer(blob, entry["dtype"], count, entry["offset"])
            return values.reshape(entry["shape"])

        model = pg.Sequential([layer_of(layer) for layer in spec["layers"]])
        rate = spec["learning_rate"]
        model.compile(
            optimizer=pg.optim.SGD(rate) if spec["optimizer"] == "sgd" else pg.optim.Adam(rate),
            loss=nn.MeanSquaredError()
            if spec["loss"] == "mse"
            else nn.SparseCategoricalCrossentropy(from_logits=True),
            device=device,
        )
        xs, ys = prepare(model, array(spec["x"]), array(spec["y"]), "")
        weights = [array(entry) for entry in spec["weights"]["tensorflow"]]
        model.set_weights(dict(zip(model.weights, weights, strict=True)))
        model.optimizer.prepare(model.graph)
        resident = make_resident(model, "train", xs, ys)
        self.phases = {"data and model": time.perf_counter() - started}
        step = build_train_step(model, resident, spec["batch"], shuffle=False, seed=None)
        self.session, self.run = model.session, step.run
        (record,) = step.recorder.nodes
        self.history, self.loss = step.recorder.variables[0], record.inputs[2]
        started = time.perf_counter()
        self.dispatches = self.session.dispatches(self.run)
        self.phases["compile and pipelines"] = time.perf_counter() - started
        self.plans = self.session.compiled(self.run).plans
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
        """Family, workgroups and node of each dispatch, in order; None on a device without any."""
        for loaded in self.plans.values():
            families = {kernel["id"]: kernel["family"] for kernel in loaded.plan["kernels"]}
            return [
                (families[step["kernel"]], step["workgroups"], step["node"])
                for step in loaded.plan["steps"]
                if step["kind"] == "dispatch"
            ]
        return None


def product_gflops(size=1024, times=5):
    """Speed of playgrad's own matrix product on the device ``auto`` picks."""
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
