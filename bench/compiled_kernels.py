"""Measures kernels of a compiled step in the page beside what computes these operations otherwise.

python -m bench.compiled_kernels
python -m bench.compiled_kernels --only softmax gather --seconds 0.1

That is NumPy, with kernels of its own for expressions. Times are the shortest of many runs, of both
in turn. A run of a kernel is a call from Python, which
takes about 4 µs: in a step it is one of many parts of a call.
"""

from __future__ import annotations

import argparse
import sys

from bench.browser import opened_tab

PROGRAM = """
import json, time
import numpy as np
from playgrad.devices import _emscripten
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import lookup
from playgrad.graph.spec import TensorSpec
from playgrad.ops.emitted import emitter_of
from playgrad.ops.emitters import Operand
from playgrad.ops.state import placeholder
from playgrad.wasm.memory import address
from playgrad.wasm.step import StepCode

SECONDS, ONLY = {seconds}, {only}
random = np.random.default_rng(0)


def floats(*shape):
    return random.normal(size=shape).astype(np.float32)


def integers(high, *shape):
    return random.integers(0, high, shape).astype(np.int32)


STEP = np.asarray(5, np.uint32)
POOL = {"pool_size": [2, 2], "strides": [2, 2], "padding": [[0, 0], [0, 0]]}
DEPTHWISE = {"strides": [1, 1], "padding": [[1, 1], [1, 1]], "groups": 32}
EPSILON, SEED = {"epsilon": 1e-3}, {"seed": [1, 2]}
ATTENTION = {"scale": 0.25, "is_causal": True}
HEADS = [floats(16, 64, 4, 16) for _ in range(4)]
CELL = [floats(32, 512), *(floats(32, 128) for _ in range(3))]
CASES = [
    ("reduce_sum", [floats(128, 512)], {"axes": [0], "keepdims": False}),
    ("reduce_sum", [floats(128, 512)], {"axes": [1], "keepdims": False}),
    ("reduce_mean", [floats(64, 28, 28, 8)], {"axes": [0, 1, 2], "keepdims": False}),
    ("reduce_max", [floats(128, 512)], {"axes": [1], "keepdims": False}),
    ("argmax", [floats(128, 10)], {"axis": 1}),
    ("argmax", [floats(64, 1000)], {"axis": 1}),
    ("softmax", [floats(64, 10)], {"axis": 1}),
    ("softmax", [floats(64, 1000)], {"axis": 1}),
    ("sparse_softmax_cross_entropy", [floats(64, 10), integers(10, 64)], {}),
    ("layer_normalization", [floats(256, 128), floats(128), floats(128)], EPSILON),
    ("layer_normalization_gradient", [floats(256, 128), floats(128), floats(256, 128)], EPSILON),
    ("transpose", [floats(256, 256)], {"perm": [1, 0]}),
    ("transpose", [floats(16, 64, 4, 16)], {"perm": [0, 2, 1, 3]}),
    ("concat", [floats(64, 100), floats(64, 28)], {"axis": 1}),
    ("gather", [floats(5000, 64), integers(5000, 32, 20)], {}),
    ("scatter_add", [floats(640, 64), integers(5000, 640)], {"rows": 5000}),
    ("gather_sum", [floats(1000, 32), integers(1000, 5000), integers(1000, 5000)], {"rows": 1000}),
    ("argsort", [floats(64, 100)], {"axis": 1, "descending": True}),
    ("cumsum", [floats(64, 100)], {"axis": 1, "exclusive": False, "reverse": False}),
    ("dropout", [floats(64, 512), STEP], {"rate": 0.5, **SEED}),
    ("random_normal", [STEP], {"shape": [64, 512], **SEED}),
    ("batch_indices", [STEP, STEP], {
        "count": 60000, "batch": 64, "shuffle": True, "rounds": None, **SEED}),
    ("lstm_cell", CELL[:2], {}),
    ("lstm_cell_gradient", CELL, {}),
    ("avg_pool2d", [floats(32, 28, 28, 8)], POOL),
    ("avg_pool2d_gradient", [floats(32, 14, 14, 8)], {**POOL, "image_size": [28, 28]}),
    ("max_pool2d", [floats(32, 28, 28, 3)], POOL),
    ("conv2d", [floats(8, 28, 28, 32), floats(3, 3, 1, 32)], DEPTHWISE),
    ("conv2d_filter_gradient", [floats(8, 28, 28, 32), floats(8, 28, 28, 32)],
     {**DEPTHWISE, "kernel_size": [3, 3]}),
    ("conv2d", [floats(8, 14, 14, 32), floats(3, 3, 8, 64)], {**DEPTHWISE, "groups": 4}),
    ("resize", [floats(4, 16, 16, 16)], {"size": [32, 32], "interpolation": "bilinear"}),
    ("dot_product_attention", HEADS[:3], ATTENTION),
    ("dot_product_attention_gradient", HEADS, ATTENTION),
    ("sin", [floats(64, 512)], {}),
    ("pow", [np.abs(floats(64, 512)), floats(64, 512)], {}),
    ("mul", [floats(8, 1, 64), floats(1, 64, 64)], {}),
    ("floor_divide", [integers(99, 64, 512), integers(9, 64, 512) + 1], {}),
    ("cast", [integers(255, 64, 784).astype(np.uint8)], {"dtype": "float32"}),
]


def kernel(op, arrays, attrs):
    graph = Graph()
    with graph.as_default():
        inputs = [placeholder(each.dtype, each.shape) for each in arrays]
    node = graph.add(op, inputs, dict(attrs))
    results = [np.empty(each.shape, each.dtype) for each in op.reference(arrays, attrs)]
    step = StepCode(relaxed=_emscripten.can_run(PROBE))
    step.begin_run()
    tensors = [*node.inputs, *node.outputs]
    operands = [
        Operand(tensor.spec, step.in_block(address(each)), number)
        for number, (tensor, each) in enumerate(zip(tensors, [*arrays, *results]))
    ]
    emitter_of(node).emit(step, node, operands[: len(arrays)], operands[len(arrays) :])
    run = _emscripten.instantiate(step.encode()).run0
    memory = np.zeros(step.scratch_bytes + 64, np.uint8)
    constants = np.frombuffer(bytes(step.constants) + bytes(16), np.uint8).copy()
    table = np.zeros(16, np.int32)
    places = -(-address(memory) // 16) * 16, 0, address(constants), address(table)
    held = memory, constants, results, arrays  # by the function, as long as it exists
    return lambda: (run(*places, 1), held)


def otherwise(op, arrays, attrs):
    if op.prepare is None:
        return lambda: op.reference(arrays, attrs)
    run = op.prepare([TensorSpec(each.shape, each.dtype.name) for each in arrays], attrs)
    return lambda: run(arrays)


def shortest(*runs):
    best = [1e9 for _ in runs]
    began = time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        for number, run in enumerate(runs):
            started = time.perf_counter()
            for _ in range(8):
                run()
            best[number] = min(best[number], (time.perf_counter() - started) / 8)
    return [1e6 * each for each in best]


from playgrad.wasm.product import product_module

PROBE = product_module(relaxed=True)
rows = []
for name, arrays, attrs in CASES:
    if ONLY and name not in ONLY:
        continue
    op = lookup(name)
    by_numpy, compiled = shortest(otherwise(op, arrays, attrs), kernel(op, arrays, attrs))
    rows.append((name, " ".join(str(each.shape) for each in arrays), by_numpy, compiled))
print("RESULT" + json.dumps(rows))
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.compiled_kernels")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each row")
    parser.add_argument("--only", nargs="+", default=[], help="names of operations")
    options = parser.parse_args(arguments)
    source = PROGRAM.replace("{seconds}", str(options.seconds))
    with opened_tab(600) as tab:
        ran = tab.run_playgrad(source.replace("{only}", repr(options.only)), "cpu")
    if "error" in ran:
        raise SystemExit(f"bench: {ran['error']}")
    print("| operation | inputs | NumPy, µs | kernel, µs | times as fast |")
    print("|---|---|---:|---:|---:|")
    for name, shapes, by_numpy, compiled in ran["results"][0]:
        ratio = by_numpy / compiled
        print(f"| `{name}` | {shapes} | {by_numpy:.1f} | {compiled:.1f} | {ratio:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
