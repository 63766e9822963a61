"""Products by blocks of vectors: every tile, slices and splits, and the choice among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playgrad.devices._wgpu import WgpuHost
from playgrad.devices.target import Limits
from playgrad.ops.lowering import block_tiling
from playgrad.ops.lowering.block_tile import BlockTile
from playgrad.ops.lowering.block_tiling import BLOCKS, BlockChoice, choose_blocks
from playgrad.ops.lowering.conv2d import (
    lower_conv2d,
    lower_conv2d_filter_gradient,
    lower_conv2d_input_gradient,
)
from playgrad.ops.lowering.matmul import lower_matmul
from tests.kernels.harness import BY_BLOCKS, Array, make_request, run, with_limits
from tests.sweeps import examples

ANY = settings(
    parent=examples(2, night=100), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TILES = {
    (tile, slices)
    for variant in BLOCKS.values()
    for tile in variant.tiles
    for slices in tile.slices
}
size = st.integers(1, 70)


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_close(actual: Array, expected: Array) -> None:
    scale = float(np.abs(expected).max()) + 1e-3
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5 * scale)


def product(
    host: WgpuHost, a: Array, b: Array, attrs: dict[str, Any] | None = None, target: Any = BY_BLOCKS
) -> Array:
    """Return ``a @ b``, computed by blocks; ``attrs`` may say that an operand is transposed."""
    given = attrs or {}
    rows = a.shape[-1] if given.get("transpose_a") else a.shape[-2]
    columns = b.shape[-2] if given.get("transpose_b") else b.shape[-1]
    outputs = [((*a.shape[:-2], rows, columns), "float32")]
    call = lower_matmul(make_request([a, b], outputs, given, target)).calls[0]
    assert call.family == "matmul_blocks"
    return run(host, lower_matmul, [a, b], outputs, given, target)[0]


@pytest.mark.gpu
@pytest.mark.rotates
@pytest.mark.parametrize(
    ("tile", "slices"),
    sorted(TILES, key=str),
    ids=lambda value: f"{value.rows}x{value.columns}" if isinstance(value, BlockTile) else value,
)
def test_every_tile_computes_the_product(
    host: WgpuHost, monkeypatch: pytest.MonkeyPatch, tile: BlockTile, slices: int
) -> None:
    """With rows, columns and depths past the edge, operands that are adjacent in fours and others,
    and a depth that is split in two."""
    choice = BlockChoice(tile, slices, splits=2)
    monkeypatch.setattr(block_tiling, "choose_blocks", lambda *_: choice)
    depth = 3 * tile.step * slices + 4
    a, b = numbers(tile.rows + 5, depth), numbers(depth, tile.columns + 3, seed=1)
    first, second = (product(host, a, b) for _ in range(2))
    assert_close(first, a @ b)
    assert first.tobytes() == second.tobytes()
    # Loading ahead is no other order of additions.
    choice = BlockChoice(replace(tile, ahead=not tile.ahead), slices, splits=2)
    assert product(host, a, b).tobytes() == first.tobytes()


@pytest.mark.gpu
@pytest.mark.rotates
@ANY
@given(rows=size, columns=size, depth=size, transpose_a=st.booleans(), transpose_b=st.booleans())
def test_products_of_any_size(
    host: WgpuHost, rows: int, columns: int, depth: int, transpose_a: bool, transpose_b: bool
) -> None:
    a, b = numbers(rows, depth), numbers(depth, columns, seed=1)
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    operands = a.T.copy() if transpose_a else a, b.T.copy() if transpose_b else b
    assert_close(product(host, *operands, attrs), a @ b)


@pytest.mark.gpu
@pytest.mark.rotates
@pytest.mark.parametrize("transposed", [False, True])
def test_vectors_give_the_bytes_of_numbers(
    host: WgpuHost, monkeypatch: pytest.MonkeyPatch, transposed: bool
) -> None:
    """Large products bind their operands as vectors of four."""
    a, b = numbers(2, 40, 36), numbers(2, 36, 44, seed=1)
    attrs = {"transpose_a": transposed, "transpose_b": transposed}
    operands = [np.ascontiguousarray(np.swapaxes(x, -1, -2)) if transposed else x for x in (a, b)]
    one = product(host, *operands, attrs)
    monkeypatch.setattr(block_tiling, "WIDE_FROM", 0)
    outputs = [((2, 40, 44), "float32")]
    (call,) = lower_matmul(make_request(operands, outputs, attrs, BY_BLOCKS)).calls
    assert [binding.element for binding in call.bindings] == ["vec4<f32>", "vec4<f32>", "f32"]
    other = product(host, *operands, attrs)
    assert_close(other, a @ b)
    assert one.tobytes() == other.tobytes()


@pytest.mark.gpu
@pytest.mark.rotates
def test_products_may_need_more_workgroups_than_one_dimension(host: WgpuHost) -> None:
    few = with_limits(BY_BLOCKS, max_compute_workgroups_per_dimension=5)
    a, b = numbers(333, 9), numbers(9, 70, seed=1)
    assert_close(product(host, a, b, target=few), a @ b)


@pytest.mark.gpu
@pytest.mark.rotates
@ANY
@given(
    batch=st.integers(1, 3),
    image=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    window=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    channels=st.tuples(st.sampled_from([1, 3, 4, 8]), st.sampled_from([1, 4, 6])),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_convolutions_of_any_size(
    host: WgpuHost,
    batch: int,
    image: tuple[int, int],
    window: tuple[int, int],
    channels: tuple[int, int],
    strides: tuple[int, int],
    padding: tuple[int, int],
) -> None:
    x, filters = numbers(batch, *image, channels[0]), numbers(*window, *channels, seed=1)
    tensor, weights = (torch.tensor(each, requires_grad=True) for each in (x, filters))
    y = torch.nn.functional.conv2d(
        tensor.permute(0, 3, 1, 2).contiguous(),
        weights.permute(3, 2, 0, 1).contiguous(),
        stride=strides,
        padding=padding,
    ).permute(0, 2, 3, 1)
    gradient = numbers(*y.shape, seed=2)
    y.backward(torch.tensor(gradient))
    attrs = {"strides": list(strides), "padding": [[pad, pad] for pad in padding]}
    assert tensor.grad is not None
    assert weights.grad is not None
    for lower, inputs, expected in (
        (lower_conv2d, [x, filters], y.detach()),
        (lower_conv2d_input_gradient, [filters, gradient], tensor.grad),
        (lower_conv2d_filter_gradient, [x, gradient], weights.grad),
    ):
        outputs = [(tuple(expected.shape), "float32")]
        (result,) = run(host, lower, inputs, outputs, attrs, BY_BLOCKS)
        assert_close(result, expected.numpy())


@pytest.mark.gpu
@pytest.mark.rotates
def test_convolutions_by_vectors_do_not_read_outside_the_image(
    host: WgpuHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Padding is zero, whatever is next to the image in memory; also for four at a time."""
    monkeypatch.setattr(block_tiling, "WIDE_FROM", 0)
    image = numbers(3, 5, 6, 8)
    image[1] = np.nan
    filters = np.ones((3, 3, 8, 4), np.float32)
    attrs = {"strides": [1, 1], "padding": [[1, 1], [1, 1]]}
    outputs = [((3, 5, 6, 4), "float32")]
    request = make_request([image, filters], outputs, attrs, BY_BLOCKS)
    assert lower_conv2d(request).calls[0].bindings[0].element == "vec4<f32>"
    (result,) = run(host, lower_conv2d, [image, filters], outputs, attrs, BY_BLOCKS)
    expected = torch.nn.functional.conv2d(
        torch.tensor(image).permute(0, 3, 1, 2),
        torch.tensor(filters).permute(3, 2, 0, 1),
        padding=1,
    ).permute(0, 2, 3, 1)
    assert np.isnan(result[1]).all()
    assert_close(result[[0, 2]], expected.numpy()[[0, 2]])


# The choice


def choice_of(rows: int, depth: int, columns: int, variant: str = "blocks_8x8") -> BlockChoice:
    return choose_blocks(rows, columns, 1, depth, variant, Limits(), None)


def test_large_products_have_large_tiles() -> None:
    choice = choice_of(4096, 4096, 4096)
    assert (choice.tile.rows, choice.tile.columns) == (128, 128)
    assert (choice.slices, choice.splits) == (1, 1)


def test_deep_products_with_few_results_are_divided_along_their_depth() -> None:
    """First within a workgroup; among workgroups only where that saves more than a dispatch."""
    few = choice_of(64, 784, 128)
    assert few.slices > 1
    assert few.splits == 1
    assert few.tile.tiles(64, 128) <= 128
    deep = choice_of(32, 100_000, 32)
    assert deep.slices > 1
    assert deep.splits > 1
    processors = BLOCKS["blocks_8x8"].processors
    assert deep.tile.tiles(32, 32) * deep.splits <= processors
    assert choice_of(32, 100_000, 32, "blocks_8x4_few").splits < deep.splits


def test_tiles_shrink_to_the_limits() -> None:
    small = Limits(max_compute_invocations_per_workgroup=64)
    choice = choose_blocks(2048, 2048, 1, 512, "blocks_4x4", small, None)
    assert choice.tile.threads * choice.slices == 64
    little = Limits(max_compute_workgroup_storage_size=4096)
    choice = choose_blocks(2048, 2048, 1, 512, "blocks_8x8", little, None)
    assert choice.tile.storage(choice.slices) <= 4096


def test_loops_stay_within_what_a_driver_runs() -> None:
    choice = choose_blocks(16, 16, 1, 10_000_000, "blocks_8x8", Limits(), 60_000)
    assert block_tiling.rounds(choice.loops(10_000_000)) <= 60_000
