"""LeNet, the first convolutional network that read digits.

LeNet-5 (LeCun et al. 1998) read the amounts on cheques. Two layers
of filters and averages, then three dense layers: little has changed
since, but for the softmax at its end. Expect 97% accuracy after one
epoch.
"""

import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()

model = pg.Sequential(
    [
        nn.Rescaling(1 / 255),
        nn.Reshape((28, 28, 1)),
        nn.Conv2D(6, 5, padding="same", activation="tanh"),  # (28, 28, 6)
        nn.AveragePooling2D(2),
        nn.Conv2D(16, 5, activation="tanh"),  # (10, 10, 16)
        nn.AveragePooling2D(2),
        nn.Flatten(),  # 400 numbers
        nn.Dense(120, activation="tanh"),
        nn.Dense(84, activation="tanh"),
        nn.Dense(10),
    ]
)

# Decay the learning rate to a tenth in one epoch (938 batches of 64).
rate = pg.optim.ExponentialDecay(0.004, decay_steps=938, decay_rate=0.1)
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
