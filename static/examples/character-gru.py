"""A recurrent network that writes text.

A gated recurrent unit reads a counting rhyme, one character at a
time, and predicts the next one from what it remembers. Trained, it
recites the rhyme from its first letters. Expect 94% accuracy: the
first letters of a stretch do not say where in the rhyme it begins.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

TEXT = """One, two, buckle my shoe;
three, four, knock at the door;
five, six, pick up sticks;
seven, eight, lay them straight;
nine, ten, a big fat hen.
"""
LENGTH = 16

letters = sorted(set(TEXT))
codes = np.array([letters.index(letter) for letter in TEXT], np.int32)
starts = np.arange(len(codes) - LENGTH)
x = codes[starts[:, None] + np.arange(LENGTH)]
y = codes[starts[:, None] + np.arange(LENGTH) + 1]  # the next character of each

model = pg.Sequential(
    [
        pg.Input((LENGTH,), dtype="int32"),
        nn.Embedding(len(letters), 16),
        nn.GRU(64, return_sequences=True),
        nn.Dense(len(letters)),
    ]
)
model.compile(
    optimizer=pg.optim.Adam(0.02, global_clipnorm=1.0),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=32, epochs=20, verbose=0)
print(f"accuracy {model.evaluate(x, y)[1]:.1%}")

written = pg.generate(model, codes[:10], 60, temperature=0)
print("".join(letters[code] for code in written))
