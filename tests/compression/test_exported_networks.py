"""Quantized networks leave as C, ONNX and TensorFlow Lite, and compute the same there."""

from __future__ import annotations

import io
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.integer_program import integer_program
from playgrad.errors import ExportError
from playgrad.graph.opdef import lookup
from playgrad.interchange.c.core import integer_core
from playgrad.interchange.formats import format_of
from tests.compression.compiled import SANITIZED, compiled, run_programs
from tests.compression.litert import run_tflite
from tests.compression.networks import NETWORKS, network
from tests.compression.test_random_networks import random_network
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[2]


def computed_by_c(small: pg.Model, x: Array, folder: Path) -> tuple[Array, Array]:
    """Return the results of a network's C program: the integers, and the numbers."""
    program = integer_program(small)
    core = integer_core(program)
    (name,) = core.inputs
    quantize = next((step for step in program.steps if step.output == name), None)
    if quantize is not None:
        (x,) = lookup("quantize").reference([x.astype(np.float32)], quantize.attrs)
    ((integers,),) = run_programs(folder, [core], [{name: x}], *SANITIZED)
    kept = core.tensors[core.outputs[0]]
    attrs = {"scale": kept.scale, "zero_point": kept.zero_point}
    (numbers,) = lookup("dequantize").reference([integers], attrs)
    return integers, numbers


def computed_by_onnxruntime(file: Path, x: Array) -> Array:
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    kind = np.int32 if given.type == "tensor(int32)" else np.float32
    (result,) = session.run(None, {given.name: x.astype(kind)})
    return np.asarray(result)


def computed_by_litert(file: Path, x: Array, batch: int) -> Array:
    x = x if x.dtype == np.int32 else x.astype(np.float32)
    return run_tflite(file.read_bytes(), [x], batch)


def steps_apart(a: Array, b: Array, small: pg.Model) -> Array:
    """Return how many steps of the output's scale two results differ by."""
    program = integer_program(small)
    scale = program.tensors[integer_core(program).outputs[0]].scale
    return np.abs(np.rint((a - b) / scale))


@pytest.mark.parametrize("name", NETWORKS)
def test_each_kind_of_layer_computes_the_same_elsewhere(name: str, tmp_path: Path) -> None:
    model, x = network(name)
    small = pg.quantize(model, x)
    expected = small.predict(x)
    np.testing.assert_array_equal(computed_by_c(small, x, tmp_path)[1], expected)
    for ending in (".onnx", ".tflite"):
        small.export(tmp_path / f"net{ending}")
    by_onnx = computed_by_onnxruntime(tmp_path / "net.onnx", x)
    assert steps_apart(by_onnx, expected, small).max() <= 1
    batch = 1 if name == "branches" else len(x)  # a transposed convolution takes no batches
    by_litert = computed_by_litert(tmp_path / "net.tflite", x, batch)
    assert steps_apart(by_litert, expected, small).max() <= 1


def test_random_networks_compute_the_same_in_c(tmp_path: Path) -> None:
    programs, feeds, expected = [], [], []
    for case in range(budget(6, 60)):
        with pg.Graph().as_default():
            model = random_network(dice("exported", case))
        model.compile("adam", "mse", device="cpu")
        x = np.random.default_rng(case).normal(size=(12, *model.input_shape[1:]))
        small = pg.quantize(model, x.astype(np.float32), weights=("int8", "int4")[case % 2])
        program = integer_program(small)
        (first, *_), (last,) = program.steps, program.outputs
        feeds.append({first.output: lookup("quantize").reference([np.float32(x)], first.attrs)[0]})
        programs.append(integer_core(program))
        expected.append(small.predict(x.astype(np.float32)))
        assert first.op == "quantize" and program.tensors[last].dtype == "float32"
    results = run_programs(tmp_path, programs, feeds, *SANITIZED)
    for program, (integers,), numbers in zip(programs, results, expected, strict=True):
        kept = program.tensors[program.outputs[0]]
        attrs = {"scale": kept.scale, "zero_point": kept.zero_point}
        np.testing.assert_array_equal(lookup("dequantize").reference([integers], attrs)[0], numbers)


def test_a_loaded_network_is_exported_as_the_original(tmp_path: Path) -> None:
    model, x = network("images")
    small = pg.quantize(model, x)
    small.save_weights(tmp_path / "small.safetensors")
    loaded = pg.load_model(tmp_path / "small.safetensors")
    for each in (small, loaded):
        each.export(tmp_path / f"{each is small}.onnx")
        each.export(tmp_path / "net.c")
        content = (tmp_path / "net.c").read_bytes() + (tmp_path / "net.h").read_bytes()
        (tmp_path / f"{each is small}.txt").write_bytes(content)
    assert (tmp_path / "True.txt").read_bytes() == (tmp_path / "False.txt").read_bytes()
    assert (tmp_path / "True.onnx").read_bytes() == (tmp_path / "False.onnx").read_bytes()


@pytest.mark.parametrize("ending", [".c", ".tflite"])
def test_a_network_of_floats_is_refused(ending: str, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2, name="answer")])
    with pytest.raises(ExportError, match=r"'answer' compute in float32[^$]*pg\.quantize\(model"):
        model.export(tmp_path / f"net{ending}")
    assert not list(tmp_path.iterdir())


def test_a_network_that_is_quantized_in_part_is_refused_as_c(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(9, 5, 2)).astype(np.float32)
    model = pg.Sequential([nn.LSTM(4, name="memory"), nn.Dense(2)])
    model.build((5, 2))
    with pytest.raises(ExportError, match=r"'memory', 'quantize_1' compute in float32"):
        pg.quantize(model, x).export(tmp_path / "net.c")


def digits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[pg.Model, Array, Array]:
    """Run the program of the guide; return its quantized network, and the test data."""
    text = (ROOT / "docs" / "small-models.md").read_text(encoding="utf-8")
    programs = re.findall(r"```py\n(.*?)```", text, re.S)
    (program,) = (each for each in programs if '"digits.c"' in each)
    monkeypatch.chdir(folder)
    variables: dict[str, Any] = {}
    exec(program, variables)
    return variables["small"], variables["x_test"], variables["y_test"]


def expect_same_classes(small: pg.Model, x: Array, folder: Path) -> None:
    """Compare a network with the runtimes: classes, and outputs by steps of their scale."""
    expected = small.predict(x)
    np.testing.assert_array_equal(computed_by_c(small, x, folder)[1], expected)
    for ending in (".onnx", ".tflite"):
        small.export(folder / f"digits{ending}")
    results = {
        "ONNX Runtime": computed_by_onnxruntime(folder / "digits.onnx", x),
        "LiteRT": computed_by_litert(folder / "digits.tflite", x, len(x)),
    }
    second, first = np.sort(expected, axis=1)[:, -2:].T
    for runtime, result in results.items():
        apart = steps_apart(result, expected, small)
        assert (apart <= 1).mean() >= 0.999, runtime
        same = result.argmax(1) == expected.argmax(1)
        # Two classes within two steps: rounding decides between them.
        assert (same | (steps_apart(first, second, small) <= 2)).all(), runtime
        assert same.mean() >= 0.995, runtime


def test_a_trained_network_gives_the_same_classes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (x, y), test = pg.data.mnist()
    few = (x[:2000], y[:2000]), (test[0][:1000], test[1][:1000])
    monkeypatch.setattr(pg.data, "mnist", lambda: few)
    small, x, y = digits(tmp_path, monkeypatch)
    assert (small.predict(x).argmax(1) == y).mean() > 0.8
    expect_same_classes(small, x, tmp_path)


@pytest.mark.slow
def test_digits_need_less_than_12_kb_of_flash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, x, y = digits(tmp_path, monkeypatch)
    assert (small.predict(x).argmax(1) == y).mean() > 0.975
    expect_same_classes(small, x, tmp_path)
    compiled(tmp_path, ["digits.c"], "-Os", "-fno-pie", "-c")
    size = subprocess.run(
        ["size", "-A", "program"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = re.findall(r"^\.([\w.]+) +(\d+)", size.stdout, re.M)
    sections = {name: int(count) for name, count in found}
    flash = sum(n for name, n in sections.items() if name.startswith(("text", "rodata", "data")))
    assert flash < 12 * 1024 and sections["bss"] < 3 * 1024


def test_the_c_format_has_two_files_in_a_zip_file_for_the_page(tmp_path: Path) -> None:
    model, x = network("dense")
    small = pg.quantize(model, x)
    small.export(tmp_path / "model.c")
    with zipfile.ZipFile(io.BytesIO(format_of("model.c").encode(small, "model.c"))) as archive:
        for name in ("model.c", "model.h"):
            assert archive.read(name) == (tmp_path / name).read_bytes()
        assert len(archive.namelist()) == 2
