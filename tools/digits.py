"""Train the network that reads a visitor's first digit: ``python -m tools.digits``.

The page answers a drawing at once, while Python is still loading, with a small forward pass in
JavaScript (``static/js/panels/watch/first-reader.js``). Its weights are made here, in about two
minutes. The images are moved, turned and scaled a little, because visitors write otherwise than
the clerks and pupils whose digits are in MNIST.
"""

from __future__ import annotations

from pathlib import Path

import playgrad as pg
from playgrad import nn

WEIGHTS = Path(__file__).parents[1] / "static" / "weights" / "digits.safetensors"
EPOCHS = 8
BATCH = 64
SAMPLES = 60_000
SEED = 1


def build() -> pg.Sequential:
    """Return the network, not trained yet. Its inputs are the pixels of MNIST, from 0 to 255."""
    pg.reset_default_graph(SEED)
    return pg.Sequential(
        [
            pg.Input((28, 28, 1)),
            nn.Rescaling(1 / 255),
            nn.RandomRotation(0.03),
            nn.RandomZoom(0.1),
            nn.RandomTranslation(0.07, 0.07),
            nn.Conv2D(8, 5, strides=2, activation="relu", name="conv_1"),
            nn.Conv2D(16, 5, strides=2, activation="relu", name="conv_2"),
            nn.Flatten(),
            nn.Dense(10, name="scores"),
        ]
    )


def main() -> None:
    """Train the network, say how often it is right on the test images, and save its weights."""
    (x, y), (x_test, y_test) = pg.data.mnist()
    model = build()
    rate = pg.optim.CosineDecay(0.003, decay_steps=EPOCHS * SAMPLES // BATCH)
    model.compile(
        optimizer=pg.optim.Adam(rate),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x[..., None], y, batch_size=BATCH, epochs=EPOCHS)
    print(model.evaluate(x_test[..., None], y_test))
    WEIGHTS.parent.mkdir(exist_ok=True)
    model.save_weights(WEIGHTS)


if __name__ == "__main__":
    main()
