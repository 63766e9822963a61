"""Pictures of points of the plane, of tables, and of curves."""

from __future__ import annotations

import re

import numpy as np

from tools.gallery.drawing import (
    BLUE,
    COLOURS,
    EDGE,
    GROUND,
    MUTED,
    ORANGE,
    TEAL,
    TEXT,
    VIOLET,
    YELLOW,
    Array,
    Picture,
    blend,
    rgb,
    smoothed,
)  # fmt: skip
from tools.gallery.trained import Trained, paints


def _plane(picture: Picture, model: object, points: Array, classes: Array) -> None:
    """The scores of a model over the plane, and the points that it learnt from."""
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    up = _reach(points)
    across = 1.6 * up
    x, y = np.meshgrid(np.linspace(-across, across, 160), np.linspace(up, -up, 100))
    grid = np.stack([x.ravel() + middle[0], y.ravel() + middle[1]], axis=1).astype(np.float32)
    scores = model.predict(grid)  # type: ignore[attr-defined]
    share = (1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))).reshape(100, 160)
    pixels = rgb(TEAL) * (1 - share[..., None]) + rgb(ORANGE) * share[..., None]
    picture.image(pixels * 0.62 + rgb(GROUND) * 0.38, 0, 0, 320, 200, smooth=True)
    some = np.random.default_rng(0).permutation(len(points))[:400]
    for (px, py), kind in zip(points[some], classes[some], strict=True):
        place = 160 + (px - middle[0]) / across * 160, 100 - (py - middle[1]) / up * 100
        picture.circle(*place, 2.6, ORANGE if kind else TEAL, stroke=GROUND, width=0.9)


def _reach(points: Array) -> float:
    """Half of the height that a picture of ``points`` shows."""
    width, height = points.max(axis=0) - points.min(axis=0)
    return 0.56 * float(max(height, width / 1.6))


@paints("spiral")
def spiral(picture: Picture, trained: Trained) -> None:
    _plane(picture, trained["model"], trained["points"], trained["classes"])


@paints("first-program", "custom-operation", "branching-two-devices")
def plane(picture: Picture, trained: Trained) -> None:
    _plane(picture, trained["model"], trained["x"], trained["y"])
    if "distances" in trained.names:  # the centres of the example's own layer
        centres = next(w for w in trained["model"].get_weights() if w.shape == (40, 2))
        reach = _reach(trained["x"])
        middle = (trained["x"].max(axis=0) + trained["x"].min(axis=0)) / 2
        for x, y in centres - middle:
            place = 160 + x / reach * 100, 100 - y / reach * 100
            picture.circle(*place, 9, "none", stroke=TEXT, width=1.4)


@paints("used-car-prices")
def prices(picture: Picture, trained: Trained) -> None:
    """Predicted against true prices."""
    truth, predicted = trained["price"][trained["test"]], trained["predicted"]
    top = float(max(truth.max(), predicted.max()))
    for share in (0.25, 0.5, 0.75):
        picture.line([(20, 186 - 172 * share), (306, 186 - 172 * share)], EDGE, width=1)
    picture.line([(20, 186), (306, 14)], MUTED, width=1.5, dashes="5 5")
    for x, y in zip(truth / top, predicted / top, strict=True):
        picture.circle(20 + 286 * x, 186 - 172 * max(0, y), 2.6, TEAL)


@paints("film-ratings")
def ratings(picture: Picture, trained: Trained) -> None:
    """The ratings that the machine is shown, and the ratings that it fills in."""
    people, films = 22, 18
    shown = trained["shown"][:people, :films]
    stars = trained["stars"][:people, :films]
    guess = trained["guesses"](trained["ratings"])[:people, :films]
    for left, values, known in ((8, stars, shown), (176, guess, np.ones_like(shown))):
        pixels = blend((values - 1) / 4, "#2b2350", YELLOW)
        pixels = np.where(known[..., None], pixels, rgb("#1a2326"))
        picture.image(pixels, left, 8, 136, 184)
    picture.arrow((148, 100), (172, 100), TEXT, width=2.5)


@paints("dilated-convolutions")
def sound(picture: Picture, trained: Trained) -> None:
    """A sound, and its prediction one sample ahead."""
    truth, predicted = trained["truth"][3, :, 0], trained["predicted"][3, :, 0]
    time = np.arange(len(truth))
    picture.curves([(time, truth), (time, predicted)], [MUTED, TEAL], width=3)
    low, high = min(truth.min(), predicted.min()), max(truth.max(), predicted.max())
    for t, value in enumerate(truth):
        x = 14 + t / time[-1] * 292
        picture.circle(x, 186 - (value - low) / (high - low) * 172, 2.2, YELLOW)


@paints("sounds-in-four-bits")
def chirps(picture: Picture, trained: Trained) -> None:
    """A sound of each kind, with the answer of the network of 4 bits."""
    sounds, kinds = trained["test"]
    guess = trained["small"].predict(sounds[:100]).argmax(axis=-1)
    for kind, colour in enumerate((ORANGE, MUTED, TEAL)):
        place = int(np.flatnonzero((kinds[:100] == kind) & (guess == kind))[0])
        wave = sounds[place, ::2, 0]
        across = np.linspace(14, 244, len(wave))
        picture.line(zip(across, 36 + 64 * kind - 9 * wave, strict=True), colour, width=1.4)
        up = 20 * (kind - 1)
        y = 36 + 64 * kind
        picture.arrow((258, y + up), (306, y - up), colour, width=4)


@paints("schedules-raced")
def raced(picture: Picture, trained: Trained) -> None:
    """The losses of the four trainings."""
    rows = []
    for history in trained.histories:
        loss = np.log(smoothed(np.asarray(history.losses), 40))
        rows.append((np.arange(len(loss), dtype=float), loss))
    picture.curves(rows, COLOURS[: len(rows)])
    for number, name in enumerate(trained["SCHEDULES"]):
        y = 24 + 21 * number
        picture.line([(176, y), (196, y)], COLOURS[number], width=4)
        picture.text(204, y, name, size=15, anchor="start")


@paints("sync-against-async")
def waiting(picture: Picture, trained: Trained) -> None:
    """The losses of the trainings, over the time on the clock."""
    names = re.findall(r"^([a-z][^:\n]*): \d+ steps", trained.output, re.MULTILINE)
    rows = []
    for history in trained.histories:
        loss = smoothed(np.asarray(history.losses), 10)
        rows.append((np.linspace(0, history.train_seconds, len(loss)), loss))
    colours = (BLUE, ORANGE, TEAL, VIOLET)
    picture.curves(rows, colours)
    for number, name in enumerate(names):
        y = 24 + 21 * number
        picture.line([(118, y), (138, y)], colours[number], width=4)
        picture.text(
            146,
            y,
            name.partition(",")[0] + (" ≤ 1" if "," in name else ""),
            size=15,
            anchor="start",
        )


@paints("two-graphs")
def slopes(picture: Picture, trained: Trained) -> None:
    """The slopes of both sessions, as printed."""
    found = re.findall(r"step +(\d+): slopes ([\d.]+) and ([\d.]+)", trained.output)
    step, first, second = np.array(found, float).T
    step = np.concatenate([[0.0], step])
    rows = [(step, np.concatenate([[start], each])) for start, each in ((0, first), (10, second))]
    target = np.full_like(step, 3)
    picture.curves([(step, target), *rows], [MUTED, TEAL, ORANGE], width=3.4)
    picture.text(300, 116, "3", MUTED, size=20)
    picture.text(52, 30, "second session", ORANGE, size=16, anchor="start")
    picture.text(52, 172, "first session", TEAL, size=16, anchor="start")
