"""Kernels of larger and stranger arrays than the samples of the op contract have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.contract.cases import Case, cases, in_float16
from playgrad.graph.opdef import OpDef, lookup
from playgrad.ops.emitted import emitter_of
from tests.sweeps import dice
from tests.wasm.emitted_node import node_of, run_emitted

Array = np.ndarray[Any, Any]
Attrs = dict[str, Any]

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -3e38, 3e38, 1.0, -1.0], np.float32)


def compare(name: str, inputs: list[Array], attrs: Attrs, tolerance: float = 0.0) -> None:
    """Check the kernel of a node against the reference: equal bits without a ``tolerance``."""
    compare_op(lookup(name), inputs, attrs, tolerance)


def compare_op(op: OpDef, inputs: list[Array], attrs: Attrs, tolerance: float) -> None:
    node = node_of(op, inputs, attrs)
    assert emitter_of(node) is not None, f"{op.name} is not compiled"
    results = run_emitted(node, inputs)
    with np.errstate(all="ignore"):
        expected = op.reference(inputs, attrs)
    assert results is not None
    for result, reference in zip(results, expected, strict=True):
        assert (result.shape, result.dtype) == (reference.shape, reference.dtype)
        if tolerance:
            finite = np.isfinite(reference)
            scale = np.abs(reference[finite]).max(initial=1e-30)
            np.testing.assert_allclose(result, reference, tolerance, tolerance * scale)
        else:
            np.testing.assert_array_equal(result, reference)


def normal(*shape: int, key: str = "") -> Array:
    generator = np.random.default_rng(dice("kernels", shape, key).getrandbits(64))
    return generator.normal(size=shape).astype(np.float32)


REDUCED: list[tuple[tuple[int, ...], list[int]]] = [
    ((1,), [0]), ((7,), [0]), ((8,), [0]), ((129,), [0]), ((1000,), [0]), ((4095,), [0]),
    ((300, 5), [0]), ((300, 5), [1]), ((5, 300), [1]), ((17, 33), [0]), ((64, 16), [0]),
    ((3, 130, 7), [1]), ((3, 4, 257), [0, 2]), ((5, 3, 20), [0, 1]), ((5, 1, 20), [1]),
    ((2, 3, 4, 5), [0, 2]), ((2, 3, 4, 5), [1, 3]), ((0, 4), [0]), ((4, 0), [0]), ((1, 1, 1), [1]),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axes"), REDUCED, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_have_the_bits_of_numpy(
    shape: tuple[int, ...], axes: list[int], keepdims: bool
) -> None:
    attrs = {"axes": axes, "keepdims": keepdims}
    x = normal(*shape)
    compare("reduce_sum", [x], attrs)
    compare("reduce_sum", [(x * 1000).astype(np.int32)], attrs)
    compare("reduce_prod", [x.astype(np.float64)], attrs, 1e-12)
    if 0 not in [shape[axis] for axis in axes]:
        for name in ("reduce_mean", "reduce_max", "reduce_min"):
            compare(name, [x], attrs)


@pytest.mark.parametrize(("shape", "axes"), [((5000,), [0]), ((9000, 6), [0]), ((3, 5000), [1])])
def test_long_sums_are_wide(shape: tuple[int, ...], axes: list[int]) -> None:
    """Their terms are added in float64, in another order than NumPy's."""
    compare("reduce_sum", [normal(*shape) + 100], {"axes": axes, "keepdims": False}, 1.2e-7)


def test_extremes_of_special_values() -> None:
    x = np.stack([np.roll(SPECIAL, shift) for shift in range(10)])[:, :9].copy()
    x = np.concatenate([x, SPECIAL[3:, None].repeat(9, 1)])
    for axis in (0, 1):
        for name in ("reduce_max", "reduce_min", "reduce_sum"):
            compare(name, [x], {"axes": [axis], "keepdims": False})
        for name in ("argmax", "argmin"):
            compare(name, [x], {"axis": axis})
    for dtype in (np.int32, np.uint32):
        limits = np.array([[np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]], dtype)
        for name in ("reduce_max", "reduce_min"):
            compare(name, [limits], {"axes": [1], "keepdims": False})
            compare(name, [limits], {"axes": [0], "keepdims": False})


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 10, 129, 1000])
def test_softmax_of_rows_of_any_length(length: int) -> None:
    logits = normal(6, length) * 10
    labels = np.arange(6, dtype=np.int32) % length
    weights = np.abs(normal(6, length, key="labels")) + 0.1
    for name in ("softmax", "log_softmax"):
        compare(name, [logits], {"axis": 1}, 1e-5)
        compare(name, [logits.T.copy()], {"axis": 0}, 1e-5)
    compare("sparse_softmax_cross_entropy", [logits, labels], {}, 1e-5)
    compare("softmax_cross_entropy", [logits, weights], {}, 1e-5)
    gamma, beta = normal(length, key="gamma"), normal(length, key="beta")
    compare("layer_normalization", [logits, gamma, beta], {"epsilon": 1e-3})
    compare("layer_normalization_gradient", [logits, gamma, weights], {"epsilon": 1e-3})


def test_nan_and_infinity_stay_in_their_row() -> None:
    logits = np.zeros((10, 5), np.float32)
    logits[:, 2] = SPECIAL
    for name in ("softmax", "log_softmax"):
        compare(name, [logits], {"axis": 1}, 1e-6)
        compare(name, [logits.T.copy()], {"axis": 0}, 1e-6)
    ones, zeros = np.ones(5, np.float32), np.zeros(5, np.float32)
    compare("layer_normalization", [logits, ones, zeros], {"epsilon": 1e-3})


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 63, 64, 100])
def test_orders_are_stable(length: int, descending: bool) -> None:
    generator = np.random.default_rng(dice("order", length).getrandbits(64))
    floats = generator.choice(SPECIAL, (3, length, 2))
    attrs = {"axis": 1, "descending": descending}
    compare("argsort", [floats], attrs)
    for dtype in (np.int32, np.uint32, np.int8, np.uint8):
        compare("argsort", [generator.integers(0, 9, (3, length, 2)).astype(dtype)], attrs)


VIEWS: list[tuple[str, list[tuple[int, ...]], Attrs]] = [
    ("transpose", [(33, 65)], {"perm": [1, 0]}),
    ("transpose", [(3, 1, 40, 8)], {"perm": [0, 2, 1, 3]}),
    ("transpose", [(3, 5, 4, 7)], {"perm": [3, 0, 1, 2]}),
    ("transpose", [(6, 3, 9)], {"perm": [0, 2, 1]}),
    ("concat", [(5, 100), (5, 3), (5, 0)], {"axis": 1}),
    ("slice", [(40, 90)], {"begin": [3, 10], "size": [30, 70]}),
    ("pad", [(2, 40)], {"padding": [[1, 2], [0, 3]], "value": -1.5}),
    ("broadcast_to", [(1, 50)], {"shape": [4, 50]}),
    ("broadcast_to", [(50, 1)], {"shape": [50, 9]}),
    ("strided_slice", [(30, 41)], {"slices": [[None, None, -1], [40, None, -3]]}),
    ("roll", [(5, 200)], {"shift": [7, -3]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes", "attrs"), VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16", "bool"])
def test_elements_of_any_size_are_moved(
    name: str, shapes: list[tuple[int, ...]], attrs: Attrs, dtype: str
) -> None:
    if dtype != "float32" and "value" in attrs:
        attrs = {**attrs, "value": 1}
    compare(name, [(normal(*shape) * 50).astype(dtype) for shape in shapes], attrs)


def test_bits_of_numbers_survive() -> None:
    """Signalling NaN and -0.0 are moved as they are."""
    x = np.array([0x7FA00000, 0x80000000, 0xFFC12345], np.uint32).view(np.float32)
    results = run_emitted(node_of(lookup("broadcast_to"), [x], {"shape": [2, 3]}), [x])
    assert results is not None
    assert (results[0].view(np.uint32) == x.view(np.uint32)).all()


@pytest.mark.parametrize("width", [1, 3, 4, 50])
def test_slices_are_reduced_in_order(width: int) -> None:
    generator = np.random.default_rng(dice("segments", width).getrandbits(64))
    ids = generator.integers(0, 20, 200).astype(np.int32)
    x, table = normal(200, width), normal(30, width)
    sources = generator.integers(0, 30, 200).astype(np.int32)
    compare("scatter_add", [x, ids], {"rows": 25})
    compare("segment_max", [x, ids], {"rows": 25})
    compare("gather", [table, sources.reshape(10, 20)], {})
    compare("gather_sum", [table, sources, ids], {"rows": 20})
    compare("weighted_gather_sum", [table, sources, ids, normal(200)], {"rows": 20})
    compare("scatter_add", [x, np.sort(ids)], {"rows": 25, "sorted": True})


@pytest.mark.parametrize("size", [1, 7, 8, 100])
@pytest.mark.parametrize("first_row", [0, 1, 3])
def test_random_bits(size: int, first_row: int) -> None:
    step = np.asarray(2**31 + 5, np.uint32)
    attrs = {"seed": [2**32 - 1, 7], "first_row": first_row}
    x = normal(5, size)
    compare("random_uniform_like", [x, step], attrs)
    compare("dropout", [x, step], {**attrs, "rate": 0.3})
    compare("random_uniform", [step], {"seed": [3, 4], "shape": [size, 3]})
    compare("random_normal", [step], {"seed": [3, 4], "shape": [size, 3]}, 1e-5)


@pytest.mark.parametrize("count", [1, 2, 3, 37, 1000])
@pytest.mark.parametrize("rounds", [None, [4, 8]])
def test_batches_of_many_steps(count: int, rounds: list[int] | None) -> None:
    attrs = {"count": count, "batch": 9, "shuffle": True, "seed": [1, 2], "rounds": rounds}
    for step in (0, 1, 5, 1000, 2**32 - 1) if rounds is None else (0, 3, 4, 100):
        pair = [np.asarray(step, np.uint32), np.asarray(2, np.uint32)]
        compare("batch_indices", pair, attrs)
        compare("batch_indices", pair, {**attrs, "shuffle": False})


@pytest.mark.parametrize("channels", [1, 3, 4, 10])
@pytest.mark.parametrize("bad", [0.0, np.nan])
def test_windows(channels: int, bad: float) -> None:
    x = normal(2, 7, 6, channels)
    x[:, 3, 2] = bad
    attrs = {"pool_size": [3, 2], "strides": [2, 1], "padding": [[1, 1], [0, 1]]}
    compare("avg_pool2d", [x], attrs)
    compare("max_pool2d", [x], attrs)
    best, positions = lookup("max_pool2d").reference([x], attrs)
    sized = {**attrs, "image_size": [7, 6]}
    compare("avg_pool2d_gradient", [normal(*best.shape)], sized)
    compare("max_pool2d_gradient", [normal(*best.shape), positions], sized, 1e-6)


@pytest.mark.parametrize(("groups", "channels", "outputs"), [(6, 6, 6), (2, 4, 10), (3, 3, 6)])
def test_groups(groups: int, channels: int, outputs: int) -> None:
    attrs = {"strides": [2, 1], "padding": [[1, 0], [2, 1]], "dilations": [1, 2], "groups": groups}
    image, filters = normal(2, 7, 6, channels), normal(3, 2, channels // groups, outputs)
    compare("conv2d", [image, filters], attrs, 1e-5)
    gradient = normal(*lookup("conv2d").reference([image, filters], attrs)[0].shape)
    by_image = {**attrs, "image_size": [7, 6]}
    compare("conv2d_input_gradient", [filters, gradient], by_image, 1e-5)
    by_filters = {**attrs, "kernel_size": [3, 2]}
    compare("conv2d_filter_gradient", [image, gradient], by_filters, 1e-5)


BROADCAST: list[list[tuple[int, ...]]] = [
    [(8, 1, 4), (1, 5, 4)], [(4, 1, 5), (4, 3, 5)], [(3, 1, 2), (1, 7, 1)], [(2, 1), (1, 3)],
    [(3, 1, 5, 1), (1, 4, 1, 6)],
]  # fmt: skip


@pytest.mark.parametrize("shapes", BROADCAST, ids=str)
def test_leaves_broadcast_in_any_way(shapes: list[tuple[int, ...]]) -> None:
    a, b = (normal(*shape) for shape in shapes)
    compare("mul", [a, b], {})
    compare("less", [a, b], {})
    compare("add", [a.astype(np.float16), b.astype(np.float16)], {})
    small = [(x * 40).astype(np.int8) for x in (a, b)]
    compare("mul", small, {})
    compare("floor_divide", small, {})


def test_all_numbers_of_eight_and_sixteen_bits() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    compare("cast", [halves], {"dtype": "float32"})
    compare("cast", [halves.astype(np.float32)], {"dtype": "float16"})
    finite = halves[np.isfinite(halves)].astype(np.float32)
    between = np.nextafter(finite, np.float32(0))
    for x in (between, between * np.float32(1.0005), between * np.float32(1.5)):
        compare("cast", [x], {"dtype": "float16"})
    for dtype in (np.int8, np.uint8):
        x = np.arange(256).astype(np.uint8).view(dtype)
        pairs = [np.repeat(x, 256), np.tile(x, 256)]
        for name in ("add", "mul", "floor_divide", "mod", "maximum", "less"):
            compare(name, pairs, {})


def test_divisions_of_integers() -> None:
    values = np.array([0, 1, -1, 2, -2, 7, -7, 100, 2**31 - 1, -(2**31)], np.int64)
    for dtype in (np.int32, np.uint32):
        a, b = (grid.reshape(-1).astype(dtype) for grid in np.meshgrid(values, values))
        for name in ("floor_divide", "mod", "pow"):
            compare(name, [a, b], {})


@pytest.mark.parametrize("labels", [1, 2, 9])
def test_alignments_of_a_batch(labels: int) -> None:
    generator = np.random.default_rng(dice("alignments", labels).getrandbits(64))
    logits = generator.normal(size=(5, 24, 6)).astype(np.float32)
    (log_probs,) = lookup("log_softmax").reference([logits], {"axis": 2})
    target = generator.integers(0, 5, (5, labels)).astype(np.int32)
    lengths = np.array([labels, labels, 0, 1, labels], np.int32)
    times = np.array([24, 20, 7, 0, 2 * labels + 1], np.int32)
    inputs = [log_probs, target, lengths, times]
    for zero_infinity in (False, True):
        attrs = {"blank": 5, "zero_infinity": zero_infinity}
        compare("ctc_loss", inputs, attrs, 1e-5)
        compare("ctc_loss_gradient", inputs, attrs, 1e-5)


HALVES = [half for case in cases() if case.number < 2 and (half := in_float16(case)) is not None]


@pytest.mark.parametrize("case", HALVES, ids=str)
def test_samples_in_float16(case: Case) -> None:
    """They are computed in float32; where that is one unit off, so is float16 at most."""
    inputs, attrs = list(case.sample.inputs), dict(case.sample.attrs)
    if emitter_of(node_of(case.op, inputs, attrs)) is not None:
        compare_op(case.op, inputs, attrs, 2.0**-10)


def test_most_of_float16_is_compiled() -> None:
    compiled = {
        case.op.name
        for case in HALVES
        if emitter_of(node_of(case.op, case.sample.inputs, dict(case.sample.attrs))) is not None
    }
    assert {"reduce_sum", "argmax", "argsort", "scatter_add", "gather", "mul", "cumsum"} <= compiled


def test_floats_beyond_an_integer_become_the_nearest_one() -> None:
    values = np.array([-2.9, 3.7, 1e10, -1e10, np.inf, np.nan, 2.5e9], np.float32)
    largest = np.iinfo(np.int32)
    node = node_of(lookup("cast"), [values], {"dtype": "int32"})
    (signed,) = run_emitted(node, [values])
    expected = [-2, 3, largest.max, largest.min, largest.max, 0, largest.max]
    np.testing.assert_array_equal(signed, expected)
    node = node_of(lookup("cast"), [values], {"dtype": "uint32"})
    (unsigned,) = run_emitted(node, [values])
    np.testing.assert_array_equal(unsigned[1:], [3, 2**32 - 1, 0, 2**32 - 1, 0, 2_500_000_000])
