"""Measures the strategies on two small networks, against one device.

The file is self-contained: it runs on the desktop, and is also pasted into playgrad's page.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.timeline import timeline

MICRO_BATCHES = 4
BATCH = 64
SAMPLES = 256
DELAY = 0.02
"""Seconds by which each pass is delayed to measure a bubble. That is much longer than the pass, so
it shows the schedule and not the noise of devices that share processors."""
EVERY = SAMPLES // BATCH
"""Steps between two means of local SGD: an epoch."""
STRATEGIES = {
    "synchronous": lambda n: pg.parallel.DataParallel(n),
    "local SGD": lambda n: pg.parallel.LocalSGD(n, every=EVERY),
    "asynchronous": lambda n: pg.parallel.AsynchronousDataParallel(n),
    **{
        schedule: lambda n, name=schedule: pg.parallel.Pipeline(n, MICRO_BATCHES, name)
        for schedule in ("gpipe", "1f1b", "interleaved", "bidirectional", "pipedream")
    },
}


def data_of(network):
    """Return samples and labels, the same on every host."""
    random = np.random.default_rng(0)
    shape = (SAMPLES, 32) if network == "mlp" else (SAMPLES, 12, 12, 1)
    x = random.normal(size=shape).astype(np.float32)
    labels = (x.reshape(SAMPLES, -1)[:, :32] @ random.normal(size=(32, 10))).argmax(1)
    return x, labels.astype(np.int32)


def layers_of(network):
    """Return eight layers with weights, so that four devices can have two chunks each."""
    if network == "mlp":
        return [nn.Dense(64, activation="tanh") for _ in range(7)] + [nn.Dense(10)]
    convolutions = [nn.Conv2D(8, 3, padding="same", activation="relu") for _ in range(4)]
    dense = [nn.Dense(32, activation="relu") for _ in range(3)]
    return [*convolutions, nn.MaxPool2D(2), nn.Flatten(), *dense, nn.Dense(10)]


def trained(network, kind, strategy, steps):
    """Return a model after ``steps`` steps from fixed initial weights, and its losses."""
    pg.reset_default_graph(0)
    model = pg.Sequential(layers_of(network))
    model.compile(
        optimizer=pg.optim.SGD(0.05),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        strategy=strategy,
        device=kind,
    )
    return model, fit(model, network, steps).losses


def fit(model, network, steps, trace=None):
    """Train for further steps; with ``trace``, the last one is traced."""
    x, y = data_of(network)
    with options_set(Options(steps=steps, trace=trace)):
        return model.fit(x, y, batch_size=BATCH, verbose=0)


def row(network, kind, name, devices, settings, single):
    """Measure one strategy on ``devices`` devices.

    Args:
        settings: the numbers of ``steps`` whose losses are compared and of ``timed`` steps, both
            multiples of `EVERY`.
        single: the losses of one device.
    """
    strategy = STRATEGIES[name](devices)
    model, losses = trained(network, kind, strategy, settings["steps"])
    difference = np.abs(losses - single) / single
    trace = pg.Trace()
    history = fit(model, network, settings["timed"], trace)
    shown = timeline(trace)
    # Asynchronous replicas trace all updates, local SGD the steps up to a mean.
    traced = {"asynchronous": settings["timed"], "local SGD": EVERY}.get(name, 1)
    outcome = {
        "strategy": name,
        "devices": devices,
        "error": float(difference.max()),
        "steps_per_second": speed_of(history),
        "waiting": shown.bubble,
        "bytes": shown.bytes_moved // traced,
        "communication": shown.communication,
        "bubble": None,
        "formula": None,
    }
    if isinstance(strategy, pg.parallel.Pipeline):
        model.session.executor.delays = {f"{kind}:{place}": DELAY for place in range(devices)}
        trace = pg.Trace()
        fit(model, network, 2, trace)
        outcome["bubble"] = timeline(trace).bubble
        outcome["formula"] = pg.parallel.bubble_formula(
            name, devices, MICRO_BATCHES, strategy.chunks
        )
    model.close()
    return outcome


def speed_of(history):
    return len(history.losses) / history.train_seconds


def measure(network, kind, settings):
    """Return rows for all strategies. The first row is one device, timed before each of the others.

    Args:
        kind: "cpu" or "gpu" devices.
        settings: ``steps``, ``timed``, ``devices`` and ``strategies``; and ``seconds``, after which
            no further row starts.
    """
    began = time.perf_counter()
    model, single = trained(network, kind, None, settings["steps"])
    rows, speeds = [], []
    for devices in settings["devices"]:
        for name in settings["strategies"]:
            if time.perf_counter() - began < settings["seconds"]:
                speeds.append(speed_of(fit(model, network, settings["timed"])))
                rows.append(row(network, kind, name, devices, settings, single))
    model.close()
    one = {"strategy": "one device", "devices": 1, "error": 0.0}
    return [one | {"steps_per_second": float(np.median(speeds))}, *rows]


if __name__ == "__main__":
    print("RESULT" + json.dumps(measure(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))))
