"""One trained network before another.

A classifier has learnt from clean digits and fails on noisy ones. A
second network, trained apart, removes noise. Put the one before the
other and the classifier can read again, though it never saw noise.
Then both are trained as one network. Expect 40% on noisy digits,
73% behind the other network, and 82% trained together.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()
clean, labels = x_train[:6000].reshape(-1, 784) / np.float32(255), y_train[:6000]
unseen, truth = x_test[:1000].reshape(-1, 784) / np.float32(255), y_test[:1000]
random = np.random.default_rng(0)


def noisy(images):
    return (images + random.normal(0, 0.6, images.shape)).clip(0, 1).astype(np.float32)


sparse = nn.SparseCategoricalCrossentropy(from_logits=True)

inputs = pg.Input((784,))
restored = nn.Dense(784, activation="sigmoid")(nn.Dense(128, activation="relu")(inputs))
cleaner = pg.Model(inputs, restored, name="cleaner")
cleaner.compile(optimizer=pg.optim.Adam(0.003), loss="mse")
cleaner.fit(noisy(clean), clean, batch_size=64, epochs=3, verbose=0)

pixels = pg.Input((784,))
scores = nn.Dense(10)(nn.Dense(64, activation="relu")(pixels))
classifier = pg.Model(pixels, scores, name="classifier")
classifier.compile(optimizer=pg.optim.Adam(0.003), loss=sparse, metrics=["accuracy"])
classifier.fit(clean, labels, batch_size=64, epochs=3, verbose=0)

images = noisy(unseen)
alone = classifier.evaluate(images, truth, verbose=0)[1]
print(f"accuracy on noisy digits: {alone:.0%}")

# Models are called like layers, and keep their weights.
both = pg.Model(inputs, classifier(cleaner.outputs[0]))
both.compile(optimizer=pg.optim.Adam(0.001), loss=sparse, metrics=["accuracy"])
print(f"behind the cleaner: {both.evaluate(images, truth, verbose=0)[1]:.0%}")
both.fit(noisy(clean), labels, batch_size=64, epochs=3, verbose=0)
print(f"trained together: {both.evaluate(images, truth, verbose=0)[1]:.0%}")
