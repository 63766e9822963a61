"""Exported C computes the bits of the integer operations, without undefined behaviour."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playgrad.compression.integer_evaluation import evaluate
from playgrad.compression.integer_program import IntegerProgram, IntegerStep, IntegerTensor
from playgrad.errors import ExportError
from playgrad.graph.opdef import lookup
from playgrad.interchange.c.arena import Buffer, places
from playgrad.interchange.c.export import c_files
from playgrad.interchange.c.steps import WRITERS
from tests.compression.compiled import SANITIZED, STRICT, compiled, run_programs
from tests.compression.random_programs import KINDS, RandomProgram, feeds_of

CASES = 8


def compare(folder: Path, seeds: range, *options: str) -> None:
    programs = [RandomProgram(seed).program() for seed in seeds]
    if len(seeds) < 100:  # every kind at least once
        programs += [RandomProgram(seed).single(kind) for seed, kind in enumerate(KINDS)]
    assert {step.op for program in programs for step in program.steps} == set(WRITERS)
    feeds = [feeds_of(program, CASES, number) for number, program in enumerate(programs)]
    results = run_programs(folder, programs, feeds, *options)
    for number, (program, feed) in enumerate(zip(programs, feeds, strict=True)):
        for expected, result in zip(evaluate(program, feed), results[number], strict=True):
            np.testing.assert_array_equal(result, expected, err_msg=f"program {number}")


def test_random_programs_give_the_bits_of_the_operations(tmp_path: Path) -> None:
    compare(tmp_path, range(15), *SANITIZED)


@pytest.mark.slow
@pytest.mark.parametrize("options", [SANITIZED, ("-O2",), ("-O3", "-funsigned-char")])
def test_many_random_programs(options: tuple[str, ...], tmp_path: Path) -> None:
    compare(tmp_path, range(1000, 1200), *options)


def product_program(kernel: Any, **changes: Any) -> IntegerProgram:
    """Return a program of a matrix product."""
    kernel = np.asarray(kernel, np.int8)
    units = kernel.shape[1]
    constants = {
        "kernel": kernel,
        "bias": np.zeros(units, np.int32),
        "multiplier": np.full(units, 2**30, np.int32),
        "shift": np.full(units, 38, np.int32),
        "weight_scale": np.ones(units, np.float32),
        **changes,
    }
    attrs = {"zero_point": 3, "low": -128, "high": 127}
    step = IntegerStep("quantized_matmul", "dense", ("x",), "y", attrs, constants)
    tensors = {
        "x": IntegerTensor((len(kernel),), 0.1, -5, "int8"),
        "y": IntegerTensor((units,), 0.2, 3, "int8"),
    }
    return IntegerProgram(("x",), ("y",), tensors, (step,))


KERNELS = {
    "int8_t dense_kernel[1024]": lambda random: random.integers(-127, 128, (32, 32)),
    # 1,024 weights of 4 bits
    "uint8_t dense_kernel[512]": lambda random: random.choice(np.arange(-60, 60, 8)[:16], (32, 32)),
    "uint8_t dense_kernel[128]": lambda random: random.choice([-9, 100], (32, 32)),
    # 1,024 weights of 2 bits, and 4 values for each unit
    "int8_t dense_codebook[128]": lambda random: (
        random.choice([-1, -0.3, 0.4, 1], (32, 32)) * np.arange(30, 126, 3)
    ),
    # a bit for each weight, and a byte for each tenth
    "uint8_t dense_kernel[231]": lambda random: thinned(random.integers(1, 128, 1024)),
    # a bit for each weight, and 2 more for each tenth
    "uint8_t dense_kernel[154]": lambda random: thinned(random.choice([-7, 1, 2, 90], 1024)),
}


def thinned(weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a matrix with 103 of 1,024 weights."""
    kept = np.arange(1024) % 10 == 3
    return (weights * kept).reshape(32, 32)


@pytest.mark.parametrize("declared", KERNELS)
def test_pruned_and_clustered_weights_are_packed(declared: str) -> None:
    program = product_program(KERNELS[declared](np.random.default_rng(1)))
    assert f"static const {declared} =" in c_files(program, "m.c", "m")["m.c"].decode()


def test_packed_weights_of_every_width_give_the_bits_of_plain_ones(tmp_path: Path) -> None:
    random = RandomProgram(3)
    x, outputs = random.input((40,)), []
    for values in (1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 65, 129):
        chosen = random.random.permutation(np.arange(-127, 128))[:values]
        for zeros in (0, 0.5, 0.95, 1):
            kept = random.random.random((40, 5)) >= zeros
            factors = random.random.uniform(0.2, 1, 5) if values < 10 else 1
            kernel = (random.random.choice(chosen, (40, 5)) * kept * factors).astype(np.int8)
            constants, scale = random.products(x, kernel)
            ends = random.ends()
            outputs.append(random.step("quantized_matmul", [x], (5,), ends, constants, scale))
    program = random.finished(*outputs)
    feeds = feeds_of(program, CASES, 1)
    (results,) = run_programs(tmp_path, [program], [feeds], *SANITIZED)
    np.testing.assert_array_equal(results, evaluate(program, feeds))


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12
    )
)
@settings(max_examples=200, deadline=None)
def test_buffers_in_use_at_the_same_time_never_overlap(items: list[tuple[int, int, int]]) -> None:
    buffers = {
        str(number): Buffer(size, min(a, b), max(a, b)) for number, (size, a, b) in enumerate(items)
    }
    offsets, size = places(buffers)
    for time in range(10):
        used = sorted(
            (offsets[name], offsets[name] + buffer.size)
            for name, buffer in buffers.items()
            if buffer.first <= time <= buffer.last
        )
        assert all(end <= begin for (_, end), (begin, _) in pairwise(used))
        assert all(begin >= 0 and end <= size for begin, end in used)


def test_a_chain_of_layers_needs_two_buffers_at_once() -> None:
    random = RandomProgram(1)
    x = random.input((40,))
    for _ in range(6):
        kernel = random.kernel(40, 40)
        constants, scale = random.products(x, kernel)
        x = random.step("quantized_matmul", [x], (40,), random.ends(), constants, scale)
        x = random.lookup(x)  # in place
    header = c_files(random.finished(x), "net.c", "net")["net.h"].decode()
    assert "#define NET_ARENA_SIZE 80\n" in header


def test_the_check_in_the_file_notices_a_changed_weight(tmp_path: Path) -> None:
    program = product_program(np.random.default_rng(2).integers(-127, 128, (20, 10)))
    for name, content in c_files(program, "digits.c", "digits").items():
        (tmp_path / name).write_bytes(content)
    check = [str(compiled(tmp_path, ["digits.c"], "-DDIGITS_TEST"))]
    assert subprocess.run(check, capture_output=True, text=True).stdout == (
        "0 values differ in 4 cases\n"
    )
    text = (tmp_path / "digits.c").read_text()
    changed = re.sub(r"(dense_kernel\[200\] = \{\n *)-?\d+,", r"\1 99,", text)
    assert changed != text
    (tmp_path / "digits.c").write_text(changed)
    compiled(tmp_path, ["digits.c"], "-DDIGITS_TEST")
    assert subprocess.run(check, capture_output=True).returncode == 1


def test_the_object_needs_no_library_and_gives_one_name_to_the_linker(tmp_path: Path) -> None:
    program = RandomProgram(5).program()
    for name, content in c_files(program, "net.c", "net").items():
        (tmp_path / name).write_bytes(content)
    options = [*STRICT, "-Wconversion", "-ffreestanding", "-c"]
    subprocess.run(["gcc", *options, "net.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "-g", "net.o"], cwd=tmp_path, capture_output=True, text=True)
    assert re.findall(r"[A-Z] (\w+)$", symbols.stdout, re.M) == ["net_run"]


@pytest.mark.parametrize("name", ["int", "a b/*c*/", "größe", "7", "_", "a", "a kernel", 'say "x"'])
def test_any_name_of_a_layer_or_file_is_written(name: str, tmp_path: Path) -> None:
    program = product_program(np.arange(6).reshape(3, 2))
    step = program.steps[0]._replace(name=name)
    again = step._replace(
        inputs=("y",), output="z", constants=product_program(np.eye(2)).steps[0].constants
    )
    tensors = {**program.tensors, "z": IntegerTensor((2,), 0.2, 3, "int8")}
    program = IntegerProgram(("x",), ("z",), tensors, (step, again))
    file = f"{name.replace('/', '')}.c"
    files = c_files(program, file, name)
    for each, content in files.items():
        (tmp_path / each).write_bytes(content)
    compiled(tmp_path, [f"./{file}"], "-c")


def test_sums_that_can_leave_int32_are_refused() -> None:
    kernel = np.full((4, 1), 127)
    most = 2**31 - 1 - 4 * 127 * 127
    assert c_files(product_program(kernel, bias=np.array([most], np.int32)), "m.c", "m")
    with pytest.raises(ExportError, match=r"'dense' can leave the range of int32"):
        c_files(product_program(kernel, bias=np.array([most + 1], np.int32)), "m.c", "m")


def test_a_step_of_float32_is_refused() -> None:
    program = product_program(np.eye(3))
    tensors = {**program.tensors, "real": IntegerTensor((3,), 1, 0, "float32")}
    attrs = {"scale": 0.2, "zero_point": 3}
    first = IntegerStep("dequantize", "dequantize", ("y",), "real", attrs, {})
    second = IntegerStep("rescale", "rescale", ("real",), "y2", {}, {})
    tensors["y2"] = tensors["y"]
    program = IntegerProgram(("x",), ("y2",), tensors, (*program.steps, first, second))
    with pytest.raises(ExportError, match=r"'real' is a tensor of float32"):
        c_files(program, "m.c", "m")


def test_quantizing_in_c_gives_the_bits_of_the_operations(tmp_path: Path) -> None:
    program = product_program(np.eye(2))
    for name, content in c_files(program, "net.c", "net").items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "driver.c").write_text("""
#include <stdio.h>
#include "net.h"
int main(void)
{
    float x;
    while (fread(&x, sizeof x, 1, stdin) == 1) {
        int8_t q = net_quantize(x, NET_INPUT_INVERSE_SCALE, NET_INPUT_ZERO_POINT);
        float y = net_dequantize(q, NET_OUTPUT_SCALE, NET_OUTPUT_ZERO_POINT);
        fwrite(&q, 1, 1, stdout);
        fwrite(&y, sizeof y, 1, stdout);
    }
    return 0;
}
""")
    steps = np.float32(0.1) * np.arange(-150, 151, 0.25, np.float32)
    special = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0])
    x = np.concatenate(
        [steps, special, np.random.default_rng(1).normal(0, 8, 999).astype(np.float32)]
    )
    (quantized,) = lookup("quantize").reference([x], {"scale": 0.1, "zero_point": -5})
    (real,) = lookup("dequantize").reference([quantized], {"scale": 0.2, "zero_point": 3})
    driver = compiled(tmp_path, ["net.c", "driver.c"], *SANITIZED)
    done = subprocess.run([driver], input=x.tobytes(), capture_output=True, check=True)
    answer = np.frombuffer(done.stdout, np.dtype([("q", np.int8), ("real", "<f4")]))
    np.testing.assert_array_equal(answer["q"], quantized)
    np.testing.assert_array_equal(answer["real"], real)
