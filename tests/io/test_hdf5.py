"""HDF5 files: h5py reads what is written, and what h5py writes is read; all else is refused."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Mapping
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playgrad.errors import CheckpointError
from playgrad.io.hdf5.reader import Hdf5File
from playgrad.io.hdf5.writer import Tree, hdf5_bytes
from tests.io.damage import empty_shape
from tests.sweeps import dice

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)
TREES: dict[str, Tree] = {
    "empty": {},
    "a group": {"vars": {}},
    "dtypes": {
        name: RANDOM.integers(0, 100, (2, 3)).astype(name)
        for name in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">i2"]
    },
    "shapes": {str(rank): RANDOM.normal(size=(2,) * rank) for rank in range(6)},
    "no elements": {"none": np.zeros((0, 3), np.float32)},
    "special": {"x": np.array([np.nan, -np.inf, -0.0, 1e-45], np.float32)},
    "many": {
        f"dense_{i}": {"vars": {"0": np.full(3, i, np.float32), "1": np.arange(i % 4)}}
        for i in range(700)
    },
    "deep": {"a": {"b": {"c": {"d": {"e": np.ones(2)}}}}},
}


def flat(tree: Tree, path: str = "") -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            arrays |= flat(value, f"{path}{name}/")
        else:
            arrays[path + name] = np.asarray(value)
    return arrays


def check_equal(one: Array, other: Array) -> None:
    assert one.dtype == other.dtype.newbyteorder("=")
    np.testing.assert_array_equal(one, other, strict=False)
    assert one.shape == other.shape


def by_h5py(tree: Tree) -> bytes:
    return written(lambda file: put(file, tree))


def put(group: Any, tree: Tree) -> None:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            put(group.create_group(name), value)
        else:
            group[name] = value


def written(fill: Callable[[Any], Any], **options: Any) -> bytes:
    """Return the file that h5py writes."""
    content = io.BytesIO()
    with h5py.File(content, "w", **options) as file:
        fill(file)
    return content.getvalue()


@pytest.mark.parametrize("name", TREES)
def test_h5py_reads_written_files(name: str) -> None:
    arrays = flat(TREES[name])
    with h5py.File(io.BytesIO(hdf5_bytes(TREES[name]))) as file:
        paths: list[str] = []
        file.visit(paths.append)
        assert {path for path in paths if isinstance(file[path], h5py.Dataset)} == set(arrays)
        for path, array in arrays.items():
            check_equal(file[path][()], array)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("encode", [hdf5_bytes, by_h5py])
def test_files_of_playgrad_and_h5py_are_read(encode: Callable[[Tree], bytes], name: str) -> None:
    file = Hdf5File(encode(TREES[name]))
    arrays = flat(TREES[name])
    assert set(file.entries) == set(arrays)
    for path, array in arrays.items():
        check_equal(file.read(path), array)


def test_groups_without_arrays_are_known() -> None:
    assert Hdf5File(hdf5_bytes({"a": {"vars": {}}})).groups == {"", "a", "a/vars"}


def test_attributes_do_not_matter() -> None:
    def fill(file: Any) -> None:
        file["x"] = np.ones(3)
        file.attrs["text"] = "long" * 100
        file["x"].attrs["many"] = np.arange(1000)

    assert Hdf5File(written(fill)).read("x").tolist() == [1, 1, 1]


def virtual(file: Any) -> None:
    layout = h5py.VirtualLayout(shape=(4,), dtype="f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", shape=(4,))
    file.create_virtual_dataset("x", layout)


def cycle(file: Any) -> None:
    file.create_group("a")
    file.create_group("a/b")["up"] = file["a"]


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (lambda file: file.__setitem__("x", h5py.SoftLink("/x")), "'x' .* is a link"),
        (lambda file: file.__setitem__("x", h5py.ExternalLink("/etc/passwd", "/")), "a link|newer"),
        (virtual, "not stored in one piece"),
        (cycle, "used twice"),
        (lambda file: put(file, {"x": np.array([b"text"])}), "not an array of numbers"),
        (lambda file: put(file, {"x": np.zeros(2, "f4,i4")}), "not an array of numbers"),
        (lambda file: put(file, {"x": np.zeros(2, np.complex64)}), "not an array of numbers"),
        (lambda file: file.create_dataset("x", (10**12,), "f4"), "has no values"),
        (lambda file: file.create_dataset("x", (10**9,), "f4", chunks=(1000,)), "in one piece"),
        (lambda file: file.create_dataset("x", data=np.ones(99), compression="gzip"), "compressed"),
        (
            lambda file: file.create_dataset("x", (8,), "i1", external=[("/etc/passwd", 0, 8)]),
            "in another file",
        ),
        (lambda file: put(file, nested(40)), "more than 32 groups in each other"),
    ],
)  # fmt: skip
def test_unsupported_contents_are_refused(fill: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        Hdf5File(written(fill))


def nested(depth: int) -> Tree:
    return {"x": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize("options", [{"libver": "latest"}, {"track_order": True}])
def test_the_newer_format_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match=r"newer format|version"):
        Hdf5File(written(lambda file: put(file, TREES["shapes"]), **options))


def test_other_files_are_refused() -> None:
    for content in (b"", b"PK\3\4", b"\x89HDF\r\n\x1a\n", bytes(1000)):
        with pytest.raises(CheckpointError, match="HDF5"):
            Hdf5File(content)


SMALL = hdf5_bytes({"layers": {"dense": {"vars": {"0": np.ones((2, 3)), "1": np.arange(3)}}}})


def check_damaged(content: bytes) -> None:
    """Check that a file is refused, or has arrays that are no larger than the file."""
    try:
        file = Hdf5File(content)
    except CheckpointError:
        return
    assert file.unpacked <= len(content)
    for path, entry in file.entries.items():
        assert file.read(path).shape == entry.shape


def test_truncated_files_are_refused() -> None:
    used = SMALL.rstrip(b"\0")  # the last block is padded
    for length in range(len(used)):
        with pytest.raises(CheckpointError):
            Hdf5File(SMALL[:length])


@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), max_size=8))
def test_changed_bytes_do_no_harm(changes: list[tuple[int, int]]) -> None:
    content = bytearray(SMALL)
    for place, value in changes:
        content[place] = value
    check_damaged(bytes(content))


@given(st.integers(0, len(SMALL) // 8 - 1), st.sampled_from([0, 8, 96, 2**31, 2**63, 2**64 - 1]))
def test_changed_addresses_and_sizes_do_no_harm(place: int, value: int) -> None:
    check_damaged(SMALL[: 8 * place] + struct.pack("<Q", value) + SMALL[8 * place + 8 :])


def test_arrays_without_elements_are_read_or_refused() -> None:
    draw = dice("hdf5 without elements")
    for _ in range(60):
        shape = empty_shape(draw)
        try:
            content = written(lambda file, shape=shape: file.create_dataset("x", shape, "f4"))
        except (ValueError, TypeError, OverflowError):
            continue  # HDF5 does not have it
        try:
            assert Hdf5File(content).read("x").shape == shape
        except CheckpointError as error:
            assert "too large" in str(error), shape


@given(st.binary(max_size=500))
def test_random_bytes_do_no_harm(tail: bytes) -> None:
    check_damaged(SMALL[:96] + tail)
