"""Data sets: the IDX parser, MNIST, and the toy problems."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playgrad import data, paths
from playgrad.data import parse_idx, source
from playgrad.errors import DataError
from tests.sweeps import sweep


def idx(array: np.ndarray[Any, Any], code: int = 0x08) -> bytes:
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, code, array.ndim]) + sizes + array.tobytes()


IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
LABELS = np.array([7, 3], np.uint8)


@pytest.fixture
def files() -> Iterator[dict[str, bytes]]:
    """The files of a small MNIST, as a source that a test may change."""
    content = {
        "mnist/train-images": idx(IMAGES),
        "mnist/train-labels": idx(LABELS),
        "mnist/test-images": gzip.compress(idx(IMAGES[:1])),
        "mnist/test-labels": gzip.compress(idx(LABELS[:1])),
    }
    before = source.set_source(content.__getitem__)
    yield content
    source.set_source(before)


def test_idx_files_keep_their_element_type() -> None:
    np.testing.assert_array_equal(parse_idx(idx(IMAGES)), IMAGES)
    floats = np.array([[1.5, -2]], np.float32)
    parsed = parse_idx(idx(floats.astype(">f4"), 0x0D))
    assert parsed.dtype == np.float32
    np.testing.assert_array_equal(parsed, floats)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "begins with nothing"),
        (b"<html>", "is not an IDX file: it begins with 3c68746d"),
        (b"\0\0\x07\1" + bytes(8), "is not an IDX file"),
        (b"\0\0\x08\3\0\0", "truncated: its header needs 16 bytes"),
        (idx(IMAGES)[:-1], r"truncated: 39 bytes where shape \(2, 3, 4\) needs 40"),
        (idx(IMAGES) + b"x", "longer than it says"),
        (gzip.compress(idx(IMAGES), mtime=0)[:-4], "damaged gzip file"),
        (b"\x1f\x8bgarbage", "damaged gzip file"),
    ],
)
def test_damaged_idx_files_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words):
        parse_idx(content, "digits")


def test_mnist_is_read_from_its_source(files: dict[str, bytes]) -> None:
    (x_train, y_train), (x_test, y_test) = data.mnist()
    assert (x_train.dtype, y_train.dtype) == (np.uint8, np.int32)
    np.testing.assert_array_equal(x_train, IMAGES)
    assert (y_train.tolist(), x_test.shape, y_test.tolist()) == ([7, 3], (1, 3, 4), [7])


def test_mismatched_images_and_labels_are_refused(files: dict[str, bytes]) -> None:
    files["mnist/test-labels"] = idx(LABELS)
    with pytest.raises(DataError, match="1 test images but 2 labels"):
        data.mnist()
    files["mnist/test-labels"] = idx(IMAGES)
    with pytest.raises(DataError, match="test-labels contains uint8 of 3 dimensions"):
        data.mnist()


def test_missing_files_raise_an_error_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path))
    monkeypatch.setenv("PLAYGRAD_ASSETS", str(tmp_path))  # so nothing comes from the network
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte.*Connect to the internet"):
        data.mnist()


TRAIN_LABELS = "train-labels-idx1-ubyte"


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the training labels; all files are available in the real one."""
    real = paths.var()
    folder = tmp_path / "mnist"
    folder.mkdir()
    (folder / TRAIN_LABELS).write_bytes((real / "mnist" / TRAIN_LABELS).read_bytes())
    monkeypatch.setenv("PLAYGRAD_ASSETS", str(real))
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path))
    return folder / TRAIN_LABELS


def test_a_compressed_file_will_do(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYGRAD_ASSETS", "/nowhere")
    alone.with_name(f"{alone.name}.gz").write_bytes(gzip.compress(alone.read_bytes()))
    alone.unlink()
    assert parse_idx(source.read("mnist/train-labels"))[:3].tolist() == [5, 0, 4]


def flipped(content: bytes) -> bytes:
    return content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]


DAMAGES: dict[str, Any] = {
    "one bit": flipped,
    "cut": lambda content: content[:-1],
    "empty": lambda content: b"",
    "longer": lambda content: content + b"x",
    "zeros": lambda content: bytes(len(content)),
    "another file": lambda content: idx(LABELS),
    "a web page": lambda content: b"<!doctype html><title>Log in to the network</title>",
}
OFTEN = ("one bit", "cut", "a web page")


@pytest.mark.survival("Damaged data sets on disk")
@pytest.mark.parametrize("damage", sweep(DAMAGES, OFTEN))
def test_damaged_mnist_is_fetched_again(alone: Path, damage: str) -> None:
    whole = alone.read_bytes()
    alone.write_bytes(DAMAGES[damage](whole))
    assert source.read("mnist/train-labels") == whole
    assert alone.read_bytes() == whole


@pytest.mark.survival("Damaged data sets on disk")
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_mnist_without_a_network_gets_advice(
    alone: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_ASSETS", "/nowhere")
    alone.write_bytes(DAMAGES[damage](alone.read_bytes()))
    with pytest.raises(DataError) as raised:
        source.read("mnist/train-labels")
    words = str(raised.value)
    assert words.startswith(f"{alone} is damaged: its content is not that of MNIST.")
    assert "Connect to the internet and try again" in words and "`playgrad serve`" in words


@pytest.mark.survival("Damaged data sets on disk")
def test_damaged_compressed_mnist_is_not_used(alone: Path) -> None:
    packed = alone.with_name(f"{alone.name}.gz")
    whole = alone.read_bytes()
    packed.write_bytes(flipped(gzip.compress(whole)))
    alone.unlink()
    assert source.read("mnist/train-labels") == whole


def test_content_is_hashed_once(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source.read("mnist/train-labels")

    def hash_again(*_: Any) -> None:
        raise AssertionError("hashed again")

    monkeypatch.setattr("hashlib.file_digest", hash_again)
    source.read("mnist/train-labels")


def test_the_real_digits_have_the_documented_form() -> None:
    (x_train, y_train), (x_test, y_test) = data.mnist()
    assert x_train.shape == (60_000, 28, 28)
    assert x_test.shape == (10_000, 28, 28)
    assert (len(y_train), len(y_test)) == (60_000, 10_000)
    assert y_train[:5].tolist() == [5, 0, 4, 1, 9]
    assert sorted(set(y_test.tolist())) == list(range(10))


@pytest.mark.parametrize("make", [data.circle, data.xor, data.gauss, data.moons, data.spiral])
def test_toy_data_sets_are_balanced_and_reproducible(make: Any) -> None:
    points, labels = make(samples=200, seed=3)
    assert (points.dtype, points.shape) == (np.float32, (200, 2))
    assert (labels.dtype, labels.shape) == (np.int32, (200,))
    assert 60 <= labels.sum() <= 140
    assert np.abs(points).max() < 2
    np.testing.assert_array_equal(points, make(samples=200, seed=3)[0])
    assert not np.array_equal(points, make(samples=200, seed=4)[0])


def test_data_sets_are_found_by_name() -> None:
    known = data.available()
    assert known["used_cars"] == "features and prices of used cars."
    for name in set(known) - {"mnist", "fashion_mnist", "shapes"}:
        first, again = data.load(name), getattr(data, name)()
        assert all(map(np.array_equal, first, again)), name
    points, labels = data.load("moons", samples=9, seed=3)
    np.testing.assert_array_equal(points, data.moons(9, seed=3)[0])
    assert labels.shape == (9,)
    with pytest.raises(DataError, match=r"no data set 'iris'.*mnist, fashion_mnist, shapes"):
        data.load("iris")
    with pytest.raises(DataError, match=r"'circle' has no option 'count'.*samples, noise, seed"):
        data.load("circle", count=3)


def test_generated_data_sets_have_the_documented_form() -> None:
    cars, price = data.used_cars(50)
    assert cars.shape == (50, 4) and cars.dtype == price.dtype == np.float32
    assert price.min() > 0 and set(cars[:, 3]) == {0, 1}
    stars = data.film_ratings(40, 20)
    assert stars.shape == (40, 20) and stars.dtype == np.int32 and set(stars.flat) == set(range(6))
    words, links, topics = data.citation_graph(60)
    assert words.shape == (60, 60) and topics.dtype == np.int32 and set(topics) == {0, 1, 2}
    np.testing.assert_array_equal(links, links.T)
    same = (topics[:, None] == topics)[links > np.eye(60)]
    assert same.mean() > 0.75
    assert data.rhyme().isascii() and data.rhyme().count("\n") == 9
    assert not np.array_equal(data.film_ratings(seed=1), data.film_ratings(seed=2))


@pytest.mark.parametrize("make", [data.circle, data.xor, data.gauss, data.moons, data.spiral])
def test_a_ratio_divides_the_same_points(make: Any) -> None:
    points, labels = make(50, noise=0.1, seed=4)
    (x, y), (x_test, y_test) = make(50, noise=0.1, seed=4, ratio=0.7)
    assert (len(x), len(x_test)) == (35, 15)
    np.testing.assert_array_equal(np.concatenate([x, x_test]), points)
    np.testing.assert_array_equal(np.concatenate([y, y_test]), labels)
    for ratio in (0, 1, -0.5, 1.5, 0.001, float("nan")):
        with pytest.raises(DataError, match="points are for training"):
            make(50, ratio=ratio)


def test_shapes_are_drawn_for_a_seed() -> None:
    (x, y), (x_test, y_test) = data.load("shapes", samples=300, size=24, seed=5)
    assert (x.dtype, x.shape, x_test.shape) == (np.uint8, (240, 24, 24, 3), (60, 24, 24, 3))
    assert (y.dtype, y.shape, y_test.shape) == (np.int32, (240,), (60,))
    labels = np.concatenate([y, y_test])
    assert np.bincount(labels).tolist() == [50] * len(data.class_names("shapes"))
    (again, _), _ = data.shapes(300, 24, seed=5)
    np.testing.assert_array_equal(x, again)
    assert not np.array_equal(x, data.shapes(300, 24, seed=6)[0][0])
    with pytest.raises(DataError, match="at least 12 pixels, got size=8"):
        data.shapes(size=8)
    for samples, ratio in ((100, 1.0), (100, 0.0), (1, 0.8), (0, 0.5), (9, float("nan"))):
        with pytest.raises(DataError, match="leaves a part without images"):
            data.shapes(samples, ratio=ratio)


def test_drawn_shapes_cover_the_area_of_their_class() -> None:
    """Without noise an image has two colours, and the middle of a ring has the ground's."""
    (x, y), _ = data.shapes(600, noise=0)
    names = data.class_names("shapes")
    covered = dict.fromkeys(names, 0.0)
    for image, label in zip(x.astype(int), y, strict=True):
        inside = np.abs(image - image[0, 0]).sum(axis=2) > 100
        covered[names[label]] += inside.mean() / (y == label).sum()
        rows, columns = np.nonzero(inside)
        middle = inside[round(rows.mean()), round(columns.mean())]
        assert middle == (names[label] != "ring")
    assert covered["disc"] > covered["ring"] > 0.02
    assert covered["square"] > covered["triangle"] > 0.02


def test_fashion_mnist_has_the_form_of_mnist(files: dict[str, bytes]) -> None:
    for name in list(files):
        files[name.replace("mnist/", "fashion_mnist/")] = files[name]
    (x, y), (x_test, y_test) = data.load("fashion_mnist")
    np.testing.assert_array_equal(x, IMAGES)
    np.testing.assert_array_equal(y, LABELS)
    assert len(y_test) == len(x_test) == 1 and y.dtype == np.int32 and x_test.dtype == np.uint8
    assert data.class_names("mnist") == [str(digit) for digit in range(10)]
    assert data.class_names("fashion_mnist")[9] == "Ankle boot"
    files["fashion_mnist/test-images"] = idx(LABELS)
    with pytest.raises(DataError, match="1 dimensions, which is not Fashion-MNIST"):
        data.fashion_mnist()
