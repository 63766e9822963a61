"""A graph network for graphs that do not fit: it samples neighbours.

A graph convolution over 3,000 made-up papers would need all of them
for each step. Here, a step takes 50 papers, five random neighbours of
each, and five neighbours of every neighbour (GraphSAGE, Hamilton et
al. 2017): the cost of a step does not depend on the size of the graph.
Expect 97% accuracy, against 89% from the words of the papers alone.
"""

from itertools import pairwise

import numpy as np

import playgrad as pg
from playgrad import nn

PAPERS, TOPICS, WORDS, LABELLED, BATCH, SAMPLES = 3000, 3, 60, 300, 50, 5
random = np.random.default_rng(0)
topics = random.integers(0, TOPICS, PAPERS).astype(np.int32)
words = np.zeros((PAPERS, WORDS), np.float32)
neighbours = [[paper] for paper in range(PAPERS)]
of_topic = [np.flatnonzero(topics == topic) for topic in range(TOPICS)]
for paper, topic in enumerate(topics):
    words[paper, random.integers(0, WORDS, 6)] = 1  # words that any paper uses
    words[paper, random.integers(0, 20, 4) + 20 * topic] = 1  # words of the topic
    for _ in range(4):
        other = random.choice(of_topic[topic] if random.random() < 0.85 else PAPERS)
        neighbours[paper].append(other)
        neighbours[other].append(paper)
counts = np.array([len(some) for some in neighbours])
table = np.zeros((PAPERS, counts.max()), np.int32)
for paper, some in enumerate(neighbours):
    table[paper, : len(some)] = some


def sampled(papers):
    """Return SAMPLES neighbours of each paper: (..., SAMPLES)."""
    picks = random.random((*papers.shape, SAMPLES)) * counts[papers][..., None]
    return table[papers[..., None], picks.astype(int)]


def network(hops):
    """A model of the words of papers, of their neighbours, and of the neighbours of those."""
    inputs = [pg.Input((WORDS,)), pg.Input((SAMPLES, WORDS)), pg.Input((SAMPLES, SAMPLES, WORDS))]
    own, around = nn.Dense(32), nn.Dense(32)
    states = inputs
    for _ in range(hops):  # each hop uses up the outermost neighbours
        pairs = pairwise(states)
        states = [pg.relu(own(x) + around(pg.mean(y, axis=-2))) for x, y in pairs]
        own, around = nn.Dense(16), nn.Dense(16)
    return pg.Model(inputs, nn.Dense(TOPICS)(pg.relu(own(states[0]))))


def batch(papers):
    near = sampled(papers)
    return [words[papers], words[near], words[sampled(near)]]


def accuracy(hops):
    """Train on some papers; return the accuracy on the others."""
    model = network(hops)
    optimizer = pg.optim.AdamW(0.01, weight_decay=0.01)
    loss_of = nn.SparseCategoricalCrossentropy(from_logits=True)

    @pg.function(model)
    def train(own, near, far, labels):
        loss = pg.mean(loss_of(labels, model([own, near, far], training=True)))
        optimizer.minimize(loss, model.trainable_variables)
        return loss

    for _ in range(100):
        papers = random.choice(LABELLED, BATCH, replace=False)
        train(*batch(papers), topics[papers])
    papers = np.arange(LABELLED, PAPERS)
    return (model.predict(batch(papers)).argmax(axis=1) == topics[papers]).mean()


print(f"accuracy without neighbours {accuracy(0):.1%}")
print(f"accuracy with neighbours {accuracy(2):.1%}")
