"""Kernels that read memory by vectors, transpose by squares and keep rows in registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices import registry
from playgrad.devices._wgpu import WgpuHost
from playgrad.devices.tuning import VECTORS
from playgrad.graph.opdef import lookup
from playgrad.ops.elementwise import vector_kernel
from playgrad.ops.lowering import layer_normalization, strided_copy
from playgrad.ops.lowering.softmax import lower_log_softmax, lower_softmax
from tests.kernels.harness import BY_BLOCKS, GPU, Array, make_request, run

pytestmark = [pytest.mark.gpu, pytest.mark.rotates]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tensors take the kernels of large ones."""
    for module, name in (
        (vector_kernel, "LEAST_ITEMS"),
        (strided_copy, "LEAST_ITEMS"),
        (layer_normalization, "LEAST_SIZE"),
    ):
        monkeypatch.setattr(module, name, 1)


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def results(
    host: WgpuHost, name: str, inputs: list[Array], attrs: dict[str, Any] | None = None
) -> tuple[str, list[Array], list[Array]]:
    """Return the family of an operation's kernel, its results and those of the usual kernels."""
    op = lookup(name)
    assert op.lower is not None
    expected = op.reference(inputs, attrs or {})
    outputs = [(array.shape, array.dtype.name) for array in expected]
    request = make_request(inputs, outputs, attrs or {}, BY_BLOCKS)
    call, *_ = op.lower(request).calls
    by_vectors, usual = (
        run(host, op.lower, inputs, outputs, attrs, target) for target in (BY_BLOCKS, GPU)
    )
    for one, other in zip(by_vectors, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    return call.family, by_vectors, usual


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("add", [numbers(3, 5, 8), numbers(5, 1, seed=1)]),
        ("where", [numbers(6, 8) > 0, numbers(6, 8, seed=1), numbers(8, seed=2)]),
        ("greater", [numbers(33, 4), numbers(33, 4, seed=1)]),
        ("mul", [np.arange(64, dtype=np.int32), np.array(-3, np.int32)]),
        ("cast", [numbers(16, 16).astype(np.int32)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_elementwise_kernels_compute_four_elements(
    host: WgpuHost, name: str, inputs: list[Array]
) -> None:
    attrs = {"dtype": "float32"} if name == "cast" else {}
    family, by_vectors, usual = results(host, name, inputs, attrs)
    assert family == "elementwise_vectors"
    assert [one.tobytes() for one in by_vectors] == [other.tobytes() for other in usual]


@pytest.mark.parametrize(("name", "count", "each"), [("neg", 1, 4), ("add", 2, 2), ("where", 3, 1)])
@pytest.mark.parametrize("size", [4, 4 * 1024, 4 * 1027])
def test_an_invocation_has_four_vectors_on_their_way(
    host: WgpuHost, monkeypatch: pytest.MonkeyPatch, name: str, count: int, each: int, size: int
) -> None:
    """Up to 1024 vectors fill a workgroup; the rest of the next one has nothing to do."""
    monkeypatch.setattr(vector_kernel, "MANY_ITEMS", 1)
    inputs = [numbers(size, seed=n) for n in range(count)]
    if name == "where":
        inputs[0] = inputs[0] > 0
    op = lookup(name)
    assert op.lower is not None
    request = make_request(inputs, [((size,), "float32")], {}, BY_BLOCKS)
    (call,) = op.lower(request).calls
    assert call.iterations == 4 * each and call.code.count("[min(place") == count * each
    _, by_vectors, usual = results(host, name, inputs)
    assert by_vectors[0].tobytes() == usual[0].tobytes()


def test_an_update_in_place_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also that of the last vector, which invocations past the end load as well."""
    monkeypatch.setattr(vector_kernel, "MANY_ITEMS", 1)
    device = registry.gpu(0)
    measured = replace(device.target.tuning, memory=VECTORS)
    monkeypatch.setattr(device, "target", replace(device.target, measured=measured))
    start = numbers(4 * 1027)
    with pg.Graph().as_default() as graph, pg.Session(graph, "gpu") as session:
        variable = pg.Variable(start, name="counted")
        update = variable.assign_add(1.0)
        for _ in range(2):
            session.run(update)
        plans = session.compiled([update], {}).plans.values()
        families = [kernel["family"] for each in plans for kernel in each.plan["kernels"]]
        assert "elementwise_vectors" in families
        result = session.run(variable)
    np.testing.assert_array_equal(result, start + np.float32(1) + np.float32(1))


def test_other_elementwise_kernels_are_as_before(host: WgpuHost) -> None:
    for inputs in ([numbers(3, 5)], [numbers(8).astype(np.float16)]):
        family, _, _ = results(host, "neg", inputs)
        assert family == "elementwise"


@pytest.mark.parametrize(
    ("name", "shape", "attrs", "family"),
    [
        ("transpose", (70, 45), {"perm": [1, 0]}, "transposed_copy"),
        ("transpose", (3, 20, 5, 33), {"perm": [0, 3, 2, 1]}, "transposed_copy"),
        ("transpose", (20, 3, 33), {"perm": [2, 1, 0]}, "transposed_copy"),
        ("transpose", (2, 9, 5, 8), {"perm": [0, 2, 1, 3]}, "strided_copy"),
        ("transpose", (3, 5, 7), {"perm": [2, 0, 1]}, "strided_copy"),
        ("strided_slice", (9, 8), {"slices": [[None, None, -1], [None] * 3]}, "strided_copy"),
        ("strided_slice", (40, 40), {"slices": [[1, 39, 1], [None, None, -1]]}, "strided_copy"),
        ("slice", (9, 16), {"begin": [2, 4], "size": [5, 8]}, "strided_copy"),
        ("slice", (9, 16), {"begin": [2, 3], "size": [5, 8]}, "strided_copy"),
    ],
)
def test_copies_are_exact(
    host: WgpuHost, name: str, shape: tuple[int, ...], attrs: dict[str, Any], family: str
) -> None:
    x = numbers(*shape)
    (expected,) = lookup(name).reference([x], attrs)
    found, (result,), _ = results(host, name, [x], attrs)
    assert found == family
    assert result.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("rows", [1, 1023, 1024, 1027])
def test_copies_have_four_vectors_on_their_way(
    host: WgpuHost, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(strided_copy, "MANY_ITEMS", 1)
    x = numbers(rows, 4)
    attrs = {"slices": [[None, None, -1], [None] * 3]}
    found, (result,), _ = results(host, "strided_slice", [x], attrs)
    assert found == "strided_copy_vectors"
    assert result.tobytes() == x[::-1].tobytes()


def test_copies_of_adjacent_fours_bind_vectors() -> None:
    def elements(shape: tuple[int, ...], begin: list[int], size: list[int]) -> set[str]:
        lower = lookup("slice").lower
        assert lower is not None
        attrs = {"begin": begin, "size": size}
        request = make_request([numbers(*shape)], [(tuple(size), "float32")], attrs, BY_BLOCKS)
        return {binding.element for binding in lower(request).calls[0].bindings}

    assert elements((9, 16), [2, 4], [5, 8]) == {"vec4<f32>"}
    assert elements((9, 16), [2, 3], [5, 8]) == {"f32"}
    assert elements((9, 17), [2, 4], [5, 8]) == {"f32"}


def test_parts_are_joined_exactly(host: WgpuHost) -> None:
    parts = [numbers(3, 8), numbers(3, 5, seed=1), numbers(3, 16, seed=2)]
    for order in ([0, 1, 2], [0, 2, 1]):
        inputs = [parts[number] for number in order]
        _, (result,), _ = results(host, "concat", inputs, {"axis": 1})
        assert result.tobytes() == np.concatenate(inputs, axis=1).tobytes()


@pytest.mark.parametrize("classes", [131, 2048, 4000])
@pytest.mark.parametrize("lower", [lower_softmax, lower_log_softmax])
def test_a_row_of_softmax_is_read_once(
    host: WgpuHost, lower: Callable[..., Any], classes: int
) -> None:
    x = numbers(5, classes)
    x[1, 3], x[2] = np.nan, 200.0
    outputs = [(x.shape, "float32")]
    (call,) = lower(make_request([x], outputs, {}, BY_BLOCKS)).calls
    assert call.family == "softmax_row"
    assert call.code.count("logits[") == -(-classes // call.params["invocations"])
    by_row, usual = (run(host, lower, [x], outputs, {}, target)[0] for target in (BY_BLOCKS, GPU))
    if call.params["invocations"] == 128:  # the order of summation is the same
        assert by_row[[0, 2, 3, 4]].tobytes() == usual[[0, 2, 3, 4]].tobytes()
    np.testing.assert_allclose(by_row, usual, rtol=1e-5, atol=1e-5)


def test_longer_rows_are_read_as_before() -> None:
    x = numbers(2, 5000)
    (call,) = lower_softmax(make_request([x], [(x.shape, "float32")], {}, BY_BLOCKS)).calls
    assert call.family == "softmax_shared"


@pytest.mark.parametrize("width", [1, 64, 100, 1030])
def test_layer_normalization_reads_a_row_once(host: WgpuHost, width: int) -> None:
    x, scale, other = numbers(7, width), numbers(width, seed=1), numbers(width, seed=2)
    x[3] = 7.5  # a row of equal elements has no variance
    attrs = {"epsilon": 1e-5}
    family, (result,), _ = results(host, "layer_normalization", [x, scale, other], attrs)
    assert family == "layer_normalization_row"
    assert (result[3] == other).all()
    gradient = numbers(7, width, seed=3)
    inputs = [x, scale, gradient]
    family, _, _ = results(host, "layer_normalization_gradient", inputs, attrs)
    assert family == "layer_normalization_gradient_row"


def test_programs_run_kernels_that_bind_vectors(host: WgpuHost) -> None:
    """Also in place, beside merged kernels, and on a variable."""
    device = registry.gpu(0)
    usual = device.target
    device.target = BY_BLOCKS
    try:
        with pg.Graph().as_default():
            x = pg.Variable(numbers(64, 64))
            y = pg.relu(pg.transpose(x * 2.0)) + 1.0
            z = pg.softmax(pg.concat([y, pg.exp(-y), y * y], axis=1))
            with pg.Session(device="gpu") as session:
                found = session.run([z, pg.reduce_sum(y)])
    finally:
        device.target = usual
    value = np.maximum(2.0 * numbers(64, 64).T, 0) + 1.0
    rows = np.concatenate([value, np.exp(-value), value * value], axis=1)
    terms = np.exp(rows - rows.max(axis=1, keepdims=True))
    np.testing.assert_allclose(found[0], terms / terms.sum(axis=1, keepdims=True), rtol=1e-4)
    np.testing.assert_allclose(found[1], value.sum(), rtol=1e-5)
