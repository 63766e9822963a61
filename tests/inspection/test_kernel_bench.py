"""The kernel bench from Python: edited kernels are checked, timed, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.contract.cases import cases_of
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.errors import GraphError, KernelError
from playgrad.graph.opdef import lookup
from playgrad.inspection.kernel_bench import KernelBench
from playgrad.inspection.kernel_patch import patched

pytestmark = pytest.mark.gpu


def trained(device: str = "gpu") -> pg.Sequential:
    x = np.random.default_rng(0).normal(size=(64, 20)).astype(np.float32)
    model = pg.Sequential([nn.Dense(16, activation="relu"), nn.Dense(3)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.SGD(0.1), loss, device=device)
    model.fit(x, np.arange(64) % 3, batch_size=16, epochs=1, verbose=0)
    return model


@pytest.fixture(scope="module")
def model() -> Iterator[pg.Sequential]:
    model = trained()
    yield model
    model.close()


@pytest.fixture
def bench(model: pg.Sequential) -> Iterator[KernelBench]:
    bench = pg.inspect(model).kernel("dense_1/matmul_1")
    yield bench
    bench.close()


def test_the_compilers_kernel_matches_numpy(bench: KernelBench) -> None:
    assert bench.nodes == ("dense_1/matmul_1", "dense_1/add_1", "dense_1/relu_1")
    report = bench.check(bench.kernels[0])
    names = [each.name for each in report.samples]
    assert report and names[:4] == ["step", "normal", "zeros", "large"]
    matmul = lookup("matmul")
    results = [matmul.infer(case.specs, case.sample.attrs)[0] for case in cases_of(matmul)]
    filled = sum(result.size > 0 for result in results)  # the others run no kernel
    assert len(names) == 4 + filled
    assert report.other_kernels == len(results) - filled


def test_a_wrong_kernel_fails_with_the_place_of_the_difference(bench: KernelBench) -> None:
    text = bench.kernels[0]
    assert "DEPTH = 20u" in text
    report = bench.check(text.replace("DEPTH = 20u", "DEPTH = 19u", 1))
    assert not report
    problems = {each.name: each.problem for each in report.samples}
    assert problems["zeros"] is None
    for name in ("step", "normal", "large"):
        assert problems[name] and "values differ, the worst at [" in problems[name]
    assert bench.check(text), "the kernel of the compiler passes again"


def test_the_samples_of_a_product_run_on_its_fused_kernel(bench: KernelBench) -> None:
    """A loop that ends too early is wrong in the samples of matmul as well."""
    text = bench.kernels[0]
    assert "depth < last_depth" in text
    report = bench.check(text.replace("depth < last_depth", "depth + 1u < last_depth", 1))
    failed = [each.name for each in report.samples if each.problem]
    assert [name for name in failed if name.startswith("contract")], str(report)


def test_an_error_of_the_compiler_names_its_line(bench: KernelBench) -> None:
    lines = bench.kernels[0].split("\n")
    at = next(i for i, line in enumerate(lines) if "fn main" in line)
    lines[at + 1] = f"let nothing = 1.0 + true; {lines[at + 1]}"
    report = bench.check("\n".join(lines))
    assert not report and report.samples == ()
    assert report.error and report.line == at + 2


@pytest.mark.parametrize("loop", ["while (true) { }", "for (;;) { if (ROWS == 0u) { break; } }"])
def test_an_endless_loop_ends(bench: KernelBench, loop: str) -> None:
    report = bench.check(bench.kernels[0].replace("let row ", f"{loop} let row ", 1))
    assert report.error is None and len(report.samples) > 4, str(report)


def test_only_a_kernel_that_is_right_is_timed(bench: KernelBench) -> None:
    text = bench.kernels[0].replace("DEPTH = 20u", "DEPTH = 19u", 1)
    with pytest.raises(KernelError, match="not timed, because its result differs from NumPy's"):
        bench.time(text)


def test_a_nonexistent_kernel_is_refused(bench: KernelBench) -> None:
    with pytest.raises(GraphError, match="has 1 kernels, not a number 3"):
        bench.check(bench.kernels[0], kernel=3)


def test_an_edited_kernel_is_compiled_once_to_be_timed(
    bench: KernelBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    load = WebGpuDevice.load

    def loaded(device: WebGpuDevice, plan: Any, kept: Any) -> Any:
        texts.extend(str(kernel["wgsl"]) for kernel in plan["kernels"])
        return load(device, plan, kept)

    monkeypatch.setattr(WebGpuDevice, "load", loaded)
    edited = bench.kernels[0] + "\n// edited"
    bench.time(edited)
    assert sorted(texts.count(text) for text in (bench.kernels[0], edited)) == [1, 1]


def test_times_stand_beside_the_limit(bench: KernelBench) -> None:
    times = bench.time(bench.kernels[0])
    assert times.before > 0 and times.after > 0
    moved = 4 * (16 * 20 + 20 * 16 + 16 + 16 * 16)  # batch, kernel, bias, result
    assert times.limit.moved == moved
    assert times.limit.operations == 2 * 16 * 20 * 16
    rates = times.limit.rates
    expected = max(moved / rates.bandwidth, times.limit.operations / rates.arithmetic)
    assert times.limit.seconds == expected


def test_the_samples_of_the_contract_run_the_changed_kernel(model: pg.Sequential) -> None:
    bench = pg.inspect(model).kernel("train/sparse_softmax_cross_entropy")
    try:
        text = bench.kernels[0]
        good = bench.check(text.replace("fn larger", "// a comment\nfn larger", 1))
        assert good and [n for each in good.samples if (n := each.name).startswith("contract")]
        assert "fn larger" in text
        wrong = bench.check(text.replace("select(max(x, y), y,", "select(min(x, y), x,", 1))
        failed = [each.name for each in wrong.samples if each.problem]
        assert any(name.startswith("contract") for name in failed), str(wrong)
    finally:
        bench.close()


def test_nothing_of_the_model_changes() -> None:
    model, other = trained(), trained()
    bench = pg.inspect(model).kernel("dense_1/matmul_1")
    bench.check(bench.kernels[0].replace("DEPTH = 20u", "DEPTH = 19u", 1))
    bench.time(bench.kernels[0])
    bench.close()
    x = np.random.default_rng(1).normal(size=(32, 20)).astype(np.float32)
    for each in (model, other):
        each.fit(x, np.arange(32) % 3, batch_size=16, epochs=2, verbose=0)
    for one, another in zip(model.get_weights(), other.get_weights(), strict=True):
        assert np.array_equal(one, another)
    model.close()
    other.close()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dense_9/matmul", "does not have an operation named 'dense_9/matmul'"),
        ("dense_1/kernel", "'dense_1/kernel' is stored, not computed"),
    ],
)
def test_nodes_without_a_kernel_are_refused(model: pg.Sequential, name: str, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        pg.inspect(model).kernel(name)


def test_a_processor_runs_no_kernels() -> None:
    model = trained("cpu")
    with pytest.raises(GraphError, match="NumPy computes 'dense_1/matmul_1' on cpu:0"):
        pg.inspect(model).kernel("dense_1/matmul_1")
    model.close()


def test_an_edit_is_reapplied_to_another_kernel_text() -> None:
    before, after = "a\nsize = 4\nb += 1\nc", "a\nsize = 4\nb += 2\nd\nc"
    assert patched("a\nsize = 9\nb += 1\nc", before, after) == "a\nsize = 9\nb += 2\nd\nc"
    assert patched("a\nsize = 9\nx\nc", before, after) is None
    assert patched("top\na\nc", "a\nc", "a\nb\nc") == "top\na\nb\nc"
