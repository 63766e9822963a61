"""Learning rates that fall, in a race.

The same network learns the same digits four times; only the learning
rate over time differs. One that is high enough to be quick is too
high to settle. Runs shows the four beside each other. Expect 93% with
the constant rate, and 93.5 to 94.5% with those that fall.
"""

import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()
x, y = x_train[:5000], y_train[:5000]
EPOCHS, BATCH = 5, 50
STEPS = EPOCHS * len(x) // BATCH

SCHEDULES = {
    "constant": 0.01,
    "exponential": pg.optim.ExponentialDecay(0.01, decay_steps=STEPS, decay_rate=0.02),
    "cosine": pg.optim.CosineDecay(0.01, decay_steps=STEPS),
    "one cycle": pg.optim.OneCycle(0.01, STEPS),
}

for name, rate in SCHEDULES.items():
    pg.reset_default_graph(0)  # the same initial weights for all
    model = pg.Sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Flatten(),
            nn.Dense(64, activation="relu"),
            nn.Dense(10),
        ]
    )
    model.compile(
        optimizer=pg.optim.Adam(rate),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
    print(f"{name:12} test accuracy {accuracy:.1%}, loss {loss:.4f}")
