"""PyTorch's files: values as torch.save wrote them, and nothing of a file is executed."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.graph.spec import TensorSpec
from playgrad.io import decode
from tests.io.damage import empty_shape
from tests.sweeps import dice, examples


def saved(value: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def with_pickle(content: bytes) -> bytes:
    """A file of PyTorch with another pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", content)
    return buffer.getvalue()


NET = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.Linear(4, 5))
REAL = saved(NET.state_dict())


@pytest.mark.parametrize(
    "wrap",
    [
        dict,
        lambda state: {"state_dict": state, "epoch": 3},
        lambda state: {"epoch": 3, "model_state_dict": state, "optimizer_state_dict": {}},
    ],
)
def test_a_state_dict_has_torchs_values(wrap) -> None:
    arrays = decode(saved(wrap(NET.state_dict())))
    assert list(arrays) == list(NET.state_dict())
    for name, tensor in NET.state_dict().items():
        np.testing.assert_array_equal(arrays[name], tensor.numpy(), strict=True)


def test_views_and_dtypes_are_read() -> None:
    whole = torch.arange(24).reshape(4, 6)
    tensors = {
        "t": whole.T,
        "part": whole[1:3, ::2],
        "parameter": torch.nn.Parameter(torch.ones(2)),
    }
    for dtype in (torch.float64, torch.float16, torch.int32, torch.uint8, torch.int8, torch.bool):
        tensors[str(dtype)] = torch.ones(3, dtype=dtype)
    for name, array in decode(saved(tensors)).items():
        np.testing.assert_array_equal(array, tensors[name].detach().numpy(), strict=True)


def test_a_model_loads_weights_under_its_names_and_predicts_as_torch(tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((4,)), nn.Dense(3)])
    linear = torch.nn.Linear(4, 3)
    kernel, bias = model.named_weights()
    torch.save({kernel: linear.weight.T, bias: linear.bias}, tmp_path / "net.pt")
    model.load_weights(tmp_path / "net.pt")
    x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    expected = linear(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-5)


class Harm:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_executed(tmp_path: Path, protocol: int) -> None:
    target = tmp_path / "made"
    content = pickle.dumps({"w": Harm(target)}, protocol)
    with pytest.raises(CheckpointError, match="refused"):
        decode(with_pickle(content))
    assert not target.exists()
    pickle.loads(content)
    assert target.exists()  # the pickle would have done it


def test_a_whole_module_is_refused() -> None:
    with pytest.raises(CheckpointError, match="refused"):
        decode(saved(NET))


def test_values_that_are_not_as_stored_are_refused() -> None:
    imaginary = torch.ones(2, dtype=torch.complex64).conj().imag
    assert imaginary.is_neg()
    with pytest.raises(CheckpointError, match=r"conjugated or negated .*resolve_neg\(\)"):
        decode(saved({"w": imaginary}))
    np.testing.assert_array_equal(decode(saved({"w": imaginary.resolve_neg()}))["w"], [0, 0])
    with pytest.raises(CheckpointError, match=r"Storage', which are not read.*imaginary parts"):
        decode(saved({"w": torch.ones(2, dtype=torch.complex64)}))


def test_bfloat16_is_read_as_float32() -> None:
    """Also views with steps of their own, and values that float16 does not have."""
    values = torch.tensor([[1.0, -2.5, 1e38], [float("inf"), float("nan"), -0.0]])
    halves = values.to(torch.bfloat16)
    state = {"w": halves, "turned": halves.T, "column": halves[:, 1], "none": halves[:0]}
    for name, array in decode(saved(state)).items():
        assert array.dtype == np.float32
        expected = state[name].float().contiguous().numpy()
        np.testing.assert_array_equal(array.view(np.uint32), expected.view(np.uint32))


def test_windows_that_overlap_are_refused() -> None:
    content = saved({"w": torch.arange(3.0).unfold(0, 2, 1)})
    with pytest.raises(CheckpointError, match="beyond its 3 stored values"):
        decode(content)


def test_expanded_tensors_are_read() -> None:
    column = torch.arange(3.0)[:, None]
    state = {"rows": column.expand(3, 4), "columns": torch.arange(3.0).expand(2, 1, 3),
             "one": torch.tensor(7).expand(5), "none": column.expand(3, 0)}  # fmt: skip
    loaded = decode(saved(state))
    for name, tensor in state.items():
        np.testing.assert_array_equal(loaded[name], tensor.numpy())


def test_expanded_tensors_are_limited_in_size() -> None:
    content = saved({"w": torch.zeros(1).expand(1 << 20, 1 << 20)})
    with pytest.raises(
        CheckpointError, match=r"would unpack from [\d,]+ to 4,398,046,511,104 bytes"
    ):
        decode(content)
    with pytest.raises(
        CheckpointError, match=r"'w' has shape \(1048576, 1048576\) in the file, but"
    ):
        decode(content, {"w": TensorSpec((2, 3), "float32")})


def test_a_cycle_is_refused() -> None:
    cycle: dict[str, object] = {}
    cycle["state_dict"] = cycle
    with pytest.raises(CheckpointError, match="'state_dict' in the PyTorch file is not a tensor"):
        decode(with_pickle(pickle.dumps(cycle, 2)))


def test_instructions_are_limited() -> None:
    with pytest.raises(CheckpointError, match="more than 1,048,576 instructions"):
        decode(with_pickle(b"\x80\x02" + b"}" * (2 << 20) + b"."))


@examples(400)
@given(st.data())
def test_changed_bytes_end_as_an_error_or_as_arrays(data) -> None:
    content = bytearray(REAL)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CheckpointError):
        decode(bytes(content))


@examples(400)
@given(st.data())
def test_changed_pickles_end_as_an_error_or_as_arrays(data) -> None:
    with zipfile.ZipFile(io.BytesIO(REAL)) as archive:
        content = bytearray(archive.read("archive/data.pkl"))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CheckpointError):
        decode(with_pickle(bytes(content)))


def test_tensors_without_elements_are_read_or_refused() -> None:
    draw = dice("torch without elements")
    for _ in range(100):
        shape = empty_shape(draw)
        try:
            content = saved({"a": torch.empty(shape)})
        except (RuntimeError, TypeError):
            continue  # PyTorch does not have it
        try:
            assert decode(content)["a"].shape == shape
        except CheckpointError as error:
            assert re.search("too large|not valid", str(error)), shape


def test_the_stride_of_one_element_may_be_any_number() -> None:
    stored = torch.arange(3.0).as_strided((1, 3), (2**60, 1))
    np.testing.assert_array_equal(decode(saved({"a": stored}))["a"], [[0, 1, 2]])
