"""A player of tic-tac-toe that searches, and learns from its own games.

The network plays against itself, 64 games at a time. Before each move
it searches: it follows promising lines, and rates the positions at
their ends (Monte-Carlo tree search, Silver et al. 2018). It then learns
to find the searched moves at once, and to foresee the results. Compare
`tic-tac-toe`, which learns without a search. Expect it to lose no game
any more, whatever the other player does. In Watch, play against it.
"""

import numpy as np

import playgrad as pg
from playgrad import games

GENERATIONS = 12

game = games.TicTacToe()
model = games.network(game, filters=32, blocks=1, optimizer=pg.optim.AdamW(0.005))
player = pg.SelfPlay(game, model, explored_moves=9, noise_share=0.5)


def lost(me, begins):
    """Return the games that ``me`` can lose, against every reply; it begins, or it does not."""
    states, count = [game.initial()], 0
    while states:
        if (states[0].player == 0) == begins:
            moves = [[action] for action in me.choose(game, states)]
        else:
            moves = [np.flatnonzero(game.legal(state)) for state in states]
        after = {game.play(s, a) for s, actions in zip(states, moves, strict=True) for a in actions}
        results = [game.result(state) for state in after]
        count += results.count(-1.0 if begins else 1.0)
        states = [state for state in after if game.result(state) is None]
    return count


me = player.player(simulations=200)
print(f"ways to lose before training: {lost(me, True) + lost(me, False)}")
player.fit(generations=GENERATIONS)
print(f"ways to lose after training: {lost(me, True) + lost(me, False)}")
result = games.match(game, me, games.RandomPlayer(), games=100)
print(f"against random moves: {result}")
