"""Weights from elsewhere, fine-tuned.

A network has learnt the digits 0 to 4, and its weights were saved. A
second one takes them over and learns the digits 5 to 9 from only 20
images: its old layers stay frozen, only the new last one learns.
Expect about 70%; a network that starts from nothing reaches 60%.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

(x, y), (x_test, y_test) = pg.data.mnist()
x, x_test = x[..., None] / np.float32(255), x_test[..., None] / np.float32(255)
low, few = y < 5, np.flatnonzero(y >= 5)[:20]
high = y_test >= 5


def network(name):
    return pg.Sequential(
        [
            pg.Input((28, 28, 1)),
            nn.Conv2D(8, 5, strides=2, activation="relu", name="strokes"),
            nn.Conv2D(16, 5, strides=2, activation="relu", name="shapes"),
            nn.Flatten(),
            nn.Dense(5, name=name),
        ]
    )


def fit(model, rate, images, labels, epochs):
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(rate), loss, metrics=["accuracy"])
    model.fit(images, labels, batch_size=32, epochs=epochs, verbose=0)


def accuracy(model):
    return model.evaluate(x_test[high], y_test[high] - 5, verbose=0)[1]


elsewhere = network("low_digits")
fit(elsewhere, 0.003, x[low], y[low], epochs=2)
saved = elsewhere.named_weights()

tuned = network("high_digits")
tuned.set_weights(tuned.named_weights() | {k: v for k, v in saved.items() if "low_" not in k})
for layer in tuned.layers[:-1]:
    layer.trainable = False
fit(tuned, 0.01, x[few], y[few] - 5, epochs=30)
print(f"with layers from elsewhere: {accuracy(tuned):.0%}")

fresh = network("high_digits")
fit(fresh, 0.003, x[few], y[few] - 5, epochs=60)
print(f"from nothing: {accuracy(fresh):.0%}")
