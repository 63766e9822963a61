"""Handwritten digits in 12 KB, for a chip without floating-point numbers.

A small convolutional network learns to read digits in float32. Then
its weights and the results of its layers become integers of 8 bits: a
quarter of the bytes, and arithmetic that every microcontroller has.
Expect 98% accuracy before and after. Compiled from C, the network and
its weights take less than 12 KB.
"""

import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()

model = pg.Sequential(
    [
        pg.Input((28, 28), dtype="uint8"),  # bytes, as a camera delivers them
        nn.Rescaling(1 / 255),
        nn.Reshape((28, 28, 1)),
        # Strides of 2 halve the image, so that there is less to compute and to keep.
        nn.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
        nn.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        nn.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        nn.Flatten(),
        nn.Dense(10),  # 8,578 weights in all
    ]
)
# Decay the learning rate to a tenth in one epoch (938 batches of 64).
rate = pg.optim.ExponentialDecay(0.01, decay_steps=938, decay_rate=0.1)
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(rate), loss, metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=64, epochs=1)

# A few hundred digits show how large the results of each layer become: their range is divided
# into 255 steps. Digits that the network has not seen show what the rounding costs. NumPy computes
# no faster with integers, but a chip without floating-point numbers does.
small = pg.quantize(model, x_train[:500])
print(small.report(test_data=(x_test, y_test), latency=True))

# Take the network away as a C file: choose int8 in the page's tab Shrink and save it as C.
# Or, outside of the page, write small.export("digits.c").
