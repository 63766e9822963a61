"""Measures size and accuracy of three networks that were made smaller in different ways.

python -m bench.small_models                 all three, on the processor: minutes
python -m bench.small_models sounds          some of them, by their names

A file's bytes are those of its weights, compressed by gzip as well. Accuracies are on test data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
Data = tuple[tuple[Array, Array], tuple[Array, Array]]
LENGTH = 512
DIGITS = 20_000
"""Images of the training data that the residual network sees."""


class Case(NamedTuple):
    """A network to make smaller.

    Attributes:
        epochs: of the first training, and of each one after weights were changed.
        rates: learning rates of both.
    """

    data: Callable[[], Data]
    model: Callable[[], pg.Model]
    batch: int
    epochs: tuple[int, int]
    rates: tuple[float, float]


def digits() -> Data:
    return pg.data.mnist()


def some_digits() -> Data:
    (x, y), test = pg.data.mnist()
    return (x[:DIGITS], y[:DIGITS]), test


def sounds() -> Data:
    """Tones in noise that fall, stay or rise."""
    random, time = np.random.default_rng(0), np.linspace(0, 1, LENGTH)

    def some(count: int) -> tuple[Array, Array]:
        kinds = random.integers(0, 3, (count, 1))
        middle = random.uniform(25, 45, (count, 1))
        change = random.uniform(10, 20, (count, 1)) * (kinds - 1)
        cycles = (middle - change / 2) * time + change / 2 * time**2
        tones = np.sin(2 * np.pi * (cycles + random.random((count, 1))))
        tones = tones + random.normal(0, 0.8, tones.shape)
        return tones[..., None].astype(np.float32), kinds[:, 0]

    return some(2000), some(1000)


def convolutional() -> pg.Model:
    return pg.Sequential(
        [
            pg.Input((28, 28), dtype="uint8"),
            nn.Rescaling(1 / 255),
            nn.Reshape((28, 28, 1)),
            nn.Conv2D(8, 5, activation="relu"),
            nn.MaxPool2D(2),
            nn.Conv2D(16, 3, activation="relu"),
            nn.MaxPool2D(2),
            nn.Flatten(),
            nn.Dense(10),
        ]
    )


def one_dimensional() -> pg.Model:
    return pg.Sequential(
        [
            pg.Input((LENGTH, 1)),
            nn.Conv1D(6, 16, strides=4, activation="relu"),
            nn.Conv1D(6, 8, strides=4, activation="relu"),
            nn.Conv1D(6, 8, strides=4, activation="relu"),
            nn.GlobalAveragePooling1D(),
            nn.Dense(3),
        ]
    )


def residual() -> pg.Model:
    def convolution(x: Any, filters: int, size: int = 3, strides: int = 2) -> Any:
        x = nn.Conv2D(filters, size, strides, padding="same", use_bias=False)(x)
        return nn.BatchNormalization(momentum=0.9)(x)

    def block(x: Any, filters: int) -> Any:
        y = convolution(nn.ReLU()(convolution(x, filters)), filters, strides=1)
        return nn.ReLU()(nn.Add()([convolution(x, filters, size=1), y]))

    image = pg.Input((28, 28), dtype="uint8")
    pixels = nn.Reshape((28, 28, 1))(nn.Rescaling(1 / 255)(image))
    features = block(block(nn.ReLU()(convolution(pixels, 8)), 16), 32)
    return pg.Model(image, nn.Dense(10)(nn.GlobalAveragePooling2D()(features)))


CASES = {
    "digits": Case(digits, convolutional, 64, (1, 1), (8e-3, 1e-3)),
    "sounds": Case(sounds, one_dimensional, 32, (15, 5), (5e-3, 1e-3)),
    "residual": Case(some_digits, residual, 50, (1, 1), (1e-2, 1e-3)),
}


def fitted(model: Any, case: Case, train: tuple[Array, Array], later: bool) -> Any:
    epochs, rate = case.epochs[later], case.rates[later]
    steps = epochs * len(train[0]) // case.batch
    decay = pg.optim.ExponentialDecay(rate, decay_steps=steps, decay_rate=0.1)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(decay), loss, ["accuracy"], device="cpu")
    model.fit(*train, batch_size=case.batch, epochs=epochs, seed=1, verbose=0)
    return model


def versions(case: Case, model: Any, train: tuple[Array, Array]) -> Iterator[tuple[str, Any]]:
    """Yield names and smaller networks. Those that are trained afterwards say so."""
    x = train[0][:500]
    yield "float16", pg.quantize(model, weights="float16", activations=None)
    yield "int8", pg.quantize(model, x)
    yield "int4", pg.quantize(model, x, weights="int4")
    aware = pg.quantization_aware(model, x, bits=4)
    yield "int4, trained", pg.quantize(fitted(aware, case, train, later=True))
    steps = case.epochs[1] * (len(train[0]) // case.batch) // 2
    pruned = pg.prune(model, 0.8, pg.PolynomialSparsity(steps, every=10))
    yield "80 % zeros, trained", fitted(pruned, case, train, later=True)
    shared = fitted(pg.cluster(model, 16), case, train, later=True)
    yield "16 values, trained", shared
    both = fitted(pg.cluster(pruned, 16), case, train, later=True)
    yield "80 % zeros, 16 values, trained", both
    yield "the same, int8", pg.quantize(both, x)


def rows(name: str) -> Iterator[str]:
    """Yield the rows of a network in a table of Markdown."""
    case = CASES[name]
    train, test = case.data()
    pg.reset_default_graph(1)
    model = fitted(case.model(), case, train, later=False)
    for number, (form, small) in enumerate(versions(case, model, train)):
        report = small.report(test_data=test)
        before, after = report.before, report.after
        accuracy = next(each for each in report.comparisons if each.metric == "accuracy")
        if not number:
            yield row(name, "float32", accuracy.before, before, before)
        yield row(name, form, accuracy.after, after, before)


def row(name: str, form: str, accuracy: float, size: Any, before: Any) -> str:
    ratio = f"{before.raw / size.raw:.2f}"
    return f"| {name} | {form} | {accuracy:.2%} | {size.raw:,} | {size.gzip:,} | {ratio} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="*", help=f"of {', '.join(CASES)}; all by default")
    names = parser.parse_args().networks or list(CASES)
    print("| network | form | accuracy | weights, bytes | gzip | times smaller |")
    print("|---|---|---:|---:|---:|---:|")
    for name in names:
        for line in rows(name):
            print(line, flush=True)


if __name__ == "__main__":
    main()
