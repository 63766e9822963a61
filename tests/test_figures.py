"""`pg.show` and `pg.plot`: the data of a figure, the files, the text, and the limit of the page."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.figures.pictures import MOST_BYTES
from playgrad.figures.png import png_of
from playgrad.figures.series import MOST_POINTS, floats
from playgrad.page.figure_limit import MOST_FIGURES, FigureLimit
from playgrad.runtime.hooks import Hooks, set_hooks

Array = np.ndarray[Any, Any]


class Viewer(Hooks):
    """Takes the figures that a program shows."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any]] = []

    def figure(self, figure: dict[str, Any]) -> bool:
        self.figures.append(figure)
        return True


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    viewer = Viewer()
    before = set_hooks(viewer)
    yield viewer
    set_hooks(before)


def pixels(figure: dict[str, Any]) -> Array:
    shape = [figure[name] for name in ("count", "height", "width", "channels")]
    return np.frombuffer(figure["pixels"], np.uint8).reshape(shape)


def test_grey_spans_the_values(viewer: Viewer) -> None:
    pg.show([[2.0, 3.0], [4.0, np.nan]], title="A")
    (figure,) = viewer.figures
    assert pixels(figure)[0, ..., 0].tolist() == [[0, 128], [255, 0]]
    assert (figure["title"], figure["scale"], figure["low"], figure["high"]) == ("A", "grey", 2, 4)
    assert figure["note"] == "1 values are NaN or infinite"


def test_negative_values_diverge_from_zero(viewer: Viewer) -> None:
    pg.show(np.array([[-2.0, 0, 1]]))
    figure = viewer.figures[0]
    assert (figure["scale"], figure["low"], figure["high"]) == ("diverging", -2, 2)
    assert pixels(figure).ravel().tolist() == [1, 128, 192]
    pg.show(np.array([[-2.0, 0, 1]]), colours="grey")
    assert (viewer.figures[1]["scale"], viewer.figures[1]["low"]) == ("grey", -2)


@pytest.mark.parametrize(
    ("shape", "form"),
    [
        ((5,), (1, 1, 5, 1)),
        ((4, 5), (1, 4, 5, 1)),
        ((4, 5, 3), (1, 4, 5, 3)),
        ((4, 5, 4), (1, 4, 5, 4)),
        ((7, 4, 5), (7, 4, 5, 1)),
        ((7, 4, 5, 1), (7, 4, 5, 1)),
        ((7, 4, 5, 3), (7, 4, 5, 3)),
    ],
)
def test_arrays_of_every_shape_become_pictures(
    viewer: Viewer, shape: tuple[int, ...], form: tuple[int, ...]
) -> None:
    array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    pg.show(array)
    shown = pixels(viewer.figures[0])
    assert shown.shape == form
    assert shown.ravel().tolist() == array.ravel().tolist()  # bytes are shown as they are


def test_colours_of_floats_end_at_one(viewer: Viewer) -> None:
    pg.show(np.full((2, 2, 3), 0.5))
    pg.show(np.full((2, 2, 3), 128.0))
    assert [set(pixels(figure).ravel().tolist()) for figure in viewer.figures] == [{128}, {128}]


def test_large_arrays_are_thinned_with_a_note(viewer: Viewer) -> None:
    pg.show(np.zeros((3000, 2000), np.uint8))
    pg.show(np.zeros((500, 28, 28), np.uint8))
    assert [len(figure["pixels"]) <= MOST_BYTES for figure in viewer.figures] == [True, True]
    assert viewer.figures[0]["note"] == "1 of 3 rows and columns of 3,000 × 2,000"
    assert viewer.figures[1]["note"] == "the first 100 of 500 pictures"


def test_tensors_are_shown_with_their_values(viewer: Viewer) -> None:
    pg.show(pg.constant(np.eye(3, dtype=np.float32)))
    assert pixels(viewer.figures[0])[0, ..., 0].tolist() == (255 * np.eye(3)).tolist()
    with pytest.raises(pg.FeedError):
        pg.show(pg.placeholder("float32", (2, 2)))


@pytest.mark.parametrize(
    ("array", "error", "words"),
    [
        ([], pg.ShapeError, "the array is empty"),
        (np.zeros((2, 2, 2, 2)), pg.ShapeError, "not a picture"),
        ([["a"]], pg.DTypeError, "dtype <U1"),
        ([[1], [2, 3]], pg.ShapeError, "cannot be an array"),
        ([[1j]], pg.DTypeError, "complex"),
    ],
)
def test_unsuitable_arrays_are_refused_as_pictures(
    array: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        pg.show(array)


def points(figure: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    return {
        each["label"]: list(
            zip(floats(each["x"]).tolist(), floats(each["y"]).tolist(), strict=True)
        )
        for each in figure["series"]
    }


def test_every_form_of_series_is_plotted(viewer: Viewer) -> None:
    pg.plot([3, 1])
    pg.plot([0.5, 1], [3, 1], label="a", style="points", x_label="x")
    pg.plot(np.arange(4).reshape(2, 2), label=["p", "q"])
    pg.plot({"loss": [2, 1], "val_loss": [3]})
    pg.plot(np.zeros((2, 2)))
    assert [points(figure) for figure in viewer.figures] == [
        {"": [(0, 3), (1, 1)]},
        {"a": [(0.5, 3), (1, 1)]},
        {"p": [(0, 0), (1, 2)], "q": [(0, 1), (1, 3)]},
        {"loss": [(0, 2), (1, 1)], "val_loss": [(0, 3)]},
        {"0": [(0, 0), (1, 0)], "1": [(0, 0), (1, 0)]},
    ]
    assert (viewer.figures[1]["style"], viewer.figures[1]["x_label"]) == ("points", "x")


def test_a_history_is_plotted(viewer: Viewer) -> None:
    x = np.zeros((8, 2), np.float32)
    model = pg.Sequential([pg.nn.Dense(1)])
    model.compile(pg.optim.SGD(0.1), loss=pg.nn.MeanSquaredError())
    history = model.fit(x, np.ones((8, 1), np.float32), epochs=3, verbose=0)
    pg.plot(history.history)
    assert points(viewer.figures[0])["loss"] == list(enumerate(history.history["loss"]))


def test_long_series_keep_their_extremes(viewer: Viewer) -> None:
    y = np.zeros(100_000)
    y[[777, 91_111]] = [5, -5]
    y[50_000] = np.nan
    pg.plot(y)
    (series,) = viewer.figures[0]["series"]
    x, kept = floats(series["x"]), floats(series["y"])
    assert series["total"] == 100_000
    assert len(kept) <= MOST_POINTS + 2
    assert (x[kept.argmax()], x[kept.argmin()]) == (777, 91_111)
    assert (x[0], x[-1], (np.diff(x) > 0).all()) == (0, 99_999, True)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([1, 2], [1, 2, 3]), pg.ShapeError, "x has 2 values, but y has 3"),
        ((np.zeros((2, 2, 2)),), pg.ShapeError, "pg.show draws arrays"),
        ((np.zeros((2, 99)),), pg.ShapeError, "99 series are too many"),
        (({},), pg.ShapeError, "a dict without series"),
        ((["a"],), pg.DTypeError, "y has dtype"),
    ],
)
def test_unsuitable_series_are_refused(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pg.plot(*arguments)


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="style must be one of"):
        pg.plot([1], style="bars")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 labels for 1 series"):
        pg.plot([1], label=["a", "b"])
    with pytest.raises(ValueError, match="low must be below high"):
        pg.show([[1]], low=2, high=1)
    with pytest.raises(ValueError, match=r"plot writes \.svg files"):
        pg.plot([1], save="a.png")


def decoded(png: bytes) -> Array:
    """Return the pixels of a PNG of 8 bits without filters, whose checksums have to be right."""
    assert png[:8] == bytes([137, 80, 78, 71, 13, 10, 26, 10])
    at, chunks = 8, {}
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        kind, content = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", png, at + 8 + size) == (zlib.crc32(kind + content),)
        chunks[kind] = content
        at += 12 + size
    width, height, bits, colours, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (list(chunks)[-1], bits, rest) == (b"IEND", 8, [0, 0, 0])
    channels = {2: 3, 6: 4}[colours]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


def test_png_files_have_the_values(tmp_path: Path, viewer: Viewer) -> None:
    pg.show(np.array([[0, 255], [7, 9]], np.uint8), save=tmp_path / "a.png")
    image = decoded((tmp_path / "a.png").read_bytes())
    assert image[..., 0].tolist() == [[0, 255], [7, 9]]
    colours = np.arange(5 * 4 * 3 * 4, dtype=np.uint8).reshape(5, 4, 3, 4)
    pg.show(colours)
    grid = decoded(png_of(viewer.figures[1]))
    assert grid.shape == (2 * 4 + 1, 3 * 3 + 2, 4)
    assert (grid[5:, 4:7] == colours[4]).all()


def test_svg_files_are_well_formed(tmp_path: Path) -> None:
    name = tmp_path / "a.svg"
    pg.plot({"<script>&\x00": [0, 1, None, 4]}, title='"<b>', save=name)
    tree = ElementTree.fromstring(name.read_text(encoding="utf-8"))
    texts = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert '"<b>' in texts
    assert "<script>& " in texts
    assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))


def test_a_terminal_gets_text(capsys: pytest.CaptureFixture[str]) -> None:
    pg.show(np.eye(2), title="Two")
    assert capsys.readouterr().out.splitlines() == [
        "Two",
        "a picture of 2 × 2, from 0 to 1",
        "@@",
        "  @@",
    ]
    pg.plot([0, 1, 2], label="rises")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("2 │") and lines[0].endswith("•")
    assert lines[13].startswith("0 │•")
    assert lines[-1] == "• rises"
    pg.plot([None, None])
    assert "none of which is a number" in capsys.readouterr().out


def test_the_page_gets_few_figures_of_a_flood() -> None:
    sent: list[dict[str, Any]] = []
    said: list[str] = []
    limit = FigureLimit(sent.append, said.append)
    for number in range(1000):
        limit.show({"pixels": b"", "number": number})
    limit.finish()
    assert [figure["number"] for figure in sent[:MOST_FIGURES]] == list(range(MOST_FIGURES))
    assert len(sent) < 1000
    left_out = sum(int(text.split()[1].replace("a", "1")) for text in said)
    assert len(sent) + left_out == 1000
