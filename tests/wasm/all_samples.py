"""The samples of all compiled operations as functions of one module, for hosts to be compared.

Every host gets the same module and the same memory. WebAssembly leaves open which of its NaNs an
operation returns, so these count as equal.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from playgrad.contract.cases import Case, cases
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node
from playgrad.ops.emitted import emitter_of
from playgrad.ops.emitters import Operand
from playgrad.wasm.step import FAILURE, FIRST_POINTER, STEPS_DONE, StepCode
from tests.wasm.emitted_node import node_of
from tests.wasm.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]
_PAGE = 1 << 16


@dataclass(frozen=True)
class AllSamples:
    """A module, and a memory that it works on.

    Attributes:
        cases: the samples; the function ``run0``, ``run1``, ... computes each.
        results: where the results of each are, with their specs.
        image: the memory before.
        arguments: of every function: scratch, block, constants, table, steps.
    """

    cases: list[Case]
    module: bytes
    image: bytes
    results: list[list[tuple[int, TensorSpec]]]
    arguments: tuple[int, ...]

    def in_wasmtime(self) -> bytes:
        """Return the memory after all functions have run here."""
        host = WasmtimeHost(self.module, len(self.image))
        host.memory[:] = np.frombuffer(self.image, np.uint8)
        for number in range(len(self.cases)):
            host.function(f"run{number}")(*self.arguments)
        return host.memory.tobytes()

    @property
    def for_a_page(self) -> dict[str, Any]:
        """Arguments of `IN_PAGE`."""
        return {
            "module": base64.b64encode(self.module).decode(),
            "image": base64.b64encode(self.image).decode(),
            "count": len(self.cases),
            "arguments": list(self.arguments),
        }

    def check_done(self, memory: bytes) -> None:
        """Check that every function has ended without an error."""
        words = np.frombuffer(memory, np.int32, 3, self.arguments[3])
        assert words[FAILURE] == 0 and words[STEPS_DONE] == len(self.cases)

    def differing(self, memory: bytes, other: bytes) -> dict[str, float]:
        """Return the samples with results that differ in a bit, with the largest difference,
        divided by the largest finite number of the result."""
        found: dict[str, float] = {}
        for case, results in zip(self.cases, self.results, strict=True):
            for place, spec in results:
                one, two = (_array(each, place, spec) for each in (memory, other))
                if np.array_equal(_bits(one), _bits(two)):
                    continue
                size = np.abs(one[np.isfinite(one)]).max(initial=1e-30)
                with np.errstate(invalid="ignore"):
                    apart = np.where(one == two, 0.0, np.abs(one - two.astype(float)))
                found[str(case)] = max(found.get(str(case), 0.0), float(np.max(apart / size)))
        return found


# Runs the functions of a module on a memory of these bytes; returns the bytes after that.
IN_PAGE = """
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const image = bytes(samples.image);
const memory = new WebAssembly.Memory({ initial: image.length / 65536 });
new Uint8Array(memory.buffer).set(image);
const { instance } = await WebAssembly.instantiate(bytes(samples.module), { host: { memory } });
for (let number = 0; number < samples.count; number++)
  instance.exports[`run${number}`](...samples.arguments);
const after = new Uint8Array(memory.buffer);
let text = "";
for (let at = 0; at < after.length; at += 32768)
  text += String.fromCharCode(...after.subarray(at, at + 32768));
return btoa(text);
"""


@cache
def all_samples(relaxed: bool) -> AllSamples:
    """Return all samples that emitters support, with Relaxed SIMD or without."""
    step = StepCode(relaxed)
    nodes = [(case, node_of(case.op, case.sample.inputs, case.sample.attrs)) for case in cases()]
    compiled = [(case, node) for case, node in nodes if emitter_of(node) is not None]
    end, results, places = 64, [], []
    for _, node in compiled:
        step.begin_run()
        placed, end = _placed(node, end)
        _write(step, node, placed)
        places.append(placed)
        count = len(node.inputs)
        specs = [tensor.spec for tensor in node.outputs]
        results.append(list(zip(placed[count:], specs, strict=True)))
    table, constants = end, end + 64
    scratch = constants + len(step.constants) + -len(step.constants) % 16
    size = scratch + step.scratch_bytes
    image = np.zeros(size + -size % _PAGE, np.uint8)
    image[constants : constants + len(step.constants)] = np.frombuffer(step.constants, np.uint8)
    for (case, _), placed in zip(compiled, places, strict=True):
        for array, place in zip(case.sample.inputs, placed, strict=False):
            content = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
            image[place : place + len(content)] = content
    assert 4 * FIRST_POINTER <= 64
    arguments = (scratch, 0, constants, table, 1)
    return AllSamples(
        [case for case, _ in compiled], step.encode(), image.tobytes(), results, arguments
    )


def _placed(node: Node, end: int) -> tuple[list[int], int]:
    """Return places of the inputs and outputs of a node behind ``end``, and where they end."""
    places = []
    for tensor in (*node.inputs, *node.outputs):
        places.append(end)
        size = tensor.spec.size * np.dtype(tensor.dtype).itemsize
        end += size + -size % 16
    return places, end


def _write(step: StepCode, node: Node, places: list[int]) -> None:
    tensors = (*node.inputs, *node.outputs)
    operands = [
        Operand(tensor.spec, step.in_block(place), place)
        for tensor, place in zip(tensors, places, strict=True)
    ]
    emitter = emitter_of(node)
    assert emitter is not None
    emitter.emit(step, node, operands[: len(node.inputs)], operands[len(node.inputs) :])
    if emitter.may_fail:
        step.end_if_failed()


def _array(memory: bytes, place: int, spec: TensorSpec) -> Array:
    return np.frombuffer(memory, spec.dtype, spec.size, place)


def _bits(array: Array) -> Array:
    """Return the bits of numbers, the same ones for every NaN."""
    if array.dtype.kind != "f":
        return array
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array).view(
        f"u{array.dtype.itemsize}"
    )
