"""Damaged ONNX files, at random: a model or a typed error, in little memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad.interchange.onnx.export import onnx_bytes
from tests.interchange import torch_networks
from tests.interchange.networks import built
from tests.interchange.onnx_files import in_little_memory, load
from tests.io.damage import empty_shape
from tests.sweeps import SEED, budget, dice, examples

_ODD: tuple[Any, ...] = (0, -1, 1, 3, 2**31, -(2**63), 2**63 - 1)
_NAMES = ("", "x", "input", "nothing", "é" * 99, "a/b:0", "images")
_TYPES = (0, 1, 2, 6, 7, 8, 9, 10, 11, 16, 999)


@cache
def originals() -> list[bytes]:
    """Return files of PyTorch and of playgrad."""
    x = np.zeros((2, 1, 20, 20), np.float32)
    files = [
        torch_networks.exported(network().eval(), x)
        for network in (torch_networks.lenet, torch_networks.SmallResNet)
    ]
    for name in ("residual", "encoder_decoder", "attention"):
        with pg.Graph().as_default():
            files.append(_exported(built(name)[0]))
    return files


def _exported(model: pg.Model) -> bytes:
    return onnx_bytes(model.inference_graph())


def _damage(draw: random.Random, model: Any) -> None:
    """Change the messages of ``model`` in a few places."""
    graph = model.graph
    for _ in range(draw.choice((1, 1, 2, 5))):
        node = draw.choice(graph.node)
        weight = draw.choice(graph.initializer)
        match draw.randrange(9):
            case 0 if node.input:
                names = [*_NAMES, *draw.choice(graph.node).input]
                node.input[draw.randrange(len(node.input))] = draw.choice(names)
            case 1:
                node.op_type = draw.choice(graph.node).op_type
            case 2 if node.attribute:
                _damage_attribute(draw, draw.choice(node.attribute))
            case 3 if node.attribute:
                del node.attribute[draw.randrange(len(node.attribute))]
            case 4 if weight.dims and draw.random() < 0.5:
                weight.dims[draw.randrange(len(weight.dims))] = draw.choice(_ODD)
            case 4:
                sizes = [size for size in empty_shape(draw) if size < 2**63]
                weight.CopyFrom(onnx.TensorProto(name=weight.name, data_type=1, dims=sizes))
            case 5:
                weight.data_type = draw.choice(_TYPES)
            case 6:
                numbers = np.asarray(draw.choices(_ODD, k=draw.randrange(5)), np.int64)
                weight.CopyFrom(onnx.numpy_helper.from_array(numbers, weight.name))
            case 7:
                del graph.node[draw.randrange(len(graph.node))]
            case _:
                sizes = draw.choice(graph.input).type.tensor_type.shape.dim
                sizes[draw.randrange(len(sizes))].dim_value = draw.choice(_ODD)


def _damage_attribute(draw: random.Random, attribute: Any) -> None:
    name = attribute.name
    value = draw.choice((
        draw.choice(_ODD), 1.5, float("nan"), "text", draw.choices(_ODD, k=3), [0.5],
        np.asarray(draw.choices(_ODD, k=2)),
    ))  # fmt: skip
    if isinstance(value, np.ndarray):
        value = onnx.numpy_helper.from_array(value)
    attribute.CopyFrom(onnx.helper.make_attribute(name, value))


def _damaged(draw: random.Random) -> bytes:
    content = draw.choice(originals())
    kind = draw.randrange(8)
    if kind == 0:
        return content[: draw.randrange(len(content))]
    if kind == 1:
        changed = bytearray(content)
        for _ in range(draw.choice((1, 3, 30))):
            changed[draw.randrange(min(len(changed), 5000))] = draw.randrange(256)
        return bytes(changed)
    if kind == 2:
        return content  # of the damaged ones, hardly any can be read
    model = onnx.ModelProto()
    model.ParseFromString(content)
    _damage(draw, model)
    return model.SerializeToString()


@pytest.mark.survival("Damaged ONNX files")
def test_damaged_networks_are_refused_or_harmless(
    record_property: Callable[[str, object], None],
) -> None:
    draw, tried, read = dice("onnx"), budget(60, night=3_000), 0
    for number in range(tried):
        content = _damaged(draw)
        try:
            result = in_little_memory(lambda content=content: load(content))
        except Exception as error:
            raise AssertionError(f"{SEED}/{number}: {type(error).__name__} {error}") from error
        if isinstance(result, pg.Model):
            result.close()
            read += 1
    record_property("tried", tried)
    assert 0 < read < tried


@examples(100)
@given(st.binary(max_size=300))
def test_random_bytes_do_no_harm(content: bytes) -> None:
    for start in (b"", b"\x08\x08", b"\x08\x08\x42\x02\x10\x11\x3a"):
        in_little_memory(lambda start=start: load(start + content))
