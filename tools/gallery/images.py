"""Pictures of examples with images: the inputs, and the network's results."""

from __future__ import annotations

import numpy as np

import playgrad as pg
from tools.gallery.drawing import (
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


def _scores(x: Array) -> Array:
    shares = np.exp(x - x.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def _grid(
    picture: Picture, images: Array, answers: list[str], right: list[bool], columns: int
) -> None:
    """Images with the answer below each, in red where it is wrong."""
    rows = len(images) // columns
    across, down = 320 / columns, 200 / rows
    side = min(across - 10, down - 26)
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        x, y = column * across + (across - side) / 2, row * down + (down - side - 18) / 2
        picture.image(image, x, y, side, side)
        colour = TEAL if right[number] else RED
        picture.text(x + side / 2, y + side + 11, answers[number], colour, size=17)


@paints("mnist-mlp")
def read_digits(picture: Picture, trained: Trained) -> None:
    images, labels = trained["x_test"], trained["y_test"]
    guess = trained["model"].predict(images[:400]).argmax(axis=-1)
    wrong = np.flatnonzero(guess != labels[:400])[:1]
    chosen = [*np.flatnonzero(guess == labels[:400])[:9], *wrong]
    chosen[6], chosen[9] = chosen[9], chosen[6]
    answers = [str(guess[i]) for i in chosen]
    right = [bool(guess[i] == labels[i]) for i in chosen]
    _grid(picture, images[chosen] / 255, answers, right, 5)


@paints("small-resnet")
def misread_digits(picture: Picture, trained: Trained) -> None:
    """Only digits that the network misreads: truth, then answer."""
    images, labels = trained["x_test"], trained["y_test"]
    guess = trained["model"].predict(images).argmax(axis=-1)
    wrong = np.flatnonzero(guess != labels)[:8]
    answers = [f"{labels[i]} → {guess[i]}" for i in wrong]
    _grid(picture, images[wrong] / 255, answers, [False] * len(wrong), 4)


@paints("mnist-cnn", "lenet")
def filtered_digit(picture: Picture, trained: Trained) -> None:
    """A digit, and the result of each filter of the first convolution."""
    model = trained["model"]
    kernel = next(w for name, w in model.named_weights().items() if w.ndim == 4)
    image = trained["x_test"][0 if kernel.shape[-1] == 6 else 4] / 255.0
    size, filters = kernel.shape[0], kernel.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size))
    maps = np.einsum("yxij,ijf->fyx", windows, kernel[:, :, 0])
    picture.image(image, 10, 46, 108, 108)
    picture.arrow((124, 100), (144, 100), MUTED, width=2.5)
    columns = 2 if filters == 6 else 3
    shown, rows = min(filters, 9), -(-min(filters, 9) // columns)
    side = min(172 / columns, 192 / rows) - 6
    left = 150 + (170 - columns * (side + 6)) / 2
    top = (200 - rows * (side + 6)) / 2 + 3
    for number in range(shown):
        row, column = divmod(number, columns)
        values = maps[number] / np.abs(maps[number]).max()
        pixels = np.where(
            values[..., None] > 0, blend(values, GROUND, TEAL), blend(-values, GROUND, ORANGE)
        )
        picture.image(pixels, left + column * (side + 6), top + row * (side + 6), side, side)


@paints("digits-in-12-kb")
def bytes_of_digits(picture: Picture, trained: Trained) -> None:
    """A digit, and the bytes of the weights as float32 and as int8, with both accuracies."""
    picture.image(trained["x_test"][4] / 255.0, 12, 44, 112, 112)
    numbers = (
        r"weights: ([\d,]+) to ",
        r"to ([\d,]+) bytes",
        r"accuracy .*: ([\d.]+)",
        r"([\d.]+)\nworst",
    )
    before, after, *shares = (trained.number(each).replace(",", "") for each in numbers)
    for y, name, size, share, colour in (
        (56, "float32", before, shares[0], ORANGE), (136, "int8", after, shares[1], TEAL),
    ):  # fmt: skip
        picture.text(144, y - 28, f"{name} {float(share):.1%}", size=17, anchor="start")
        picture.rect(144, y - 13, 164 * int(size) / int(before), 30, colour, radius=4)
        words = f"{int(size) / 1000:.0f} KB"
        picture.text(150, y + 2, words, GROUND, size=15, anchor="start", weight=700)


@paints("distilled-digits")
def teaching(picture: Picture, trained: Trained) -> None:
    """A digit, the probabilities of the teacher at the temperature of the example, and what the
    student gains by them."""
    images, labels, teacher = trained["x_test"], trained["y_test"], trained["teacher"]
    soft = _scores(teacher.predict(images[:200]) / trained["distiller"].temperature)
    unsure = np.sort(soft, axis=-1)[:, -2] * (soft.argmax(axis=-1) == labels[:200])
    place = int(unsure.argmax())
    picture.image(images[place] / 255, 10, 12, 96, 96)
    for digit, share in enumerate(soft[place] / soft[place].max()):
        x, colour = 122 + 19 * digit, TEAL if digit == labels[place] else ORANGE
        picture.rect(x, 88 - 76 * share, 14, 76 * share + 2, colour, radius=2)
        picture.text(x + 7, 102, str(digit), MUTED, size=14)
    for y, pattern, words, colour in (
        (137, r"alone ([\d.]+)%", "alone", MUTED), (173, r"the teacher ([\d.]+)%", "taught", TEAL),
    ):  # fmt: skip
        percent = float(trained.number(pattern))
        picture.text(14, y, words, size=17, anchor="start")
        picture.rect(86, y - 13, (percent - 80) * 13, 26, colour, radius=4)
        picture.text(300, y, f"{percent:.0f}%", size=17, anchor="end", weight=700)


@paints("digits-row-by-row")
def rows_of_digit(picture: Picture, trained: Trained) -> None:
    """The rows of a digit, and the scores of the ten classes."""
    images, labels = trained["x_test"], trained["y_test"]
    scores = _scores(trained["model"].predict(images[:50]))
    place = int(np.flatnonzero(scores.argmax(axis=-1) == labels[:50])[1])
    for row in range(28):
        picture.image(images[place][row : row + 1] / 255, 16, 6 + 6.75 * row, 150, 5)
    picture.arrow((172, 100), (192, 100), MUTED, width=2.5)
    for digit in range(10):
        y, best = 14 + 19 * digit, digit == labels[place]
        picture.text(206, y, str(digit), TEXT if best else MUTED, size=14)
        picture.rect(
            218, y - 5, 4 + 84 * scores[place][digit], 10, TEAL if best else ORANGE, radius=2
        )


@paints("coloured-shapes")
def shapes(picture: Picture, trained: Trained) -> None:
    names = pg.data.class_names("shapes")
    images, labels = trained["x_test"], trained["y_test"]
    guess = trained["model"].predict(images[:200]).argmax(axis=-1)
    chosen = [int(np.flatnonzero(labels[:200] == kind)[1]) for kind in range(6)]
    down = 100
    for number, place in enumerate(chosen):
        row, column = divmod(number, 3)
        picture.image(images[place] / 255, 20 + 100 * column, 4 + down * row, 76, 76)
        colour = TEAL if guess[place] == labels[place] else RED
        picture.text(58 + 100 * column, 89 + down * row, names[guess[place]], colour, size=13)


@paints("captcha")
def captchas(picture: Picture, trained: Trained) -> None:
    images, read, truth = trained["x"], trained["read"], trained["truth"]
    right = (read == truth).all(axis=1)
    chosen = [*np.flatnonzero(right)[:3], *np.flatnonzero(~right)[:1]]
    for number, place in enumerate(chosen):
        y = 6 + 48 * number
        picture.image(images[place][..., 0], 12, y, 132, 44)
        picture.arrow((152, y + 22), (174, y + 22), MUTED)
        answer = "".join(str(label - 1) for label in read[place] if label > 0)
        picture.text(
            186, y + 22, answer, TEAL if right[place] else RED, size=28, anchor="start", mono=True
        )


@paints("letters-beside-digits")
def letters(picture: Picture, trained: Trained) -> None:
    x, y, guess = trained["x"], trained["y"], trained["guess"]
    wanted = [0, 24, 1, 18, 5, 28, 10, 7]  # 0 and O, 1 and I, 5 and S, A, 7
    chosen = [int(np.flatnonzero((y == kind) & (guess == kind))[2]) for kind in wanted]
    answers = [trained["NAMES"][guess[i]] for i in chosen]
    _grid(picture, x[chosen][..., 0], answers, [True] * len(chosen), 4)


@paints("fine-tuning")
def tuned(picture: Picture, trained: Trained) -> None:
    """The 20 images that it learnt from, and the accuracy with and without the old layers."""
    for number, place in enumerate(trained["few"]):
        row, column = divmod(number, 5)
        picture.image(trained["x"][place][..., 0], 12 + 34 * column, 32 + 35 * row, 31, 31)
    for y, pattern, colour in (
        (70, r"elsewhere: (\d+)%", TEAL), (135, r"nothing: (\d+)%", ORANGE),
    ):  # fmt: skip
        percent = float(trained.number(pattern))
        picture.rect(200, y - 13, 106, 26, "#1b2528", radius=4)
        picture.rect(200, y - 13, 1.06 * percent, 26, colour, radius=4)
        picture.text(208, y, f"{percent:.0f}%", GROUND, size=17, anchor="start", weight=700)


@paints("deep-belief-net")
def features(picture: Picture, trained: Trained) -> None:
    """Weights of the hidden units of a first machine, trained again as the example does."""
    machine = pg.nn.RestrictedBoltzmannMachine(256)
    trained["pretrain"](machine, trained["digits"])
    kernel = pg.function(lambda x: x @ machine.variables["kernel"])(np.eye(784, dtype=np.float32))
    strongest = np.argsort(-np.abs(kernel).sum(axis=0))[:8]
    for number, unit in enumerate(strongest):
        row, column = divmod(number, 4)
        values = kernel[:, unit].reshape(28, 28)
        values = values / np.abs(values).max()
        pixels = np.where(
            values[..., None] > 0, blend(values, GROUND, TEAL), blend(-values, GROUND, VIOLET)
        )
        picture.image(pixels, 11 + 76 * column, 26 + 76 * row, 70, 70, smooth=True)


@paints("denoising-autoencoder")
def restored(picture: Picture, trained: Trained) -> None:
    some = slice(2, 5)
    before, after = (trained[name][some].reshape(-1, 28, 28) for name in ("hidden", "restored"))
    for column in range(3):
        middle = 54 + 106 * column
        picture.image(before[column], middle - 28, 6, 56, 56)
        picture.arrow((middle, 67), (middle, 88), MUTED, width=2)
        picture.image(after[column], middle - 50, 94, 100, 100)


@paints("noise-before-a-classifier")
def cleaned(picture: Picture, trained: Trained) -> None:
    images, truth = trained["images"], trained["truth"]
    clean = trained["cleaner"].predict(images[:40])
    guess = trained["both"].predict(images[:40]).argmax(axis=-1)
    chosen = np.flatnonzero(guess == truth[:40])[1:4]
    for row, place in enumerate(chosen):
        y = 8 + 63 * row
        picture.image(images[place].reshape(28, 28), 40, y, 58, 58)
        picture.arrow((105, y + 29), (129, y + 29), MUTED)
        picture.image(clean[place].reshape(28, 28), 136, y, 58, 58)
        picture.arrow((201, y + 29), (225, y + 29), MUTED)
        picture.text(256, y + 29, str(guess[place]), TEAL, size=40)


@paints("variational-autoencoder")
def invented(picture: Picture, trained: Trained) -> None:
    """New digits, from codes that nobody chose."""
    codes = np.random.default_rng(0).normal(size=(24, trained["CODES"]))
    drawn = 1 / (1 + np.exp(-trained["artist"].predict(codes))).reshape(-1, 28, 28)
    for number, image in enumerate(drawn):
        row, column = divmod(number, 6)
        pixels = blend(image, GROUND, [TEAL, YELLOW, ORANGE, VIOLET][row])
        picture.image(pixels, 16 + 48.5 * column, 4 + 48.5 * row, 46, 46, smooth=True)


@paints("segmentation")
def segmented(picture: Picture, trained: Trained) -> None:
    x, guess = trained["x"], trained["guess"]
    palette = np.stack([rgb("#1b2528"), rgb(COLOURS[0]), rgb(COLOURS[1])])
    for column in range(3):
        place = column + 1
        left = 12 + 101 * column
        picture.image(x[place][..., 0] / 1.3, left, 3, 94, 94)
        picture.image(palette[guess[place]], left, 102, 94, 94)
