"""Separate the spiral.

Two classes of points lie on two arms of a spiral. A straight line
cannot separate them; two layers of 16 units bend it until it follows
the arms. Below the curves, watch the plane take the colours of the
classes, and what each unit has found. Expect 97% accuracy on points
that it has never seen.
"""

import playgrad as pg
from playgrad import nn

# 600 points of the plane, and their classes 0 and 1. Try pg.data.xor, circle or gauss.
points, classes = pg.data.spiral(600, noise=0.03, seed=0)

model = pg.Sequential(
    [
        nn.Dense(16, activation="relu"),  # try 4 units, or "tanh"
        nn.Dense(16, activation="relu"),
        nn.Dense(2),  # a score for each class
    ]
)

model.compile(
    optimizer=pg.optim.Adam(learning_rate=0.02),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    points[:400],
    classes[:400],
    batch_size=50,
    epochs=45,
    verbose=0,
    validation_data=(points[400:], classes[400:]),
)
print(f"accuracy on new points {100 * history.history['val_accuracy'][-1]:.1f}%")
