"""Coloured shapes, a convolutional network.

Small colour images of six shapes, made by a program: of any colour and
size, anywhere, turned in any direction. A dense network learns next to
nothing of them; filters that slide over the image find edges and
corners wherever they are. Expect 82% accuracy.
"""

import playgrad as pg
from playgrad import nn

# Images of 24 x 24 pixels in red, green and blue.
(x_train, y_train), (x_test, y_test) = pg.data.shapes(4000, size=24, seed=0)
print(", ".join(pg.data.class_names("shapes")))

model = pg.Sequential(
    [
        nn.Rescaling(1 / 255),
        nn.Conv2D(12, 3),  # 12 filters of 3 x 3 pixels in three colours
        nn.BatchNormalization(momentum=0.9),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(24, 3),
        nn.BatchNormalization(momentum=0.9),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Dense(6),  # a score for each shape
    ]
)

model.compile(
    optimizer=pg.optim.Adam(learning_rate=0.005),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(
    x_train,
    y_train,
    batch_size=32,
    epochs=6,
    validation_data=(x_test, y_test),
)
