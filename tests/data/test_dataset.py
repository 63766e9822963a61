"""Input pipelines: results, order, failures, back-pressure, and threads that end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playgrad import data
from playgrad.data import Dataset
from playgrad.data.pipeline import base
from playgrad.errors import DataError, DTypeError, ReadError, ShapeError


@pytest.fixture(params=["threads", "no threads"], autouse=True)
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test runs with and without threads, and leaves none behind."""
    if request.param == "no threads":
        monkeypatch.setattr(base.sys, "platform", "emscripten")
    before = set(threading.enumerate())
    yield
    assert not set(threading.enumerate()) - before


def numbers(dataset: Dataset) -> list[Any]:
    return [np.asarray(element).tolist() for element in dataset]


def test_tensor_slices_are_elements_of_equal_structure() -> None:
    x, y = np.arange(6).reshape(3, 2), [7, 8, 9]
    elements = list(Dataset.from_tensor_slices(({"x": x}, y)))
    assert [(first["x"].tolist(), int(second)) for first, second in elements] == [
        ([0, 1], 7),
        ([2, 3], 8),
        ([4, 5], 9),
    ]
    with pytest.raises(DataError, match=r"differ in length: tensors\[0\] has 3, tensors\[1\] has"):
        Dataset.from_tensor_slices((x, [1, 2]))
    with pytest.raises(DataError, match="a single number"):
        Dataset.from_tensor_slices(5)


def test_generators_begin_again_in_each_round() -> None:
    dataset = Dataset.from_generator(lambda: (i * i for i in range(3)))
    assert numbers(dataset) == numbers(dataset) == [0, 1, 4]
    with pytest.raises(DataError, match="Pass the function itself"):
        Dataset.from_generator(iter([1]))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [tuple, list, lambda pair: {"x": pair[0], "y": pair[1]}])
def test_a_generator_may_fill_its_arrays_again(form: Any) -> None:
    """Elements wait, in batches and ahead of a step, while the next ones are made."""

    def elements(first: int = 0) -> Iterator[Any]:
        x, y = np.empty(2, np.float32), np.empty((), np.int32)
        for i in range(first, first + 4):
            x[:], y[...] = i, i
            yield form((x, y))

    def firsts(found: list[Any]) -> list[float]:
        return [
            float(np.ravel(each["x"] if isinstance(each, dict) else each[0])[0]) for each in found
        ]

    generated = Dataset.from_generator(elements)
    assert firsts(list(generated)) == firsts(list(generated.prefetch(3))) == [0, 1, 2, 3]
    several = Dataset.range(2).interleave(lambda i: elements(10 * int(i)), cycle_length=2)
    assert sorted(firsts(list(several))) == [0, 1, 2, 3, 10, 11, 12, 13]
    parts = Dataset.from_parts(
        lambda part: (
            each["x"] if isinstance(each, dict) else each[0] for each in elements(10 * part)
        ),
        parts=2,
        batch_size=4,
    )
    assert [each[:, 0].tolist() for each in parts] == [[0, 1, 10, 11], [2, 3, 12, 13]]


def test_elements_can_be_filtered_taken_repeated_and_zipped() -> None:
    ten = Dataset.range(10)
    assert numbers(ten.filter(lambda i: i % 3 == 0)) == [0, 3, 6, 9]
    assert numbers(ten.take(3).concatenate(ten.skip(8))) == [0, 1, 2, 8, 9]
    assert numbers(ten.take(2).repeat(2)) == [0, 1, 0, 1]
    assert numbers(ten.repeat().take(12)) == [*range(10), 0, 1]
    assert numbers(ten.map(lambda i: 2 * i).take(3)) == [0, 2, 4]
    assert numbers(ten.batch(4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert numbers(ten.batch(4, drop_remainder=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert numbers(ten.batch(3).unbatch()) == list(range(10))
    assert [(i, int(e)) for i, e in Dataset.range(5, 7).enumerate()] == [(0, 5), (1, 6)]
    pairs = Dataset.zip(ten, ten.skip(7)).map(lambda a, b: a * b)
    assert numbers(pairs) == [0, 8, 18]
    assert numbers(Dataset.zip((ten, ten.skip(7))).map(lambda a, b: a * b)) == [0, 8, 18]


def test_cardinality_follows_the_transformations() -> None:
    ten = Dataset.range(10)
    assert len(ten.shuffle(4).batch(3).prefetch(1)) == 4
    assert len(ten.batch(3, drop_remainder=True).repeat(2)) == 6
    assert len(Dataset.zip(ten.skip(4), ten.repeat())) == 6
    assert ten.repeat().cardinality() == data.INFINITE
    assert ten.filter(lambda i: True).cardinality() == data.UNKNOWN
    assert ten.map(lambda i: i, on_error="skip").cardinality() == data.UNKNOWN
    assert Dataset.from_generator(lambda: [1], length=1).cardinality() == 1
    assert bool(Dataset.range(0))
    with pytest.raises(TypeError, match="has no end"):
        len(ten.repeat())


def test_shuffling_is_reproducible_and_bounded_by_its_buffer() -> None:
    dataset = Dataset.range(100).shuffle(30, seed=3)
    first, second = numbers(dataset), numbers(dataset)
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    assert numbers(Dataset.range(100).shuffle(30, seed=3)) == first
    assert numbers(Dataset.range(100).shuffle(30, seed=4)) != first
    assert max(place - e for place, e in enumerate(first)) > 0
    assert all(e <= place + 30 for place, e in enumerate(first))
    once = Dataset.range(100).shuffle(100, 3, reshuffle_each_iteration=False)
    assert numbers(once) == numbers(once)
    rounds = numbers(Dataset.range(20).shuffle(20, seed=1).repeat(2))
    assert sorted(rounds[:20]) == sorted(rounds[20:]) and rounds[:20] != rounds[20:]


def test_shuffling_is_uniform() -> None:
    places = np.zeros((6, 6))
    for seed in range(600):
        for place, element in enumerate(Dataset.range(6).shuffle(6, seed=seed)):
            places[place, element] += 1
    assert np.abs(places - 100).max() < 45


def make_files(folder: Path, count: int = 5) -> None:
    for i in range(count):
        rows = "".join(f"{100 * i + j}\n" for j in range(3 + i))
        (folder / f"{i}.csv").write_text(f"n\n{rows}")


@pytest.mark.parametrize("block_length", [1, 2])
def test_order_does_not_depend_on_the_number_of_readers(tmp_path: Path, block_length: int) -> None:
    make_files(tmp_path)

    def read(readers: int | None) -> list[Any]:
        def slow(name: str) -> Iterator[Any]:
            for row in data.read_csv(name):
                time.sleep(0.0005 * (hash(name) % 3))
                yield row

        files = Dataset.list_files(f"{tmp_path}/*.csv", seed=2)
        rows = files.interleave(slow, 3, block_length, num_parallel_calls=readers)
        rows = rows.map(lambda row: row[0] + 1, num_parallel_calls=readers)
        return numbers(rows.shuffle(4, seed=1).batch(5).prefetch(2).repeat(2))

    expected = read(None)
    assert sum(map(len, expected)) == 50
    assert read(2) == read(7) == read(data.AUTOTUNE) == expected


def test_interleaving_takes_turns() -> None:
    tens = Dataset.range(3).interleave(lambda i: Dataset.range(10 * i, 10 * i + 3), cycle_length=2)
    assert numbers(tens) == [0, 10, 1, 11, 2, 12, 20, 21, 22]
    with pytest.raises(DataError, match="returned float, not a Dataset"):
        list(Dataset.range(3).interleave(lambda i: 1.5))


def test_list_files_matches_patterns_in_order(tmp_path: Path) -> None:
    make_files(tmp_path, 3)
    names = list(Dataset.list_files([f"{tmp_path}/*.csv", tmp_path / "0.csv"], shuffle=False))
    assert [Path(name).name for name in names] == ["0.csv", "1.csv", "2.csv"]
    with pytest.raises(DataError, match=r"no file matches '.*\.png'"):
        Dataset.list_files(f"{tmp_path}/*.png")


@pytest.mark.parametrize("readers", [1, 3])
def test_failures_are_raised_or_skipped(readers: int) -> None:
    def invert(i: int) -> float:
        return 1 / int(i)

    broken = Dataset.range(-2, 3)
    with pytest.raises(DataError, match=r"map failed at element 2 \(.*0.*\): ZeroDivisionError"):
        list(broken.map(invert, readers))
    good = broken.map(invert, readers, on_error="skip").prefetch(2)
    assert numbers(good) == [-0.5, -1, 1, 0.5]
    (failure,) = good.skipped
    assert (len(good.skipped), failure.element, type(failure.error)) == (1, 2, ZeroDivisionError)
    list(good)
    assert len(good.skipped) == 1  # of the last round
    with pytest.raises(DataError, match='on_error must be "raise" or "skip"'):
        broken.map(invert, on_error="ignore")


@pytest.mark.parametrize("readers", [1, 2])
def test_a_failing_reader_names_file_and_record(tmp_path: Path, readers: int) -> None:
    make_files(tmp_path, 3)
    (tmp_path / "1.csv").write_text("n\n100\nbad\n102\nworse\n")
    (tmp_path / "2.csv").write_bytes(b"n\n200\n\xff\xff\n202\n")
    files = Dataset.list_files(f"{tmp_path}/*.csv", shuffle=False)
    with pytest.raises(ReadError, match=r"1\.csv, line 3, column 'n': 'bad'") as raised:
        list(files.interleave(data.read_csv, num_parallel_calls=readers))
    assert raised.value.file.endswith("1.csv") and raised.value.record == 3
    rows = files.interleave(data.read_csv, num_parallel_calls=readers, on_error="skip")
    assert sorted(int(row[0]) for row in rows) == [0, 1, 2, 100, 102, 200, 202]
    records = [(f.element, getattr(f.error, "record", None)) for f in rows.skipped]
    assert sorted(records) == [(1, 3), (1, 5), (2, 3)]


def test_elements_of_different_structure_cannot_be_batched() -> None:
    shapes = Dataset.from_generator(lambda: (np.zeros(2 + i // 3) for i in range(6)))
    with pytest.raises(ShapeError, match=r"element 3 has shape \(3,\), but element 2 has \(2,\)"):
        list(shapes.batch(2))
    pairs = Dataset.from_generator(lambda: iter([(1, 2), (1, 2, 3)]))
    with pytest.raises(DataError, match=r"element 1 has the parts \[0\], \[1\], \[2\]"):
        list(pairs.batch(2))
    mixed = Dataset.from_generator(lambda: iter([1, 1.5]))
    with pytest.raises(DTypeError, match="element 1 is float32, but element 0 is int32"):
        list(mixed.batch(2))
    with pytest.raises(DTypeError, match="holds object, which is not an array"):
        list(Dataset.from_generator(lambda: [object()]).batch(1))


def test_a_full_queue_holds_up_the_readers() -> None:
    read = []

    def source() -> Iterator[int]:
        for i in range(1000):
            read.append(i)
            yield i

    slow = Dataset.from_generator(source).map(lambda i: i, 2).batch(2).prefetch(3)
    iterator = iter(slow)
    next(iterator)
    time.sleep(0.05)
    assert len(read) <= 2 * (1 + 3 + 1) + 3
    del iterator


def test_an_abandoned_round_ends_its_threads() -> None:
    endless = Dataset.range(100).repeat().map(lambda i: i, 3).prefetch(2)
    endless = endless.interleave(lambda i: Dataset.range(5).prefetch(1), num_parallel_calls=2)
    for _ in endless.prefetch(4):
        break
    iterator = iter(endless)
    next(iterator)  # the fixture checks that collecting it is enough


def test_errors_pass_through_queues_and_end_threads() -> None:
    def fail() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    dataset = Dataset.from_generator(fail).map(lambda i: i, 2).prefetch(2).prefetch(2)
    iterator = iter(dataset)
    assert next(iterator) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(iterator)


def test_cache_keeps_only_complete_rounds() -> None:
    read = []
    cached = Dataset.range(4).map(lambda i: read.append(int(i)) or i).cache()  # type: ignore[func-returns-value]
    iterator = iter(cached)
    next(iterator)
    del iterator  # an incomplete round is not kept
    assert numbers(cached.repeat(3)) == [0, 1, 2, 3] * 3
    assert numbers(cached) == [0, 1, 2, 3]
    assert read == [0, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda d: d.batch(0), "batch_size must be a whole number of at least 1, got 0"),
        (lambda d: d.shuffle(0), "buffer_size must be a whole number of at least 1"),
        (lambda d: d.take(-1), "count must be a whole number of at least 0"),
        (lambda d: d.map(abs, num_parallel_calls=0), "num_parallel_calls must be"),
        (lambda d: Dataset.zip(d, [1]), "zip takes Datasets, got list"),
        (lambda d: list(d.take(0).repeat()), "nothing to repeat"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        call(Dataset.range(3))
