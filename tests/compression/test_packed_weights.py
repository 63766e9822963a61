"""Files of pruned, clustered and rounded weights, whole and damaged."""

from __future__ import annotations

import io
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
from playgrad.io.packing import Packed, pack, unpack
from playgrad.io.safetensors import SafetensorsFile
from playgrad.nn.kept_weights import KEY as KEPT
from tests.compression.networks import NETWORKS, network
from tests.compression.test_prune import X, Y, kernels, made

Array = np.ndarray[Any, Any]
random = np.random.default_rng(4)
NORMAL = random.normal(size=(12, 20)).astype(np.float32)
WIDE = random.normal(size=(200, 20)).astype(np.float32)
ODD = random.normal(size=(9, 7, 3)).astype(np.float32)


def with_zeros(array: Array) -> Array:
    return np.where(random.random(array.shape) < 0.9, np.float32(0), array)


def few(array: Array, count: int) -> Array:
    return random.normal(size=count).astype(np.float32)[random.integers(0, count, array.shape)]


def integers(array: Array, largest: int) -> Array:
    whole = random.integers(-largest, largest + 1, array.shape)
    whole[0, ...] = largest  # each output reaches the largest
    return (whole * random.uniform(0.01, 3, array.shape[-1]).astype(np.float32)).astype(np.float32)


SPECIAL = NORMAL.copy()
SPECIAL[:4, 0] = np.nan, np.inf, -0.0, 1e-40
FORMS: list[tuple[str, Array, float]] = [
    ("int8", integers(WIDE, 127), 3),
    ("int4", integers(WIDE, 7), 6),
    ("float16", WIDE.astype(np.float16).astype(np.float32), 1.9),
    *(
        (f"codebook {count}", few(ODD, count), least)
        for count, least in ((1, 20), (2, 20), (3, 10), (16, 4), (256, 0.5))
    ),
    ("float32", with_zeros(NORMAL), 6),
    ("float16", with_zeros(NORMAL).astype(np.float16).astype(np.float32), 9),
    ("codebook", with_zeros(few(ODD, 8)), 8),
    ("zeros", np.zeros((80, 80), np.float32), 30),
    ("special", with_zeros(SPECIAL), 4),
    ("none", np.zeros((0, 70), np.float32), 0),
]


@pytest.mark.parametrize(("form", "array", "least"), FORMS, ids=[form for form, *_ in FORMS])
def test_every_form_is_exact(form: str, array: Array, least: float) -> None:
    packed = pack(array)
    if packed is None:
        assert form in ("none", "codebook 256")
        return
    if form.partition(" ")[0] in ("int8", "int4", "float16", "codebook", "float32"):
        assert packed.form == form.partition(" ")[0]
    restored = unpack(packed)
    assert restored.dtype == np.float32 and restored.shape == array.shape
    np.testing.assert_array_equal(restored.view(np.uint32), array.view(np.uint32))
    assert array.nbytes / packed.nbytes > least


@pytest.mark.parametrize("name", NETWORKS)
def test_models_are_loaded_bit_for_bit(name: str, tmp_path: Path) -> None:
    model, x = network(name)
    plain, small = io.BytesIO(), tmp_path / "small.safetensors"
    model.save_weights(plain)
    for made_small in (
        pg.prune(model, 0.7),
        pg.cluster(pg.prune(model, 0.7), 4),
        pg.quantize(pg.prune(model, 0.7), weights="int4", activations=None),
        pg.quantize(model, weights="float16", activations=None),
    ):
        made_small.save_weights(small)
        loaded = pg.load_model(small)
        for key, value in made_small.named_weights().items():
            assert loaded.named_weights()[key].tobytes() == value.tobytes()
        np.testing.assert_array_equal(loaded.predict(x), made_small.predict(x))
        model.clone().load_weights(small)


def test_a_report_has_the_bytes_of_the_file(tmp_path: Path) -> None:
    model = made()
    model.fit(X, Y, epochs=1, verbose=0)
    small = pg.cluster(pg.prune(model, 0.75), 4)
    report = small.report(test_data=(X, Y))
    small.save_weights(tmp_path / "small.safetensors")
    content = (tmp_path / "small.safetensors").read_bytes()
    hidden = report.layers[0]
    # 240 bits of mask, 4 values, 2 bits for each weight that is left, 24 biases
    left = np.count_nonzero(kernels(small)["dense_1/kernel"])
    assert hidden.after.raw == 240 // 8 + 16 + math.ceil(left / 4) + 96
    assert hidden.form.endswith("% zeros, 4 values")
    parts = SafetensorsFile(content).entries
    assert sum(math.prod(e.shape) * e.dtype.itemsize for e in parts.values()) == report.after.raw
    assert report.comparisons[0].data == "training data"
    assert hidden.signal_to_noise is not None and 0 < hidden.signal_to_noise < 60


@pytest.mark.parametrize("form", ["int8", "int4", "float16"])
def test_weights_alone_are_rounded(form: str) -> None:
    model, x = network("images")
    small = pg.quantize(model, weights=form, activations=None)
    after = small.named_weights()
    for key, value in model.named_weights().items():
        if value.ndim < 2:
            if form != "float16":
                np.testing.assert_array_equal(after[key], value)
            continue
        if form == "float16":
            np.testing.assert_array_equal(after[key], value.astype(np.float16))
            continue
        axis = -2 if key.startswith("depthwise") else -1
        most = {"int8": 127, "int4": 7}[form]
        rows = np.moveaxis(value, axis, 0).reshape(value.shape[axis], -1)
        rounded = np.moveaxis(after[key], axis, 0).reshape(rows.shape)
        scale = np.abs(rows).max(axis=1, keepdims=True) / most
        assert (np.abs(rounded - rows) <= scale * 0.5001).all()
        np.testing.assert_allclose(rounded / scale, np.rint(rounded / scale), atol=1e-4)
    assert np.isfinite(small.predict(x)).all()


def test_weights_that_cannot_be_rounded() -> None:
    model = made()
    model.set_weights(model.named_weights() | {"dense_2/bias": np.float32([70000, 0])})
    with pytest.raises(pg.DataError, match="float16 ends at 65,504"):
        pg.quantize(model, weights="float16", activations=None)
    with pytest.raises(pg.GraphError, match="there are no 'int3' weights"):
        pg.quantize(model, weights="int3", activations=None)


@pytest.mark.parametrize("clusters", [0, 4])
def test_a_loaded_network_keeps_its_zeros_and_shared_values(clusters: int, tmp_path: Path) -> None:
    small = pg.prune(made(pg.optim.SGD(0.01)), 0.7)
    small = pg.cluster(small, clusters) if clusters else small
    path, again = tmp_path / "small.safetensors", tmp_path / "again.safetensors"
    small.save_weights(path)
    loaded = pg.load_model(path)
    loaded.save_weights(again)
    assert again.stat().st_size == pytest.approx(path.stat().st_size, rel=0.01)
    loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
    loaded.compile(pg.optim.SGD(0.01), loss, device="cpu")
    for model in (small, loaded):
        model.fit(X, Y, batch_size=16, epochs=2, verbose=0, seed=1)
    for key, value in kernels(loaded).items():
        np.testing.assert_allclose(value, kernels(small)[key], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(value == 0, kernels(small)[key] == 0)
        assert not clusters or len(np.unique(value)) == clusters + 1


def test_a_layer_that_is_frozen_in_the_file_keeps_its_zeros(tmp_path: Path) -> None:
    small = pg.cluster(pg.prune(made(pg.optim.SGD(0.01)), 0.7), 8)
    for layer in small.layers:
        layer.trainable = False
    small.save_weights(tmp_path / "small.safetensors")
    loaded = pg.load_model(tmp_path / "small.safetensors")
    before = kernels(loaded)
    for layer in loaded.layers:
        layer.trainable = True
    loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
    loaded.compile(pg.optim.Adam(0.01), loss, device="cpu")
    loaded.fit(X, Y, batch_size=16, epochs=1, verbose=0)
    for key, value in kernels(loaded).items():
        assert not np.array_equal(value, before[key])
        np.testing.assert_array_equal(value == 0, before[key] == 0)
        assert len(np.unique(value)) == len(np.unique(before[key])) == 9


def test_a_network_that_was_not_pruned_keeps_nothing(tmp_path: Path) -> None:
    model = made()
    value = kernels(model)["dense_1/kernel"].copy()
    value[:5] = 0
    model.set_weights(model.named_weights() | {"dense_1/kernel": value})
    model.save_weights(tmp_path / "plain.safetensors")
    loaded = pg.load_model(tmp_path / "plain.safetensors")
    loaded.compile("adam", pg.nn.SparseCategoricalCrossentropy(from_logits=True))
    loaded.fit(X, Y, epochs=1, verbose=0)
    assert np.count_nonzero(kernels(loaded)["dense_1/kernel"] == 0) == 0


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", '{"dense_1/kernel": 3}', '{"dense_1/kernel": "ones"}', '{"x": "zeros"}',
     '{"dense_1/kernel": "values", "dense_1/kernel:values": "zeros"}', "[" * 10_000],
)  # fmt: skip
def test_a_damaged_record_of_zeros_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "small.safetensors"
    pg.prune(made(), 0.7).save_weights(path)
    file = SafetensorsFile(path.read_bytes())
    tensors = {name: file.read(name) for name in file.entries}
    path.write_bytes(safetensors.dump(tensors, dict(file.metadata) | {KEPT: text}))
    with pytest.raises(pg.CheckpointError, match="the zeros that training keeps is damaged"):
        pg.load_model(path)


def test_weights_with_many_values_do_not_share_them(tmp_path: Path) -> None:
    path = tmp_path / "small.safetensors"
    model = pg.Sequential([pg.Input((40,)), pg.nn.Dense(40)])
    pg.prune(model, 0.1).save_weights(path)
    file = SafetensorsFile(path.read_bytes())
    tensors = {name: file.read(name) for name in file.entries}
    metadata = dict(file.metadata) | {KEPT: '{"dense_1/kernel": "values"}'}
    path.write_bytes(safetensors.dump(tensors, metadata))
    with pytest.raises(pg.CheckpointError, match="share at most 256 values"):
        pg.load_model(path)


# Damaged files

MASKED = with_zeros(few(ODD, 8))
CODED, WHOLE, HALVES = few(ODD, 3), integers(NORMAL, 127), integers(NORMAL, 7)
Change = Callable[[dict[str, Array], dict[str, Any]], Any]


def _part(name: str, change: Callable[[Array], Array]) -> Change:
    return lambda tensors, record: tensors.update({name: change(tensors[name])})


def _record(name: str, key: str, value: Any) -> Change:
    return lambda tensors, record: record[name].update({key: value})


HOSTILE: dict[str, Change] = {
    "an index beyond the codebook": _part("coded:codebook", lambda book: book[:2]),
    "an empty codebook": _part("masked:codebook", lambda book: book[:0]),
    "a codebook of integers": _part("coded:codebook", lambda book: book.astype(np.int32)),
    "too few indices": _part("coded:values", lambda part: part[:-1]),
    "too many indices": _part("masked:values", lambda part: np.append(part, part)),
    "a mask of more elements": _part("masked:mask", lambda mask: mask | np.uint8(255)),
    "a mask of fewer elements": _part("masked:mask", lambda mask: mask & np.uint8(0)),
    "a short mask": _part("masked:mask", lambda mask: mask[:-1]),
    "a mask of another dtype": _part("masked:mask", lambda mask: mask.astype(np.int32)),
    "too few scales": _part("whole:scale", lambda scale: scale[:-1]),
    "a scale of another shape": _part("whole:scale", lambda scale: scale.reshape(1, -1)),
    "integers of another dtype": _part("whole:values", lambda part: part.astype(np.int32)),
    "half the integers": _part("halves:values", lambda part: part[::2].copy()),
    "no values": lambda tensors, record: tensors.pop("coded:values"),
    "no scale": lambda tensors, record: tensors.pop("whole:scale"),
    "a mask beside integers": lambda tensors, record: tensors.update(
        {"whole:mask": np.zeros(30, np.uint8)}
    ),
    "0 bits": _record("coded", "bits", 0),
    "9 bits": _record("coded", "bits", 9),
    "bits that are text": _record("coded", "bits", "2"),
    "many bits": _record("coded", "bits", 1 << 80),
    "another axis": _record("whole", "axis", 0),
    "an axis beyond the shape": _record("whole", "shape", [240]),
    "a form that is a list": _record("coded", "form", ["codebook"]),
    "an unknown form": _record("coded", "form", "int3"),
    "another form": _record("coded", "form", "float16"),
    "a negative size": _record("coded", "shape", [-9, -7, 3]),
    "a huge size": _record("coded", "shape", [1 << 40, 1 << 40]),
    "a size that overflows": _record("masked", "shape", [1 << 63, 2]),
    "a larger shape": _record("masked", "shape", [9, 7, 4]),
    "sizes that are true": _record("masked", "shape", [True, 189]),
    "a shape that is text": _record("masked", "shape", "9"),
    "no shape": lambda tensors, record: record["masked"].pop("shape"),
    "a record that is a list": lambda tensors, record: record.update(masked=[1]),
    "a record of none": lambda tensors, record: record.update(masked=None),
    "a tensor twice": lambda tensors, record: tensors.update(coded=CODED),
}


def stored() -> tuple[dict[str, Array], dict[str, Any]]:
    arrays = {"masked": MASKED, "coded": CODED, "whole": WHOLE, "halves": HALVES}
    tensors, metadata = packed_tensors(arrays)
    return tensors, json.loads(metadata[KEY])


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_damaged_files_are_refused(change: Change) -> None:
    tensors, record = stored()
    assert set(record) == {"masked", "coded", "whole", "halves"}
    change(tensors, record)
    content = safetensors.dump(tensors, {KEY: json.dumps(record)})
    with pytest.raises(pg.CheckpointError):
        pg.io.load(content)


@pytest.mark.parametrize("record", ["", "null", "3", "[]", '{"a"', '"a"', "[" * 100_000, "NaN"])
def test_damaged_records_are_refused(record: str) -> None:
    content = safetensors.dump(stored()[0], {KEY: record})
    with pytest.raises(pg.CheckpointError):
        pg.io.load(content)


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.safetensors"
    pg.cluster(pg.prune(made(), 0.7), 4).save_weights(path)
    content = path.read_bytes()
    for length in (*range(0, len(content), 97), len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(pg.CheckpointError):
            pg.load_model(path)


def test_a_small_file_of_many_zeros_is_refused() -> None:
    size = 1 << 32
    packed = Packed("float32", (size,), {"values": np.zeros(0, np.float32)})
    tensors = {"a:values": packed.parts["values"], "a:mask": np.zeros(9, np.uint8)}
    content = safetensors.dump(tensors, {KEY: json.dumps({"a": packed.record()})})
    with pytest.raises(pg.CheckpointError):
        pg.io.load(content)
