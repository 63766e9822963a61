"""Stand-alone pages, opened from the disk: they predict what the model does, and ask no server."""

from __future__ import annotations

import json
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import playgrad as pg
from playgrad import nn
from playgrad.data.input_description import InputDescription
from playgrad.inspection.outputs import softmax
from tests.browser.playground import PATIENCE_MS
from tests.browser.test_accessibility import AXE, PHONE, violations_in_both_themes
from tests.interchange.networks import MODELS, built, predictions

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

Array = np.ndarray[Any, Any]
Open = Callable[..., Page]
START_MS = 180_000
"""The kernels of a network are compiled by a software adapter, beside other tests."""
WITHOUT_GPU = "delete Navigator.prototype.gpu"
SOFTWARE_GPU = ""
WITH_GPU = """
Object.defineProperty(GPUAdapter.prototype, "info", {
  get: () => ({ vendor: "maker", architecture: "", device: "", description: "" }),
});"""
"""The software adapter under the name of another, since a page does without one."""
KEEPS_DEVICE = f"""{WITH_GPU}
const request = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (...args) {{
  return (globalThis.device = await request.apply(this, args));
}};"""
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="28" height="28"/>'
GPU, WEBASSEMBLY = "WebGPU", "WebAssembly"


@pytest.fixture(scope="module")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A context for all pages: the first page of one takes as long as four others."""
    context = chromium.new_context(locale="en-GB")
    context.new_page()  # keeps the window open
    yield context
    context.close()


@pytest.fixture
def open_file(context: BrowserContext) -> Iterator[Open]:
    """A function that opens a file; complaints and requests of the page are failures.

    It takes the GPU away, unless it is told otherwise: WebAssembly computes at once, a software
    adapter compiles for seconds.
    """
    pages: list[Page] = []
    complaints: list[str] = []

    def open_page(path: Path, init: str = WITHOUT_GPU) -> Page:
        page = context.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: complaints.append(request.url))
        page.add_init_script(init)
        page.goto(path.as_uri())
        assert complaints == [path.as_uri()]
        complaints.clear()
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []


def at(page: Page, name: str) -> Any:
    return page.get_by_test_id(name)


def predict(page: Page, x: Array) -> list[Array]:
    """Return what the page's function `predict` gives for one sample."""
    expect(at(page, "backend")).to_be_visible(timeout=START_MS)
    results = page.evaluate("x => predict(x)", x.reshape(-1).tolist())
    return [np.asarray(result, np.float32) for result in results]


@pytest.mark.parametrize(("init", "backend"), [(WITH_GPU, GPU), (WITHOUT_GPU, WEBASSEMBLY)])
@pytest.mark.parametrize("name", MODELS)
def test_the_page_predicts_the_same(
    open_file: Open, tmp_path: Path, name: str, init: str, backend: str
) -> None:
    model, x = built(name)
    model.export(tmp_path / "model.html")
    page = open_file(tmp_path / "model.html", init)
    if name == "reader":  # its indices are checked
        backend = WEBASSEMBLY
    expect(at(page, "backend")).to_have_text(backend, timeout=START_MS)
    tolerance = 1e-5 if backend == WEBASSEMBLY else 1e-4
    for sample in (x[:1], x[1:2]):
        results = predict(page, sample)
        for result, wanted in zip(results, predictions(model, sample), strict=True):
            np.testing.assert_allclose(
                result.reshape(wanted.shape), wanted, rtol=tolerance, atol=tolerance
            )


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[pg.Model, Path]:
    """A small network that reads digits, and its page."""
    (x, y), (x_test, y_test) = pg.data.mnist()
    model = pg.Sequential(
        [nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(32, activation="relu"), nn.Dense(10)],
        name="digits",
    )
    model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
    model.fit(x[:6000], y[:6000], epochs=2, validation_data=(x_test[:100], y_test[:100]), verbose=0)
    path = tmp_path_factory.mktemp("pages") / "digits.html"
    model.export(path)
    return model, path


def test_samples_are_read_as_by_the_model(open_file: Open, digits: tuple[pg.Model, Path]) -> None:
    model, path = digits
    assert model.test_excerpt is not None
    page = open_file(path)
    for number in (0, 3, 7):
        at(page, f"sample-{number}").click()
        chances = softmax(model.predict(model.test_excerpt.x[number : number + 1]))[0]
        best = int(chances.argmax())
        expect(at(page, "verdict")).to_have_text(f"{best} ({100 * chances[best]:.1f}%)")
        for label, chance in enumerate(chances):
            shown = float(at(page, f"value-{label}").inner_text().rstrip("%"))
            assert shown == pytest.approx(100 * chance, abs=0.06)


def test_a_drawn_one_is_recognized(open_file: Open, digits: tuple[pg.Model, Path]) -> None:
    page = open_file(digits[1])
    at(page, "clear").click()
    expect(at(page, "answer")).to_contain_text("Enter something")
    box = at(page, "board").bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] - 40, steps=8)
    page.mouse.up()
    expect(at(page, "verdict")).to_have_text(re.compile("^1 "))


def test_a_digit_is_drawn_with_the_keyboard(open_file: Open, digits: tuple[pg.Model, Path]) -> None:
    page = open_file(digits[1])
    at(page, "clear").click()
    at(page, "board").focus()
    page.keyboard.press("Space")
    for _ in range(16):
        page.keyboard.press("ArrowDown")
    expect(at(page, "verdict")).to_have_text(re.compile("^1 "))
    page.keyboard.press("Delete")
    expect(at(page, "answer")).to_contain_text("Enter something")


def test_a_picture_is_opened(
    open_file: Open, digits: tuple[pg.Model, Path], tmp_path: Path
) -> None:
    model, path = digits
    page = open_file(path)
    assert model.test_excerpt is not None
    rows = model.test_excerpt.x[2]
    encoded = page.evaluate(
        """async (rows) => {
          const canvas = new OffscreenCanvas(28, 28);
          const image = new ImageData(28, 28);
          rows.flat().forEach((value, i) => image.data.set([value, value, value, 255], 4 * i));
          canvas.getContext("2d").putImageData(image, 0, 0);
          return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
        }""",
        rows.tolist(),
    )
    (tmp_path / "digit.png").write_bytes(bytes(encoded))
    at(page, "picture-file").set_input_files(tmp_path / "digit.png")
    chances = softmax(model.predict(rows[None]))[0]
    best = int(chances.argmax())
    expect(at(page, "verdict")).to_have_text(f"{best} ({100 * chances[best]:.1f}%)")
    assert at(page, "picture-file").get_attribute("accept") == (
        "image/png,image/jpeg,image/gif,image/webp,image/bmp"
    )
    refused = {
        "broken.png": (blank_png(28, 28)[:40], "The browser cannot read broken.png."),
        "huge.png": (blank_png(8001, 8000), "huge.png has more than 64 million pixels."),
        "drawing.svg": (SVG, "drawing.svg is not a PNG, JPEG, GIF, WebP or BMP picture."),
    }
    for name, (content, sentence) in refused.items():
        (tmp_path / name).write_bytes(content)
        at(page, "picture-file").set_input_files(tmp_path / name)
        expect(page.get_by_text(sentence)).to_be_visible()


def blank_png(width: int, height: int) -> bytes:
    """Return a white picture with one bit for a pixel."""
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress((b"\0" + b"\xff" * -(-width // 8)) * height)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def test_webassembly_replaces_a_software_adapter(
    open_file: Open, digits: tuple[pg.Model, Path]
) -> None:
    page = open_file(digits[1], SOFTWARE_GPU)
    expect(at(page, "backend")).to_have_text(WEBASSEMBLY, timeout=START_MS)
    assert page.evaluate("navigator.gpu.requestAdapter().then((adapter) => adapter !== null)")


def test_a_lost_gpu_is_replaced_and_reported(
    open_file: Open, digits: tuple[pg.Model, Path]
) -> None:
    model, path = digits
    assert model.test_excerpt is not None
    page = open_file(path, KEEPS_DEVICE)
    expect(at(page, "backend")).to_have_text(GPU, timeout=START_MS)
    page.evaluate("device.destroy()")
    expect(at(page, "backend")).to_have_text("WebAssembly: the GPU was lost")
    (result,) = predict(page, model.test_excerpt.x[:1])
    wanted = model.predict(model.test_excerpt.x[:1])[0]
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


def test_text_is_continued_as_by_generate(open_file: Open, tmp_path: Path) -> None:
    text = "the cat sat on the mat and the dog sat on the cat " * 4
    vocabulary = pg.data.Vocabulary(text)
    x, y = vocabulary.windows(text, 8)
    model = pg.Sequential(
        [
            nn.Embedding(len(vocabulary), 8),
            nn.GRU(24, return_sequences=True),
            nn.Dense(len(vocabulary)),
        ]
    )
    model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, epochs=4, verbose=0)
    model.export(tmp_path / "writer.html")
    page = open_file(tmp_path / "writer.html")
    at(page, "temperature").fill("0")
    at(page, "prompt").fill("the c")
    at(page, "write").click()
    wanted = vocabulary.decode(pg.generate(model, vocabulary.encode("the c"), 60, temperature=0))
    expect(at(page, "written")).to_contain_text(wanted, use_inner_text=False, timeout=START_MS)
    expect(at(page, "expected").locator("tr")).to_have_count(6)
    at(page, "write").click()  # stops
    expect(at(page, "write")).to_have_text("Write", timeout=START_MS)
    at(page, "prompt").fill("the Ω")
    at(page, "write").click()
    expect(at(page, "problem")).to_have_text("The network does not know “Ω”.")


def test_a_row_of_a_table_has_fields(open_file: Open, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 3)).astype(np.float32)
    y = (x @ np.float32([2, -1, 0.5]) + 1).astype(np.float32)
    model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y[:, None], epochs=2, verbose=0)
    model.export(tmp_path / "prices.html")
    page = open_file(tmp_path / "prices.html")
    row = np.float32([0.5, -1.25, 2])
    for number, value in enumerate(row):
        at(page, f"field-{number}").fill(str(value))
    wanted = float(model.predict(row[None])[0, 0])
    verdict = at(page, "verdict")
    expect(verdict).to_have_text(re.compile(r"^-?[\d.]+$"))
    end = time.monotonic() + PATIENCE_MS / 1000
    # Until then it shows what fewer numbers gave.
    while float(verdict.inner_text()) != pytest.approx(wanted, rel=1e-3):
        assert time.monotonic() < end, (verdict.inner_text(), wanted)
        page.wait_for_timeout(50)
    at(page, "field-1").fill("")
    expect(at(page, "answer")).to_contain_text("Enter something")


def test_a_changed_field_changes_no_other(open_file: Open, tmp_path: Path) -> None:
    mean, deviation = np.float32([19_000, 0.25, 200_000.5]), np.float32([500.3, 0.433, 81_234.5])
    raw = np.float32([[19_876, 1, 12.5], [18_000, 0, 250_137], [19_001, 0, 431.25]])
    x = (raw - mean) / deviation
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, raw[:, :1], epochs=1, validation_data=(x, raw[:, :1]), verbose=0)
    model.set_weights([np.float32([[deviation[0]], [0], [0]]), mean[:1]])  # tells the date
    model.input_description = InputDescription(
        (3,),
        (0.0,),
        (1.0,),
        ("day", "sort=a", "price"),
        tuple(mean.tolist()),
        tuple(deviation.tolist()),
    )
    model.export(tmp_path / "dates.html")
    page = open_file(tmp_path / "dates.html")
    fields = [at(page, f"field-{number}") for number in range(3)]
    for number, row in enumerate(raw):
        at(page, f"sample-{number}").click()
        for field, value in zip(fields, row, strict=True):
            expect(field).to_have_value(f"{value:g}" if value < 1000 else f"{value:.0f}")
        expect(at(page, "verdict")).to_have_text(f"{row[0]:.0f}")
    fields[2].fill("7")
    expect(at(page, "verdict")).to_have_text("19001")
    expect(fields[0]).to_have_value("19001")
    fields[0].fill("19002.5")
    expect(at(page, "verdict")).to_have_text(re.compile("^1900[23]$"))


def test_wrong_numbers_are_refused(open_file: Open, tmp_path: Path) -> None:
    model, x = built("attention")
    model.export(tmp_path / "model.html")
    page = open_file(tmp_path / "model.html")
    at(page, "numbers").fill("1, 2, three")
    expect(page.get_by_text("“three” is not a number.")).to_be_visible()
    at(page, "numbers").fill("1 2 3")
    expect(page.get_by_text("This needs 40 numbers; there are 3.")).to_be_visible()
    at(page, "numbers").fill(json.dumps(x[0].tolist()))
    expect(at(page, "value-0").first).to_be_visible()


@pytest.mark.parametrize("element", ["weights", "network", "about"])
def test_a_damaged_file_is_reported(
    context: BrowserContext, digits: tuple[pg.Model, Path], tmp_path: Path, element: str
) -> None:
    text = digits[1].read_text(encoding="utf-8")
    head, mark, rest = text.partition(f'id="{element}">')
    cut = rest.index("</script>")
    (tmp_path / "damaged.html").write_text(f"{head}{mark}{rest[: cut // 2]}{rest[cut:]}")
    page = context.new_page()
    page.goto((tmp_path / "damaged.html").as_uri())
    expect(page.get_by_role("alert")).to_contain_text("This file is damaged")
    page.close()


def test_a_browser_without_simd_says_so(open_file: Open, digits: tuple[pg.Model, Path]) -> None:
    page = open_file(digits[1], f"{WITHOUT_GPU}; WebAssembly.validate = () => false")
    expect(page.get_by_role("alert")).to_contain_text("has no WebAssembly SIMD")


def test_an_index_out_of_bounds_is_named(open_file: Open, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,), dtype="int32"), nn.Embedding(5, 2, name="words")])
    path = tmp_path / "words.html"
    model.export(path)
    page = open_file(path, WITH_GPU)
    at(page, "numbers").fill("1 2 5")
    expect(page.get_by_text("an index that 'words")).to_be_visible()
    at(page, "numbers").fill("1 2 4")
    (wanted,) = model.predict(np.array([[1, 2, 4]], np.int32))
    np.testing.assert_allclose(
        predict(page, np.array([1, 2, 4]))[0].reshape(wanted.shape), wanted, rtol=1e-6
    )


def test_axe_finds_nothing(open_file: Open, digits: tuple[pg.Model, Path]) -> None:
    page = open_file(digits[1])
    expect(at(page, "verdict")).to_be_visible()
    page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    assert violations_in_both_themes(page) == []


def test_a_phone_needs_no_scrolling_sideways(
    open_file: Open, digits: tuple[pg.Model, Path]
) -> None:
    page = open_file(digits[1])
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    expect(at(page, "verdict")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_speaks_chinese(chromium: Browser, digits: tuple[pg.Model, Path]) -> None:
    page = chromium.new_page(locale="zh-CN")
    page.goto(digits[1].as_uri())
    expect(page.get_by_role("heading", name="输入", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    page.close()


def test_a_model_of_unknown_size_is_refused() -> None:
    inputs = pg.Input((None, None, 3))
    model = pg.Model(inputs, nn.Conv2D(2, 3)(inputs))
    with pytest.raises(pg.errors.ExportError, match="needs to know all sizes but the batch's"):
        model.export("nothing.html")


def test_fields_take_values_before_they_are_normalized(open_file: Open, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((2,)), nn.Dense(1)])
    model.input_description = InputDescription(
        (2,), (0.0,), (1.0,), ("weight", "height"), (100.0, -3.0), (20.0, 0.5)
    )
    path = tmp_path / "table.html"
    model.export(path)
    page = open_file(path)
    page.get_by_label("weight").fill("120")
    page.get_by_label("height").fill("-4")
    (right,) = model.predict(np.array([[1, -2]], np.float32))[0]
    shown = at(page, "answer").inner_text().split()
    assert float(shown[0]) == pytest.approx(right, rel=1e-3)
