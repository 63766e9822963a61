"""The safetensors reader and writer: compared with the safetensors package, and damaged files."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st

from playgrad.errors import CheckpointError
from playgrad.io.safetensors import dump, parse

TENSORS = {
    "dense_1/kernel": np.arange(12, dtype=np.float32).reshape(3, 4),
    "dense_1/bias": np.zeros(4, np.float32),
    "counts": np.array([1, -2, 3], np.int32),
    "bytes": np.arange(5, dtype=np.uint8),
    "flags": np.array([True, False]),
    "scalar": np.array(2.5, np.float32),
    "empty": np.zeros((0, 3), np.float32),
    "double": np.array([1e300]),
}


def file_of(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype: str = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def assert_equal(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(actual) == list(expected)
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype
        np.testing.assert_array_equal(actual[name], array)


def test_the_safetensors_package_reads_our_files() -> None:
    loaded = safetensors.numpy.load(dump(TENSORS, {"format": "np"}))
    assert_equal({name: loaded[name] for name in TENSORS}, TENSORS)


def test_files_of_the_safetensors_package_are_read() -> None:
    loaded = parse(safetensors.numpy.save(TENSORS, {"producer": "elsewhere"}))
    assert_equal({name: loaded[name] for name in TENSORS}, TENSORS)


def test_bfloat16_is_read_as_float32() -> None:
    """Every value that bfloat16 has, NaN with its digits included."""
    halves = torch.arange(1 << 16, dtype=torch.int32).to(torch.uint16).view(torch.bfloat16)
    loaded = parse(safetensors.torch.save({"w": halves.reshape(256, 256), "none": halves[:0]}))
    assert loaded["w"].dtype == np.float32
    assert loaded["none"].shape == (0,)
    bits = loaded["w"].reshape(-1).view(np.uint32)
    np.testing.assert_array_equal(bits, np.arange(1 << 16, dtype=np.uint32) << 16)


def test_bfloat16_of_another_size_is_refused() -> None:
    header = {"w": entry("BF16", (2,), (0, 8))}
    with pytest.raises(CheckpointError, match=r"has 8 bytes, but its shape \(2,\) needs 4"):
        parse(file_of(header, bytes(8)))


def test_tensors_survive_a_round_trip_even_without_any() -> None:
    assert_equal(parse(dump(TENSORS)), TENSORS)
    assert parse(dump({})) == {}


def test_arrays_read_can_be_written_to() -> None:
    parse(dump(TENSORS))["counts"][0] = 7


def test_types_without_a_name_are_refused() -> None:
    with pytest.raises(CheckpointError, match="'z' is complex64, which safetensors cannot hold"):
        dump({"z": np.zeros(2, np.complex64)})


DAMAGED = {
    "empty": (b"", "it has 0 bytes"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(64), "its header would be"),
    "header too long": ((200_000_000).to_bytes(8, "little") + b"{}", "100,000,000 are allowed"),
    "header cut": ((500).to_bytes(8, "little") + b"{}", "expected a header of 500 bytes"),
    "not json": (file_of(b"{not json"), "its header is not JSON"),
    "not utf-8": (file_of(b"\xff\xfe{}"), "its header is not JSON"),
    "deep json": (file_of(b"[" * 100_000), "not a JSON object"),
    "deep dtype": (file_of(b'{"a": {"dtype": ' + b"[" * 900 + b"]" * 900), "'a' is not a text"),
    "deep shape": (file_of(b'{"a": {"shape": ' + b"[" * 900 + b"]" * 900), "not whole numbers"),
    "deep objects": (file_of(b'{"a": ' * 900), "the unknown field 'a'"),
    "a list": (file_of([1, 2]), "not a JSON object"),
    "twins": (
        file_of(json.dumps({"a": entry(), "b": entry(offsets=(8, 16))}).replace("b", "a").encode()),
        "'a' occurs twice",
    ),
    "no shape": (file_of({"a": {"dtype": "F32"}}), "'a' lacks a dtype, a shape"),
    "entry no object": (file_of({"a": 3}), "'a' lacks"),
    "three offsets": (file_of({"a": entry(offsets=(0, 4, 8))}, bytes(8)), "'a' lacks"),
    "unknown dtype": (file_of({"a": entry("F8_E4M3")}, bytes(8)), "dtype 'F8_E4M3'"),
    "dtype a list": (file_of({"a": {**entry(), "dtype": ["F32"]}}, bytes(8)), "not a text"),
    "a field twice": (file_of(b'{"a": {"dtype": "F32", "dtype": "F64"}}'), "has twice 'dtype'"),
    "more fields": (file_of({"a": {**entry(), "code": "import os"}}, bytes(8)), "field 'code'"),
    "metadata twice": (
        file_of(b'{"__metadata__": {"a": "b"}, "__metadata__": {}}'),
        "'__metadata__' occurs twice",
    ),
    "metadata a list": (file_of({"__metadata__": []}), "not a JSON object of texts"),
    "metadata of numbers": (file_of({"__metadata__": {"a": 1}}), "not a JSON object of texts"),
    "size an exponent": (file_of(b'{"a": {"shape": [1e9]}}'), "not whole numbers"),
    "size not a number": (file_of(b'{"a": {"shape": [NaN]}}'), "not whole numbers"),
    "size with zeros": (file_of(b'{"a": {"shape": [007]}}'), "not whole numbers"),
    "size of 5,000 digits": (file_of({"a": entry(shape=(10**4200,))}), "not whole numbers"),
    "many dimensions": (file_of({"a": entry(shape=(1,) * 40)}, bytes(8)), "more than 32"),
    "many tensors": (
        file_of({str(n): entry(shape=(0,), offsets=(0, 0)) for n in range(20_001)}),
        "more than 20,000 tensors",
    ),
    "long name": (file_of({"n" * 5000: entry()}, bytes(8)), "has 5,000 bytes, but at most 4,096"),
    "lone surrogate": (file_of(b'{"\\ud800": {}}'), "not valid Unicode"),
    "wrong escape": (file_of(b'{"\\x": {}}'), "a text has a wrong escape"),
    "no end": (file_of(b'{"a'), "a text has no end"),
    "more after it": (file_of(b"{} {}"), "text follows its end"),
    "odd booleans": (file_of({"a": entry("BOOL", (2,), (0, 2))}, b"\1\2"), "other than 0 and 1"),
    "negative size": (file_of({"a": entry(shape=(-2,))}, bytes(8)), "not whole numbers"),
    "size a float": (file_of({"a": entry(shape=(2.0,))}, bytes(8)), "not whole numbers"),
    "size a bool": (file_of({"a": entry(shape=(True,))}, bytes(8)), "not whole numbers"),
    "shape a word": (file_of({"a": {**entry(), "shape": "2"}}, bytes(8)), "not whole numbers"),
    "backwards": (file_of({"a": entry(offsets=(8, 0))}, bytes(8)), "after its end 0"),
    "wrong length": (
        file_of({"a": entry(shape=(3,))}, bytes(8)),
        "has 8 bytes.* needs 12",
    ),
    "data cut": (file_of({"a": entry()}, bytes(6)), "truncated: 'a' ends at byte 8"),
    "overlap": (
        file_of({"a": entry(), "b": entry(offsets=(4, 12))}, bytes(12)),
        "the data of 'a' and 'b' overlap",
    ),
    "gap": (file_of({"a": entry(offsets=(4, 12))}, bytes(12)), "4 bytes before 'a'"),
    "tail": (file_of({"a": entry()}, bytes(11)), "3 bytes after the last tensor"),
    "huge shape": (file_of({"a": entry(shape=(2**40, 2**40))}, bytes(8)), "has 8 bytes"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_named(name: str) -> None:
    content, words = DAMAGED[name]
    with pytest.raises(CheckpointError, match=words):
        parse(content)


@given(st.data())
def test_any_damage_is_a_checkpoint_error(data: st.DataObject) -> None:
    """A truncated or changed file is read or raises CheckpointError, and nothing else."""
    content = bytearray(dump(TENSORS))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CheckpointError):
        parse(bytes(content))
