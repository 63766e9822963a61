"""The doctor's bench: small trainings, healthy and faulty, and what the doctor says of each.

Kinds of data × seeds, with one fault at a time. ``python -m tests.doctor.clinic`` runs them all and
prints the tables of docs/doctor.md; tests take some of them by the seed of the commit.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.doctor.words import SENTENCES
from tests.doctor.programs import HEAD
from tests.doctor.watched import Watched

_GOOD = 0.1
"""A loss with which a training is mended, however good it was before: some faults do no harm."""
_CLASSES = "nn.SparseCategoricalCrossentropy(from_logits=True)"


@dataclass(frozen=True)
class Kind:
    """A task, as the parts of a program.

    Attributes:
        data: makes ``x, y, new`` from ``random``; ``new`` is a pair that is not trained on.
        layers: all but the last.
        last: the last layer.
        loss: an expression.
        rate: a learning rate of Adam that suits it.
        epochs: that are enough.
    """

    data: str
    layers: tuple[str, ...]
    last: str
    loss: str = _CLASSES
    rate: float = 0.01
    epochs: int = 25


def _dense(*units: int, activation: str = "relu") -> tuple[str, ...]:
    return tuple(f'nn.Dense({each}, activation="{activation}")' for each in units)


KINDS = {
    "moons": Kind(
        """\
x, y = pg.data.moons(400, noise=0.1, seed=SEED)
new = pg.data.moons(200, noise=0.1, seed=SEED + 100)
""",
        _dense(16, 16),
        "nn.Dense(2)",
    ),
    "table": Kind(
        """\
weights = random.normal(0, 1, 12)
x = random.normal(0, 1, (600, 12)).astype(np.float32)
y = (x @ weights + random.normal(0, 0.2, 600) > 0).astype(np.int32)
x, y, new = x[:400], y[:400], (x[400:], y[400:])
""",
        _dense(16),
        "nn.Dense(2)",
        epochs=12,
    ),
    "amounts": Kind(
        """\
x = random.normal(0, 1, (600, 4)).astype(np.float32)
y = (np.sin(x[:, :1]) + x[:, 1:2] * 0.5 + random.normal(0, 0.1, (600, 1))).astype(np.float32)
x, y, new = x[:400], y[:400], (x[400:], y[400:])
""",
        _dense(24, activation="tanh"),
        "nn.Dense(1)",
        '"mse"',
    ),
    "images": Kind(
        """\
y = random.integers(0, 4, 500)
x = random.uniform(0, 0.4, (500, 8, 8, 1)).astype(np.float32)
for i, label in enumerate(y):
    top, left = divmod(int(label), 2)
    x[i, 4 * top : 4 * top + 3, 4 * left : 4 * left + 3] += 0.6
y = y.astype(np.int32)
x, y, new = x[:350], y[:350], (x[350:], y[350:])
""",
        ('nn.Conv2D(6, 3, activation="relu")', "nn.MaxPool2D(2)", "nn.Flatten()", *_dense(16)),
        "nn.Dense(4)",
        epochs=15,
    ),
    "text": Kind(
        """\
y = random.integers(0, 2, 500).astype(np.int32)
x = random.integers(4, 40, (500, 12)).astype(np.int32)
x[np.arange(500), random.integers(0, 12, 500)] = y + 1
x[np.arange(500), random.integers(0, 12, 500)] = y + 1
x, y, new = x[:350], y[:350], (x[350:], y[350:])
""",
        ("nn.Embedding(40, 12)", "nn.GlobalAveragePooling1D()", *_dense(16)),
        "nn.Dense(2)",
        epochs=25,
    ),
}


@dataclass(frozen=True)
class Training:
    """A training of the bench.

    Attributes:
        kind: of its data.
        fault: the code of the first finding that is right; "" of a healthy one.
        name: tells variants of a fault apart.
        text: the program.
    """

    kind: str
    fault: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})"


def program(
    kind: str,
    seed: int,
    *,
    data: str = "",
    layers: tuple[str, ...] | None = None,
    last: str = "",
    loss: str = "",
    optimizer: str = "",
    before_fit: str = "",
    epochs: int = 0,
    fit: str = ", validation_data=new",
) -> str:
    """Return a program of a kind, with some of its parts in place of the usual ones."""
    of = KINDS[kind]
    head = HEAD.replace("default_rng(0)", f"default_rng({seed})")
    stack = "\n".join(f"    {layer}," for layer in [*(layers or of.layers), last or of.last])
    return f"""{head}{of.data.replace("SEED", str(seed))}{data}\
model = pg.Sequential([
{stack}
])
{before_fit}\
model.compile({optimizer or f"pg.optim.Adam({of.rate:g})"}, {loss or of.loss})
model.fit(x, y, epochs={epochs or of.epochs}, verbose=0, seed={seed}{fit})
"""


def _healthy() -> Iterator[Training]:
    for seed in range(3):
        for kind, of in KINDS.items():
            quick = f"pg.optim.SGD({10 * of.rate:g}, momentum=0.9)" if kind != "amounts" else ""
            texts = {
                "as it should be": program(kind, seed),
                "without test data": program(kind, seed, fit=""),
                "another optimizer": program(kind, seed, optimizer=quick or "pg.optim.Adam(0.02)"),
                "half of the data": program(
                    kind, seed, data="x, y = x[:200], y[:200]\n", epochs=of.epochs
                ),
            }
            for name, text in texts.items():
                yield Training(kind, "", name, text)


_NUMBERS = ("moons", "table", "amounts", "images")
_CLASSIFIED = ("moons", "table", "images", "text")
_FLAT = ("moons", "table", "amounts")
_ZEROS = 'nn.Dense(16, activation="tanh", kernel_initializer="zeros")'
_COLUMNS = """\
y = y.astype(np.float32)[:, None]
new = (new[0], new[1].astype(np.float32)[:, None])
"""
_FREEZE = """\
model.build(x.shape[1:])
next(each for each in model.layers if each.weights).trainable = False
"""
# Tokens that are alike as numbers are not alike, so nothing tells that they were shuffled.
_FAULTS: tuple[tuple[str, str, tuple[str, ...], dict[str, Any]], ...] = (
    ("rate-high", "Adam's rate is 30", tuple(KINDS), {"optimizer": "pg.optim.Adam(30.0)"}),
    ("rate-low", "Adam's rate is 1e-6", tuple(KINDS), {"optimizer": "pg.optim.Adam(1e-6)"}),
    ("rate-low", "SGD's rate is 1e-5", tuple(KINDS), {"optimizer": "pg.optim.SGD(1e-5)"}),
    ("shuffled", "targets are shuffled", _NUMBERS, {"data": "y = random.permutation(y)\n"}),
    (
        "input-scale", "inputs are a thousand times as large", _NUMBERS,
        {"data": "x = x * 1000\nnew = (new[0] * 1000, new[1])\n"},
    ),
    (
        "target-scale", "targets are ten thousand times as large", ("amounts",),
        {"data": "y = y * 10000\nnew = (new[0], new[1] * 10000)\n"},
    ),
    (
        "target-scale", "targets lie at 5,000", ("amounts",),
        {"data": "y = y * 100 + 5000\nnew = (new[0], new[1] * 100 + 5000)\n"},
    ),
    (
        "not-finite", "the logarithm of negative inputs", _NUMBERS,
        {"layers": ("nn.Lambda(lambda x: pg.log(x - 0.1))", "nn.Flatten()", *_dense(16))},
    ),
    ("frozen", "the first layer is frozen", _NUMBERS, {"before_fit": _FREEZE}),
    (
        "frozen", "the gradient is cut", _FLAT,
        {"layers": (*_dense(16), "nn.Lambda(lambda x: pg.stop_gradient(x))", *_dense(16))},
    ),
    (
        "dead-units", "biases of −5 before ReLU", _FLAT,
        {"layers": (*_dense(16, activation="tanh"),
                    'nn.Dense(16, activation="relu", bias_initializer=nn.Constant(-5.0))')},
    ),
    (
        "vanishing", "eight sigmoid layers", _FLAT,
        {"layers": _dense(*[12] * 8, activation="sigmoid"), "optimizer": "pg.optim.SGD(0.1)"},
    ),
    (
        "not-falling", "weights of 0", ("moons", "table", "images"),
        {"layers": ("nn.Flatten()", _ZEROS, _ZEROS)},
    ),
    (
        "not-falling", "a softmax of one unit", ("moons", "table", "text"),
        {"last": 'nn.Dense(1, activation="softmax")', "loss": '"binary_crossentropy"',
         "data": _COLUMNS},
    ),
    (
        "activation-twice", "softmax before a loss of scores", _CLASSIFIED,
        {"last": 'nn.Dense(4, activation="softmax")'},
    ),
)  # fmt: skip
"""Code, name, the kinds of data that it is tried on, and the parts of the program."""


def _faulty() -> Iterator[Training]:
    for fault, name, kinds, parts in _FAULTS:
        for kind in kinds:
            for seed in range(2):
                yield Training(kind, fault, name, program(kind, seed, **parts))
    for seed in range(8):
        head = HEAD.replace("default_rng(0)", f"default_rng({seed})")
        rows, features = (60, 20) if seed % 2 else (80, 30)
        text = f"""{head}\
x = random.normal(0, 1, (400, {features})).astype(np.float32)
y = (x[:, 0] + random.normal(0, 1, 400) > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(64, activation="relu"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), {_CLASSES})
new = x[{rows}:], y[{rows}:]
model.fit(x[:{rows}], y[:{rows}], epochs=60, verbose=0, seed={seed}, validation_data=new)
"""
        yield Training("table", "overfitting", "noise and few rows", text)
    for seed in range(8):
        head = HEAD.replace("default_rng(0)", f"default_rng({seed})")
        text = f"""{head}\
x = random.normal(0, 1, (300, 12, 2)).astype(np.float32)
y = x.sum(axis=(1, 2))[:, None] / 5
x, y, new = x[:200], y[:200], (x[200:], y[200:])
wide = nn.RandomNormal(stddev=0.6)
model = pg.Sequential([
    nn.SimpleRNN(16, activation="relu", recurrent_initializer=wide),
    nn.Dense(1),
])
model.compile(pg.optim.SGD(0.01), "mse")
model.fit(x, y, epochs=20, verbose=0, seed={seed}, validation_data=new)
"""
        yield Training("sequences", "exploding", "wide weights of a recurrent layer", text)


_NOT_SYMPTOMS = [code for code in SENTENCES if code != "not-finite"]
HEALTHY = tuple(_healthy())
FAULTY = tuple(_faulty())


@dataclass(frozen=True)
class Outcome:
    """What the doctor said of a training, and whether its edits, applied in turn, mended it."""

    codes: tuple[str, ...]
    is_mended: bool | None

    def is_right(self, training: Training) -> bool:
        """Return whether the first finding is the fault, or there is none in a healthy training.

        That the loss is NaN is what happened; the fault that brought it about may come next.
        """
        faults = [code for code in self.codes if code in (training.fault, *_NOT_SYMPTOMS)]
        return (faults or [""])[0] == training.fault


def examined(training: Training, mend: bool = True) -> Outcome:
    """Run a training, then again with the first edit that the doctor offers, at most three times.

    A rate that is far off is brought nearer step by step.
    """
    text, codes, before = training.text, None, 0.0
    for _ in range(4 if mend and training.fault else 1):
        watched = Watched(text)
        try:
            if codes is None:
                codes = tuple(watched.codes)
                before = _quality(watched)
            elif training.fault not in watched.codes and _quality(watched) < max(before, _GOOD):
                return Outcome(codes, True)
            edit = next((each.edit for each in watched.findings if each.edit is not None), None)
            if edit is None:
                break
            text = edit.applied(text)
        finally:
            watched.close()
    assert codes is not None
    return Outcome(codes, False if training.fault and mend else None)


def _quality(watched: Watched) -> float:
    """Return the loss on data that was not trained on; infinity if it is not finite."""
    loss = watched.value("np.ravel(model.evaluate(*new))[0]")
    return loss if np.isfinite(loss) else float("inf")


def main() -> None:
    outcomes: dict[Training, Outcome] = {}
    only = sys.argv[1:]
    for training in (*HEALTHY, *FAULTY):
        if only and training.fault not in only:
            continue
        outcome = outcomes[training] = examined(training)
        if not outcome.is_right(training) or outcome.is_mended is False:
            print(f"{training.fault or 'healthy'}: {training}: {outcome}", flush=True)
    said = Counter(o.codes[0] for t, o in outcomes.items() if o.codes and not o.is_right(t))
    right = Counter(t.fault for t, outcome in outcomes.items() if outcome.is_right(t))
    mended = Counter(t.fault for t, outcome in outcomes.items() if outcome.is_mended)
    print(
        "| fault | trainings | found first | said of others | mended |\n|---|---:|---:|---:|---:|"
    )
    for fault, total in Counter(t.fault for t in outcomes).items():
        cells = [fault or "none", total, right[fault]]
        cells += [said[fault], mended[fault]] if fault else ["–", "–"]
        print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
