"""A network that is put together anew for each question.

"Is there a red one beside a circle?" becomes a small program,
exists(red and beside(circle)), whose functions are networks with
weights of their own (neural module networks, Andreas et al. 2016).
They learn from yes and no alone what is red, and what beside means.
`pg.Fold` computes equal modules of all questions together. Expect
95% right answers to new questions, and 90% to programs longer than
any that was trained.
"""

import numpy as np

import playgrad as pg
from playgrad import nn

SIDE, FEATURES, WORDS = 3, 12, ["red", "green", "blue", "circle", "hoop", "cross"]
random = np.random.default_rng(0)
looks = random.normal(size=(len(WORDS), FEATURES))
places = np.stack(np.divmod(np.arange(SIDE * SIDE), SIDE), axis=1)
near = np.abs(places[:, None] - places).sum(axis=2) == 1


def picture():
    """Return noisy features of each of 3 x 3 fields, and which words hold there: none if empty."""
    things = random.integers(3, size=(SIDE * SIDE, 2, 1)) == np.arange(3)
    words = things.reshape(-1, len(WORDS)) & (random.random((SIDE * SIDE, 1)) < 0.45)
    return (words @ looks + random.normal(0, 0.3, (SIDE * SIDE, FEATURES))), words


def question(depth):
    """Return a random program: a word, ("beside", program) or ("and", program, program)."""
    if depth == 0:
        return str(random.choice(WORDS))
    inner = question(depth - 1)
    return ("beside", inner) if random.random() < 0.5 else ("and", question(0), inner)


def fields(program, words):
    """Return the fields that a program finds, by the truth about the picture."""
    if isinstance(program, str):
        return words[:, WORDS.index(program)]
    parts = [fields(part, words) for part in program[1:]]
    return near @ parts[0] if program[0] == "beside" else parts[0] & parts[1]


class Modules(pg.Model):
    def __init__(self):
        super().__init__()
        self.finders = {word: nn.Dense(1, activation="sigmoid") for word in WORDS}
        self.neighbours, self.answer = nn.Dense(SIDE * SIDE), nn.Dense(2, activation="softmax")
        self.fold = pg.Fold(lambda *each: self.exists(self.found(*each)), inputs=1)

    @pg.batched
    def find(self, picture, word):
        return pg.squeeze(self.finders[word](picture), 2)

    @pg.batched
    def beside(self, found):
        return pg.sigmoid(self.neighbours(found * 4 - 2))

    @pg.batched
    def both(self, one, other):
        return one * other

    @pg.batched
    def exists(self, found):
        return self.answer(pg.max(found, 1, keepdims=True) * 4 - 2)

    def found(self, program, picture):
        if isinstance(program, str):
            return self.find(picture, program)
        parts = [self.found(part, picture) for part in program[1:]]
        return self.beside(*parts) if program[0] == "beside" else self.both(*parts)

    def call(self, inputs):
        return self.fold(*inputs)


def questions(count, depths):
    """Return programs, pictures, and whether there is a field that the program finds."""
    asked = [(question(int(random.choice(depths))), *picture()) for _ in range(count)]
    programs, features, words = zip(*asked, strict=True)
    answers = [fields(*each).any() for each in zip(programs, words, strict=True)]
    return programs, np.array(features, np.float32), np.array(answers, np.int32)


model = Modules()
programs, x, y = questions(4000, [0, 1, 2])
model.compile(pg.optim.Adam(0.01), "sparse_categorical_crossentropy", ["accuracy"])
model.fit([model.fold.read(programs), x], y, batch_size=50, epochs=15)

for depth in (2, 3):
    programs, x, y = questions(1000, [depth])
    answers = model.predict([model.fold.read(programs), x]).argmax(axis=1)
    print(f"accuracy {(answers == y).mean():.1%} with programs of depth {depth}")
