"""A program of many parts, which must print the same on one process and on several."""

from __future__ import annotations

import sys
from pathlib import Path
from zlib import crc32

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.training.csv_logger import CSVLogger

FOLDER = Path(__file__).parent
RNG = np.random.default_rng(0)
X = RNG.standard_normal((140, 8)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)
LOSS = nn.SparseCategoricalCrossentropy(from_logits=True)


def show(name, model, *values):
    weights = b"".join(array.tobytes() for array in model.get_weights())
    print(name, crc32(weights), *values)


def compiled(layers, strategy=None):
    model = pg.Sequential(layers)
    model.compile(pg.optim.Adam(0.01), loss=LOSS, metrics=["accuracy"], strategy=strategy)
    return model


def fits_between_evaluations():
    model = compiled([nn.Dense(8), nn.Dense(2)], pg.parallel.DataParallel(2, "ring"))
    for _ in range(2):
        model.fit(X, Y, batch_size=20, epochs=2, verbose=0, validation_split=0.25)
        show("fit", model, model.evaluate(X, Y), model.predict(X[:3]).tolist())


def small_last_batches():
    model = compiled([nn.Dense(2)], pg.parallel.DataParallel(2, "ring"))
    batches = pg.data.Dataset.from_tensor_slices((X, Y)).map(lambda x, y: (2 * x, y)).batch(25)
    model.fit(batches, epochs=2, verbose=0)
    show("stream", model)


def a_step_of_its_own():
    class Own(pg.Sequential):
        def train_step(self, data):
            x, y = data
            with pg.GradientTape() as tape:
                loss = LOSS(y, self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

    model = Own([nn.Dense(2)])
    model.compile(pg.optim.SGD(0.1))
    model.fit(X, Y, batch_size=20, epochs=1, verbose=0)
    show("own", model)


def devices_of_its_own():
    points = pg.Input((8,))
    with pg.device("cpu:1"):
        hidden = nn.Dense(4)(points)
    with pg.device("cpu:0"):
        scores = nn.Dense(2)(hidden)
    model = pg.Model(points, scores)
    model.compile(pg.optim.SGD(0.1), loss=LOSS, device="cpu")
    model.fit(X, Y, batch_size=20, epochs=1, verbose=0)
    show("placed", model)


def sets_and_files():
    names = {"alpha", "beta", "gamma", "delta", "epsilon"}
    model = compiled([*(nn.Dense(2, name=name) for name in names)])
    log = FOLDER / "log.csv"
    model.fit(X, Y, batch_size=20, epochs=9, verbose=0, callbacks=[CSVLogger(log)])
    print("lines", log.read_text().count("\n"))


def costs_that_are_measured():
    graph = pg.Graph()
    with graph.as_default():
        x = pg.placeholder("float32", (None, 64), name="x")
        w = pg.Variable(np.eye(64, dtype=np.float32))
        total = (x @ w) @ w + x @ w
    with pg.Session(graph, "cpu", placement="auto") as session:
        result = session.run(total, {x: np.ones((9, 64), np.float32)})
        print("placed", result.sum(), bool(str(session.placement_summary(total, {x: result}))))


pg.set_logical_devices(cpu=2)
sys.stderr.write("x" * (3 << 20) + "\n")
print("fileno", sys.stderr.fileno())
for part in (
    fits_between_evaluations,
    small_last_batches,
    a_step_of_its_own,
    devices_of_its_own,
    sets_and_files,
    costs_that_are_measured,
):
    part()
print("the end")
