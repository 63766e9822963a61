"""Products of awkward sizes: partial tiles, split depth, workgroups in two dimensions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playgrad.devices._wgpu import WgpuHost
from playgrad.devices.target import Target
from playgrad.ops.lowering.conv2d import (
    lower_conv2d,
    lower_conv2d_filter_gradient,
    lower_conv2d_input_gradient,
)
from playgrad.ops.lowering.matmul import lower_matmul
from tests.kernels.harness import GPU, QUADS, SOFTWARE, Array, Lower, make_request, run, with_limits
from tests.sweeps import examples

pytestmark = [pytest.mark.gpu, pytest.mark.rotates]

ANY = settings(
    parent=examples(6, night=150), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
size = st.integers(1, 70)
pad = st.integers(0, 2)


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_close(actual: Array, expected: Array) -> None:
    scale = float(np.abs(expected).max()) + 1e-3
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5 * scale)


@ANY
@given(rows=size, columns=size, depth=size, transpose_a=st.booleans(), transpose_b=st.booleans())
def test_matmul_is_correct_for_any_size(
    host: WgpuHost,
    target: Target,
    rows: int,
    columns: int,
    depth: int,
    transpose_a: bool,
    transpose_b: bool,
) -> None:
    a, b = numbers(rows, depth), numbers(depth, columns, seed=1)
    inputs = [a.T.copy() if transpose_a else a, b.T.copy() if transpose_b else b]
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    (result,) = run(host, lower_matmul, inputs, [((rows, columns), "float32")], attrs, target)
    assert_close(result, a @ b)


@pytest.mark.parametrize("depth", [2048, 5000])
def test_deep_products_are_split_and_reproducible(
    host: WgpuHost, target: Target, depth: int
) -> None:
    a, b = numbers(6, depth), numbers(depth, 10, seed=1)
    outputs = [((6, 10), "float32")]
    lowering = lower_matmul(make_request([a, b], outputs, {}, target))
    assert [call.family for call in lowering.calls][1:] == ["sum_partials"]
    first, second = (run(host, lower_matmul, [a, b], outputs, {}, target)[0] for _ in range(2))
    assert_close(first, a @ b)
    assert first.tobytes() == second.tobytes()


def test_products_may_need_more_workgroups_than_one_dimension(
    host: WgpuHost, target: Target
) -> None:
    few = with_limits(target, max_compute_workgroups_per_dimension=5)
    a, b = numbers(333, 9), numbers(9, 70, seed=1)
    outputs = [((333, 70), "float32")]
    lowering = lower_matmul(make_request([a, b], outputs, {}, few))
    assert lowering.calls[0].workgroups[1] > 1
    assert_close(run(host, lower_matmul, [a, b], outputs, {}, few)[0], a @ b)


def test_tiles_shrink_to_the_limits(host: WgpuHost) -> None:
    small = with_limits(
        GPU,
        max_compute_invocations_per_workgroup=64,
        max_compute_workgroup_storage_size=4096,
    )
    a, b = numbers(600, 40), numbers(40, 500, seed=1)
    outputs = [((600, 500), "float32")]
    assert "const SIDE = 4u" in lower_matmul(make_request([a, b], outputs, {}, small)).calls[0].code
    assert_close(run(host, lower_matmul, [a, b], outputs, {}, small)[0], a @ b)


def test_nan_outside_the_image_is_not_read(host: WgpuHost, target: Target) -> None:
    """Padding is zero, whatever is next to the image in memory."""
    image = numbers(2, 3, 3, 1)
    image[1] = np.nan
    filters = np.ones((3, 3, 1, 1), np.float32)
    attrs = {"strides": [1, 1], "padding": [[1, 1], [1, 1]]}
    (result,) = run(
        host, lower_conv2d, [image, filters], [((2, 3, 3, 1), "float32")], attrs, target
    )
    assert np.isfinite(result[0]).all()
    assert np.isnan(result[1]).all()


def test_a_sum_over_no_images_is_zero(host: WgpuHost, target: Target) -> None:
    attrs = {"strides": [1, 1], "padding": [[0, 0], [0, 0]], "kernel_size": [2, 2]}
    inputs = [numbers(0, 3, 3, 2), numbers(0, 2, 2, 5)]
    outputs = [((2, 2, 2, 5), "float32")]
    (result,) = run(host, lower_conv2d_filter_gradient, inputs, outputs, attrs, target)
    assert not result.any()


@ANY
@given(
    batch=st.integers(1, 3),
    image=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    window=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    channels=st.tuples(st.integers(1, 11), st.integers(1, 11)),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    padding=st.tuples(st.tuples(pad, pad), st.tuples(pad, pad)),
)
def test_convolution_and_gradients_are_correct_for_any_size(
    host: WgpuHost,
    target: Target,
    batch: int,
    image: tuple[int, int],
    window: tuple[int, int],
    channels: tuple[int, int],
    strides: tuple[int, int],
    padding: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    x = numbers(batch, *image, channels[0])
    filters = numbers(*window, *channels, seed=1)
    tensor = torch.tensor(x, requires_grad=True)
    weights = torch.tensor(filters, requires_grad=True)
    (top, bottom), (left, right) = padding
    padded = torch.nn.functional.pad(
        tensor.permute(0, 3, 1, 2), (left, right, top, bottom)
    ).contiguous()
    y = torch.nn.functional.conv2d(padded, weights.permute(3, 2, 0, 1).contiguous(), stride=strides)
    y = y.permute(0, 2, 3, 1)
    gradient = numbers(*y.shape, seed=2)
    y.backward(torch.tensor(gradient))
    attrs = {"strides": list(strides), "padding": [list(pair) for pair in padding]}
    for lower, inputs, expected in (
        (lower_conv2d, [x, filters], y.detach()),
        (lower_conv2d_input_gradient, [filters, gradient], tensor.grad),
        (lower_conv2d_filter_gradient, [x, gradient], weights.grad),
    ):
        (result,) = run(host, lower, inputs, [(tuple(expected.shape), "float32")], attrs, target)
        assert_close(result, expected.numpy())


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(
    ("batch", "rows", "columns", "depth"),
    [((), 128, 64, 130), ((), 250, 125, 37), ((3,), 47, 64, 151), ((), 15, 8, 9000)],
)
def test_quads_of_invocations_give_the_same_products(
    host: WgpuHost,
    batch: tuple[int, ...],
    rows: int,
    columns: int,
    depth: int,
    transpose_a: bool,
    transpose_b: bool,
) -> None:
    a, b = numbers(*batch, rows, depth), numbers(*batch, depth, columns, seed=1)
    inputs = [
        np.ascontiguousarray(np.swapaxes(x, -1, -2)) if transposed else x
        for x, transposed in ((a, transpose_a), (b, transpose_b))
    ]
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    result = by_quads(host, lower_matmul, inputs, (*batch, rows, columns), attrs, "matmul")
    assert_close(result, a @ b)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("channels", [16, 31])
def test_quads_of_invocations_give_the_same_convolutions(
    host: WgpuHost, stride: int, padding: int, channels: int
) -> None:
    """The sums are in the same order, unless the depth is split differently."""
    image, filters = numbers(4, 23, 23, channels), numbers(3, 3, channels, 32, seed=1)
    size = (23 + 2 * padding - 3) // stride + 1
    gradient = numbers(4, size, size, 32, seed=2)
    attrs = {"strides": [stride, stride], "padding": [[padding, padding]] * 2}
    for lower, inputs, shape, name in (
        (lower_conv2d, [image, filters], gradient.shape, "conv2d"),
        (lower_conv2d_input_gradient, [filters, gradient], image.shape, "conv2d_input_gradient"),
        (lower_conv2d_filter_gradient, [image, gradient], filters.shape, "conv2d_filter_gradient"),
    ):
        result = by_quads(host, lower, inputs, shape, attrs, name)
        (expected,) = run(host, lower, inputs, [(shape, "float32")], attrs, SOFTWARE)
        assert_close(result, expected)


def by_quads(
    host: WgpuHost,
    lower: Lower,
    inputs: list[Array],
    shape: tuple[int, ...],
    attrs: dict[str, object],
    name: str,
) -> Array:
    """Return the result of the kernel in which four invocations share their loads."""
    outputs = [(shape, "float32")]
    few = with_limits(QUADS, max_compute_workgroups_per_dimension=40)
    calls = lower(make_request(inputs, outputs, attrs, few)).calls
    assert calls[0].family == f"{name}_quads"
    return run(host, lower, inputs, outputs, attrs, few)[0]


def test_quads_are_used_only_for_long_products_they_cover() -> None:
    for rows, columns, depth in ((64, 64, 200), (128, 10, 2000), (9, 128, 2000)):
        a, b = numbers(rows, depth), numbers(depth, columns)
        (call, *_) = lower_matmul(
            make_request([a, b], [((rows, columns), "float32")], {}, QUADS)
        ).calls
        assert call.family == "matmul_register"
