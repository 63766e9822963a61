"""Loops that a driver would end early, as llvmpipe does after 65,535 rounds, without a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from playgrad.compiler.long_loops import with_copies
from playgrad.contract.cases import Case, cases_of, operations
from playgrad.contract.on_device import check_values
from playgrad.devices import registry
from playgrad.devices.target import LLVMPIPE_ROUNDS, AdapterInfo, most_rounds
from playgrad.errors import UnsupportedOpError
from playgrad.graph.opdef import OpDef, Sample, lookup
from playgrad.ops.core.loops import Loop, depth, innermost, nested, rounds
from tests.drivers.impatient import impatient_gpu
from tests.kernels.long_loops import LONG, Long, attention
from tests.sweeps import slow, sweep

pytestmark = pytest.mark.gpu
STRUCTURED = [op for op in operations() if op.lower is not None and op.elementwise is None]
BORDER = 66_000
assert BORDER > LLVMPIPE_ROUNDS
SLOW = ("max pooling", "running sums of many lines")
"""Those whose reference takes a second."""


def check(long: Long, device: str) -> None:
    sample = Sample(long.inputs, long.attrs, differentiable=(), tolerance=1e-3)
    check_values(lookup(long.op), [Case(lookup(long.op), 0, sample)], device)


@pytest.mark.parametrize("name", sweep(LONG, LONG.keys() - set(SLOW)))
def test_just_beyond_the_border_of_llvmpipe(name: str) -> None:
    check(LONG[name](BORDER), "gpu:0")


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_just_beyond_the_border_with_kernels_of_hardware(name: str) -> None:
    device = registry.gpu(0)
    target = device.target
    device.target = replace(target, is_software=False)
    try:
        check(LONG[name](BORDER), "gpu:0")
    finally:
        device.target = target


@pytest.fixture(scope="module")
def impatient() -> Iterator[str]:
    with impatient_gpu(most=100) as name:
        yield name


@pytest.mark.parametrize("name", LONG)
def test_on_an_impatient_driver(name: str, impatient: str) -> None:
    check(LONG[name](200), impatient)


@pytest.mark.parametrize(
    "op",
    # In a chain, whose rounds add up.
    [op if op.name == "update_with_epilogue" else slow(op)[0] for op in STRUCTURED],
    ids=lambda op: op.name,
)
def test_samples_on_an_impatient_driver(op: OpDef, impatient: str) -> None:
    check_values(op, cases_of(op), impatient)


def test_too_long_loops_are_refused() -> None:
    with impatient_gpu(most=10) as name:
        words = r"'dot_product_attention' needs 4,001 rounds of loops, which llvmpipe ends after"
        with pytest.raises(UnsupportedOpError, match=words):
            check(attention("dot_product_attention", 2, 4000), name)


def test_rounds_are_counted_with_the_ones_that_end_a_loop() -> None:
    loops = (nested(3, 5), Loop(7))
    assert rounds(loops) == 4 + 3 * 6 + 8
    assert rounds(loops, copies=2) == 2 + 3 * 3 + 4
    assert innermost(loops) == 3 * 5 + 7
    assert depth(loops) == 2


def test_bodies_are_copied() -> None:
    code = "for (var i = 0u; i < 5u; i++) { let x = f(i); if (x) { break; } }\nnext();"
    body = "{ let x = f(i); if (x) { break; } } i++;"
    copied = f"for (var i = 0u; i < 5u;) {{ {body} if (!( i < 5u)) {{ break; }} {body} }} next();"
    assert " ".join(with_copies(code, 2).split()) == copied
    with pytest.raises(ValueError, match="`continue` cannot be unrolled"):
        with_copies("for (;;) { if (x) { continue; } }", 2)


def test_adapters_with_a_limit() -> None:
    assert most_rounds(AdapterInfo("llvmpipe (LLVM 15.0.6, 256 bits)")) == LLVMPIPE_ROUNDS
    assert most_rounds(AdapterInfo("GPU", is_software=True)) == LLVMPIPE_ROUNDS
    assert most_rounds(AdapterInfo("SwiftShader Device", is_software=True)) is None
    assert most_rounds(AdapterInfo("NVIDIA H200")) is None
