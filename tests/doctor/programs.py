"""Programs that are ill, with the line and the node that the doctor should name.

Each is small enough to train in about a second. The comment ``# ill`` marks the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tests.doctor.watched import Watched

HEAD = """\
import numpy as np

import playgrad as pg
from playgrad import nn

random = np.random.default_rng(0)
"""


@dataclass(frozen=True)
class Ill:
    """A program with an illness.

    Attributes:
        body: after `HEAD`.
        node: that the finding names; None for any.
        edit: the code of the edit.
        better: the loss that the cured program reaches at most, as a part of the ill one's.
        measure: the expression of that loss.
    """

    body: str
    node: str | None
    edit: str
    better: float = 0.7
    measure: str = "float(np.median(model.history.losses[-10:]))"

    @property
    def text(self) -> str:
        return f"{HEAD}{self.body}"

    @property
    def line(self) -> int:
        """The line marked as ill."""
        return next(i for i, line in enumerate(self.text.split("\n"), 1) if "# ill" in line)

    def loss(self, program: Watched) -> float:
        """Return the loss of the program when it had run; before a NaN, that of its first steps."""
        loss = program.value(self.measure)
        return loss if np.isfinite(loss) else program.value("float(model.history.losses[0])")


ILL = {
    "not-finite": Ill(
        """\
x = random.uniform(0, 1, (200, 4)).astype(np.float32)
x[::7, 0] = 0
y = (x[:, 1:2] > x[:, 2:3]).astype(np.float32)
model = pg.Sequential([
    nn.Lambda(lambda x: pg.log(x)),  # ill
    nn.Dense(8, activation="tanh"),
    nn.Dense(1),
])
model.compile(pg.optim.Adam(0.02), nn.BinaryCrossentropy(from_logits=True))
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
        "lambda_1",
        "guard",
    ),
    "exploding": Ill(
        """\
x = random.normal(0, 1, (200, 12, 2)).astype(np.float32)
y = x.sum(axis=(1, 2))[:, None] / 5
wide = nn.RandomNormal(stddev=0.6)
model = pg.Sequential([
    nn.SimpleRNN(16, activation="relu", recurrent_initializer=wide),  # ill
    nn.Dense(1),
])
model.compile(pg.optim.SGD(0.01), "mse")
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
        "simple_rnn_1",
        "clip",
    ),
    "vanishing": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([
    nn.Dense(12, activation="sigmoid"),  # ill
    nn.Dense(12, activation="sigmoid"),
    nn.Dense(12, activation="sigmoid"),
    nn.Dense(12, activation="sigmoid"),
    nn.Dense(12, activation="sigmoid"),
    nn.Dense(12, activation="sigmoid"),
    nn.Dense(12, activation="sigmoid"),
    nn.Dense(2),
])
model.compile(pg.optim.SGD(0.1), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=30, verbose=0, seed=1)
""",
        "dense_1",
        "set-activation",
    ),
    "dead-units": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
low = nn.Constant(-4.0)
model = pg.Sequential([
    nn.Dense(16, activation="tanh"),
    nn.Dense(16, activation="relu", bias_initializer=low),  # ill
    nn.Dense(2),
])
model.compile(pg.optim.Adam(0.02), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
        "dense_2",
        "set-activation",
    ),
    "not-falling": Ill(
        """\
x, y = pg.data.xor(300, seed=0)
model = pg.Sequential([
    nn.Dense(16, activation="tanh", kernel_initializer="zeros"),  # ill
    nn.Dense(16, activation="tanh", kernel_initializer="zeros"),
    nn.Dense(2),
])
model.compile(pg.optim.Adam(0.02), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
        "dense_1",
        "initialize",
    ),
    "overfitting": Ill(
        """\
x = random.normal(0, 1, (240, 20)).astype(np.float32)
y = (x[:, 0] + random.normal(0, 1, 240) > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(64, activation="relu"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:80], y[:80], epochs=40, verbose=0, seed=1, validation_data=(x[80:], y[80:]))  # ill
""",
        "dense_2",
        "stop-early",
        0.7,
        "model.evaluate(x[80:], y[80:])",
    ),
    "input-scale": Ill(
        """\
classes = random.integers(0, 3, 300)
x = random.integers(0, 190, (300, 8, 8, 1)).astype(np.uint8)
x[np.arange(300), classes * 2] += 60
model = pg.Sequential([
    nn.Flatten(),
    nn.Dense(32, activation="tanh"),
    nn.Dense(3),
])
model.compile(pg.optim.SGD(0.1), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, classes, epochs=20, verbose=0, seed=1)  # ill
""",
        None,
        "insert-first",
    ),
    "target-scale": Ill(
        """\
x = random.normal(0, 1, (300, 3)).astype(np.float32)
y = 20000 + 3000 * x[:, :1] - 2000 * x[:, 1:2]
model = pg.Sequential([nn.Dense(16, activation="tanh"), nn.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=30, verbose=0, seed=1)  # ill
""",
        None,
        "append-last",
    ),
    "rate-high": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([
    nn.Dense(16, activation="relu"),
    nn.Dense(16, activation="relu"),
    nn.Dense(2),
])
model.compile(
    optimizer=pg.optim.Adam(learning_rate=1.0),  # ill
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
        "adam",
        "set-rate",
    ),
    "activation-twice": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([
    nn.Dense(16, activation="relu"),
    nn.Dense(2, activation="softmax"),  # ill
])
model.compile(pg.optim.Adam(0.02), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=30, verbose=0, seed=1)
""",
        "dense_2",
        "set-activation",
    ),
    "rate-low": Ill(
        """\
RATE = 0.00001
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([nn.Dense(16, activation="relu"), nn.Dense(2)])
optimizer = pg.optim.Adam(RATE)  # ill
model.compile(optimizer, nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=30, verbose=0, seed=1)
""",
        "adam",
        "set-rate",
    ),
    "frozen": Ill(
        """\
x, y = pg.data.circle(300, seed=0)
model = pg.Sequential([
    pg.Input((2,)),
    nn.Dense(4, activation="tanh"),  # ill
    nn.Dense(2),
])
for layer in model.layers[:1]:
    layer.trainable = False
model.compile(pg.optim.Adam(0.03), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
        "dense_1",
        "thaw",
    ),
    "shuffled": Ill(
        """\
x, y = pg.data.moons(400, noise=0.1, seed=0)
np.random.default_rng(3).shuffle(y)
model = pg.Sequential([nn.Dense(16, activation="tanh"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:300], y[:300], epochs=20, verbose=0, seed=1,  # ill
          validation_data=(x[300:], y[300:]))
""",
        None,
        "unshuffle",
    ),
}

_MOONS = """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([nn.Dense(16, "relu"), nn.Dense(16, "relu"), nn.Dense(2)])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(OPTIMIZER, loss)  # ill
model.fit(x, y, epochs=30, verbose=0, seed=1)
"""


def _rated(optimizer: str, node: str) -> Ill:
    return Ill(_MOONS.replace("OPTIMIZER", optimizer), node, "set-rate")


ILL_TOO = {
    "rate-low: ten thousand times": _rated("pg.optim.SGD(0.00001)", "sgd"),
    "rate-low: ten times": _rated("pg.optim.Adam(0.0001)", "adam"),
    "rate-low: Adamax": _rated("pg.optim.Adamax(0.000001)", "adamax"),
    "rate-low: Adadelta": _rated("pg.optim.Adadelta(0.0001)", "adadelta"),
    "rate-low: a schedule": _rated(
        "pg.optim.Adam(pg.optim.ExponentialDecay(0.000001, 100, 0.9))", "adam"
    ),
    "rate-low: on a way that bends": Ill(
        """\
(x, y), new = pg.data.spiral(500, noise=0.03, seed=0, ratio=0.8)
model = pg.Sequential([nn.Dense(16, "relu"), nn.Dense(16, "relu"), nn.Dense(2)])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.000001), loss)  # ill
model.fit(x, y, batch_size=100, epochs=45, verbose=0, validation_data=new)
""",
        "adam",
        "set-rate",
        0.97,  # the edit leads to the usual rates, of which this task needs the largest
    ),
    "input-scale: a functional model": Ill(
        """\
classes = random.integers(0, 3, 300)
x = random.normal(0, 300, (300, 3)).astype(np.float32)
x[np.arange(300), classes] += 900
points = pg.Input((3,))  # numbers of the hundreds

h = nn.Dense(16, activation="tanh")(points)
h = nn.Concatenate()([h, nn.Dense(4)(points)])
model = pg.Model(points, nn.Dense(3)(h))
model.compile(pg.optim.SGD(0.1), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, classes, epochs=20, verbose=0, seed=1)  # ill
""",
        None,
        "insert-first",
    ),
    "rate-high: a schedule": _rated("pg.optim.Adam(pg.optim.CosineDecay(1.0, 300))", "adam"),
    "shuffled: by an order": Ill(
        """\
x = random.normal(0, 1, (400, 3)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
order = random.permutation(len(x))
x = x[order]
model = pg.Sequential([nn.Dense(32, "relu"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:300], y[:300], epochs=20, verbose=0, seed=1, validation_data=(x[300:], y[300:]))  # ill
""",
        None,
        "unshuffle",
    ),
    "shuffled: not the test data": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
new = pg.data.moons(200, noise=0.1, seed=1)
y = random.permutation(y)
model = pg.Sequential([nn.Dense(16, "relu"), nn.Dense(16, "relu"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=20, verbose=0, seed=1, validation_data=new)  # ill
""",
        None,
        "unshuffle",
    ),
    "not-falling: a softmax of one unit": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([
    nn.Dense(8, activation="relu"),
    nn.Dense(1, activation="softmax"),  # ill
])
model.compile(pg.optim.Adam(0.01), "binary_crossentropy")
model.fit(x, y[:, None].astype(np.float32), epochs=30, verbose=0, seed=1)
""",
        "dense_2",
        "set-activation",
    ),
    "not-falling: zeros before ReLU": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([
    nn.Dense(16, activation="relu", kernel_initializer="zeros"),  # ill
    nn.Dense(2, kernel_initializer="zeros"),
])
model.compile(pg.optim.Adam(0.02), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=30, verbose=0, seed=1)
""",
        "dense_1",
        "initialize",
    ),
    "not-falling: weights near 0": Ill(
        """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
near = nn.RandomNormal(stddev=0.01)
model = pg.Sequential([
    nn.Dense(12, activation="tanh", kernel_initializer=near),  # ill
    nn.Dense(12, activation="tanh", kernel_initializer=near),
    nn.Dense(12, activation="tanh", kernel_initializer=near),
    nn.Dense(12, activation="tanh", kernel_initializer=near),
    nn.Dense(2),
])
model.compile(pg.optim.SGD(0.1), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=30, verbose=0, seed=1)
""",
        "dense_1",
        "initialize",
    ),
    "not-falling: targets below 0 after ReLU": Ill(
        """\
x = random.normal(0, 1, (400, 3)).astype(np.float32)
y = -3 - np.abs(x[:, :1])
model = pg.Sequential([
    nn.Dense(16, activation="tanh"),
    nn.Dense(1, activation="relu"),  # ill
])
model.compile(pg.optim.Adam(0.01), "mse")
model.fit(x, y, epochs=30, verbose=0, seed=1)
""",
        "dense_2",
        "set-activation",
    ),
    "target-scale: a hundred thousandth": Ill(
        """\
x = random.normal(0, 1, (300, 3)).astype(np.float32)
y = 0.00001 * x[:, :1]
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(1)])
model.compile(pg.optim.Adam(0.01), "mse")
model.fit(x, y, epochs=30, verbose=0, seed=1)  # ill
""",
        None,
        "append-last-adam",
        better=1e-8,  # the targets have a variance of 1e-10
    ),
    "target-scale: an error in percent": Ill(
        """\
x = random.normal(0, 1, (300, 3)).astype(np.float32)
y = 50000 + 3000 * x[:, :1]
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(1)])
model.compile(pg.optim.Adam(0.001), "mean_absolute_percentage_error")
model.fit(x, y, epochs=30, verbose=0, seed=1)  # ill
""",
        None,
        "append-last",
    ),
}
"""The same illnesses with other causes and networks; the code stands before the colon."""

HEALTHY = {
    "a fast learner": """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([nn.Dense(16, activation="relu"), nn.Dense(16, "relu"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.04), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=25, verbose=0, seed=1, validation_split=0.3)
""",
    "bytes that are brought to scale": """\
classes = random.integers(0, 3, 300)
x = random.integers(0, 120, (300, 8, 8, 1)).astype(np.uint8)
x[np.arange(300), classes * 2] += 100
model = pg.Sequential([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(16, "relu"), nn.Dense(3)])
model.compile(pg.optim.SGD(0.1), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, classes, epochs=20, verbose=0, seed=1)
""",
    "a layer that is frozen after its training": """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([pg.Input((2,)), nn.Dense(16, "tanh"), nn.Dense(2)])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.02), loss)
model.fit(x, y, epochs=10, verbose=0, seed=1)
model.layers[0].trainable = False
model.compile(pg.optim.Adam(0.02), loss)
model.fit(x, y, epochs=10, verbose=0, seed=1)
""",
    "a deep network that learns, with dropout and normalization": """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
layers = []
for _ in range(6):
    layers += [nn.Dense(16), nn.BatchNormalization(), nn.ReLU(), nn.Dropout(0.1)]
model = pg.Sequential([*layers, nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=25, verbose=0, seed=1)
""",
    "a slow optimizer that is small for a reason": """\
x = random.normal(0, 1, (300, 3)).astype(np.float32)
y = x[:, :1] * 2
model = pg.Sequential([nn.Dense(1)])
model.compile(pg.optim.SGD(0.01, momentum=0.9), "mse")
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
    "both arrays shuffled alike": """\
x, y = pg.data.moons(400, noise=0.1, seed=0)
order = random.permutation(len(x))
x, y = x[order], y[order]
model = pg.Sequential([nn.Dense(16, activation="tanh"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=20, verbose=0, seed=1, validation_split=0.25)
""",
    "trained on, when there is only noise left": """\
x = random.normal(0, 1, (400, 5)).astype(np.float32)
y = (x[:, :1] + random.normal(0, 0.5, (400, 1))).astype(np.float32)
model = pg.Sequential([nn.Dense(1)])
model.compile(pg.optim.Adam(0.02), "mse")
model.fit(x, y, epochs=60, verbose=0, seed=1)
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
    "a small rate to finish with": """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([nn.Dense(16, activation="relu"), nn.Dense(2)])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.03), loss)
model.fit(x, y, epochs=40, verbose=0, seed=1)
model.compile(pg.optim.Adam(0.00003), loss)
model.fit(x, y, epochs=20, verbose=0, seed=1)
""",
    "too short to say anything": """\
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([nn.Dense(16, activation="tanh"), nn.Dense(2)])
model.compile(pg.optim.SGD(0.0001), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=1, verbose=0, seed=1)
""",
}
"""Programs that are not ill, though something about each looks like an illness."""
