"""A program of your own.

Data, a network, how it learns: these lines are enough. Change what
you like and press Run; Blocks shows the same program as cards. The
editor knows the names: type "nn." or "pg.", or press Ctrl+I on one.
Expect 98% accuracy.
"""

import playgrad as pg
from playgrad import nn

x, y = pg.data.moons(400, noise=0.1, seed=0)

model = pg.Sequential(
    [
        nn.Dense(16, activation="tanh"),
        nn.Dense(2),
    ]
)
model.compile(
    optimizer=pg.optim.Adam(0.03),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=40, epochs=30)
