"""A player of Connect Four that learns from its own games.

Nobody shows it a good move. The network plays against itself, 64 games
at a time, with a search of 32 lines before each move (Monte-Carlo tree
search, Silver et al. 2018), and learns from positions, searches and
results. Every five generations it plays a match against its best
version so far, whose Elo rating is plotted at the end. In Watch, play
against it while it learns. The other player here looks one move ahead.
"""

import playgrad as pg
from playgrad import games

GENERATIONS = 20  # more make it stronger

game = games.ConnectFour()
model = games.network(game, filters=32, blocks=1, optimizer=pg.optim.AdamW(0.003))
player = pg.SelfPlay(game, model, steps=100, explored_moves=8, searched_share=0.25)
me, other = player.player(simulations=64), games.OnePlyPlayer()

print(f"before training: {games.match(game, me, other, games=20)}")
player.fit(generations=GENERATIONS)
print(f"after training: {games.match(game, me, other, games=20)}")
if player.ratings:
    elo = [0.0, *(rating.elo for rating in player.ratings)]
    generations = [0, *(rating.generation for rating in player.ratings)]
    pg.plot(generations, elo, title="Elo rating", x_label="generation", y_label="Elo")
