"""A network that reads captchas, without knowing where the digits are.

Three or four handwritten digits touch each other, shifted, crossed
out and noisy. Convolutions describe each of 12 columns, an LSTM in
both directions looks at the columns beside it, and the CTC loss
(Graves et al. 2006) finds out by itself which columns belong to which
digit. Expect 82% of unseen captchas to be read without a mistake.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

HEIGHT, WIDTH, DIGITS = 16, 48, 4
random = np.random.default_rng(0)


def captchas(count, digits, labels):
    """Images (count, HEIGHT, WIDTH, 1), and the digits of each plus 1, then zeros."""
    small = digits.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) / 255
    images = random.normal(0, 0.05, (count, HEIGHT, WIDTH)).astype(np.float32)
    y = np.zeros((count, DIGITS), np.int32)
    for image, numbers in zip(images, y, strict=True):
        left = random.integers(0, 2)
        for place in range(random.integers(DIGITS - 1, DIGITS + 1)):
            choice, top = random.integers(len(small)), random.integers(0, 3)
            image[top : top + 14, left : left + 14] += small[choice]
            numbers[place] = labels[choice] + 1  # 0 is the blank of CTC
            left += random.integers(9, 12)
        start, end = random.uniform(0, HEIGHT - 1, 2)
        line = np.linspace(start, end, WIDTH).round().astype(int)
        image[line, np.arange(WIDTH)] += 0.5
    return images[..., None], y


h = image = pg.Input((HEIGHT, WIDTH, 1))
for filters in (16, 32):
    h = nn.Conv2D(filters, 3, padding="same", use_bias=False)(h)
    h = nn.MaxPooling2D(2)(nn.ReLU()(nn.BatchNormalization(momentum=0.9)(h)))
h = nn.Reshape((WIDTH // 4, 4 * 32))(nn.Permute((2, 1, 3))(h))  # from (4, 12, 32)
h = nn.Bidirectional(nn.LSTM(48, return_sequences=True))(h)
scores = nn.Dense(11)(h)  # of the blank and ten digits, for each column
model = pg.Model(image, scores)
rate = pg.optim.ExponentialDecay(0.01, decay_steps=640, decay_rate=0.1)
model.compile(optimizer=pg.optim.Adam(rate, global_clipnorm=1.0), loss=nn.CTC())

(x_train, y_train), (x_test, y_test) = pg.data.mnist()
x, y = captchas(8000, x_train, y_train)
model.fit(x, y, batch_size=50, epochs=4, verbose=0)

x, y = captchas(400, x_test, y_test)
reader = pg.Model(image, pg.ctc_greedy_decode(scores))
read = reader.predict(x)  # (400, 12): the labels of each, then -1
truth = np.full_like(read, -1)
truth[:, :DIGITS] = np.where(y > 0, y, -1)
for rows in zip(truth[:5], read[:5], strict=True):
    digits, answer = ("".join(str(label - 1) for label in row if label > 0) for row in rows)
    print(f"{digits} read as {answer}")
print(f"{(read == truth).all(axis=1).mean():.1%} of the captchas are read right")
