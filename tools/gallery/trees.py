"""Pictures of the examples whose samples are trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import playgrad as pg
from playgrad.ops import constant
from tools.gallery.drawing import BLUE, GROUND, MUTED, RED, TEAL, TEXT, Picture
from tools.gallery.trained import Trained, paints

Place = tuple[float, float, Any]
"""Across, down, and the subtree."""
GREY = "#50616a"


def placed(
    tree: Any, parts: Callable[[Any], Sequence[Any]], width: float, step: float
) -> tuple[list[Place], list[tuple[Place, Place]]]:
    """Return the place of each subtree, leaves side by side, and the pairs to join by lines."""
    places: list[Place] = []
    lines: list[tuple[Place, Place]] = []

    def leaves(tree: Any) -> int:
        return sum(map(leaves, parts(tree))) or 1

    gap = width / max(1, leaves(tree) - 1)
    met = [0]

    def place(tree: Any, depth: int) -> Place:
        below = [place(part, depth + 1) for part in parts(tree)]
        if below:
            across = sum(each[0] for each in below) / len(below)
        else:
            across = (320 - width) / 2 + gap * met[0]
            met[0] += 1
        here = (across, 24 + step * depth, tree)
        places.append(here)
        lines.extend((here, each) for each in below)
        return here

    place(tree, 0)
    return places, lines


@paints("logic-trees")
def logic(picture: Picture, trained: Trained) -> None:
    """An expression as a tree, with the values that the network gives to its nodes."""

    def parts(tree: Any) -> Any:
        return () if isinstance(tree, int) else tree[:2]

    while True:
        tree = trained["grow"](4)
        places, lines = placed(tree, parts, 272, 39)
        if 6 <= sum(isinstance(each[2], int) for each in places) <= 9 and places[-1][1] == 24:
            break
    subtrees = [each[2] for each in places]
    guesses = trained["scores"](trained["fold"].read(subtrees)).argmax(axis=1)
    for (x, y, _), (below, down, _) in lines:
        picture.line([(x, y), (below, down)], MUTED, width=2)
    for (x, y, subtree), guess in zip(places, guesses, strict=True):
        colour = TEAL if guess else GREY
        if isinstance(subtree, int):
            picture.circle(x, y, 12, colour)
            picture.text(x, y, str(guess), size=15)
        else:
            picture.rect(x - 19, y - 12, 38, 24, colour, radius=12)
            picture.text(x, y, ("and", "or", "xor")[subtree[2]], size=14)


@paints("sentiment-trees")
def sentiment(picture: Picture, trained: Trained) -> None:
    """A review as a tree: what the network thinks of each phrase, and its words."""
    tree = (("not", ("very", "good")), ("but", ("fine", ("and", "great"))))
    places, lines = placed(tree, lambda tree: () if isinstance(tree, str) else tree, 280, 38)
    model = trained["model"]
    scores = model.predict(model.fold.read([each[2] for each in places]))
    for (x, y, _), (below, down, _) in lines:
        picture.line([(x, y), (below, down)], MUTED, width=2)
    for (x, y, subtree), score in zip(places, scores, strict=True):
        colour = (RED, GREY, TEAL)[int(score.argmax())]
        if isinstance(subtree, str):
            picture.rect(x - 18, y - 10, 36, 20, GROUND, radius=10, stroke=colour)
            picture.text(x, y, subtree, TEXT, size=12)
        else:
            picture.circle(x, y, 9, colour)


@paints("module-networks")
def modules(picture: Picture, trained: Trained) -> None:
    """A picture, and the fields that each module of a program finds in it."""
    model, side = trained["model"], trained["SIDE"]
    words = trained["WORDS"]
    while True:
        features, truth = trained["picture"]()
        found = trained["fields"](("and", "circle", ("beside", "red")), truth)
        if found.any() and truth.any(axis=1).sum() == 6:
            break
    with pg.GradientTape():
        x = constant(features[None].astype(np.float32))
        red, circle = model.find(x, "red"), model.find(x, "circle")
        beside = model.beside(red)
        maps = [red, circle, beside, model.both(circle, beside)]
        values = [each.numpy()[0] for each in maps]
    colours = {"red": RED, "green": TEAL, "blue": BLUE}
    _grid(picture, 14, 52, 30, side, lambda _: "#1b2528")
    for field, holds in enumerate(truth):
        named = [word for word, yes in zip(words, holds, strict=True) if yes]
        if named:
            x, y = 29 + 32 * (field % side), 67 + 32 * (field // side)
            _shape(picture, x, y, named[1], colours[named[0]])
    spots = [(140, 18), (140, 122), (204, 18), (268, 70)]
    picture.line([(180, 42), (204, 42)], MUTED, width=2)
    picture.line([(180, 146), (286, 146), (286, 112)], MUTED, width=2)
    picture.line([(244, 42), (286, 42), (286, 70)], MUTED, width=2)
    for (left, top), value, name in zip(
        spots, values, ("red", "circle", "beside", "and"), strict=True
    ):
        shades = [f"rgba(45,196,164,{0.12 + 0.88 * float(v):.2f})" for v in value]
        _grid(picture, left, top, 12, side, shades.__getitem__)
        picture.text(left + 19, top + 52, name, TEXT, size=14)


def _grid(
    picture: Picture, left: float, top: float, size: float, side: int, colour: Callable[[int], str]
) -> None:
    for field in range(side * side):
        x, y = left + (size + 2) * (field % side), top + (size + 2) * (field // side)
        picture.rect(x, y, size, size, colour(field), radius=2)


def _shape(picture: Picture, x: float, y: float, word: str, colour: str) -> None:
    if word == "circle":
        picture.circle(x, y, 9, colour)
    elif word == "hoop":
        picture.circle(x, y, 7, GROUND, stroke=colour, width=4)
    else:
        picture.line([(x - 8, y - 8), (x + 8, y + 8)], colour, width=5)
        picture.line([(x - 8, y + 8), (x + 8, y - 8)], colour, width=5)
