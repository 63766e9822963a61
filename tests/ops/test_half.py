"""float16: rounded as IEEE 754 says, computed in float32, and refused where it is not supported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.io import weights

Array = np.ndarray[Any, Any]
ALL = np.arange(65536, dtype=np.uint32).astype(np.uint16).view(np.float16)
NUMBERS = np.sort(ALL[np.isfinite(ALL)].astype(np.float32))
each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])


def run(device: str, fetches: Any, feeds: dict[Any, Array] | None = None) -> Any:
    with pg.Session(device=device) as session:
        return session.run(fetches, feeds)


def to_half(values: Array) -> Array:
    with np.errstate(all="ignore"):
        return values.astype(np.float16)


@each_device
def test_every_float16_becomes_float32_and_back(device: str) -> None:
    x = pg.placeholder("float16", ALL.shape)
    wide, back = run(
        device, [pg.cast(x, "float32"), pg.cast(pg.cast(x, "float32") * 1, "float16")], {x: ALL}
    )
    np.testing.assert_array_equal(wide, ALL.astype(np.float32))
    numbers = ~np.isnan(ALL)
    assert back[numbers].tobytes() == ALL[numbers].tobytes()  # the sign of 0, too
    assert np.isnan(back[~numbers]).all()


@each_device
def test_casts_round_to_nearest_even(device: str) -> None:
    """Halfway between all neighbours, next to that on either side, and anywhere else."""
    middle = ((NUMBERS[1:].astype(np.float64) + NUMBERS[:-1]) / 2).astype(np.float32)
    random = np.random.default_rng(0).integers(0, 2**32, 50_000, np.uint32).view(np.float32)
    limits = [65504, 65519.996, 65520, 1e6, -1e6, np.inf, -np.inf, np.nan, 2**-24, 2**-25, -1e-30]
    below, above = (np.nextafter(middle, np.float32(end)) for end in (-np.inf, np.inf))
    values = np.concatenate([middle, below, above, random, np.array(limits, np.float32)])
    x = pg.placeholder("float32", values.shape)
    actual, expected = run(device, pg.cast(x, "float16"), {x: values}), to_half(values)
    numbers = ~np.isnan(expected)
    assert actual[numbers].tobytes() == expected[numbers].tobytes()
    assert np.isnan(actual[~numbers]).all()


@each_device
@pytest.mark.parametrize("kind", ["int32", "uint32", "bool", "uint8", "int8"])
def test_casts_from_and_to_other_dtypes_match_numpy(device: str, kind: str) -> None:
    small = {"uint8": [0, 1, 3, 100, 255], "int8": [0, 1, -3, -128, 127]}
    numbers = np.array(small.get(kind, [0, 1, 2049, 2051, 70_000]))
    whole = pg.placeholder(kind, [5])
    half = pg.placeholder("float16", [7])
    halves = np.array([0, -0.0, 1.75, 6e-8, 31.5, 200, np.inf if kind == "bool" else 8], np.float16)
    actual = run(
        device,
        [pg.cast(whole, "float16"), pg.cast(half, kind)],
        {whole: numbers.astype(kind), half: halves},
    )
    np.testing.assert_array_equal(actual[0], to_half(numbers.astype(kind)))
    np.testing.assert_array_equal(actual[1], halves.astype(kind))


@each_device
def test_float16_works_for_constants_variables_feeds_and_fetches(device: str) -> None:
    """Of odd sizes: two elements share a word on a GPU."""
    start = np.array([0.5, -2, 3], np.float16)
    v = pg.Variable(start, dtype="float16", name="v")
    neighbour = pg.Variable([7.0], dtype="float16", name="neighbour")
    x = pg.placeholder("float16", [3])
    update = v.assign(v * pg.constant([2, 2, 2], "float16") + x)
    with pg.Session(device=device) as session:
        for _ in range(2):
            session.run(update, {x: [1, 0.1, 0]})  # converted
        value = session.value(v)
        assert session.value(neighbour).tolist() == [7]
    step = np.array([1, 0.1, 0], np.float16)
    expected = (start * np.float16(2) + step) * np.float16(2) + step
    assert value.dtype == np.float16
    np.testing.assert_array_equal(value, expected)


@each_device
def test_fused_operations_round_each_intermediate_result(device: str) -> None:
    """A square overflows, and adds only what float16 holds, also where no buffer holds it."""
    x = pg.placeholder("float16", [5])
    values = np.array([300, 0.1, 2048, -7.3, 1e-4], np.float16)
    squares = x * x
    results = [pg.cast(squares, "float32") / 2.0, (x + 1.0) - 1.0, pg.is_inf(squares)]
    actual = run(device, results, {x: values})
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(actual[0], (values * values).astype(np.float32) / 2)
        np.testing.assert_array_equal(actual[1], (values + np.float16(1)) - np.float16(1))
    assert actual[2].tolist() == [True, False, True, False, False]


@each_device
def test_sums_are_accumulated_in_float32(device: str) -> None:
    x = pg.placeholder("float16", [3, 5000])
    values = np.full((3, 5000), 1.001, np.float16)
    values[0, 0], values[2] = np.inf, 60_000
    actual = run(
        device,
        [pg.reduce_sum(x, 1), pg.reduce_mean(x, 1), pg.reduce_max(x), pg.cumsum(x, 1)[1, -1]],
        {x: values},
    )
    exact = values.astype(np.float64)
    assert [each.dtype for each in actual] == [np.float16] * 4
    np.testing.assert_allclose(actual[0], to_half(exact.sum(1)), rtol=2**-10)
    np.testing.assert_allclose(actual[1], to_half(exact.mean(1)), rtol=2**-10)
    assert actual[2] == np.inf
    np.testing.assert_allclose(actual[3], exact[1].sum(), rtol=2**-9)


@each_device
def test_a_mean_that_is_cast_is_rounded_first(device: str) -> None:
    """On a GPU, the kernel of the mean does both."""
    x = pg.placeholder("float16", [2, 3])
    values = np.array([[1, 2, 2], [60_000, 65_000, 65_000]], np.float16)
    mean = run(device, pg.cast(pg.reduce_mean(x, 1), "float32") * 3.0, {x: values})
    np.testing.assert_array_equal(
        mean, values.astype(np.float32).mean(1).astype(np.float16) * np.float32(3)
    )


@each_device
def test_products_are_accumulated_in_float32(device: str) -> None:
    """4,100 terms of 1, which float16 would add up to 2,048; rounded before the bias is added."""
    x, w = pg.placeholder("float16", [3, 4100]), pg.placeholder("float16", [4100, 2])
    product = x @ w
    images = pg.reshape(x, [3, 41, 100, 1])
    sums = pg.conv2d(images, pg.ones([41, 100, 1, 1], "float16"))
    results = [product, pg.cast(product, "float32") + 0.25, sums]
    values = {x: np.ones((3, 4100), np.float16), w: np.ones((4100, 2), np.float16)}
    actual = run(device, results, values)
    assert [each.dtype for each in actual] == [np.float16, np.float32, np.float16]
    assert np.unique(actual[0]).tolist() == np.unique(actual[2]).tolist() == [4100]
    np.testing.assert_array_equal(actual[1], np.full((3, 2), 4100.25))


@each_device
def test_gradients_pass_casts_in_the_dtype_of_each_side(device: str) -> None:
    x = pg.placeholder("float32", [3])
    half = pg.cast(x, "float16")
    y = pg.reduce_sum(pg.cast(pg.square(half), "float32"))
    by_x, by_half = pg.gradients(y, [x, half])
    assert (by_x.dtype, by_half.dtype) == ("float32", "float16")
    values = np.array([0.1, -3, 200], np.float32)
    actual = run(device, [by_x, by_half], {x: values})
    expected = values.astype(np.float16) * np.float16(2)
    np.testing.assert_array_equal(actual[0], expected.astype(np.float32))
    np.testing.assert_array_equal(actual[1], expected)


@each_device
def test_training_in_mixed_precision_learns(device: str) -> None:
    """The weights are float32, as a float16 would lose small steps; activations are float16."""
    values = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float16)
    x = pg.placeholder("float16", [4, 3])
    w = pg.Variable([[0.5], [1.0], [-1.0]])
    y = pg.relu(x @ pg.cast(w, "float16")) - pg.relu(-(x @ pg.cast(w, "float16")))
    target = values.astype(np.float32) @ [[1.0], [-2.0], [0.5]]
    loss = pg.reduce_mean(pg.square(pg.cast(y, "float32") - target))
    step = pg.optim.SGD(0.1).minimize(loss)
    with pg.Session(device=device) as session:
        losses = [session.run([loss, step], {x: values})[0] for _ in range(30)]
    assert losses[-1] < 0.05 * losses[0]
    with pytest.raises(pg.DTypeError, match=r"'half' is float16, but optimizers .*cast"):
        half = pg.Variable([1.0], dtype="float16", name="half")
        pg.optim.SGD(0.01).minimize(pg.reduce_sum(half))


MOVES: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: pg.transpose(x),
    "concat": lambda x: pg.concat([x, x[:2]], axis=0),
    "pad": lambda x: pg.pad(x, 1, constant_values=0.1),
    "tile": lambda x: pg.tile(x, (1, 3)),
    "where": lambda x: pg.where(pg.greater(x, 7), x, 0.1),
    "rows": lambda x: pg.gather(x, [2, 0, 2]),
    "columns": lambda x: pg.take(x, [2, 0, 2], axis=1),
    "sort": lambda x: pg.sort(x, axis=0, descending=True),
    "rows in float32": lambda x: pg.cast(pg.gather(x, [2, 0]), "float32") * 2.0,
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("width", [4, 5])
def test_a_gpu_moves_float16(name: str, width: int) -> None:
    values = np.linspace(-40, 40, 3 * width, dtype=np.float16).reshape(3, width)
    values[1, 1] = np.nan
    x = pg.placeholder("float16", values.shape)
    result = MOVES[name](x)
    expected, actual = (run(device, result, {x: values}) for device in ("cpu", "gpu"))
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


def test_a_variable_survives_a_file(tmp_path: Any) -> None:
    values = {"v": np.array([0.1, 65504, -6e-8], np.float16)}
    for name in ("weights.safetensors", "weights.npz"):
        weights.save(values, tmp_path / name)
        read = weights.load(tmp_path / name)["v"]
        assert read.dtype == np.float16
        np.testing.assert_array_equal(read, values["v"])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda x: pg.softmax(x), "must be float32 or float64, not float16.*cast"),
        (lambda x: x @ pg.zeros([2, 2]), "types differ: float16 and float32.*cast"),
        (lambda x: x + pg.constant([1.0], "float32"), "types differ: float16 and float32.*cast"),
        (lambda x: pg.constant([1e6], "float16"), "takes float16 values, but some do not fit"),
    ],
)  # fmt: skip
def test_unsupported_uses_of_float16_are_refused(wrong: Callable[[Any], Any], words: str) -> None:
    x = pg.placeholder("float16", [2, 2])
    with pytest.raises(pg.DTypeError, match=f"(?s){words}"):
        wrong(x)
