"""Search trees of many games at once, as arrays (trees, nodes, actions)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TreeLeaf:
    """The end of a walk down a tree: an action of a node that no node follows yet.

    Attributes:
        tree: the number of the tree.
        parent, action: the edge that leads there.
    """

    tree: int
    parent: int
    action: int


class Trees:
    """One tree for each of many positions, which grow together, a node each at a time.

    Node 0 is the root. Edges, one for each action of a node, know how often they were followed and
    with what results, for the player who moves there.

    Args:
        trees: the number of trees.
        nodes: the most nodes of a tree.
        actions: the number of actions.
        exploration: the weight of priors against results.

    Attributes:
        priors: float32 (trees, nodes, actions); minus infinity where an action is not legal.
        visits, totals: float32, of the edges; totals are sums of results.
        players: int8 (trees, nodes).
        results: float32 (trees, nodes), of ended games; NaN for nodes from which the game goes on.
    """

    def __init__(self, trees: int, nodes: int, actions: int, exploration: float) -> None:
        shape = (trees, nodes, actions)
        self.exploration = exploration
        self.priors = np.full(shape, -np.inf, np.float32)
        self.visits = np.zeros(shape, np.float32)
        self.totals = np.zeros(shape, np.float32)
        self.children = np.full(shape, -1, np.int32)
        self.players = np.zeros(shape[:2], np.int8)
        self.results = np.full(shape[:2], np.nan, np.float32)
        self.counts = np.ones(trees, np.int32)

    def walk(self) -> tuple[list[tuple[Array, Array, Array]], list[TreeLeaf], Array]:
        """Go down every tree by PUCT, to an action without a node or to the end of the game.

        Returns:
            the path, for each depth the trees, nodes and actions; the leaves; and the results
            (trees,) of ended games, NaN where there is a leaf.
        """
        trees: Array = np.arange(len(self.counts))
        nodes: Array = np.zeros(len(trees), np.int64)
        ended = np.full(len(trees), np.nan, np.float32)
        path, leaves = [], []
        while len(trees):
            actions = self._best(trees, nodes)
            path.append((trees, nodes, actions))
            following = self.children[trees, nodes, actions]
            is_new = following < 0
            if is_new.any():
                new = zip(trees[is_new], nodes[is_new], actions[is_new], strict=True)
                leaves += [
                    TreeLeaf(int(tree), int(node), int(action)) for tree, node, action in new
                ]
                trees, following = trees[~is_new], following[~is_new]
            results = self.results[trees, following]
            goes_on = np.isnan(results)
            if not goes_on.all():
                ended[trees] = results
                trees, following = trees[goes_on], following[goes_on]
            nodes = following
        return path, leaves, ended

    def _best(self, trees: Array, nodes: Array) -> Array:
        """Return the action of each node that PUCT takes (Silver et al., 2018).

        That is the one with the largest mean result plus ``c · prior · √N / (1 + n)``, with n of
        the N walks through the node. Actions without results get the mean of their node.
        """
        visits, totals = self.visits[trees, nodes], self.totals[trees, nodes]
        count = visits.sum(axis=1)
        mean = totals.sum(axis=1) / np.maximum(count, 1)
        values = np.where(visits > 0, totals / np.maximum(visits, 1), mean[:, None])
        width = self.exploration * np.sqrt(count + 1)
        priors = self.priors[trees, nodes]
        legal = priors > -np.inf  # minus infinity times an exploration of 0 is not a number
        bonus = np.where(legal, priors, 0) * width[:, None] / (1 + visits)
        best: Array = np.where(legal, values + bonus, -np.inf).argmax(axis=1)
        return best

    def add(self, leaf: TreeLeaf, player: int, result: float | None) -> int:
        """Add the node of ``leaf``; return its number."""
        number = int(self.counts[leaf.tree])
        self.counts[leaf.tree] += 1
        self.children[leaf.tree, leaf.parent, leaf.action] = number
        self.players[leaf.tree, number] = player
        if result is not None:
            self.results[leaf.tree, number] = result
        return number

    def expand(self, trees: Array, nodes: Array, priors: Array) -> None:
        """Set the priors (nodes, actions) of nodes, minus infinity where not legal."""
        self.priors[trees, nodes] = priors

    def count(self, path: Sequence[tuple[Array, Array, Array]], results: Array) -> None:
        """Add the results (trees,), for the player that began, to all edges of a path."""
        for trees, nodes, actions in path:
            signs = 1 - 2 * self.players[trees, nodes]
            self.visits[trees, nodes, actions] += 1
            self.totals[trees, nodes, actions] += signs * results[trees]

    def edges(self, tree: int, node: int) -> tuple[Array, Array, Array]:
        """Return priors float32, visits int and mean results float32 of the actions (actions,) of a
        node: 0 for the prior of an action that is not legal, NaN for a mean without visits."""
        priors, visits = self.priors[tree, node], self.visits[tree, node]
        with np.errstate(invalid="ignore"):
            means = np.where(visits > 0, self.totals[tree, node] / visits, np.nan)
        known = np.where(np.isfinite(priors), priors, 0).astype(np.float32)
        return known, visits.astype(np.int64), means.astype(np.float32)


def masked_priors(scores: Array, legal: Array) -> Array:
    """Return the softmax of scores (nodes, actions) over legal actions, elsewhere -infinity."""
    masked = np.where(legal, scores, -np.inf)
    powers = np.exp(masked - masked.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return np.where(legal, shares, -np.inf).astype(np.float32)
