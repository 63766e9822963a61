"""A player of Go on five by five points, learnt from its own games.

The rules are those of Tromp and Taylor: stones without liberties are
captured, no position may come back, and who has the larger area wins.
The network plays against itself, 32 games at a time, with a search of
32 lines before each move (Monte-Carlo tree search, Silver et al. 2018),
and learns from positions, searches and results in all eight symmetries
of the board. Expect it to win all its games against random moves.
"""

import playgrad as pg
from playgrad import games

GENERATIONS = 8

game = games.Go(5)
model = games.network(game, filters=32, blocks=1, optimizer=pg.optim.AdamW(0.003))
player = pg.SelfPlay(game, model, simulations=32, games=32, gate_every=4, gate_games=16)
me, other = player.player(), games.RandomPlayer()

print(f"before training: {games.match(game, me, other, games=20)}")
player.fit(generations=GENERATIONS)
result = games.match(game, me, other, games=20)
print(f"after training: {result}")
print(f"won {100 * result.score:.0f}% against random moves")
state = game.replay(player.buffer.records[-1].actions)
pg.show(game.board(state), title="the end of its last game")
