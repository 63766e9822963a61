"""Monte-Carlo tree search with a network (PUCT), for many positions at once.

Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play", Science 362 (2018). A walk goes down a tree of moves, to those with good results so far
and those that the network's policy suggests; the position at its end is evaluated by the network,
and the value counts for all moves on the way. The trees of many games grow in step, so that the
network evaluates their new positions in one run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import GameError
from playgrad.games.arguments import number, whole_number
from playgrad.games.evaluator import Evaluate
from playgrad.games.protocol import Game, State
from playgrad.games.tree import Trees, masked_priors

Array = np.ndarray[Any, Any]
EXPLORATION = 1.5
"""The weight of the policy against results in PUCT."""
MOST_SIMULATIONS = 10_000
MOST_EXPLORATION = 100
MOST_BYTES = 1 << 30
"""The most memory of the trees of one search."""


@dataclass(frozen=True, eq=False)
class NodeEdges:
    """What a search has learned of the actions of one node: see `SearchResult`."""

    prior: Array
    visits: Array
    q: Array


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search has learned of a position.

    Attributes:
        prior: float32 (actions,), the network's policy; 0 where not legal.
        visits: int (actions,), the walks through each action, which sum to the simulations.
        q: float32 (actions,), the mean result of each action for the player to move, from -1 to 1;
            NaN for actions without a visit.
        value: the mean result for the player to move.
        line: the moves that both players visited most.
        trees, tree: the trees of the search, and the number of this one.
    """

    prior: Array
    visits: Array
    q: Array
    value: float
    line: list[int]
    trees: Trees
    tree: int

    def after(self, actions: Sequence[int]) -> NodeEdges | None:
        """Return what the search has learned of the replies to ``actions``; None if nothing."""
        node = 0
        for action in actions:
            node = int(self.trees.children[self.tree, node, action])
            if node < 0:
                return None
        prior, visits, q = self.trees.edges(self.tree, node)
        return NodeEdges(prior, visits, q) if visits.any() else None

    @property
    def best(self) -> int:
        """The action with the most visits; of several, that with the best result."""
        return _most_visited(self.prior, self.visits, self.q)


def _most_visited(prior: Array, visits: Array, q: Array) -> int:
    """Return the action with the most visits; of several, that with the best result."""
    return int(np.lexsort((prior, np.nan_to_num(q, nan=-2.0), visits))[-1])


@dataclass(frozen=True)
class RootNoise:
    """Noise on the priors of roots, which makes games differ.

    Attributes:
        share: of the priors that is replaced.
        concentration: the sum of the parameters of the Dirichlet distribution, which the legal
            actions divide equally.
        randoms: a generator for each root.
    """

    share: float
    concentration: float
    randoms: Sequence[np.random.Generator]

    def on(self, priors: Array) -> Array:
        """Return priors (roots, actions) with noise."""
        noisy = priors.copy()
        for row, random in zip(noisy, self.randoms, strict=True):
            legal = np.flatnonzero(np.isfinite(row))
            noise = random.dirichlet(np.full(len(legal), self.concentration / len(legal)))
            row[legal] = (1 - self.share) * row[legal] + self.share * noise
        return noisy


def search(
    game: Game[Any],
    roots: Sequence[State],
    evaluate: Evaluate,
    simulations: int,
    exploration: float = EXPLORATION,
    noise: RootNoise | None = None,
    attend: Callable[[], None] = lambda: None,
    enough: Callable[[], bool] = lambda: False,
) -> list[SearchResult]:
    """Search from each of ``roots``, as if it were alone.

    Args:
        evaluate: evaluates planes.
        simulations: the walks from each root.
        exploration: the weight of the policy against results.
        noise: noise on the priors of the roots.
        attend: is called before each evaluation; what it raises ends the search.
        enough: is asked after each walk; True ends the search with the walks so far.

    Raises:
        GameError: a game has ended, the trees would be too large, an argument is not valid, or
            what ``evaluate`` returns is not finite or has another shape.
    """
    exploration = number("exploration", exploration, 0, MOST_EXPLORATION)
    simulations = whole_number("simulations", simulations, 1, MOST_SIMULATIONS)
    if not roots:
        return []
    if any(game.result(root) is not None for root in roots):
        raise GameError(f"a game of {game.name} has ended: there is no move to search for.")
    nodes = simulations + 1
    if len(roots) * nodes * game.actions * 16 > MOST_BYTES:
        raise GameError(
            f"{len(roots)} trees of {nodes} nodes with {game.actions} actions take more than "
            f"{MOST_BYTES >> 20} MiB.",
            hint="Use fewer simulations, or fewer games at once.",
        )
    trees = Trees(len(roots), nodes, game.actions, exploration)
    states: list[list[State]] = [[root] for root in roots]
    trees.players[:, 0] = [root.player for root in roots]
    attend()
    priors, values = evaluated(game, roots, evaluate)
    everything, first = np.arange(len(roots)), np.zeros(len(roots), np.int64)
    trees.expand(everything, first, priors if noise is None else noise.on(priors))
    for _ in range(simulations):
        attend()
        _simulate(game, trees, states, evaluate)
        if enough():
            break
    return [_result(trees, tree, priors[tree], values[tree]) for tree in range(len(roots))]


def evaluated(game: Game[Any], states: Sequence[State], evaluate: Evaluate) -> tuple[Array, Array]:
    """Return the priors (states, actions) and the values (states,), from -1 to 1, of states.

    Raises:
        GameError: scores or values are not finite or have another shape, or a state has no legal
            action.
    """
    scores, values = scored(game, states, evaluate)
    legal = game.legal_all(states)
    if not legal.any(axis=1).all():
        game.choices(states[int(legal.any(axis=1).argmin())])
    return masked_priors(scores, legal), np.clip(values, -1, 1)


def scored(game: Game[Any], states: Sequence[State], evaluate: Evaluate) -> tuple[Array, Array]:
    """Return the scores (states, actions) and the values (states,) of states, as evaluated.

    Raises:
        GameError: they are not finite, or have another shape.
    """
    scores, values = evaluate(game.encode_all(states))
    shapes = np.shape(scores), np.shape(values)
    if shapes != ((len(states), game.actions), (len(states),)):
        raise GameError(
            f"scores and values of {len(states)} positions of {game.name} must have the shapes "
            f"{(len(states), game.actions)} and {(len(states),)}, got {shapes[0]} and {shapes[1]}."
        )
    if not (np.isfinite(scores).all() and np.isfinite(values).all()):
        raise GameError(
            f"the network's outputs for a position of {game.name} are not finite.",
            hint="Its training may have diverged: lower the learning rate, and begin anew.",
        )
    return scores, values


def _simulate(game: Game[Any], trees: Trees, states: list[list[State]], evaluate: Evaluate) -> None:
    """Add one walk to every tree."""
    path, leaves, results = trees.walk()
    new_trees, new_nodes, new_states = [], [], []
    for leaf in leaves:
        state = game.play(states[leaf.tree][leaf.parent], leaf.action)
        states[leaf.tree].append(state)
        result = game.result(state)
        node = trees.add(leaf, state.player, result)
        if result is None:
            new_trees.append(leaf.tree)
            new_nodes.append(node)
            new_states.append(state)
        else:
            results[leaf.tree] = result
    if new_states:
        at, nodes = np.array(new_trees), np.array(new_nodes)
        priors, values = evaluated(game, new_states, evaluate)
        trees.expand(at, nodes, priors)
        results[at] = values * (1 - 2 * trees.players[at, nodes])
    trees.count(path, results)


def _result(trees: Trees, tree: int, prior: Array, value: float) -> SearchResult:
    totals = trees.totals[tree, 0]
    _, visits, q = trees.edges(tree, 0)
    line, node = [], 0
    while node >= 0 and trees.visits[tree, node].any():
        action = _most_visited(*trees.edges(tree, node))
        line.append(action)
        node = int(trees.children[tree, node, action])
    count = float(visits.sum())
    return SearchResult(
        prior=np.where(np.isfinite(prior), prior, 0).astype(np.float32),
        visits=visits,
        q=q,
        value=float((totals.sum() + value) / (count + 1)),
        line=line,
        trees=trees,
        tree=tree,
    )
