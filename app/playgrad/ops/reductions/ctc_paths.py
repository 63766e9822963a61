"""The forward and backward recursions of CTC, over the alignments of a whole batch.

Graves et al. 2006. A target of U labels becomes 2 U + 1 states, the labels with a blank before,
between and after them; an alignment visits states in order, one at each time. Everything is a
logarithm, -inf where there is no path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from playgrad.graph.opdef import Array


@dataclass(frozen=True)
class Paths:
    """The alignments of a batch of B samples, with T times and S states.

    Attributes:
        states: the class of each state, (B, S).
        emitted: the log probability of each state's class, (B, T, S).
        moves: for 0, 1 and 2 states at once, whether a path may enter a state so, (3, B, S).
        ahead: the log probability of all paths up to a state and time, (B, T, S).
        behind: that of all paths from there to the end, the state itself left out, (B, T, S).
        total: the log probability of all paths, (B,).
        target_length, output_length: the numbers of labels and times of each sample, (B,).
    """

    states: Array
    emitted: Array
    moves: Array
    ahead: Array
    behind: Array
    total: Array
    target_length: Array
    output_length: Array

    def posterior(self) -> Array:
        """Return the probability of each state at each time, (B, T, S); NaN without a path."""
        total = self.total[:, None, None]
        with np.errstate(invalid="ignore"):
            posterior = np.exp(self.ahead + self.behind - total)
        return np.where(self._running(), posterior, 0).astype(self.emitted.dtype)

    def by_class(self, values: Array, classes: int) -> Array:
        """Return ``values`` (B, T, S) added up by class, (B, T, classes)."""
        batch, times, _ = values.shape
        result = np.zeros((batch, times, classes), values.dtype)
        samples, steps = np.ogrid[:batch, :times]
        places = (samples[..., None], steps[..., None], self.states[:, None, :])
        np.add.at(result, places, values)
        return result

    def posterior_slope(self, direction: Array) -> Array:
        """Return the derivative of `posterior` when ``emitted`` changes along ``direction``."""
        ahead, behind = np.zeros_like(self.ahead), np.zeros_like(self.behind)
        for t in range(self.emitted.shape[1]):
            if t > 0:
                ahead[:, t] = _mean(_entering(self.ahead[:, t - 1], self.moves), ahead[:, t - 1])
            ahead[:, t] += direction[:, t]
        for t in reversed(range(self.emitted.shape[1] - 1)):
            paths = _leaving(self.behind[:, t + 1] + self.emitted[:, t + 1], self.moves)
            slope = _mean(paths, behind[:, t + 1] + direction[:, t + 1], forward=False)
            behind[:, t] = np.where(t + 1 < self.output_length[:, None], slope, 0)
        posterior = self.posterior()
        total = np.sum(posterior * direction, axis=(1, 2))[:, None, None]
        return posterior * (ahead + behind - total)

    def _running(self) -> Array:
        """Return (B, T, 1): whether the time belongs to the sample."""
        times = np.arange(self.emitted.shape[1])[None, :, None]
        running: Array = times < self.output_length[:, None, None]
        return running


def find_paths(
    log_probs: Array, target: Array, target_length: Array, output_length: Array, blank: int
) -> Paths:
    """Return the paths of targets (B, U) through log probabilities (B, T, classes)."""
    batch, times, _ = log_probs.shape
    states = np.full((batch, 2 * target.shape[1] + 1), blank, np.int64)
    in_use = np.arange(target.shape[1]) < target_length[:, None]
    states[:, 1::2] = np.where(in_use, target, blank)
    emitted = np.take_along_axis(log_probs, states[:, None, :], 2)
    count = states.shape[1]
    moves = np.zeros((3, batch, count), bool)
    moves[0], moves[1, :, 1:] = True, True
    moves[2, :, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    last = 2 * target_length[:, None]
    final = (np.arange(count) == last) | (np.arange(count) == last - 1)
    ahead, behind = np.full_like(emitted, -np.inf), np.full_like(emitted, -np.inf)
    for t in range(times):
        if t == 0:
            ahead[:, 0, :2] = emitted[:, 0, :2]
        else:
            entering = _entering(ahead[:, t - 1], moves)
            ahead[:, t] = np.logaddexp.reduce(entering, axis=0) + emitted[:, t]
    ends = np.where(final, 0, -np.inf).astype(emitted.dtype)
    for t in reversed(range(times)):
        if t + 1 < times:
            leaving = _leaving(behind[:, t + 1] + emitted[:, t + 1], moves)
            behind[:, t] = np.logaddexp.reduce(leaving, axis=0)
        behind[:, t] = np.where(t + 1 == output_length[:, None], ends, behind[:, t])
        behind[:, t][t + 1 > output_length] = -np.inf
    if times:
        total = np.logaddexp.reduce(ahead[:, 0] + behind[:, 0], axis=1)
    else:
        total = np.zeros(batch, emitted.dtype)
    empty = np.where(target_length == 0, 0, -np.inf).astype(emitted.dtype)
    total = np.where(output_length == 0, empty, total)
    return Paths(states, emitted, moves, ahead, behind, total, target_length, output_length)


def _entering(values: Array, moves: Array) -> Array:
    """Return, for 0, 1 and 2 states at once, the values (B, S) of the states that are left."""
    shifted = [values, *(_shifted(values, n) for n in (1, 2))]
    return np.where(moves, np.stack(shifted), -np.inf).astype(values.dtype)


def _leaving(values: Array, moves: Array) -> Array:
    """Return, for 0, 1 and 2 states at once, the values (B, S) of the states that are entered."""
    allowed = np.where(moves, values, -np.inf).astype(values.dtype)
    return np.stack([allowed[0], *(_shifted(allowed[n], -n) for n in (1, 2))])


def _shifted(values: Array, states: int, fill: float = -np.inf) -> Array:
    result = np.full_like(values, fill)
    if states > 0:
        result[:, states:] = values[:, :-states]
    else:
        result[:, :states] = values[:, -states:]
    return result


def _mean(paths: Array, slopes: Array, forward: bool = True) -> Array:
    """Return the mean of ``slopes`` (B, S) of the three moves, weighted by their paths."""
    largest = paths.max(axis=0)
    weights = np.exp(paths - np.where(np.isfinite(largest), largest, 0))
    sign = 1 if forward else -1
    moved = np.stack([slopes, *(_shifted(slopes, sign * n, 0.0) for n in (1, 2))])
    total = weights.sum(axis=0)
    return (weights * moved).sum(axis=0) / np.where(total > 0, total, 1)
