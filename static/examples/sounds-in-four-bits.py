"""Three sounds told apart by a network with weights of 4 bits.

A keyword spotter listens all day, so its network has to be tiny. This
one has 711 weights in convolutions along the time, and tells whether
a tone in noise falls, stays or rises. With 15 values for a weight a
file has 837 bytes of weights instead of 2,844. Expect 98% in float32,
94% with weights that are rounded after training, and 97% if training
goes on with rounded weights. How much is lost is a matter of luck:
with other initial weights, rounding afterwards cost only 0.5 points.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

LENGTH = 512
random = np.random.default_rng(0)
time = np.linspace(0, 1, LENGTH)


def sounds(count):
    """Tones in noise, (count, LENGTH, 1), and their kinds: 0 falls, 1 stays, 2 rises."""
    kinds = random.integers(0, 3, (count, 1))
    middle = random.uniform(25, 45, (count, 1))  # cycles per sound, half way through it
    change = random.uniform(10, 20, (count, 1)) * (kinds - 1)
    cycles = (middle - change / 2) * time + change / 2 * time**2
    tones = np.sin(2 * np.pi * (cycles + random.random((count, 1))))
    tones = tones + random.normal(0, 0.8, tones.shape)
    return tones[..., None].astype(np.float32), kinds[:, 0]


train, test = sounds(2000), sounds(1000)


def fit(model, rate, epochs):
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(rate), loss, metrics=["accuracy"])
    model.fit(*train, batch_size=32, epochs=epochs, verbose=0)


def accuracy(model):
    return model.evaluate(*test)[1]


model = pg.Sequential(
    [
        pg.Input((LENGTH, 1)),
        nn.Conv1D(6, 16, strides=4, activation="relu"),  # 6 filters of 16 samples
        nn.Conv1D(6, 8, strides=4, activation="relu"),  # each sees 44 samples
        nn.Conv1D(6, 8, strides=4, activation="relu"),  # each sees 156
        nn.GlobalAveragePooling1D(),  # wherever in the sound
        nn.Dense(3),
    ]
)
fit(model, rate=0.005, epochs=15)
print(f"float32: {accuracy(model):.1%}")

rounded = pg.quantize(model, train[0], weights="int4")
print(f"rounded to 4 bits: {accuracy(rounded):.1%}")

# In this copy each step computes with rounded weights and results, and improves those that are
# not: so the network learns to live with the rounding. quantize then gives what was trained.
aware = pg.quantization_aware(model, train[0], bits=4)
fit(aware, rate=0.001, epochs=3)
small = pg.quantize(aware)
print(f"trained with 4 bits: {accuracy(small):.1%}")
print(small.report())
