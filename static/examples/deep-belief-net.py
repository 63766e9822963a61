"""A deep belief net: three Boltzmann machines, one on top of the other.

A restricted Boltzmann machine learns, without labels, which features
make up its data: here digits, then the features of the features. It
is trained by contrastive divergence, in a loop of its own. The stack
then becomes a classifier, fine-tuned on only 100 labelled digits
(Hinton et al. 2006). Expect 69% accuracy; the same network without
the first part of the training gets 59%.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

UNITS, LABELLED, BATCH, EPOCHS = (256, 256, 256), 100, 50, 5
(x_train, y_train), (x_test, y_test) = pg.data.mnist()
digits = x_train[:3000].reshape(-1, 784).astype(np.float32) / 255
unseen, answers = x_test[:1000].reshape(-1, 784).astype(np.float32) / 255, y_test[:1000]
random = np.random.default_rng(0)


def pretrain(machine, data):
    """Train one machine on ``data``; return what its hidden units make of it."""
    optimizer = pg.optim.SGD(0.1, momentum=0.5)

    @pg.function
    def train(x):
        loss = machine.contrastive_divergence(x)
        optimizer.minimize(loss, list(machine.variables.values()))
        return pg.mean(pg.square(machine.reconstruct(x) - x))

    for _ in range(EPOCHS):
        order = random.permutation(len(data))
        batches = [data[order[i : i + BATCH]] for i in range(0, len(data), BATCH)]
        error = np.mean([train(batch) for batch in batches])
    print(f"{machine.units} units: error {error:.4f}, variance {data.var(axis=0).mean():.4f}")
    return pg.function(lambda x: machine(x))(data)


def accuracy(machines):
    """Put a classifier on top of ``machines``, and train it on the labelled digits."""
    hidden = image = pg.Input((784,))
    for machine in machines:
        hidden = machine(hidden)
    model = pg.Model(image, nn.Dense(10)(hidden))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(0.003), loss=loss, metrics=["accuracy"])
    model.fit(digits[:LABELLED], y_train[:LABELLED], batch_size=10, epochs=20, verbose=0)
    return model.evaluate(unseen, answers)[1]


machines = [nn.RestrictedBoltzmannMachine(units) for units in UNITS]
data = digits
for machine in machines:
    data = pretrain(machine, data)
print(f"accuracy with pre-training {accuracy(machines):.1%}")
machines = [nn.RestrictedBoltzmannMachine(units) for units in UNITS]
print(f"accuracy without {accuracy(machines):.1%}")
