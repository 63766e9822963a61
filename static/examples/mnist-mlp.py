"""Handwritten digits, a small network.

Learns to read the 60,000 digits of MNIST with one hidden layer of 128
units, and is tested on 10,000 that it has never seen. Expect 96% after
one epoch.
"""

import playgrad as pg
from playgrad import nn

# Images are 28 x 28 bytes, labels the digits 0 to 9.
(x_train, y_train), (x_test, y_test) = pg.data.mnist()

model = pg.Sequential(
    [
        nn.Rescaling(1 / 255),  # bytes 0..255 to numbers 0..1
        nn.Flatten(),  # 28 x 28 pixels to 784 numbers
        nn.Dense(128, activation="relu"),  # try 32 units, or 512
        nn.Dense(10),  # one score for each digit
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
