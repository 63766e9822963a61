"""Operations that a program registers: values, gradients, errors, and the check of the contract."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.graph.opdef import _REGISTRY

CUMULATIVE = """
fn element(i: u32) -> f32 {
  var sum = 0.0;
  for (var k = 0u; k <= i % ${x_shape_1}u; k++) { sum += x[i - k]; }
  return sum * ${scale};
}
"""
MINIMUM_AND_MAXIMUM = """
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = ${index};
  if (row >= ${result0_size}u) { return; }
  var low = x[row * ${x_shape_1}u];
  var high = low;
  for (var k = 1u; k < ${x_shape_1}u; k++) {
    low = min(low, x[row * ${x_shape_1}u + k]);
    high = max(high, x[row * ${x_shape_1}u + k]);
  }
  result0[row] = low;
  result1[row] = high;
}
"""
SAMPLE = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def program() -> Iterator[None]:
    """A graph of its own, and no operation left behind."""
    before = dict(_REGISTRY)
    with pg.Graph().as_default():
        yield
    _REGISTRY.clear()
    _REGISTRY.update(before)


def cumulative(**changes: Any) -> Callable[..., Any]:
    arguments = {
        "reference": lambda x, *, scale=2.0: np.cumsum(x, axis=1) * scale,
        "shape": lambda x, *, scale: x,
        "gradient": lambda g, y, x, *, scale: scale * pg.flip(pg.cumsum(pg.flip(g, 1), 1), 1),
        "wgsl": CUMULATIVE,
        "samples": [(SAMPLE,)],
    }
    return pg.register_op("cumulative", **arguments | changes)


def test_a_formula_runs_everywhere_and_passes_the_contract() -> None:
    bump = pg.register_op(
        "bump",
        lambda x, *, width=1.0: pg.expr.exp(-(x * x) / width),
        gradient=lambda g, y, x, *, width: g * y * x * (-2.0 / width),
    )
    report = pg.check_op(bump)
    assert report.passed and report, str(report)
    x = pg.Variable([0.5, -1.0])
    for device in ("cpu", "gpu"):
        with pg.Session(device=device) as session:
            value = session.run(bump(x, width=2.0))
        np.testing.assert_allclose(value, np.exp(-(np.array([0.5, -1.0]) ** 2) / 2), rtol=1e-5)


def test_numpy_and_wgsl_agree_and_pass_the_contract() -> None:
    report = pg.check_op(cumulative())
    assert report.passed, str(report)
    assert "ok    inputs without elements" in str(report)
    assert "ok    values on gpu:0" in str(report)


def test_an_op_may_have_several_results_and_its_own_entry_point() -> None:
    extremes = pg.register_op(
        "extremes",
        reference=lambda x: (x.min(axis=1), x.max(axis=1)),
        shape=lambda x: [(x[0],), (x[0],)],
        wgsl=MINIMUM_AND_MAXIMUM,
        samples=[(np.random.default_rng(0).normal(size=(70, 5)).astype(np.float32),)],
    )
    low, high = extremes(pg.Variable(SAMPLE))
    assert low.shape == high.shape == (2,)
    report = pg.check_op(extremes)
    assert report.passed, str(report)


def test_inputs_broadcast_and_gradients_are_summed() -> None:
    blend = pg.register_op(
        "blend",
        reference=lambda a, b: a * b + b,
        gradient=lambda g, y, a, b: (g * b, g * (a + 1.0)),
        wgsl="""fn element(i: u32) -> f32 {
  let k = i % ${b_size}u;
  return a[i] * b[k] + b[k];
}""",
        samples=[(SAMPLE, SAMPLE[:1])],
    )
    report = pg.check_op(blend)
    assert report.passed, str(report)


def test_an_op_without_wgsl_runs_on_the_cpu_within_a_gpu_network() -> None:
    plain = cumulative(wgsl=None)
    x = pg.Variable(SAMPLE)
    with pg.Session(device="gpu") as session:
        value = session.run(pg.relu(plain(x * 1.0)))
    np.testing.assert_allclose(value, np.maximum(np.cumsum(SAMPLE, axis=1) * 2, 0), rtol=1e-5)
    assert "it has no WGSL" in str(pg.check_op(plain))


def test_registering_again_replaces_only_custom_ops() -> None:
    first = cumulative()(pg.Variable(SAMPLE))
    second = cumulative(reference=lambda x, *, scale=2.0: x)(pg.Variable(SAMPLE))
    with pg.Session(device="cpu") as session:
        assert session.run(first)[0, 2] == pytest.approx(2 * SAMPLE[0].sum())
        assert session.run(second)[0, 2] == SAMPLE[0, 2]
    with pytest.raises(pg.GraphError, match="the library has an operation 'relu'") as caught:
        pg.register_op("relu", lambda x: x)
    assert caught.value.source is not None and caught.value.source[0] == __file__


def test_a_wrong_gradient_is_reported_with_numbers() -> None:
    wrong = pg.register_op(
        "wrong", lambda x, y: x * y * y, gradient=lambda g, r, x, y: (g * y * y, g * x * y)
    )
    report = pg.check_op(wrong)
    assert not report
    assert [check.rule for check in report.failures] == ["gradient"]
    assert "along a random direction, finite differences say" in str(report)
    assert "By input: input_0" in str(report)


def test_a_wrong_second_derivative_is_reported_or_refused() -> None:
    frozen = {"gradient": lambda g, y, x: g * pg.stop_gradient(3.0 * x * x)}
    cube = pg.register_op("cube", lambda x: x * x * x, **frozen)
    assert [check.rule for check in pg.check_op(cube).failures] == ["second derivative"]
    once = pg.register_op("cube", lambda x: x * x * x, second_derivative=False, **frozen)
    report = pg.check_op(once)
    assert report.passed, str(report)
    x = pg.Variable([1.0])
    (slope,) = pg.gradients(once(x), x)
    with pytest.raises(pg.GraphError, match="'cube' cannot be differentiated again"):
        pg.gradients(slope, x)


def test_wgsl_with_other_values_is_reported_with_numbers() -> None:
    text = str(pg.check_op(cumulative(wgsl=CUMULATIVE.replace("k <= i", "k < i"))))
    assert "FAIL  values on gpu:0" in text
    assert "result 0 of sample 0: 6 of 6 values differ, the worst at [" in text


def test_wrong_shapes_and_dtypes_are_reported() -> None:
    text = str(pg.check_op(cumulative(shape=lambda x, *, scale: (x[0],))))
    assert "returned an array of shape (2, 3), but the declared shape is (2,)" in text
    text = str(pg.check_op(cumulative(reference=lambda x, *, scale=2.0: x > 0)))
    assert "returned bool values, declared are float32" in text


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"shape": lambda x, *, scale: x[7]}, pg.ShapeError, "failed: IndexError"),
        ({"shape": lambda x, *, scale: "no"}, pg.ShapeError, "returned 'no'"),
        ({"gradient": lambda g, y, x, *, scale: np.ones(3)}, pg.GraphError, "returned ndarray"),
        ({"gradient": lambda g, y, x, *, scale: (g, g)}, pg.GraphError, "2 gradients for 1"),
        (
            {"gradient": lambda g, y, x, *, scale: pg.reduce_sum(g)},
            pg.ShapeError,
            "the shape () for the input 'x' of shape (2, 3)",
        ),
        ({"gradient": lambda g, y, x, *, scale: 1 / 0}, pg.GraphError, "ZeroDivisionError"),
    ],
)
def test_errors_name_the_line_of_the_program(
    changes: dict[str, Any], error: type[pg.PlaygradError], words: str
) -> None:
    x = pg.Variable(SAMPLE)
    with pytest.raises(error) as caught:
        pg.gradients(cumulative(**changes)(x), x)
    assert words in str(caught.value)
    assert caught.value.source is not None and caught.value.source[0] == __file__
    assert caught.value.hint


def test_wgsl_that_does_not_compile_names_its_line() -> None:
    bad = cumulative(wgsl=CUMULATIVE.replace("sum * ", "sun * "))
    with pg.Session(device="gpu") as session, pytest.raises(pg.KernelError) as caught:
        session.run(bad(pg.Variable(SAMPLE)))
    assert "the WGSL of 'cumulative' does not compile at its line 5" in str(caught.value)
    assert caught.value.op == "cumulative"


def test_a_wgsl_error_names_the_line_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    program = 'f = pg.register_op("duplicate", reference=lambda x: x, wgsl="""\n'
    program += 'fn element(i: u32) -> f32 {\n  return y[i];\n}\n""")\n'
    lines = (len(program), None, program.splitlines(keepends=True), "main.py")
    monkeypatch.setitem(linecache.cache, "main.py", lines)
    names: dict[str, Any] = {"pg": pg}
    exec(compile(program, "main.py", "exec"), names)
    with pg.Session(device="gpu") as session, pytest.raises(pg.KernelError) as caught:
        session.run(names["f"](pg.Variable(SAMPLE)))
    assert caught.value.source == ("main.py", 3)


@pytest.mark.parametrize(
    ("wgsl", "words"),
    [
        ("fn value(i: u32) -> f32 { return x[i]; }", "has no entry"),
        ("fn element(i: u32) -> f32 { return f32(${rows}); }", "uses ${rows}"),
        ("@compute @workgroup_size(N) fn main() {}", "must be one number"),
    ],
)
def test_incomplete_wgsl_is_refused(wgsl: str, words: str) -> None:
    with pg.Session(device="gpu") as session, pytest.raises(pg.KernelError) as caught:
        session.run(cumulative(wgsl=wgsl)(pg.Variable(SAMPLE)))
    assert words in str(caught.value)


def test_wrong_arguments_are_typed_errors() -> None:
    with pytest.raises(pg.GraphError, match="either a formula, or a reference"):
        pg.register_op("nothing")
    with pytest.raises(pg.GraphError, match="a fixed number of inputs"):
        pg.register_op("several", reference=lambda *x: x[0])
    with pytest.raises(pg.GraphError, match="has no input 'labels'"):
        pg.register_op("odd", reference=lambda x: x, dtypes={"labels": "int32"})
    with pytest.raises(pg.DTypeError, match="the input 'x' of 'cumulative' must be float32"):
        cumulative()(pg.constant([[1, 2]]))
    with pytest.raises(pg.GraphError, match="Attributes are numbers"):
        cumulative()(pg.Variable(SAMPLE), scale=np.ones(3))
    with pytest.raises(pg.GraphError, match="no samples"):
        pg.check_op(pg.register_op("bare", reference=lambda x: x, shape=lambda x: x))


def test_lists_beside_floats_keep_declared_dtypes() -> None:
    picked = pg.register_op(
        "picked",
        reference=lambda x, rows: x[rows],
        shape=lambda x, rows: (rows[0], *x[1:]),
        dtypes={"rows": "int32"},
    )
    with pg.Session(device="cpu") as session:
        np.testing.assert_array_equal(session.run(picked(pg.constant([3.0, 4.0]), [1])), [4])
        chosen = pg.where([True, False], pg.constant([1.0, 2.0]), [5, 6])
        np.testing.assert_array_equal(session.run(chosen), [1, 6])
