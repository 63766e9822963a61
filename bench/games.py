"""Measures searches: positions evaluated in a second of processor time, beside plain NumPy.

64 positions are searched with the same network and the same number of walks, in three ways that
visit the same moves: playgrad's search; trees of Python objects whose leaves are evaluated together
by a network written with NumPy; and the same one position after the other.

python -m bench.games
python -m bench.games --repeats 1 --game "Connect Four"
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad import games
from playgrad.games.evaluator import NetworkEvaluator
from playgrad.games.search import EXPLORATION

Array = np.ndarray[Any, Any]
Evaluate = Callable[[Array], tuple[Array, Array]]
ROOTS, WALKS = 64, 32
GAMES: dict[str, tuple[Any, dict[str, int]]] = {
    "tic-tac-toe": (games.TicTacToe(), {"filters": 16, "blocks": 1}),
    "Connect Four": (games.ConnectFour(), {"filters": 32, "blocks": 1}),
    "Go 5 × 5": (games.Go(5), {"filters": 32, "blocks": 1}),
}
"""By name: the game, and the size of its network."""


def by_hand(model: Any) -> Evaluate:
    """Return the network of ``model``, with one block, written with NumPy."""

    def convolved(x: Array, kernel: Array, bias: Array) -> Array:
        size = len(kernel)
        if size == 1:
            return x @ kernel[0, 0] + bias
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
        columns = windows.transpose(0, 1, 2, 4, 5, 3).reshape(*x.shape[:3], -1)
        result: Array = columns @ kernel.reshape(-1, kernel.shape[-1]) + bias
        return result

    named = model.named_weights()
    names = [name for name, _ in model.named_layers() if f"{name}/kernel" in named]
    pairs = {name: (named[f"{name}/kernel"], named[f"{name}/bias"]) for name in names}
    policy, value = pairs.pop("policy"), pairs.pop("value")
    first, inner, outer, *heads = [pair for pair in pairs.values() if pair[0].ndim == 4]
    (hidden,) = [pair for pair in pairs.values() if pair[0].ndim == 2]
    of_policy, of_value = heads

    def evaluate(planes: Array) -> tuple[Array, Array]:
        x = np.maximum(convolved(planes.transpose(0, 2, 3, 1), *first), 0)
        y = np.maximum(convolved(x, *inner), 0)
        x = np.maximum(x + convolved(y, *outer), 0)
        scores = np.maximum(convolved(x, *of_policy), 0).reshape(len(x), -1)
        values = np.maximum(convolved(x, *of_value), 0).reshape(len(x), -1)
        values = np.maximum(values @ hidden[0] + hidden[1], 0)
        return scores @ policy[0] + policy[1], np.tanh(values @ value[0] + value[1])[:, 0]

    return evaluate


class Node:
    """A position in a tree of objects."""

    def __init__(self, game: Any, state: Any) -> None:
        self.state, self.result = state, game.result(state)
        self.children: dict[int, Node] = {}
        self.visits, self.totals = np.zeros(game.actions), np.zeros(game.actions)

    def expand(self, game: Any, scores: Array) -> None:
        legal = game.legal(self.state)
        shares = np.exp(scores - scores.max()) * legal
        self.priors = np.where(legal, shares / shares.sum(), -np.inf)

    def best(self) -> int:
        count = self.visits.sum()
        mean = self.totals.sum() / max(count, 1)
        q = np.where(self.visits > 0, self.totals / np.maximum(self.visits, 1), mean)
        width = EXPLORATION * np.sqrt(count + 1)
        return int((q + width * self.priors / (1 + self.visits)).argmax())


def with_objects(game: Any, roots: Sequence[Any], evaluate: Evaluate, at_once: int) -> list[Array]:
    """Search with trees of objects; return the visits of the roots.

    Args:
        at_once: the trees that are searched together.
    """
    visits: list[Array] = []
    for first in range(0, len(roots), at_once):
        trees = [Node(game, state) for state in roots[first : first + at_once]]
        scores, _ = evaluate(game.encode_all([tree.state for tree in trees]))
        for tree, row in zip(trees, scores, strict=True):
            tree.expand(game, row)
        for _ in range(WALKS):
            _walk(game, trees, evaluate)
        visits += [tree.visits for tree in trees]
    return visits


def _walk(game: Any, trees: list[Node], evaluate: Evaluate) -> None:
    paths, leaves = [], []
    for tree in trees:
        node, path = tree, []
        while node.result is None:
            action = node.best()
            path.append((node, action))
            if action not in node.children:
                leaf = node.children[action] = Node(game, game.play(node.state, action))
                node = leaf
                break
            node = node.children[action]
        paths.append(path)
        leaves.append(node)
    new = [leaf for leaf in leaves if leaf.result is None]
    results = {id(leaf): leaf.result for leaf in leaves}
    if new:
        scores, values = evaluate(game.encode_all([leaf.state for leaf in new]))
        for leaf, row, value in zip(new, scores, values, strict=True):
            leaf.expand(game, row)
            results[id(leaf)] = float(value) * (1 - 2 * leaf.state.player)
    for path, leaf in zip(paths, leaves, strict=True):
        for node, action in path:
            node.visits[action] += 1
            node.totals[action] += results[id(leaf)] * (1 - 2 * node.state.player)


def positions(game: Any) -> list[Any]:
    """Return positions from games of random moves."""
    random, found = np.random.default_rng(0), []
    while len(found) < ROOTS:
        state = game.initial()
        for _ in range(int(random.integers(game.longest // 3))):
            if game.result(state) is None:
                state = game.play(state, int(random.choice(np.flatnonzero(game.legal(state)))))
        found += [state] if game.result(state) is None else []
    return found


def measure(name: str, repeats: int) -> None:
    """Print the rows of a game; the ways take turns."""
    game, size = GAMES[name]
    model, roots = games.network(game, device="cpu", **size), positions(game)
    own, plain = NetworkEvaluator(game, model, ROOTS), by_hand(model)
    planes = game.encode_all(roots)
    for ours, theirs in zip(own(planes), plain(planes), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
    ways: dict[str, Callable[[], list[Array]]] = {
        "playgrad": lambda: [r.visits for r in games.search(game, roots, own, WALKS)],
        "NumPy, leaves together": lambda: with_objects(game, roots, plain, ROOTS),
        "NumPy, one by one": lambda: with_objects(game, roots, plain, 1),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    visits: dict[str, list[Array]] = {}
    for way, run in ways.items():
        visits[way] = run()
    alike = [
        float(
            np.mean([np.array_equal(a, b) for a, b in zip(visits["playgrad"], other, strict=True)])
        )
        for other in visits.values()
    ]
    for _ in range(repeats):
        for way, run in ways.items():
            started = time.process_time()
            run()
            seconds[way].append(time.process_time() - started)
    before = own.positions
    ways["playgrad"]()
    count = own.positions - before
    best = {way: statistics.median(times) for way, times in seconds.items()}
    for (way, time_taken), share in zip(best.items(), alike, strict=True):
        ratio = best["playgrad"] / time_taken
        print(
            f"{name:13} {way:23} {count / time_taken:9,.0f} positions/s  {ratio:5.2f}  "
            f"same visits in {share:.0%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--game", choices=[*GAMES], action="append")
    options = parser.parse_args()
    for name in options.game or GAMES:
        measure(name, options.repeats)


if __name__ == "__main__":
    main()
