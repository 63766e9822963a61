"""Variables that TensorFlow wrote in SavedModels and checkpoints, with `tensorflow/make.py`."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.io.tensorflow.bundle import TensorBundle
from playgrad.io.tensorflow.checksum import crc32c, masked_crc32c
from playgrad.io.tensorflow.fields import varint
from playgrad.io.tensorflow.table import read_table
from tests.io.damage import delete, flip_bits, insert, truncate
from tests.sweeps import budget, dice

FOLDER = Path(__file__).parent / "tensorflow"
FILES = {
    "keras3_net": "keras3_net",
    "keras2_net": "ckpt_keras2_net/ckpt",
    "keras3_seq": "ckpt_keras3_seq/ckpt.index",
    "keras2_seq": "keras2_seq/variables/variables",
}


def net() -> pg.Model:
    return pg.Sequential([
        pg.Input((6, 6, 2)), nn.Conv2D(3, 3, activation="relu"), nn.BatchNormalization(),
        nn.Flatten(), nn.Dense(4, activation="tanh"), nn.Dense(4), nn.Dense(3),
    ])  # fmt: skip


def seq() -> pg.Model:
    return pg.Sequential([
        pg.Input((5,), dtype="int32"), nn.Embedding(9, 4), nn.LSTM(3, return_sequences=True),
        nn.Bidirectional(nn.GRU(3)), nn.Dense(2),
    ])  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_model_with_the_variables_predicts_as_tensorflow_did(name: str) -> None:
    model = net() if name.endswith("net") else seq()
    assert pg.load_model(FOLDER / FILES[name], model=model) is model
    with np.load(FOLDER / "inputs.npz") as inputs, np.load(FOLDER / "expected.npz") as expected:
        result = model.predict(inputs[name.partition("_")[2]])
        np.testing.assert_allclose(result, expected[name], rtol=1e-5, atol=1e-5)


def test_names_of_the_file_are_not_taken_for_those_of_the_model() -> None:
    """Keras counts from ``dense``, playgrad from ``dense_1``; both have a ``dense_1/bias``."""
    matching = pg.match_weights(net(), FOLDER / FILES["keras2_net"])
    assert matching["dense_1/bias"] == "dense/bias"
    assert matching["dense_2/bias"] == "dense_1/bias"
    assert matching.fits
    assert not matching.unused


def test_what_does_not_fit_is_listed() -> None:
    model = pg.Sequential([pg.Input((5,), dtype="int32"), nn.Embedding(9, 4), nn.LSTM(3)])
    words = (
        r"the file has .*'bidirectional/forward_gru/gru_cell/kernel' \(3, 9\), .* not in the model"
    )
    with pytest.raises(CheckpointError, match=words):
        model.load_weights(FOLDER / "keras2_seq")
    with pytest.raises(CheckpointError, match=r"has the variables of TensorFlow.*model=model"):
        pg.load_model(FOLDER / "keras2_seq")


def test_checksums_are_those_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720 has more
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(bytes(range(32))) == 0x46DD794E
    data = np.random.default_rng(0).bytes(70_001)
    slow = 0xFFFFFFFF
    for byte in data:
        slow ^= byte
        for _ in range(8):
            slow = slow >> 1 ^ (0x82F63B78 if slow & 1 else 0)
    assert crc32c(data) == slow ^ 0xFFFFFFFF


def with_block(index: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return an index whose first block has the same length and another content."""
    end = first_block_end(index)
    block = change(index[:end])
    assert len(block) == end
    crc = masked_crc32c(block + index[end : end + 1]).to_bytes(4, "little")
    return block + index[end : end + 1] + crc + index[end + 5 :]


def first_block_end(index: bytes) -> int:
    """Return the place of the trailer of the only block of entries: the next one is beside it."""
    return varint(index[-48:], 0)[0] - 5


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Return a change of an index that replaces bytes of its entries."""
    return lambda index: with_block(index, lambda block: block.replace(old, new))


HEADER = b"\x08\x01\x1a\x02\x08\x01"
VECTOR = b"\x08\x01\x12\x04\x12\x02\x08\x03"  # float32, (3,)
HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "a checksum differs": lambda index: bytes([*index[:9], index[9] ^ 1]) + index[10:],
    "is compressed \\(snappy\\)": (
        lambda index: index[: first_block_end(index)] + b"\1" + index[first_block_end(index) + 1 :]
    ),
    "not the index of a TensorFlow checkpoint, or truncated": lambda index: index[:-1],
    "or truncated": lambda index: b"",
    "it has 0 files of data": replaced(HEADER, b"\x08\x00" + HEADER[2:]),
    "it has 127 files of data": replaced(HEADER, b"\x08\x7f" + HEADER[2:]),
    "'sequential/conv2d/bias' in the TensorFlow file is of type 8": (
        replaced(VECTOR, b"\x08\x08" + VECTOR[2:])  # complex64
    ),
    "the place of 'sequential/conv2d/bias' is not valid": (
        replaced(VECTOR, b"\x08\x02" + VECTOR[2:])  # float64
    ),
    "a number is truncated": (
        replaced(VECTOR, VECTOR[:-1] + b"\xff")
    ),
    "a block has no end": lambda index: with_block(
        index, lambda block: block[:-4] + b"\xff\xff\xff\x7f"
    ),
    "an entry is truncated": lambda index: with_block(index, lambda block: b"\xff" + block[1:]),
}  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_indices_are_refused_by_name(words: str, tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER / "keras3_net", tmp_path / "m")
    path = folder / "variables" / "variables.index"
    path.write_bytes(HOSTILE[words](path.read_bytes()))
    if "127" in words:
        words = r"cannot read '.*data-00000-of-00127'"
    with pytest.raises(CheckpointError, match=words):
        pg.load_model(folder, model=net())


def test_bfloat16_variables_are_read_as_float32(tmp_path: Path) -> None:
    """The three float32 of a bias are read as six values of two bytes."""
    folder = shutil.copytree(FOLDER / "keras3_net", tmp_path / "m")
    path = folder / "variables" / "variables.index"
    name = "sequential/conv2d/bias"
    expected = TensorBundle(path).read(name)
    six = b"\x08\x0e\x12\x04\x12\x02\x08\x06"
    path.write_bytes(replaced(VECTOR, six)(path.read_bytes()))
    values = TensorBundle(path).read(name)
    assert values.dtype == np.float32
    halves = np.ascontiguousarray(expected, "<f4").view("<u2").astype(np.uint32)
    np.testing.assert_array_equal(values.view(np.uint32), halves << 16)


def test_blocks_are_read_once() -> None:
    """A small file could make the reader compute checksums for days."""
    empty = bytes(4)
    entry = b"\x00\x01\x02k\x00\x04"  # a key of one byte, and the place of the empty block
    content = b""
    for block in (empty, entry * 2 + bytes(4)):
        place = len(content)
        content += block + b"\0" + masked_crc32c(block + b"\0").to_bytes(4, "little")
    footer = bytes([0, 0, place, len(entry) * 2 + 4]).ljust(40, b"\0")
    content += footer + (0xDB4775248B80FB57).to_bytes(8, "little")
    with pytest.raises(CheckpointError, match="a block begins in the one before it"):
        read_table(content)


def test_damaged_and_missing_data_are_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER / "keras3_net", tmp_path / "m")
    path = folder / "variables" / "variables.data-00000-of-00001"
    content = path.read_bytes()
    entry = TensorBundle(folder / "variables" / "variables.index").entries[
        "sequential/dense/kernel"
    ]
    model = net()
    before = model.get_weights()
    for damaged, words in (
        (content[: entry.begin] + b"\xff" + content[entry.begin + 1 :], "their checksum differs"),
        (content[:-1], "is truncated: it has"),
        (b"", "is truncated: it has 0 bytes"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=words):
            model.load_weights(folder)
    path.unlink()
    with pytest.raises(CheckpointError, match="No such file"):
        model.load_weights(folder)
    path.symlink_to("/dev/zero")
    with pytest.raises(CheckpointError, match="not an ordinary file"):
        model.load_weights(folder)
    for one, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_random_damage_is_refused_or_harmless(tmp_path: Path) -> None:
    random = dice("bundle damage")
    folder = shutil.copytree(FOLDER / "ckpt_keras2_net", tmp_path / "m")
    files = {path: path.read_bytes() for path in folder.iterdir()}
    model = net()
    for _ in range(budget(30, 3000)):
        for path, content in files.items():
            path.write_bytes(content)
        path, content = random.choice(list(files.items()))
        damaged = bytearray(content)
        random.choice((flip_bits, truncate, delete, insert))(random, damaged)
        if path.suffix == ".index" and random.random() < 0.5:
            with contextlib.suppress(AssertionError):
                end = first_block_end(content)
                trailer = masked_crc32c(bytes(damaged[: end + 1])).to_bytes(4, "little")
                damaged[end + 1 : end + 5] = trailer
        path.write_bytes(damaged)
        with contextlib.suppress(CheckpointError):
            model.load_weights(folder / "ckpt")
