"""One network for letters and digits.

Capital letters come from a small font, each drawn anew: larger or
smaller, slanted, shifted and noisy. Digits are handwritten (MNIST).
The network has 36 classes. It can tell O from 0 and I from 1, but
only because printed and handwritten strokes differ. Expect 99%
accuracy on unseen letters and 94% on unseen digits.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

# Seven rows of five dots for each letter, a row being a number in base 32.
FONT = """EHHVHHH UHHUHHU EHGGGHE UHHHHHU VGGUGGV VGGUGGG EHGNHHE HHHVHHH E44444E 72222IC HIKOKIH
GGGGGGV HRLLHHH HPLJHHH EHHHHHE UHHUGGG EHHHLID UHHUKIH FGGE11U V444444 HHHHHHE HHHHHA4 HHHLLRH
HHA4AHH HHA4444 V1248GV"""
NAMES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
bits = [[[int(row, 32) >> 4 - i & 1 for i in range(5)] for row in rows] for rows in FONT.split()]
font = np.array(bits, np.float32)  # (26, 7, 5)
random = np.random.default_rng(0)


def letters(count):
    """Images (count, 14, 14) from 0 to 1, and their classes, 10 to 35."""
    classes = random.integers(0, 26, count)

    def uniform(low, high):
        return random.uniform(low, high, (count, 1, 1))

    # Where in the font each pixel looks, and how near that is to each row and column of dots.
    y, x = np.mgrid[:14, :14] - 6.5
    rows = 3 + (y + uniform(-1, 1)) * uniform(0.5, 0.8)
    columns = 2 + (x + uniform(-1, 1)) * uniform(0.4, 0.7) + y * uniform(-0.2, 0.2)
    near_row = (1 - abs(rows[..., None] - np.arange(7))).clip(0)
    near_column = (1 - abs(columns[..., None] - np.arange(5))).clip(0)
    return np.einsum("nyxr,nyxc,nrc->nyx", near_row, near_column, font[classes]), classes + 10


def characters(digits, labels, count):
    """The digits, at half their size, and ``count`` letters, with noise on all."""
    small = digits.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) / 255
    images, classes = letters(count)
    x = np.concatenate([small, images])[..., None]
    return x + random.normal(0, 0.1, x.shape), np.concatenate([labels, classes])


(x_train, y_train), (x_test, y_test) = pg.data.mnist()
x, y = characters(x_train[:6000], y_train[:6000], 6000)

model = pg.Sequential(
    [
        nn.Conv2D(16, 3, activation="relu"),  # (12, 12, 16)
        nn.MaxPooling2D(2),
        nn.Conv2D(32, 3, activation="relu"),  # (4, 4, 32)
        nn.Flatten(),
        nn.Dense(64, activation="relu"),
        nn.Dense(36),
    ]
)
model.compile(
    optimizer=pg.optim.Adam(0.003),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=50, epochs=4, verbose=0)

x, y = characters(x_test[:1000], y_test[:1000], 1000)
guess = model.predict(x).argmax(axis=-1)
for what, part in (("digits", y < 10), ("letters", y >= 10)):
    print(f"{(guess == y)[part].mean():.1%} of the {what} are right")
wrong, counts = np.unique(np.stack([y, guess])[:, guess != y], axis=1, return_counts=True)
for i in np.argsort(-counts, kind="stable")[:4]:
    print(f"{NAMES[wrong[0, i]]} read as {NAMES[wrong[1, i]]}: {counts[i]} times")
