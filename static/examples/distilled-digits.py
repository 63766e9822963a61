"""A residual network teaches a plain one to read digits.

The teacher, a small residual network, has seen 20,000 digits. Its
scores say more than a label does: this 7 looks a little like a 1, and
not at all like a 0. A network without convolutions, which needs a
quarter of the multiplications, learns from 1,000 digits with them
(Hinton et al. 2015). Expect 91%; the same network gets 88% alone.
"""

import playgrad as pg
from playgrad import nn

(x, y), (x_test, y_test) = pg.data.mnist()
MANY, FEW = 20000, 1000


def convolution(x, filters, size=3, strides=2):
    x = nn.Conv2D(filters, size, strides, padding="same", use_bias=False)(x)
    return nn.BatchNormalization(momentum=0.9)(x)


def block(x, filters):
    """Halve the image; add the results to the input, as in the small residual network."""
    y = nn.ReLU()(convolution(x, filters))
    y = convolution(y, filters, strides=1)
    return nn.ReLU()(nn.Add()([convolution(x, filters, size=1), y]))


def fit(model, count, epochs, rate):
    """Train ``model`` with ``count`` digits; return its accuracy on new ones."""
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    steps = count * epochs // 50
    decay = pg.optim.ExponentialDecay(rate, steps, decay_rate=0.1)
    model.compile(pg.optim.Adam(decay), loss, metrics=["accuracy"])
    model.fit(x[:count], y[:count], batch_size=50, epochs=epochs, verbose=0)
    return model.evaluate(x_test, y_test)[1]


image = pg.Input((28, 28))
pixels = nn.Reshape((28, 28, 1))(nn.Rescaling(1 / 255)(image))
features = block(block(nn.ReLU()(convolution(pixels, 8)), 16), 32)
teacher = pg.Model(image, nn.Dense(10)(nn.GlobalAveragePooling2D()(features)))
print(f"teacher {fit(teacher, MANY, epochs=1, rate=0.01):.1%}")


def student():
    image = pg.Input((28, 28))
    hidden = nn.Dense(128, activation="relu")(nn.Flatten()(nn.Rescaling(1 / 255)(image)))
    return pg.Model(image, nn.Dense(10)(hidden))


print(f"student alone {fit(student(), FEW, epochs=20, rate=0.003):.1%}")

# A Distiller is a model that trains the student: a tenth of the loss is that of the labels, the
# rest is the distance from the teacher's probabilities. A temperature above 1 makes those softer,
# so that small ones count, too.
distiller = pg.Distiller(teacher, student(), temperature=4, alpha=0.1)
print(f"student with the teacher {fit(distiller, FEW, epochs=20, rate=0.003):.1%}")
