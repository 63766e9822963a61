"""Separate the spiral.

Two classes of points lie on two arms of a spiral. A straight line
cannot separate them; two layers of 16 units bend it until it follows
the arms. Watch the plane take the colours of the classes, and beside
it what each unit has found. Expect 99% accuracy on points that it has
never seen.
"""

import playgrad as pg
from playgrad import nn

# 500 points of the plane, and their classes 0 and 1: four fifths to train, the others to test.
# Try pg.data.xor, circle, moons or gauss.
(points, classes), new = pg.data.spiral(500, noise=0.03, seed=0, ratio=0.8)

model = pg.Sequential(
    [
        nn.Dense(16, activation="relu"),  # try 4 units, or "tanh"
        nn.Dense(16, activation="relu"),
        nn.Dense(2),  # a score for each class
    ]
)

model.compile(
    optimizer=pg.optim.Adam(learning_rate=0.04),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    points,
    classes,
    batch_size=100,
    epochs=45,
    verbose=0,
    validation_data=new,
)
print(f"accuracy on new points {100 * history.history['val_accuracy'][-1]:.1f}%")
