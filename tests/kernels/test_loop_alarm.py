"""Loops of a program's own WGSL that llvmpipe ends early: a run raises, and returns no number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices.target import LLVMPIPE_ROUNDS
from playgrad.graph.opdef import _REGISTRY
from playgrad.ops.custom.loop_alarm import with_alarm
from tests.drivers.impatient import impatient_gpu

LOOPS = {
    "for": "for (var k = 0u; k < n; k++) { s += x[k % 4u]; }",
    "for without a condition": "for (var k = 0u;; k++) { if (k >= n) { break; } s += x[k % 4u]; }",
    "while": "var k = 0u; while k < n { s += x[k % 4u]; k++; }",
    "loop": "var k = 0u; loop { if (k >= n) { break; } s += x[k % 4u]; continuing { k++; } }",
    "break if": "var k = 0u; loop { s += x[k % 4u]; continuing { k++; break if k >= n; } }",
    "return": "var k = 0u; loop { if (k >= n) { return s; } s += x[k % 4u]; k++; }",
    "nested": """
      for (var a = 0u; a < n / 100u; a++) {
        for (var b = 0u; ; b++) { if (b == 100u) { break; } s += x[b % 4u]; }
      }""",
    "continue": """
      for (var k = 0u; k < n; k++) {
        if (k % 2u == 1u) { continue; }
        s += x[k % 4u] + x[(k + 1u) % 4u];  // not the end of a loop { break; }
      }""",
    "switch": """
      for (var k = 0u; k < n; k++) {
        switch (k % 4u) { case 0u: { s += x[0]; break; } default: { s += x[k % 4u]; } }
      }""",
    "helper": "s = part(n / 2u) + part(n - n / 2u);",
    "different rounds of invocations": """
      for (var a = 0u; a < 8u; a++) {
        if (a == i) { for (var b = 0u; b < n; b++) { s += x[b % 4u]; } }
      }""",
}
HELPER = """
fn part(n: u32) -> f32 { var s = 0.0; for (var k = 0u; k < n; k++) { s += x[k % 4u]; } return s; }
"""


@pytest.fixture(autouse=True)
def clean_registry() -> Iterator[None]:
    names = set(_REGISTRY)
    yield
    for name in set(_REGISTRY) - names:
        del _REGISTRY[name]


def sums(loop: str) -> Any:
    """Return an operation that adds up the first ``counts`` elements of a repeated ``x``."""
    return pg.register_op(
        "sums",
        reference=lambda x, counts: x.mean() * counts.astype(np.float32),
        shape=lambda x, counts: counts,
        dtypes={"counts": "uint32"},
        wgsl=f"{HELPER if 'part(' in loop else ''}"
        f"fn element(i: u32) -> f32 {{ let n = counts[i]; var s = 0.0; {loop} return s; }}",
    )


def run(loop: str, counts: list[int], device: str = "gpu:0") -> list[float]:
    with pg.Graph().as_default() as graph:
        x, n = pg.placeholder("float32", (4,)), pg.placeholder("uint32", (len(counts),))
        y = sums(loop)(x, n)
        with pg.Session(graph, device) as session:
            feeds = {x: np.ones(4, np.float32), n: np.array(counts, np.uint32)}
            result: list[float] = session.run(y, feeds).tolist()
            return result


@pytest.mark.gpu
@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_are_ended_early_raise(name: str) -> None:
    assert run(LOOPS[name], [400, 800, 6000]) == [400, 800, 6000]
    for counts in ([400, 70_000, 800], [200_000]):
        with pytest.raises(pg.KernelError, match="ended the loops in the WGSL of 'sums'"):
            run(LOOPS[name], counts)


@pytest.mark.gpu
def test_the_rounds_of_invocations_that_run_together_add_up() -> None:
    each = LLVMPIPE_ROUNDS // 4
    loop = LOOPS["different rounds of invocations"]
    with pytest.raises(pg.KernelError, match="Divide the loop among more invocations"):
        run(loop, [each] * 8)
    assert run(LOOPS["for"], [each] * 8) == [each] * 8


@pytest.mark.gpu
def test_a_run_after_an_alarm_is_right() -> None:
    with pg.Graph().as_default() as graph:
        x, n = pg.placeholder("float32", (4,)), pg.placeholder("uint32", (1,))
        y = sums(LOOPS["for"])(x, n)
        with pg.Session(graph, "gpu:0") as session:
            ones = np.ones(4, np.float32)
            with pytest.raises(pg.KernelError, match="before their end"):
                session.run(y, {x: ones, n: np.array([70_000], np.uint32)})
            assert session.run(y, {x: ones, n: np.array([7], np.uint32)}) == 7


@pytest.mark.gpu
def test_an_early_end_within_fit_raises() -> None:
    op = sums(LOOPS["for"])

    def loss(y_true: pg.Tensor, y_pred: pg.Tensor) -> pg.Tensor:
        counts = pg.constant(np.full(4, 70_000, np.uint32))
        return pg.reduce_mean(pg.square(y_pred - y_true), axis=1) + pg.stop_gradient(
            op(y_pred[:, 0], counts)
        )

    model = pg.Sequential([nn.Dense(1)])
    model.compile(pg.optim.SGD(0.1), loss, device="gpu:0")
    with pytest.raises(pg.KernelError, match="ended the loops"):
        model.fit(np.ones((8, 2), np.float32), np.ones((8, 1), np.float32), 4, verbose=0)
    model.close()


@pytest.mark.gpu
def test_an_edited_kernel_of_the_bench_reports_it() -> None:
    x = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
    model = pg.Sequential([nn.Dense(2)])
    model.compile(pg.optim.SGD(0.1), "mse", device="gpu:0")
    model.fit(x, np.zeros((8, 2), np.float32), 4, verbose=0)
    bench = pg.inspect(model).kernel("dense_1/matmul_1")
    text, begin = bench.kernels[0], "fn main("
    at = text.index("{", text.index(begin)) + 1
    edited = f"{text[:at]} var n = 0u; for (var k = 0u; k < 70000u; k++) {{ n += k; }}"
    report = bench.check(f"{edited} if (n == 3u) {{ return; }}{text[at:]}")
    bench.close()
    model.close()
    assert not report
    assert any("ended the loops" in (sample.problem or "") for sample in report.samples), report


@pytest.mark.gpu
def test_kernels_without_a_spare_buffer_are_refused() -> None:
    inputs = [f"x{number}" for number in range(7)]
    body = " + ".join(f"{name}[i]" for name in inputs)
    op = pg.register_op(
        "seven",
        reference=eval(f"lambda {', '.join(inputs)}: {' + '.join(inputs)}"),
        wgsl=f"fn element(i: u32) -> f32 {{ for (;;) {{ break; }} return {body}; }}",
    )
    with pg.Graph().as_default() as graph:
        xs = [pg.placeholder("float32", (2,)) for _ in inputs]
        y = op(*xs)
        with (
            pg.Session(graph, "gpu:0") as session,
            pytest.raises(pg.KernelError, match="no buffer is left to find out"),
        ):
            session.run(y, {x: np.ones(2, np.float32) for x in xs})


@pytest.mark.gpu
def test_attributes_of_loops_are_refused() -> None:
    with pytest.raises(pg.KernelError, match=r"@diagnostic .* cannot|cannot be watched"):
        run(f"@diagnostic(off, x) {LOOPS['for']}", [4])


@pytest.mark.gpu
def test_other_drivers_run_the_text_as_it_is() -> None:
    with impatient_gpu(most=10**6) as name:
        assert run(LOOPS["for"], [8], name) == [8]


def test_lines_keep_their_numbers() -> None:
    text = "fn f() {\n  /* a\n b */\n  for (;;) {\n    break;\n  }\n}\n"
    lines = with_alarm(text).splitlines()
    assert [n for n, line in enumerate(lines) if "break" in line] == [4]
