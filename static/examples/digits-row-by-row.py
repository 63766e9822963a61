"""Handwritten digits, read row by row.

A recurrent network sees one row of 28 pixels at a time, from top to
bottom, and never the whole image. What it remembers after the last
row, 64 numbers, says which digit it was. Expect 70% accuracy after
the first 60 batches; an epoch has 938.
"""

import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()

model = pg.Sequential(
    [
        nn.Rescaling(1 / 255),  # (28, 28): 28 steps of 28 pixels
        nn.LSTM(64),
        nn.Dense(10),
    ]
)

# The same weights are used 28 times, so gradients may become large:
# clip them to a length of 1.
model.compile(
    optimizer=pg.optim.Adam(0.005, global_clipnorm=1.0),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=1,
    validation_data=(x_test, y_test),
)
