"""Handwritten digits, a small network.

Trains a network with one hidden layer of 128 units on the 60,000
digits of MNIST, then tests it on 10,000 digits that it has never
seen. Expect 96% accuracy after one epoch.
"""

import playgrad as pg
from playgrad import nn

# Images of 28 x 28 bytes, and their labels: the digits 0 to 9.
(x_train, y_train), (x_test, y_test) = pg.data.mnist()

model = pg.Sequential(
    [
        nn.Rescaling(1 / 255),  # bytes to numbers from 0 to 1
        nn.Flatten(),  # 28 x 28 pixels to 784 inputs
        nn.Dense(128, activation="relu"),  # try 32 or 512 units
        nn.Dense(10),  # a score for each digit
    ]
)

model.compile(
    optimizer=pg.optim.Adam(learning_rate=0.003),
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
