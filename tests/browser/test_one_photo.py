"""One photo goes through every exit of a network, and each gives the same prediction."""

from __future__ import annotations

import base64
import importlib.util
import json
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import pytest
from playwright.sync_api import expect

import playgrad as pg
from playgrad import nn
from playgrad.data.input_description import KEY, InputDescription
from playgrad.data.picture import fitted
from playgrad.io import load_metadata
from tests.browser.playground import PATIENCE_MS
from tests.cli.running import result_of, run
from tests.data.png_files import chunk, header, png

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

Array = np.ndarray[Any, Any]
HEIGHT, WIDTH = 12, 10
# The data of a network, as its pixels from 0 to 1 become its numbers.
RANGES = {
    "-1 to 1": (lambda x: 2 * x - 1, "float32", 3),
    "bytes": (lambda x: np.round(255 * x), "uint8", 3),
    "by channel": (lambda x: (x - [0.5, 0.4, 0.3]) / [0.2, 0.25, 0.3], "float32", 3),
    "grey": (lambda x: 255 * x, "float32", 1),
}
DECODE = """async ([photo, side, channels]) => {
  const { decodeImages } = await import("/static/js/own-data/image-files.js");
  const bytes = Uint8Array.from(atob(photo), (character) => character.charCodeAt(0));
  const file = { path: "a/photo.png", label: 0, load: async () => new Blob([bytes]) };
  const { signal } = new AbortController();
  const { pixels, skipped } = await decodeImages([file], { side, channels }, () => {}, signal);
  if (skipped.length > 0) throw new Error(skipped[0]);
  return [...pixels];
}"""

IN_THE_THREAD = """async ([photo, side, channels]) => {
  const { picturePixels } = await import("/static/js/pictures/picture-input.js");
  const bytes = Uint8Array.from(atob(photo), (character) => character.charCodeAt(0));
  return [...(await picturePixels(new Blob([bytes]), { height: side, width: side, channels }))];
}"""
COUNT_PIXELS = """() => {
  globalThis.mostPixels = 0;
  globalThis.OffscreenCanvas = class extends OffscreenCanvas {
    constructor(width, height) {
      super(width, height);
      mostPixels = Math.max(mostPixels, width * height);
    }
  };
}"""


def orientation(value: int) -> bytes:
    """EXIF data as in a PNG file."""
    entry = struct.pack(">HHIHH", 0x0112, 3, 1, value, 0)
    return chunk(b"eXIf", b"MM\0*" + struct.pack(">IH", 8, 1) + entry + bytes(4))


def seen() -> tuple[Array, Array]:
    """Return a photo as it is to be seen, RGB and opacity: not square, with colours everywhere."""
    rows, columns = np.mgrid[0:44, 0:30]
    colours = np.stack([5 * rows, 255 - 8 * columns, 2 * rows + 4 * columns], axis=2)
    return colours, np.where(rows + columns < 40, 80, 255)[:, :, None]


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The photo as a camera on its side writes it: (30, 44), to be turned to the right."""
    stored = np.rot90(np.concatenate(seen(), axis=2))
    path = tmp_path_factory.mktemp("photo") / "photo.png"
    path.write_bytes(png(stored, 6, extra=orientation(6)))
    return path


def pixels(height: int, width: int, channels: int) -> Array:
    """Return the pixels that a network should get, computed independently of the library."""
    colours, opacity = seen()
    shown = (colours * opacity + 255 * (255 - opacity)) / 255
    tall, wide = (44, 30)
    scale = max(width / wide, height / tall)
    many = 20  # points in each direction of a pixel
    ys = tall / 2 + ((np.arange(height * many) + 0.5) / many - height / 2) / scale
    xs = wide / 2 + ((np.arange(width * many) + 0.5) / many - width / 2) / scale
    points = shown[np.floor(ys).astype(int)][:, np.floor(xs).astype(int)]
    mean = points.reshape(height, many, width, many, 3).mean(axis=(1, 3))
    if channels == 1:
        mean = mean @ np.array([[0.299], [0.587], [0.114]])
    return np.asarray(mean / 255)


@pytest.fixture(scope="module", params=RANGES)
def exits(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A trained network, the folder with its files, and its prediction for the photo."""
    scale, kind, channels = RANGES[request.param]
    random = np.random.default_rng(0)
    data = random.random((64, HEIGHT, WIDTH, channels))
    data[0], data[1] = 0, 1
    x = scale(data).astype(kind)
    first = [nn.Rescaling(1 / 128)] if np.abs(x.astype(float)).max() > 100 else []
    model = pg.Sequential([*first, nn.Flatten(), nn.Dense(3, activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(x, random.integers(3, size=64), epochs=1, verbose=0)
    folder = tmp_path_factory.mktemp("exits")
    for ending in ("safetensors", "keras", "onnx", "tfjs.zip", "pt.zip", "py", "html", "playgrad"):
        model.save(folder / f"net.{ending}")
    right = model.predict(scale(pixels(HEIGHT, WIDTH, channels))[None].astype(kind))[0]
    yield model, folder, right, channels
    model.close()


@pytest.mark.parametrize("ending", ["safetensors", "keras", "onnx", "playgrad"])
def test_predict_reads_the_photo_as_the_data_were(
    capsys: pytest.CaptureFixture[str], exits: Any, photo: Path, ending: str
) -> None:
    _, folder, right, _ = exits
    command = ["predict", folder / f"net.{ending}", photo, "--format", "json"]
    if ending == "onnx":
        command.append("--device=cpu")
    (row,) = result_of(run(capsys, *command))
    assert probabilities(row) == pytest.approx(right.tolist(), abs=0.01)


def probabilities(row: dict[str, Any]) -> list[float]:
    if "output" in row:
        return list(row["output"])
    by_class = {each["class"]: each["probability"] for each in row["classes"]}
    return [by_class[str(number)] for number in range(3)]


def test_the_script_prepares_the_photo(exits: Any, photo: Path) -> None:
    _, folder, right, _ = exits
    spec = importlib.util.spec_from_file_location("net", folder / "net.py")
    assert spec
    assert spec.loader
    net = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(net)
    colours, opacity = seen()
    shown = np.round((colours * opacity + 255 * (255 - opacity)) / 255).astype(np.uint8)
    assert net.predict(net.prepare(shown))[0] == pytest.approx(right, abs=0.01)


def test_files_for_other_libraries_describe_the_input(exits: Any, photo: Path) -> None:
    model, folder, right, channels = exits
    session = onnxruntime.InferenceSession(folder / "net.onnx")
    texts = [session.get_modelmeta().custom_metadata_map[KEY]]
    with zipfile.ZipFile(folder / "net.tfjs.zip") as archive:
        topology = json.loads(archive.read("model.json"))
    texts.append(json.dumps(topology["userDefinedMetadata"][KEY]))
    with zipfile.ZipFile(folder / "net.pt.zip") as archive:
        texts.append(load_metadata(archive.read("model.safetensors"))[KEY])
    for text in texts:
        described = InputDescription.from_json(text)
        assert described == model.input_description
        assert described is not None
        values = described.scaled(pixels(HEIGHT, WIDTH, channels))[None]
        (tensor,) = session.get_inputs()
        kind = np.uint8 if "uint8" in tensor.type else np.float32
        (outputs,) = session.run(None, {tensor.name: values.round(4).astype(kind)})
        assert outputs[0] == pytest.approx(right, abs=0.01)


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Any]:
    opened = chromium.new_page(locale="en-GB")
    opened.add_init_script("delete Navigator.prototype.gpu")
    yield opened
    opened.close()


def test_the_page_of_its_own_reads_the_photo_as_the_data_were(
    page: Any, exits: Any, photo: Path
) -> None:
    _, folder, right, _ = exits
    page.goto((folder / "net.html").as_uri())
    page.get_by_test_id("picture-file").set_input_files(photo)
    best = int(right.argmax())
    expect(page.get_by_test_id("verdict")).to_contain_text(f"{best} (")
    end = time.monotonic() + PATIENCE_MS / 1000
    while (shown := chances(page)) != pytest.approx(right.tolist(), abs=0.01):
        assert time.monotonic() < end, shown  # at first it shows the sample that it opens with
        page.wait_for_timeout(50)


def chances(page: Any) -> list[float]:
    shown = [page.get_by_test_id(f"value-{i}").inner_text().rstrip("%") for i in range(3)]
    return [float(each) / 100 for each in shown]


@pytest.mark.parametrize("channels", [1, 3])
def test_the_drawer_reads_the_photo_as_the_library_does(
    page: Any, server: str, photo: Path, channels: int
) -> None:
    page.goto(f"{server}/healthz")
    encoded = base64.b64encode(photo.read_bytes()).decode()
    in_drawer = np.array(page.evaluate(DECODE, [encoded, 16, channels])).reshape(16, 16, channels)
    right = 255 * pixels(16, 16, channels)
    np.testing.assert_allclose(in_drawer, right, atol=2)
    library = fitted(pg.data.read_png(photo, 3), 16, 16, channels)
    np.testing.assert_allclose(in_drawer.astype(int), library.astype(int), atol=1)


def test_every_orientation_is_that_of_the_browser(page: Any, server: str) -> None:
    corners = np.array([[[250], [10]], [[90], [170]], [[30], [210]]])
    page.goto(f"{server}/healthz")
    for value in range(1, 9):
        content = png(np.kron(corners, np.ones((8, 8, 1), int)), 0, extra=orientation(value))
        in_drawer = page.evaluate(DECODE, [base64.b64encode(content).decode(), 16, 1])
        library = fitted(pg.data.decode_png(content), 16, 16, 1)
        assert in_drawer == library.reshape(-1).tolist(), f"orientation {value}"


def test_a_large_picture_is_copied_in_strips(page: Any, server: str) -> None:
    squares = np.random.default_rng(0).integers(256, size=(17, 26, 3))
    lines = np.kron(squares, np.ones((100, 100, 1), int)).reshape(1700, -1).astype(np.uint8)
    data = zlib.compress(np.insert(lines, 0, 0, axis=1).tobytes())  # no filter
    parts = (header(2600, 1700, colour=2), chunk(b"IDAT", data), chunk(b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    page.goto(f"{server}/healthz")
    page.evaluate(COUNT_PIXELS)
    photo = base64.b64encode(content).decode()
    for side in (1, 28):
        library = fitted(pg.data.decode_png(content, 3), side, side, 3).reshape(-1).tolist()
        page.evaluate("globalThis.mostPixels = 0")
        assert page.evaluate(DECODE, [photo, side, 3]) == library
        assert page.evaluate("mostPixels") == 0, "the page's thread waits for a picture"
        assert page.evaluate(IN_THE_THREAD, [photo, side, 3]) == library
        assert 0 < page.evaluate("mostPixels") <= 4_000_000


def test_a_drawing_has_the_range_of_the_data(exits: Any) -> None:
    from playgrad.page.inspected_sample import drawn_sample

    model, _, _, channels = exits
    drawn = drawn_sample(model, [0.0] * (HEIGHT * WIDTH * channels))
    np.testing.assert_allclose(drawn, model.input_description.scaled(np.zeros(drawn.shape)))
    assert drawn.dtype.name == model.input_dtype
