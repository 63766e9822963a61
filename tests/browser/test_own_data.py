"""Data of the visitor: brought to the page, trained on, kept by the browser."""

from __future__ import annotations

import csv
import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import expect

from playgrad import data
from tests.browser.playground import Playground
from tools.setup import system

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.gpu]


# The database as the first version of the page made it, with the code of a visitor.
_OLD_DATABASE = """async () => {
  const open = indexedDB.open("playgrad", 1);
  open.onupgradeneeded = () => {
    open.result.createObjectStore("sessions", { keyPath: "id" });
    for (const name of ["code", "parts", "checkpoints"]) {
      open.result.createObjectStore(name, { keyPath: ["session", "part"] });
    }
  };
  await new Promise((resolve) => (open.onsuccess = resolve));
  const change = open.result.transaction(["sessions", "code"], "readwrite");
  const stamp = { version: 1, saved: Date.now() };
  change.objectStore("code").put({ session: "old", part: "mnist-mlp", ...stamp, value: "# kept" });
  change.objectStore("sessions").put({
    id: "old", ...stamp, created: Date.now(), touched: true, exampleId: "mnist-mlp",
    title: "Digits", edited: true, state: "idle", step: 0, totalSteps: 0,
  });
  await new Promise((resolve) => (change.oncomplete = resolve));
  open.result.close();
}"""
_DROP = """([name, content]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content], name));
  const target = document.querySelector("[data-testid=editor] .cm-content");
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""
_FULL = """() => {
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (value) {
    if (this.name === "data_files") throw new DOMException("full", "QuotaExceededError");
    return put.call(this, value);
  };
}"""


def flowers() -> str:
    """A table of 90 rows with a hole, a ragged line and text among numbers."""
    numbers = random.Random(1)
    table = io.StringIO()
    rows = csv.writer(table, delimiter=";", lineterminator="\n")
    rows.writerow(["petal", "sepal", "colour", "kind"])
    for i in range(90):
        kind = i % 3
        petal = "" if i == 7 else "tall" if i == 11 else f"{kind + numbers.gauss(0, 0.5):.3f}"
        sepal = f"{-kind + numbers.gauss(0, 0.5):.3f}"
        colour = numbers.choice(["red", "white"])
        rows.writerow([petal, sepal, colour, ["iris", "lily", "rose"][kind]])
    return f"{table.getvalue()}1;2\n"


def png(pixel: Callable[[int, int], tuple[int, int, int]], side: int = 24) -> bytes:
    """A picture, (red, green, blue) by (row, column)."""
    rows = b"".join(
        b"\0" + bytes(value for column in range(side) for value in pixel(row, column))
        for row in range(side)
    )
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )


def stripes(path: Path) -> Path:
    """An archive of upright and level stripes, with a broken image among them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(20):
            width, dark, light = 2 + i % 3, i, 255 - 2 * i
            for name, axis in (("level", 0), ("upright", 1)):
                picture = png(
                    lambda *at, axis=axis, w=width, d=dark, b=light: (  # type: ignore[misc]
                        (b, b, d) if at[axis] // w % 2 else (d, d, d)
                    )
                )
                archive.writestr(f"stripes/{name}/{i}.png", picture)
        archive.writestr("stripes/level/broken.png", png(lambda *_: (0, 0, 0))[:70])
        archive.writestr("stripes/notes.txt", "not an image")
    return path


@pytest.fixture(scope="module")
def visitor(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The page of a visitor whose database is older than the store for data."""
    opened = Playground(chromium, desk_server, "/healthz")
    opened.page.evaluate(_OLD_DATABASE)
    opened.page.goto(desk_server)
    opened.forgive("404")  # the icon of /healthz
    opened.expect_status("ready")
    yield opened
    opened.close()


def bring(visitor: Playground, path: Path) -> None:
    visitor.at("data-open").click()
    visitor.at("data-file").set_input_files(path)


def open_project(visitor: Playground, path: Path) -> None:
    visitor.at("project-menu").click()
    with visitor.page.expect_navigation():
        visitor.at("project-open-file").set_input_files(path)
    visitor.expect_status("ready", "done")


def test_a_dropped_table_trains_a_model_and_survives_a_reload(
    visitor: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visitor.page
    expect(page.locator("[data-testid=editor] .cm-content")).to_contain_text("# kept")
    page.evaluate(_DROP, ["flowers.csv", flowers()])
    expect(visitor.at("data-drawer")).to_contain_text("never leave this browser")
    expect(visitor.at("data-remarks")).to_contain_text("Line 92 has another number of cells")
    expect(visitor.at("data-remarks")).to_contain_text("“tall” in line 13")
    without = "Rows with missing values are left out: 2 of 90, most because of “petal”: 2"
    expect(visitor.at("data-remarks")).to_contain_text(without)
    expect(visitor.at("data-preview")).to_contain_text("white")
    assert (visitor.text("data-train"), visitor.text("data-test")) == ("70", "18")
    visitor.at("data-missing").select_option("mean")
    expect(visitor.at("data-remarks")).not_to_contain_text("Rows with missing values")
    assert (visitor.text("data-train"), visitor.text("data-test")) == ("72", "18")
    saved = visitor.download("data-save", tmp_path)
    visitor.at("data-begin").click()

    visitor.choose_device("cpu")
    visitor.at("blocks-tab").click()
    expect(visitor.at("data-card")).to_contain_text("0: iris, 1: lily, 2: rose")
    expect(visitor.at("dataset-select")).to_have_value("flowers")
    visitor.finish()
    shown = visitor.number("test-accuracy")

    # The same line on the desktop gives the same rows, and the weights the same answers.
    monkeypatch.chdir(tmp_path)
    assert saved.name == "flowers.npz"
    (x_train, y_train), (x_test, y_test) = data.load("flowers")
    assert data.class_names("flowers") == ["iris", "lily", "rose"]
    assert (x_train.shape, y_train.dtype) == ((72, 4), np.int32)
    np.testing.assert_allclose(x_train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(x_train.std(axis=0), 1, atol=1e-5)
    names = ("dense_1", "dense_2", "dense_3")
    weights = visitor.weights()
    values = x_test
    for name in names:
        values = values @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]
        values = np.maximum(values, 0) if name != names[-1] else values
    accuracy = 100 * float((values.argmax(axis=1) == y_test).mean())
    assert shown == pytest.approx(accuracy, abs=0.01)
    assert accuracy > 60

    page.reload()
    visitor.expect_status("done", "ready")
    visitor.at("data-open").click()
    entry = page.locator("[data-testid=data-entry][data-name=flowers]")
    expect(entry).to_contain_text("72 to train, 18 to test; 4 each; 3 classes")
    entry.get_by_test_id("data-entry-rename").click()
    entry.get_by_label("New name of flowers").fill("petals")
    entry.get_by_role("button", name="Rename", exact=True).click()
    entry = page.locator("[data-testid=data-entry][data-name=petals]")
    entry.get_by_test_id("data-entry-use").click()
    expect(visitor.at("data-drawer")).to_have_count(0)
    visitor.at("code-tab").click()
    assert "72" in visitor.finish(
        'import playgrad as pg\n(x, y), _ = pg.data.load("petals")\nprint(len(x))'
    )
    visitor.at("project-menu").click()
    project = visitor.download("project-save", tmp_path)
    visitor.at("data-open").click()
    entry.get_by_test_id("data-entry-remove").click()
    entry.get_by_test_id("data-entry-remove-confirm").click()
    expect(visitor.at("data-entry")).to_have_count(0)
    visitor.at("data-close").click()

    # The file of the project brings its data; other data of that name is not replaced.
    open_project(visitor, project)
    assert "72" in visitor.finish()
    visitor.at("data-open").click()
    expect(entry).to_contain_text("72 to train, 18 to test")
    entry.get_by_test_id("data-entry-remove").click()
    entry.get_by_test_id("data-entry-remove-confirm").click()
    visitor.at("data-close").click()
    page.evaluate(_DROP, ["petals.csv", flowers()])
    visitor.at("data-begin").click()
    open_project(visitor, project)
    expect(page.locator(".status-sentence")).to_contain_text(
        "other data named “petals”, so that of the project is “petals-2”"
    )
    visitor.at("data-open").click()
    expect(entry).to_contain_text("70 to train")
    expect(page.locator("[data-name='petals-2']")).to_contain_text("72 to train")
    visitor.at("data-close").click()


def test_images_of_an_archive_are_usable_when_storage_is_full(
    visitor: Playground, tmp_path: Path
) -> None:
    visitor.page.evaluate(_FULL)
    bring(visitor, stripes(tmp_path / "stripes.zip"))
    expect(visitor.at("data-skipped")).to_contain_text("stripes/level/broken.png")
    expect(visitor.at("data-skipped")).to_contain_text(
        "stripes/notes.txt: not a PNG, JPEG, GIF, WebP or BMP image"
    )
    visitor.at("data-side").select_option("16")
    visitor.at("data-channels").select_option("1")
    expect(visitor.at("data-shape")).to_have_text("16 × 16 × 1")
    assert (visitor.text("data-train"), visitor.text("data-test")) == ("32", "8")
    visitor.at("data-begin").click()
    expect(visitor.at("status-sentence")).to_contain_text("no room left")
    visitor.choose_device("cpu")
    visitor.finish()
    assert visitor.number("test-accuracy") >= 75
    strip = visitor.at("test-strip").locator("li")
    expect(strip).to_have_count(8)
    name = "upright" if strip.first.get_attribute("data-label") == "1" else "level"
    expect(strip.first).to_contain_text(name)


def test_unusable_data_explains_why(visitor: Playground, tmp_path: Path) -> None:
    visitor.write('import playgrad as pg\npg.data.load("nowhere")')
    expect(visitor.at("data-note")).to_contain_text("no data of that name")
    visitor.start()
    visitor.expect_status("error")
    expect(visitor.at("error")).to_contain_text("there is no data set 'nowhere'")
    visitor.at("data-note-open").click()

    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(1 << 30)
    np.savez(tmp_path / "objects.npz", x=np.array([{}, {}]), y=np.arange(2))
    (tmp_path / "ragged.csv").write_text("a,kind\n1,only\n2,only\n")
    for name, words in {
        "large.csv": "1024 MiB, and this page reads at most 32 MiB",
        "objects.npz": "holds Python objects",
        "ragged.csv": "only one class, “only”",
    }.items():
        visitor.at("data-file").set_input_files(tmp_path / name)
        expect(visitor.at("data-problem").first).to_contain_text(words)
    visitor.at("data-back").click()
    visitor.at("data-camera").click()
    visitor.at("data-camera-begin").click()
    expect(visitor.at("data-camera-problem")).to_contain_text("camera")
    visitor.page.keyboard.press("Escape")
    expect(visitor.at("data-drawer")).to_have_count(0)
    expect(visitor.page.locator("[data-testid=editor] .cm-content")).to_contain_text("nowhere")


def test_a_table_says_how_its_numbers_are_read(visitor: Playground, tmp_path: Path) -> None:
    table = "größe;price;y\n0,5;1.234;0\n1.234,5;2.345;1\n2,5;3.456;0\n"
    (tmp_path / "prices.csv").write_bytes(table.encode("cp1252"))
    (tmp_path / "either.csv").write_text('a,b\n"1,234",0\n"2,345",1\n"3,456",0\n')
    (tmp_path / "years.csv").write_text("2019,2020,2021\n1.5,2,3\n5,7,9.5\n")
    bring(visitor, tmp_path / "prices.csv")
    for words in (
        "not UTF-8, and is read as Windows-1252",
        "In “größe”, “0,5” is read as 0.5.",
        "In “price”, “1.234” is read as 1234.",
    ):
        expect(visitor.at("data-remarks")).to_contain_text(words)
    visitor.at("data-back").click()
    visitor.at("data-file").set_input_files(tmp_path / "either.csv")
    expect(visitor.at("data-remarks")).to_contain_text(
        "In “a”, “1,234” is read as 1234. It could also mean 1.234; nothing in the file decides."
    )
    visitor.at("data-back").click()
    visitor.at("data-file").set_input_files(tmp_path / "years.csv")
    expect(visitor.at("data-remarks")).to_contain_text("Line 1 is read as data.")
    visitor.at("data-header").check()
    expect(visitor.at("data-preview")).to_contain_text("2019")
    expect(visitor.at("data-remarks")).to_have_count(0)
    visitor.page.keyboard.press("Escape")
    expect(visitor.at("data-drawer")).to_have_count(0)


@pytest.fixture
def with_camera(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The page of a visitor with a camera who lets the page see it."""
    camera = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    browser = chromium.browser_type.launch(
        executable_path=system.chromium(), args=["--no-sandbox", *camera]
    )
    opened = Playground(browser, desk_server, permissions=["camera"])
    opened.expect_status("ready")
    yield opened
    opened.close()
    browser.close()


def test_frames_of_a_camera_are_recorded_by_class(with_camera: Playground) -> None:
    """Held by pointer or key, a button records; what was recorded is what the program gets."""
    visitor = with_camera
    visitor.at("data-open").click()
    visitor.at("data-camera").click()
    visitor.at("data-camera-begin").click()
    expect(visitor.page.locator(".data-video")).to_have_js_property("videoWidth", 640)
    records = visitor.at("data-record")
    counts = visitor.page.locator(".data-recorders li > .hint")
    for number, least in ((0, 8), (1, 5)):
        records.nth(number).focus()
        visitor.page.keyboard.down("Space")
        seen = counts.nth(number)
        visitor.wait(lambda seen=seen, least=least: int(seen.inner_text().split()[0]) >= least)  # type: ignore[misc]
        visitor.page.keyboard.up("Space")
    recorded = [int(text.split()[0]) for text in counts.all_inner_texts()]
    shown = int(visitor.text("data-train")) + int(visitor.text("data-test"))
    assert shown == sum(recorded)
    visitor.at("data-name").fill("camera")
    visitor.at("data-use").click()
    expect(visitor.at("data-drawer")).to_have_count(0)  # by then it has put in its program
    output = visitor.finish(
        """
import numpy as np
import playgrad as pg
(x, y), (x_test, y_test) = pg.data.load("camera")
images = np.concatenate([x, x_test])
print(np.bincount(np.concatenate([y, y_test])).tolist(), images.shape[1:])
red, green, blue = images.mean(axis=(0, 1, 2))
print(bool(green > 2 * max(red, blue)), bool(images.std(axis=0).max() > 0.1 * images.max()))
"""
    )
    assert output.split("\n")[:2] == [f"{recorded} (32, 32, 3)", "True True"]


def test_points_drawn_by_hand_are_separated(visitor: Playground) -> None:
    visitor.at("data-open").click()
    visitor.at("data-points").click()
    plane, mouse = visitor.at("data-plane"), visitor.page.mouse
    for number, x in enumerate((-0.6, 0.6)):
        visitor.at("data-point-class").nth(number).click()
        box = plane.bounding_box()
        assert box
        for y in (0.8, -0.8):
            place = box["width"] * (x + 1) / 2, box["height"] * (1 - y) / 2
            mouse.move(box["x"] + place[0], box["y"] + place[1], steps=30)
            mouse.down()
        mouse.up()
    plane.focus()
    for key in ("ArrowRight", "Enter", "Backspace", "ArrowUp", "Enter"):
        plane.press(key)
    count = int(visitor.text("data-train")) + int(visitor.text("data-test"))
    assert count > 20
    visitor.at("data-name").fill("points")
    visitor.at("data-begin").click()
    visitor.choose_device("cpu")
    visitor.finish()
    assert visitor.number("test-accuracy") > 95
    expect(visitor.at("boundary")).to_be_visible()
    output = visitor.finish(
        """
import numpy as np
import playgrad as pg
(x, y), (x_test, y_test) = pg.data.load("points")
x, y = np.concatenate([x, x_test]), np.concatenate([y, y_test])
print(len(x), [round(float(np.median(x[y == each][:, 0])), 2) for each in (0, 1)])
print((100 * x[np.abs(x[:, 0]) < 0.5]).round().tolist())
"""
    )
    assert output.split("\n")[:2] == [f"{count} [-0.6, 0.6]", "[[5.0, 5.0]]"]
