"""Encoded weights are read back and compared before they count as a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from playgrad.errors import CheckpointError
from playgrad.io import decode, encode_checked, npz, safetensors

Tensors = dict[str, Any]
FORMATS = pytest.mark.parametrize("format", ["safetensors", "npz"])


@FORMATS
def test_unusual_arrays_survive_encoding(format: str) -> None:
    nan = np.array([np.nan, -0.0, np.inf], np.float32)
    nan.view(np.uint32)[0] |= 0x1234  # with a payload
    unusual = {
        "nan": nan,
        "scalar": np.array(2.5),
        "empty": np.zeros((0, 3)),
        "big endian": np.arange(5, dtype=">i4"),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "flags": np.array([True, False]),
    }
    decoded = decode(encode_checked(unusual, format))
    for name, array in unusual.items():
        assert decoded[name].shape == array.shape
        np.testing.assert_array_equal(decoded[name], array)
    assert decoded["nan"].tobytes() == nan.tobytes()


MISTAKES: dict[str, Callable[[Tensors], Tensors]] = {
    "values": lambda tensors: {name: np.nextafter(array, 9) for name, array in tensors.items()},
    "signs of zeros": lambda tensors: {name: array * -1 for name, array in tensors.items()},
    "shapes": lambda tensors: {name: array.reshape(-1) for name, array in tensors.items()},
    "dtypes": lambda tensors: {name: array.astype("f8") for name, array in tensors.items()},
    "one missing": lambda tensors: dict(list(tensors.items())[1:]),
    "one more": lambda tensors: {**tensors, "more": np.zeros(1)},
    "exchanged": lambda tensors: dict(zip(reversed(tensors), tensors.values(), strict=True)),
}


@pytest.mark.survival("Files damaged on their way out of the page")
@FORMATS
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_an_encoder_are_errors(
    format: str, mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensors = {"a": np.zeros((2, 3), np.float32), "b": np.ones((2, 3), np.float32)}
    module: Any = {"safetensors": safetensors, "npz": npz}[format]
    dump = module.dump
    monkeypatch.setattr(
        module, "dump", lambda tensors, *more: dump(MISTAKES[mistake](tensors), *more)
    )
    with pytest.raises(CheckpointError, match="were encoded wrongly"):
        encode_checked(tensors, format)
