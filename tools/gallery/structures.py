"""Pictures of texts, boards, graphs, devices and sessions."""

from __future__ import annotations

import re
import textwrap

import numpy as np

from tools.gallery.drawing import (
    BLUE,
    COLOURS,
    GROUND,
    MUTED,
    ORANGE,
    RED,
    TEAL,
    TEXT,
    VIOLET,
    YELLOW,
    Array,
    Picture,
    blend,
    rgb,
)  # fmt: skip
from tools.gallery.trained import Trained, paints


@paints("character-gru", "character-transformer")
def written(picture: Picture, trained: Trained) -> None:
    """The given letters, and the text that the network adds to them."""
    given = 10 if trained["LENGTH"] == 16 and len(trained["TEXT"]) < 170 else 12
    whole = trained["vocabulary"].decode(trained["written"])
    lines = [part for line in whole.splitlines() for part in textwrap.wrap(line, 18) or [""]][:6]
    left = given
    for number, line in enumerate(lines):
        y = 28 + 29 * number
        first, rest = line[:left], line[left:]
        left = max(0, left - len(line))
        picture.text(16, y, first, MUTED, size=23, anchor="start", mono=True)
        picture.text(16 + 13.85 * len(first), y, rest, TEAL, size=23, anchor="start", mono=True)


@paints("dates-with-attention")
def dates(picture: Picture, trained: Trained) -> None:
    pairs = re.findall(r"^(\S.*?) +-> (\S+)$", trained.output, re.MULTILINE)[:4]
    for number, (question, answer) in enumerate(pairs):
        y = 28 + 48 * number
        picture.text(14, y - 8, question, MUTED, size=16, anchor="start", mono=True)
        picture.text(306, y + 13, answer, TEAL, size=21, anchor="end", mono=True)


@paints("board-moves")
def board(picture: Picture, trained: Trained) -> None:
    """A position, and how good the network finds each free point."""
    size = trained["SIZE"]
    x, y = trained["positions"](40)
    scores = trained["model"].predict(x)
    place = int(np.flatnonzero(scores.argmax(axis=1) == y)[0])
    step, left, top = 21.5, 74, 14

    def at(number: int) -> tuple[float, float]:
        return left + step * (number % size), top + step * (number // size)

    picture.rect(left - 14, 0, step * 8 + 28, 200, "#c8a263")
    for line in range(size):
        row, bottom = size * line, size * (size - 1) + line
        for first, last in ((line, bottom), (row, row + size - 1)):
            picture.line([at(first), at(last)], "#7b5f33", width=1)
    for number in range(size * size):
        own, other, _ = x[place].reshape(-1, 3)[number]
        if own or other:
            stone = "#14191b" if own else "#f6f4ee"
            picture.circle(*at(number), 9.6, stone, stroke="#4a3b22", width=0.8)
    best = int(scores[place].argmax())
    picture.circle(*at(best), 9.6, "none", stroke="#0b7a64", width=4)
    picture.circle(*at(best), 3.4, "#0b7a64")


@paints("tic-tac-toe")
def noughts(picture: Picture, trained: Trained) -> None:
    """The worth of each move to the side that moves, after training."""
    cells = np.array([1, 0, 0, 0, -1, 0, -1, 0, 1])
    after = cells + np.eye(9, dtype=int)
    worth = trained["model"].predict(trained["seen"](after, 1)).reshape(-1)
    free = cells == 0
    share = (worth - worth[free].min()) / (worth[free].max() - worth[free].min())
    for number in range(9):
        row, column = divmod(number, 3)
        x, y = 66 + 64 * column, 7 + 64 * row
        colour = rgb("#172023")
        if free[number]:
            colour = blend(np.array(share[number] * 0.9), "#20323a", TEAL)
        fill = "#" + "".join(f"{round(255 * part):02x}" for part in colour)
        picture.rect(x, y, 59, 59, fill, radius=6)
        if cells[number] == 1:
            for up in (14, -14):
                ends = (x + 16, y + 29.5 - up), (x + 43, y + 29.5 + up)
                picture.line(ends, BLUE, width=6)
        elif cells[number] == -1:
            picture.circle(x + 29.5, y + 29.5, 14, "none", stroke=ORANGE, width=6)
        else:
            rated = f"{worth[number]:+.1f}".replace("-", "−")
            picture.text(x + 29.5, y + 29.5, rated, TEXT, size=17)


@paints("grid-world")
def ways(picture: Picture, trained: Trained) -> None:
    """The best move from each field."""
    grid, best, side = trained["grid"], trained["best"], 32.0
    for number in range(36):
        row, column = divmod(number, 6)
        x, y, field = 64 + side * column, 4 + side * row, grid[row, column]
        fill = {"#": "#39474b", "O": RED, "G": TEAL}.get(field, "#182225")
        picture.rect(x + 1, y + 1, side - 2, side - 2, fill, radius=4)
        if field in "S.":
            down, right = trained["MOVES"][best[number]]
            middle = x + side / 2, y + side / 2
            start = middle[0] - 9 * right, middle[1] - 9 * down
            end = middle[0] + 10 * right, middle[1] + 10 * down
            picture.arrow(start, end, YELLOW if field == "S" else TEXT, width=2.2)
        elif field == "G":
            picture.text(x + side / 2, y + side / 2, "★", GROUND, size=20)


def _laid_out(links: Array, groups: Array, rounds: int = 150) -> Array:
    """Places (nodes, 2) from 0 to 1: linked nodes attract each other, all others push apart."""
    random = np.random.default_rng(1)
    angle = 2 * np.pi * groups / (groups.max() + 1)
    places = np.stack([np.cos(angle), np.sin(angle)], axis=1) * 0.5
    places = places + random.normal(0, 0.3, places.shape)
    ideal = 1 / np.sqrt(len(links))
    for number in range(rounds):
        gaps = places[:, None] - places[None]
        distance = np.sqrt((gaps**2).sum(axis=-1)) + 1e-3
        force = (ideal**2 / distance**2)[..., None] * gaps
        force -= (links * distance / ideal / 6)[..., None] * gaps
        move = force.sum(axis=1) - 0.6 * places
        length = np.sqrt((move**2).sum(axis=1, keepdims=True)) + 1e-9
        places = places + move / length * np.minimum(length, 0.1 * (1 - number / rounds) + 0.004)
    low, high = np.percentile(places, 2, axis=0), np.percentile(places, 98, axis=0)
    return ((places - low) / (high - low)).clip(-0.02, 1.02)


def _graph(picture: Picture, places: Array, links: Array, kinds: Array, squares: Array) -> None:
    at = [(20 + 280 * x, 14 + 172 * y) for x, y in places]
    for one, other in zip(*np.nonzero(np.triu(links, 1)), strict=True):
        picture.line([at[one], at[other]], "#5d7075", width=0.5, opacity=0.5)
    for (x, y), kind, square in zip(at, kinds, squares, strict=True):
        if square:
            picture.rect(x - 5, y - 5, 10, 10, COLOURS[kind], stroke=TEXT, radius=1.5)
        else:
            picture.circle(x, y, 3.6, COLOURS[kind], stroke=GROUND, width=0.6)


@paints("citation-graph")
def citations(picture: Picture, trained: Trained) -> None:
    """Some of the papers, in the colours of the topics that the network finds."""
    links = np.asarray(trained["links"]) > 0
    np.fill_diagonal(links, False)
    guess = trained["guess"]
    some = slice(0, 130)
    links, guess = links[some, some], guess[some]
    places = _laid_out(links, trained["topics"][some])
    _graph(picture, places, links, guess, np.zeros(len(guess), bool))


@paints("citation-attention")
def attention(picture: Picture, trained: Trained) -> None:
    """Accuracies without and with attention, beside a part of the graph with its textbooks."""
    papers, topics = trained["PAPERS"], trained["topics"]
    chosen = np.concatenate([np.arange(70), np.arange(papers, papers + 4)])
    links = trained["linked"][np.ix_(chosen, chosen)].copy()
    np.fill_diagonal(links, False)
    places = _laid_out(links, topics[chosen])
    places[:, 0] *= 0.62
    _graph(picture, places, links, topics[chosen], chosen >= papers)
    for x, pattern, colour in (
        (228, r"without attention ([\d.]+)%", MUTED), (274, r"with attention ([\d.]+)%", TEAL),
    ):  # fmt: skip
        percent = float(trained.number(pattern))
        height = (percent - 70) * 5
        picture.rect(x, 170 - height, 34, height, colour, radius=3)
        picture.text(x + 17, 158 - height, f"{percent:.0f}%", TEXT, size=15)
    picture.line([(222, 171), (314, 171)], MUTED, width=1.5)


@paints("molecules")
def molecules(picture: Picture, trained: Trained) -> None:
    """Two molecules with their single and double bonds, and the errors."""
    many = [each for each in trained["molecules"] if each.num_nodes == 9][:2]
    for number, each in enumerate(many):
        atoms, (one, other) = each.x.argmax(axis=1), each.edge_index
        links = np.zeros((9, 9))
        links[one, other] = 1
        places = _laid_out(links, atoms * 0, rounds=300)
        at = [(22 + 190 * x * 0.92, 16 + 96 * number + 68 * y) for x, y in places]
        for edge in range(each.num_edges // 2):
            ends = np.array([at[one[edge]], at[other[edge]]])
            along = ends[1] - ends[0]
            aside = np.array([-along[1], along[0]]) / (np.hypot(*along) + 1e-9)
            for shift in (-2.2, 2.2) if each.edge_attr[edge, 1] else (0,):
                picture.line([tuple(end + shift * aside) for end in ends], MUTED, width=1.8)
        for (x, y), kind in zip(at, atoms, strict=True):
            picture.circle(x, y, 7.5, COLOURS[kind], stroke=GROUND, width=1)
    for y, pattern, colour in (
        (74, r"without the kinds of bonds ([\d.]+)", MUTED), (122, r"with them ([\d.]+)", TEAL),
    ):  # fmt: skip
        picture.text(268, y, f"±{float(trained.number(pattern)):.1f}", colour, size=30)


@paints("sampled-neighbours")
def sampled(picture: Picture, trained: Trained) -> None:
    """A paper, its sampled neighbours, and theirs, in the colours of their topics."""
    topics = trained["topics"]
    papers = np.arange(200)
    around = trained["sampled"](papers)
    further = trained["sampled"](around)
    # One of the first papers with neighbours of several topics.
    chosen = int((topics[further] != topics[papers, None, None]).mean(axis=(1, 2)).argmax())
    near, far = around[chosen], further[chosen]
    middle = (112.0, 100.0)
    for i, paper in enumerate(near):
        turn = 2 * np.pi * (i + 0.15) / len(near)
        inner = middle[0] + 44 * np.cos(turn), middle[1] + 44 * np.sin(turn)
        picture.line([middle, inner], MUTED, width=1.6)
        for j, other in enumerate(far[i]):
            leaf = turn + (j - 2) * 0.235
            outer = middle[0] + 88 * np.cos(leaf), middle[1] + 88 * np.sin(leaf)
            picture.line([inner, outer], MUTED, width=1)
            picture.circle(*outer, 6.5, COLOURS[topics[other]])
        picture.circle(*inner, 9, COLOURS[topics[paper]], stroke=GROUND, width=1.5)
    picture.circle(*middle, 13, COLOURS[topics[chosen]], stroke=TEXT, width=3)
    for y, pattern, colour in (
        (82, r"without neighbours ([\d.]+)%", MUTED), (126, r"with neighbours ([\d.]+)%", TEAL),
    ):  # fmt: skip
        picture.text(266, y, f"{float(trained.number(pattern)):.0f}%", colour, size=32)


@paints("pipeline-schedules")
def schedules(picture: Picture, trained: Trained) -> None:
    """The first schedules as printed: digits are forward passes, letters are backward passes."""
    printed = re.findall(r"^(\S+)\ndevice 0 +(\S+)\ndevice 1 +(\S+)$", trained.output, re.MULTILINE)
    for number, (name, *rows) in enumerate(printed[:3]):
        top = 8 + 64 * number
        picture.text(14, top + 8, name, MUTED, size=15, anchor="start")
        wide = 292 / max(map(len, rows))
        for row, passes in enumerate(rows):
            for slot, mark in enumerate(passes):
                colour = TEAL if mark.isdigit() else ORANGE if mark.islower() else VIOLET
                x, y = 14 + wide * slot, top + 20 + 19 * row
                fill = "#1b2528" if mark == "." else colour
                picture.rect(x + 0.5, y, wide - 1, 16, fill, radius=2)


@paints("control-dependencies")
def order(picture: Picture, trained: Trained) -> None:
    """The reads of the counter, before and after its update, with the values of the first run."""
    before, after = re.findall(r"increased: (\d+), after: (\d+)", trained.output)[0]
    nodes = {"counter": (62, 100, BLUE), "+ 1": (160, 54, ORANGE)}
    picture.arrow((92, 84), (136, 62), MUTED)
    picture.arrow((92, 116), (216, 152), MUTED)
    picture.arrow((184, 54), (216, 54), ORANGE, dashes="5 5", width=2.5)
    for name, (x, y, colour) in nodes.items():
        width = 76 if len(name) > 4 else 46
        picture.rect(x - width / 2, y - 17, width, 34, colour, radius=8)
        picture.text(x, y, name, GROUND, size=16, weight=700)
    for y, name, value, colour in ((54, "late", after, TEAL), (156, "early", before, VIOLET)):
        picture.rect(220, y - 17, 86, 34, colour, radius=8)
        picture.text(263, y, f"{name}: {value}", GROUND, size=16, weight=700)
