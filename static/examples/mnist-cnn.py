"""Handwritten digits, a convolutional network.

Two convolutional layers of small filters find strokes anywhere in the
image. With fewer weights than the small network, this one makes fewer
mistakes. Expect 98% accuracy after one epoch.
"""

import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()

model = pg.Sequential(
    [
        nn.Rescaling(1 / 255),
        nn.Reshape((28, 28, 1)),  # add one grey channel
        nn.Conv2D(8, 5, activation="relu"),  # 8 filters of 5 x 5 pixels
        nn.MaxPool2D(2),
        nn.Conv2D(16, 3, activation="relu"),  # 16 filters over 8 channels
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Dense(10),
    ]
)

# Decay the learning rate to a tenth in one epoch (938 batches of 64).
rate = pg.optim.ExponentialDecay(0.008, decay_steps=938, decay_rate=0.1)
model.compile(
    optimizer=pg.optim.Adam(rate),
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
