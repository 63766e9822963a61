"""The strength of a network in the course of its learning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rating:
    """The result of a match against the best network so far.

    Attributes:
        generation, step, games: the generations, training steps and games until then.
        elo: the Elo rating of the model; the network at the beginning has 0. Networks that play
            each other are rated, which says less about games against others.
        is_best: whether the model became the best network.
    """

    generation: int
    step: int
    games: int
    elo: float
    is_best: bool
