"""Each operation in WebAssembly: stand-alone pages compute the samples of the op contract."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.contract.cases import Case, add_case, cases_of
from playgrad.errors import ExportError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import lookup
from playgrad.interchange.webpage.program import PageProgram, page_program
from playgrad.networks.inference import InferenceGraph
from tests.interchange.predictions import OPERATIONS

RUN = Path(__file__).with_name("standalone_samples.mjs")
LEFT_OUT = {"joined_calls", "joined_calls_gradient"}
EXPRESSIONS = {"quantize", "dequantize", "quantized_add"}
"""Elementwise, so that a page can compute them."""
HALVES = {"float16"}


def _has_halves(case: Case) -> bool:
    dtypes = {array.dtype.name for array in case.sample.inputs}
    return bool(HALVES & {*dtypes, case.sample.attrs.get("dtype")})


EVERY = [
    case for name in sorted(OPERATIONS - LEFT_OUT | EXPRESSIONS) for case in cases_of(lookup(name))
]
CASES = [case for case in EVERY if case.sample.inputs and not _has_halves(case)]


def _program(case: Case) -> tuple[PageProgram, list[Any]]:
    added = add_case(case, Graph())
    outputs = added.node.outputs[:1] if case.op.name == "max_pool2d" else added.node.outputs
    network = InferenceGraph("sample", tuple(added.inputs), outputs, {})
    shapes = {tensor.node.name: value.shape for tensor, value in added.values.items()}
    return page_program(network, shapes), list(added.values.values())


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _computed(samples: list[dict[str, Any]]) -> list[Any]:
    """Return the results of WebAssembly for programs, with their weights and inputs."""
    done = subprocess.run(
        ["node", RUN], input=json.dumps(samples), capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    results: list[Any] = json.loads(done.stdout)
    return results


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """Return the results of WebAssembly for every sample, or the reason where it has none."""
    work, computed = [], {}
    for case in CASES:
        try:
            program, inputs = _program(case)
        except ExportError as error:
            computed[str(case)] = str(error)
            continue
        data = [_text(np.ascontiguousarray(each).tobytes()) for each in inputs]
        sample = {"program": program.data, "weights": _text(program.weights), "inputs": data}
        work.append((str(case), sample))
    found = _computed([sample for _, sample in work])
    return computed | dict(zip([name for name, _ in work], found, strict=True))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_webassembly_computes_the_sample(case: Case, results: dict[str, Any]) -> None:
    found = results[str(case)]
    assert isinstance(found, list), found
    with np.errstate(all="ignore"):
        expected = case.op.reference(case.sample.inputs, case.sample.attrs)
    for result, wanted in zip(found, expected, strict=False):
        dtype = np.dtype(result["dtype"])
        assert dtype == wanted.dtype
        array = np.frombuffer(base64.b64decode(result["data"]), dtype).reshape(result["shape"])
        tolerance = max(case.sample.tolerance, 1e-5)
        # JavaScript sums in float64, so that long sums differ by the rounding of the reference.
        largest = np.abs(wanted[np.isfinite(wanted)], dtype=np.float64).max(initial=10.0)
        np.testing.assert_allclose(array, wanted, rtol=tolerance, atol=1e-6 * largest)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_weights_of_bytes_are_read(kind: str) -> None:
    table = (np.arange(15, dtype=np.uint8) * 17).view(kind).reshape(5, 3)
    indices = np.array([4, 0], np.int32)
    with Graph().as_default():
        rows, x = pg.Variable(table, dtype=kind), pg.placeholder("int32", [2], name="x")
        network = InferenceGraph("bytes", (x,), (pg.gather(rows, x),), {rows: table})
    program = page_program(network, {"x": indices.shape})
    sample = {"program": program.data, "weights": _text(program.weights)}
    ((result,),) = _computed([{**sample, "inputs": [_text(indices.tobytes())]}])
    values = np.frombuffer(base64.b64decode(result["data"]), kind)
    np.testing.assert_array_equal(values.reshape(2, 3), table[indices])


@pytest.mark.parametrize("case", [case for case in EVERY if _has_halves(case)][:3], ids=str)
def test_float16_is_refused(case: Case) -> None:
    with pytest.raises(ExportError, match="float16"):
        _program(case)


def test_random_numbers_are_refused() -> None:
    with Graph().as_default():
        x = pg.placeholder("float32", [1, 3], name="x")
        y = x + pg.random_normal([1, 3])
    with pytest.raises(ExportError, match="same random numbers"):
        page_program(InferenceGraph("drawn", (x,), (y,), {}), {"x": (1, 3)})
