"""A network that colours shapes, pixel by pixel.

Discs and squares of several sizes lie in noisy images. The network
has convolutions only (Long et al. 2015): it halves the image twice to
see whole shapes, doubles it again, and adds the fine detail from
before. Its answer is a class for each pixel: ground, disc or square.
Expect an overlap of 98% of the union of answer and truth.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

SIZE, CLASSES = 24, 3
random = np.random.default_rng(0)
rows, columns = np.mgrid[:SIZE, :SIZE]


def pictures(count):
    """Images (count, SIZE, SIZE, 1) and the class of each pixel."""
    labels = np.zeros((count, SIZE, SIZE), np.int32)
    for label in labels:
        for shape, left in ((1, 0), (2, SIZE // 2)):
            radius = random.uniform(3, 5.5)
            y, x = random.uniform(6, SIZE - 6), left + random.uniform(5, 7)
            far = np.stack([rows - y, columns - x])
            distance = np.hypot(*far) if shape == 1 else np.abs(far).max(axis=0)
            label[distance < radius] = shape
        if random.random() < 0.5:
            label[:] = label[:, ::-1]
    images = (labels > 0) + random.normal(0, 0.2, labels.shape)
    return images[..., None].astype(np.float32), labels


def convolution(filters):
    return nn.Conv2D(filters, 3, padding="same", activation="relu")


image = pg.Input((SIZE, SIZE, 1))
fine = convolution(8)(image)
coarse = convolution(16)(nn.MaxPooling2D(2)(fine))
coarse = convolution(16)(convolution(32)(nn.MaxPooling2D(2)(coarse)))
joined = nn.Concatenate()([fine, nn.UpSampling2D(4)(coarse)])
model = pg.Model(image, nn.Conv2D(CLASSES, 3, padding="same")(joined))
model.compile(
    optimizer=pg.optim.Adam(0.01),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
x, y = pictures(400)
model.fit(x, y, batch_size=10, epochs=5, verbose=0)

x, y = pictures(50)
guess = model.predict(x).argmax(axis=-1)
for name, value in (("disc", 1), ("square", 2)):
    a, b = guess == value, y == value
    print(f"{name}: the overlap is {(a & b).sum() / (a | b).sum():.0%} of the union")
