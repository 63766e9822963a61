"""Files of networks of integers: int8 weights in fewer bytes, int32 numbers in fewer bits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.io import safetensors
from playgrad.io.packed_file import KEY, packed_tensors
from playgrad.io.packing import pack, unpack
from playgrad.io.safetensors import SafetensorsFile
from tests.compression.networks import NETWORKS, network
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]
random = np.random.default_rng(6)


def few(count: int, shape: tuple[int, ...]) -> Array:
    return random.permutation(np.arange(-127, 128))[:count].astype(np.int8)[
        random.integers(0, count, shape)
    ]


def by_output(count: int, shape: tuple[int, ...]) -> Array:
    """Return weights with ``count`` other values for each output."""
    columns = [few(count, shape[:-1]) for _ in range(shape[-1])]
    return np.stack(columns, axis=-1)


def with_zeros(array: Array, share: float = 0.9) -> Array:
    return np.where(random.random(array.shape) < share, np.int8(0), array)


ALL = random.integers(-127, 128, (300, 24)).astype(np.int8)
FORMS: list[tuple[str, Array, float, bool]] = [
    ("codebook", few(15, (9, 9, 8, 4)), 1.9, False),
    ("codebook", few(2, (50, 20)), 7, False),
    ("codebook", few(1, (50, 20)), 7, False),
    ("codebooks", by_output(16, (400, 30)), 1.8, False),
    ("codebooks", by_output(4, (3, 3, 32, 16)), 3, False),
    ("values", with_zeros(ALL), 3, True),
    ("codebook", with_zeros(few(7, (400, 10))), 4, True),
    ("codebooks", with_zeros(by_output(8, (900, 10))), 4, True),
    ("values", np.zeros((64, 20), np.int8), 7, True),
]


@pytest.mark.parametrize(("form", "array", "least", "masked"), FORMS)
def test_every_form_is_exact(form: str, array: Array, least: float, masked: bool) -> None:
    packed = pack(array)
    assert packed is not None and (packed.form, "mask" in packed.parts) == (form, masked)
    restored = unpack(packed)
    assert restored.dtype == np.int8 and restored.flags.c_contiguous
    np.testing.assert_array_equal(restored, array)
    assert array.nbytes / packed.nbytes > least


@pytest.mark.parametrize("case", range(budget(30, 400)))
def test_any_integers_are_restored(case: int) -> None:
    local = np.random.default_rng(dice("packed integers", case).getrandbits(32))
    shape = tuple(local.integers(0, 30, local.integers(1, 5)).tolist())
    values = local.integers(-128, 128, local.integers(1, 200)).astype(np.int8)
    array = values[local.integers(0, len(values), shape)]
    array = np.where(local.random(shape) < local.random(), np.int8(0), array)
    tensors, metadata = packed_tensors({"w": array, "n": array.astype(np.int32) * 7})
    file = pg.io.load(safetensors.dump(tensors, metadata))
    np.testing.assert_array_equal(file["w"], array)
    np.testing.assert_array_equal(file["n"], array.astype(np.int32) * 7)
    assert (file["w"].dtype, file["n"].dtype) == (np.int8, np.int32)


def test_weights_without_a_pattern_stay_as_they_are() -> None:
    assert pack(ALL) is None
    assert pack(few(2, (30, 2))) is None  # its entry in the header would be larger


@pytest.mark.parametrize(
    ("largest", "stored"), [(127, "I8"), (128, "I16"), (32767, "I16"), (32768, "I32")]
)
def test_whole_numbers_take_the_bits_that_they_need(largest: int, stored: str) -> None:
    numbers = np.array([-3, largest], np.int32)
    content = safetensors.dump(*packed_tensors({"a": numbers}))
    assert f'"dtype":"{stored}"' in content[:200].decode("latin1")
    (restored,) = pg.io.load(content).values()
    assert restored.dtype == np.int32 and restored.tolist() == numbers.tolist()


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_integers_are_loaded_bit_for_bit(name: str, tmp_path: Path) -> None:
    model, x = network(name)
    path = tmp_path / "small.safetensors"
    for form, source in (
        ("int8", model),
        ("int4", model),
        ("int8", pg.cluster(pg.prune(model, 0.8), 4)),
    ):
        small = pg.quantize(source, x, weights=form)
        small.save_weights(path)
        loaded = pg.load_model(path)
        for key, value in small.named_weights().items():
            assert loaded.named_weights()[key].dtype == value.dtype
            np.testing.assert_array_equal(loaded.named_weights()[key], value)
        np.testing.assert_array_equal(loaded.predict(x), small.predict(x))
        stored = SafetensorsFile(path.read_bytes()).entries.values()
        size = sum(math.prod(each.shape) * each.dtype.itemsize for each in stored)
        assert size == small.report().after.raw


def test_an_output_takes_at_most_nine_bytes_beside_its_weights() -> None:
    model = pg.Sequential([pg.Input((200,)), pg.nn.Dense(100), pg.nn.Dense(50)])
    x = random.normal(size=(64, 200)).astype(np.float32)
    small = pg.quantize(model, x)
    expected = 200 * 100 + 100 * 50
    for key, value in small.named_weights().items():
        if key.endswith("bias"):  # and a multiplier of 4 bytes, and a shift of 1
            expected += value.size * ((2 if abs(value).max() < 1 << 15 else 4) + 5)
    assert small.report().after.raw == expected


def test_zeros_and_shared_values_make_the_file_of_integers_smaller() -> None:
    model = pg.Sequential([pg.Input((300,)), pg.nn.Dense(200), pg.nn.Dense(10)])
    x = random.normal(size=(64, 300)).astype(np.float32)
    plain, small = (pg.quantize(each, x).report() for each in (
        model, pg.cluster(pg.prune(model, 0.9), 16)
    ))  # fmt: skip
    assert small.after.raw * 3 < plain.after.raw
    four = pg.quantize(model, x, weights="int4").report()
    assert four.after.raw * 1.8 < plain.after.raw


# Damaged files

CODED, BOOKS = few(5, (40, 20)), by_output(4, (90, 20))
MASKED = with_zeros(by_output(6, (200, 20)), 0.8)
Change = Callable[[dict[str, Array], dict[str, Any]], Any]


def _part(name: str, change: Callable[[Array], Array]) -> Change:
    return lambda tensors, record: tensors.update({name: change(tensors[name])})


def _record(name: str, key: str, value: Any) -> Change:
    return lambda tensors, record: record[name].update({key: value})


HOSTILE: dict[str, Change] = {
    "an index beyond the values of its output": _part("books:codebook", lambda book: book[:40]),
    "values that are not of each output": _part("books:codebook", lambda book: book[:-1]),
    "no values at all": _part("books:codebook", lambda book: book[:0]),
    "values of another dtype": _part("coded:codebook", lambda book: book.astype(np.float32)),
    "too few indices": _part("books:values", lambda part: part[:-1]),
    "a mask of more elements": _part("masked:mask", lambda mask: mask | np.uint8(255)),
    "a short mask": _part("masked:mask", lambda mask: mask[:-1]),
    "another dtype": _record("coded", "dtype", "float32"),
    "a dtype that does not exist": _record("coded", "dtype", "int3"),
    "a dtype that is a list": _record("coded", "dtype", ["int8"]),
    "an unknown form": _record("coded", "form", "int8"),
    "8 bits": _record("coded", "bits", 8),
    "no shape": _record("books", "shape", []),
    "a shape without outputs": _record("books", "shape", [40, 0]),
    "another shape": _record("books", "shape", [20, 91]),
    "narrow numbers of another dtype": lambda tensors, record: tensors.update(
        {"narrow": tensors["narrow"].astype(np.float32)}
    ),
    "no narrow numbers": lambda tensors, record: tensors.pop("narrow"),
    "narrow numbers of another kind": lambda tensors, record: record.update(narrow="int64"),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_damaged_files_are_refused(change: Change) -> None:
    arrays = {"coded": CODED, "books": BOOKS, "masked": MASKED, "narrow": np.arange(70)}
    arrays["narrow"] = arrays["narrow"].astype(np.int32)
    tensors, metadata = packed_tensors(arrays)
    record = json.loads(metadata[KEY])
    assert set(record) == set(arrays)
    pg.io.load(safetensors.dump(tensors, metadata))
    change(tensors, record)
    with pytest.raises(pg.CheckpointError):
        pg.io.load(safetensors.dump(tensors, {KEY: json.dumps(record)}))
