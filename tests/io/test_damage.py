"""Damaged weights files end as CheckpointError, and take little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from playgrad.errors import CheckpointError
from playgrad.graph.spec import TensorSpec
from playgrad.io import decode, encode, load
from tests.io import damage
from tests.sweeps import budget

_SLACK = 16 << 20
"""Bytes for Python's own objects, whatever the size of the file."""

EXPECTED = {
    name: TensorSpec(array.shape, array.dtype.name) for name, array in damage.weights().items()
}
NETWORK = sum(array.nbytes for array in damage.weights().values())


@contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """Yield a function that returns the largest number of bytes allocated since its last call."""
    tracemalloc.start(1)
    before = tracemalloc.get_traced_memory()[0]

    def peak() -> int:
        nonlocal before
        largest = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        return largest

    yield peak
    tracemalloc.stop()


def survive(files: Iterable[tuple[str, bytes]]) -> tuple[int, int]:
    """Decode ``files``; return how many were tried, and how many of those were read.

    The file itself is in memory already, so that at most as much again may be allocated.
    """
    tried = read = 0
    with measured() as peak:
        for label, content in files:
            for expected in (EXPECTED, None):
                peak()
                try:
                    arrays = decode(content, expected)
                    read += 1
                    if expected is not None:
                        assert {n: a.shape for n, a in arrays.items()} == {
                            n: spec.shape for n, spec in EXPECTED.items()
                        }, label
                    else:
                        encode(arrays, "npz")
                except CheckpointError as error:
                    assert len(str(error)) < 9000, label
                    arrays = {}
                except Exception as error:
                    raise AssertionError(f"{label}: {type(error).__name__}: {error}") from error
                allowed = len(content) + NETWORK + _SLACK
                assert peak() <= allowed, f"{label}: more than {allowed:,} bytes"
            tried += 1
    return tried, read


@pytest.mark.survival("Damaged weights files")
def test_mutated_files_are_refused_or_harmless(
    record_property: Callable[[str, object], None],
) -> None:
    tried, read = survive(damage.mutated(budget(800, night=25_000)))
    record_property("tried", tried)
    assert 0 < read < 1.2 * tried  # of two attempts each: most are damaged


@pytest.mark.survival("Damaged weights files")
def test_harmful_files_are_refused(record_property: Callable[[str, object], None]) -> None:
    files = damage.crafted()
    tried, read = survive(files.items())
    record_property("tried", tried)
    assert read == 0


def test_files_that_unpack_to_too_much_are_refused_with_a_hint() -> None:
    zeros = damage.compressed({"a": np.zeros(30_000_000, np.float32)})
    with pytest.raises(CheckpointError, match=r"from 1.* to 120,000,000 bytes.*model.load_weights"):
        decode(zeros)
    arrays = decode(zeros, {"a": TensorSpec((30_000_000,), "float32")})
    assert arrays["a"].shape == (30_000_000,)


def test_arrays_of_another_shape_are_not_unpacked() -> None:
    zeros = damage.compressed({"a": np.zeros(10_000_000, np.float32)})
    with measured() as peak, pytest.raises(CheckpointError, match="'a' has shape"):
        decode(zeros, {"a": TensorSpec((3,), "float32")})
        assert peak() < 1 << 20


def test_reading_takes_no_more_memory_than_file_and_network() -> None:
    tensors = {f"t{n}": np.ones(500_000, np.float32) for n in range(10)}
    for content in (encode(tensors, "safetensors"), encode(tensors, "npz")):
        with measured() as peak:
            arrays = decode(content)
            assert peak() < 20_000_000 + 3_000_000
        assert arrays.keys() == tensors.keys()


def test_paths_other_than_files_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero"), Path("/dev/null"), tmp_path / "none", Path("a\0b")):
        with pytest.raises(CheckpointError, match=r"cannot read|not a valid name"):
            load(path)


def test_a_file_of_a_much_larger_network_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    with path.open("wb") as file:
        file.truncate(20 << 30)  # a hole: it takes no space
    with pytest.raises(CheckpointError, match=r"has 21,474,836,480 bytes, but the weights of this"):
        load(path, EXPECTED)


def test_fortran_order_and_foreign_byte_order_are_read() -> None:
    array = np.arange(6, dtype=">f4").reshape(2, 3)
    content = damage.compressed({"a": np.asfortranarray(array), "b": array.T})
    read = decode(content, {"a": TensorSpec((2, 3), "float32"), "b": TensorSpec((3, 2), "float32")})
    np.testing.assert_array_equal(read["a"], array)
    np.testing.assert_array_equal(read["b"], array.T)
    assert read["a"].flags.c_contiguous and read["a"].dtype == np.float32
