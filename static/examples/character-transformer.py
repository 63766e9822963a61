"""A transformer that writes text.

Two blocks of attention learn to predict the next character of a
nursery rhyme from the 16 characters before it. The embedding's table
is the output layer too. The trained network then writes the rhyme by
itself, one character after the other. Expect 92% accuracy.
"""

import playgrad as pg
from playgrad import nn

TEXT = """This is the maiden all forlorn,
that milked the cow with the crumpled horn,
that tossed the dog, that worried the cat,
that killed the rat, that ate the malt,
that lay in the house that Jack built.
"""
LENGTH, WIDTH = 16, 32

vocabulary = pg.data.Vocabulary(TEXT)
x, y = vocabulary.windows(TEXT, LENGTH)  # y: the next character of each

tokens = pg.Input((LENGTH,), dtype="int32")
embedding = nn.Embedding(len(vocabulary), WIDTH)
h = embedding(tokens)
h = nn.Add()([h, nn.PositionEmbedding(LENGTH)(h)])
for _ in range(2):
    h = nn.TransformerDecoder(4 * WIDTH, num_heads=4, activation="gelu", normalize_first=True)(h)
h = nn.LayerNormalization()(h)
model = pg.Model(tokens, pg.matmul(h, embedding.variables["embeddings"], transpose_b=True))

model.compile(
    optimizer=pg.optim.AdamW(0.005),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=32, epochs=45, verbose=0)
print(f"accuracy {model.evaluate(x, y, verbose=0)[1]:.1%}")

written = pg.generate(model, vocabulary.encode(TEXT[:12]), 80, temperature=0)
print(vocabulary.decode(written))
