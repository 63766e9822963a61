"""Trains from generators, pipelines and parts; prints the same on one process as on several, and
writes down what each process has read."""

import os
from collections import Counter
from pathlib import Path

import numpy as np

import playgrad as pg
from playgrad import nn

RANK = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "alone"))
FOLDER = Path(__file__).parent
READ = Counter()
PARTS, STRATEGY = 2, pg.parallel.DataParallel(2)  # replaced by the tests


def sample(number):
    x = np.random.default_rng(number).standard_normal(6).astype(np.float32)
    return x, np.int32(x[0] > 0)


def batches(name, count=6, size=16):
    for number in range(count):
        READ[name] += 1
        pairs = [sample(number * size + row) for row in range(size)]
        yield np.stack([x for x, _ in pairs]), np.stack([y for _, y in pairs])


def lists_of_batches():
    for x, y in batches("lists"):
        yield x.tolist(), y.tolist()


def part(number):
    def elements():
        for row in range(40):
            READ[f"part {number}"] += 1
            yield sample(1000 * number + row)

    return pg.data.Dataset.from_generator(elements).shuffle(40, seed=number)


def doubled(x, y):
    READ["map"] += 1
    return 2 * x, y


def compiled():
    model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(2)])
    model.compile(
        pg.optim.Adam(0.01),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        strategy=STRATEGY,
    )
    return model


def show(name, model, *values):
    print(name, [f"{value:.9g}" for value in model.get_weights()[0].ravel()[:6]], *values)


model = compiled()
stream = pg.data.Dataset.from_generator(lambda: batches("generator"))
for _ in range(2):
    model.fit(stream, epochs=2, verbose=0, validation_data=stream)
show("generator", model, model.evaluate(stream), model.predict(stream).sum())

model = compiled()
model.fit(batches("iterator", 9), steps_per_epoch=3, epochs=3, verbose=0)
show("iterator", model)

model = compiled()
model.fit(pg.data.Dataset.from_generator(lists_of_batches), epochs=1, verbose=0)
show("lists", model)

model = compiled()
arrays = [np.stack(each) for each in zip(*map(sample, range(96)), strict=True)]
mapped = pg.data.Dataset.from_tensor_slices(tuple(arrays)).batch(25).map(doubled).prefetch(2)
model.fit(mapped, epochs=2, verbose=0)  # the last batch is smaller
show("mapped", model)

model = compiled()
parted = pg.data.Dataset.from_parts(part, parts=PARTS, batch_size=16).prefetch(1)
model.fit(parted, epochs=2, verbose=0)
show("parts", model, model.evaluate(parted))

(FOLDER / f"read_{RANK}").write_text("\n".join(f"{name}: {READ[name]}" for name in sorted(READ)))
print("the end")
