"""A small residual network for digits.

Each block adds what it computes to its input (He et al. 2015), so
that gradients reach the first layers unchanged and depth does no
harm. Where a block halves the image, a convolution of one pixel
brings its input to the new shape. Expect 98.5% accuracy after one
epoch.
"""

import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()


def convolution(x, filters, size=3, strides=1):
    """A convolution whose results have mean 0 and deviation 1 in each batch."""
    x = nn.Conv2D(filters, size, strides, padding="same", use_bias=False)(x)
    return nn.BatchNormalization(momentum=0.9)(x)


def block(x, filters, strides=1):
    shortcut = x if strides == 1 else convolution(x, filters, size=1, strides=strides)
    y = nn.ReLU()(convolution(x, filters, strides=strides))
    y = convolution(y, filters)
    return nn.ReLU()(nn.Add()([shortcut, y]))


image = pg.Input((28, 28))
x = nn.Reshape((28, 28, 1))(nn.Rescaling(1 / 255)(image))
x = nn.ReLU()(convolution(x, 8, strides=2))
x = block(x, 8)  # (14, 14, 8)
x = block(x, 16, strides=2)  # (7, 7, 16)
x = block(x, 32, strides=2)  # (4, 4, 32)
model = pg.Model(image, nn.Dense(10)(nn.GlobalAveragePooling2D()(x)))

# Decay the learning rate to a tenth in one epoch (938 batches of 64).
rate = pg.optim.ExponentialDecay(0.01, decay_steps=938, decay_rate=0.1)
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
