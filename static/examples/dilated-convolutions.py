"""Dilated convolutions that predict a sound.

The sound is two tones and a little noise. Each layer looks twice as
far back as the one below it, 1, 2, 4, 8 and 16 samples, so that five
small layers see 32 samples (van den Oord et al. 2016, WaveNet). With
causal padding no layer sees the future. Expect an error of 1% of the
sound's power; repeating the last sample is off by 18%.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

LENGTH = 128
random = np.random.default_rng(0)
time = np.arange(LENGTH + 1) / 8000  # seconds


def sounds(count):
    """Sounds of two tones, (count, LENGTH + 1, 1), with a mean power of 1."""
    hertz = random.uniform(200, 900, (count, 2, 1))
    phase = random.uniform(0, 2 * np.pi, (count, 2, 1))
    tones = np.sin(2 * np.pi * hertz * time + phase).sum(axis=1)
    return (tones + random.normal(0, 0.03, tones.shape)).astype(np.float32)[..., None]


train, test = sounds(320), sounds(64)
layers = [
    nn.Conv1D(16, 2, padding="causal", dilation_rate=2**i, activation="tanh") for i in range(5)
]
model = pg.Sequential([pg.Input((LENGTH, 1)), *layers, nn.Conv1D(1, 1)])
model.compile(optimizer=pg.optim.Adam(0.01), loss="mse")
model.fit(train[:, :-1], train[:, 1:], batch_size=32, epochs=15, verbose=0)

# The first 32 samples of a sound are predicted from less than the network could see.
predicted, truth = model.predict(test[:, :-1])[:, 32:], test[:, 33:]
error = ((predicted - truth) ** 2).mean()
repeated = ((test[:, 32:-1] - truth) ** 2).mean()
print(f"error {error:.1%} of the power; repeating the last sample {repeated:.1%}")
