"""A variational autoencoder that draws new digits.

The encoder turns an image into a cloud of codes, 8 means and 8
deviations; the decoder draws the image from a code out of the cloud
(Kingma and Welling 2014). The loss pulls the clouds towards the
normal distribution, so that codes drawn from it give new digits.
Expect 125 nats per image, and that 8 numbers restore 61% of what
tells an unseen image from the mean image.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

CODES = 8
(x_train, _), (x_test, _) = pg.data.mnist()
digits = x_train[:10000].reshape(-1, 784).astype(np.float32) / 255
unseen = x_test[:500].reshape(-1, 784).astype(np.float32) / 255

image = pg.Input((784,))
h = nn.Dense(256, activation="relu")(image)
mean = nn.Dense(CODES)(h)
log_variance = nn.Dense(CODES)(h)
# The noise is a factor beside the weights, so that gradients pass (reparametrization).
noise = nn.GaussianNoise(1.0)(pg.zeros_like(mean))
code = mean + pg.exp(log_variance / 2) * noise
decoder = [nn.Dense(256, activation="relu"), nn.Dense(784)]


def draw(code):
    """The logits of the pixels, (batch, 784), of codes (batch, CODES)."""
    for layer in decoder:
        code = layer(code)
    return code


def divergence(_, cloud):
    """The Kullback-Leibler divergence of the clouds from the normal distribution, in nats."""
    mean, log_variance = pg.split(cloud, 2, axis=1)
    return pg.sum(pg.exp(log_variance) + pg.square(mean) - 1 - log_variance, axis=1) / 2


cloud = pg.concat([mean, log_variance], axis=1)
model = pg.Model(image, [draw(code), cloud])
model.compile(
    optimizer=pg.optim.Adam(0.002),
    loss=[nn.BinaryCrossentropy(from_logits=True), divergence],
    loss_weights=[784, 1],  # the cross-entropy is the mean over 784 pixels
)
history = model.fit(
    digits, [digits, np.zeros((len(digits), 2 * CODES))], batch_size=64, epochs=8, verbose=0
)
print(f"{history.history['loss'][-1]:.0f} nats per image")

restored = 1 / (1 + np.exp(-model.predict(unseen)[0]))
variance = ((unseen - digits.mean(axis=0)) ** 2).mean()
print(f"{1 - ((unseen - restored) ** 2).mean() / variance:.0%} of the variance restored")

codes = pg.Input((CODES,))
artist = pg.Model(codes, draw(codes))
new = artist.predict(np.random.default_rng(0).normal(size=(5, CODES)))
for row in np.hstack(new.reshape(5, 28, 28)[:, 4:26:2, 4:24]):  # every other row
    print("".join(" .:*#"[int(4 / (1 + np.exp(-logit)) + 0.5)] for logit in row))
