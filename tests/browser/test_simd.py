"""Kernels and compiled steps in the page's own memory: the op contract, views, a training."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_devices import finish
from tests.sweeps import slow
from tests.wasm.bitwise_training import IN_PAGE, losses_in, losses_in_wasmtime

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

# Arrays with elements are worth a kernel. Says which operations fail, and how many kernels ran.
CONTRACT = """
import json, traceback
from playgrad.contract import on_device, special_values
from playgrad.contract.cases import cases_of, operations
from playgrad.devices import _emscripten
from playgrad.graph.graph import reset_default_graph
from playgrad.ops.convolution import simd_pooling
from playgrad.ops.expression import simd_function
from playgrad.ops.products import array_product
from playgrad.runtime import host_program

if COMPILED:
    host_program.SECONDS_OF_NODE = 0.0
simd_function.WORTH = simd_pooling.WORTH = array_product.WORTH = 1
instantiate, modules = _emscripten.instantiate, []
_emscripten.instantiate = lambda module: (modules.append(module), instantiate(module))[1]

problems = {}
for op in operations():
    reset_default_graph()
    try:
        on_device.check_values(op, cases_of(op), "cpu:0")
        if special_values.is_plain(op):
            special_values.check_special_values(op, "cpu:0")
    except Exception:
        problems[op.name] = traceback.format_exc()
print(json.dumps([len(modules), problems]))
"""


@pytest.mark.parametrize("compiled", [False, *slow(True)], ids=["kernels", "steps"])
def test_operations_agree_with_the_reference(engine: Engine, compiled: bool) -> None:
    modules, problems = json.loads(finish(engine, f"COMPILED = {compiled}\n{CONTRACT}"))
    assert not problems, "\n".join(problems.values())
    assert modules > 50


TRAINING = """
import json, time
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.runtime.step_host import page_host, using_step_host

def trained(host):
    random = np.random.default_rng(0)
    x = random.normal(size=(256, 12, 12, 1)).astype(np.float32)
    y = (x.mean((1, 2, 3)) > 0).astype(np.int32)
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([
            nn.Conv2D(8, 3, activation="relu"), nn.MaxPool2D(2), nn.Flatten(), nn.Dropout(0.2),
            nn.Dense(16, "tanh"), nn.Dense(2),
        ])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(0.003), loss=loss, device="cpu")
    with using_step_host(host):
        history = model.fit(x, y, batch_size=32, epochs=6, verbose=0)
    programs = model.session._programs._runnables.values()
    compiled = [p.host_program.compiled for p in programs if p.host_program is not None]
    steps = [c.step.order for c in compiled if c is not None and c.repeats]
    return history.history["loss"], [len(order.emitters) for order in steps]

print(json.dumps([trained(None), trained(page_host())]))
"""


def test_a_training_is_compiled(engine: Engine) -> None:
    """Without a GPU: by one function, with the same losses as in Python."""
    (losses, none), (compiled_losses, nodes) = json.loads(finish(engine, TRAINING))
    assert none == [] and max(nodes) > 30
    assert compiled_losses == pytest.approx(losses, rel=1e-3)
    assert losses[-1] < losses[0]


def test_a_training_has_the_bits_of_wasmtime(engine: Engine) -> None:
    assert losses_in(finish(engine, IN_PAGE)) == losses_in_wasmtime()


def test_products_of_float32_use_simd(engine: Engine) -> None:
    """Products of views and of stacks in Python's own memory, of which the last is repeated."""
    source = """
import numpy as np
from playgrad.ops.products import array_product

random = np.random.default_rng(0)
def stack(*shape):
    return random.normal(size=shape).astype(np.float32)

multiplied = [
    (stack(70, 300), stack(300, 90)), (stack(300, 70).T, stack(90, 300).T),
    (stack(70, 600)[::-1, ::2], stack(300, 270)[:, ::3]),
    (stack(2, 9, 3, 40).transpose(0, 2, 1, 3), stack(2, 3, 70, 40).swapaxes(-1, -2)),
    (stack(3, 40, 50), stack(50, 60)), (stack(40, 50), stack(3, 50, 60)),
    (stack(3, 1, 40, 50), stack(1, 2, 50, 60)),
]
for a, b in multiplied:
    product = array_product.numpy_matmul(a, b)
    expected = a.astype(float) @ b.astype(float)
    bound = a.shape[-1] * np.finfo(np.float32).eps * (np.abs(a) @ np.abs(b))
    assert product.shape == expected.shape and product.dtype == np.float32
    assert (np.abs(product - expected) <= bound).all(), (a.shape, b.shape)
simd = array_product.simd_product()
print(simd is not None and (simd(a, b) == product).all())
"""
    assert finish(engine, source) == "True"


def test_expressions_of_large_arrays_use_simd(engine: Engine) -> None:
    """Leaves that are whole, views, rows, columns and numbers, as `prepare` gets them."""
    source = """
import numpy as np
from playgrad.graph.spec import TensorSpec
from playgrad.ops.expression import expr as e
from playgrad.ops.expression.evaluate import evaluate, prepare
from playgrad.ops.expression.simd_function import simd_function

random = np.random.default_rng(0)
def spec(array):
    return TensorSpec(array.shape, array.dtype.name)

whole, row, column = (random.normal(size=s).astype(np.float32) for s in [(70, 90), (90,), (70, 1)])
numbers = [np.asarray(0.3, np.float32), np.asarray(True)]
arrays = [whole, whole[::-1, ::-1], row, column, *numbers]
a, b, c, d, factor, gate = map(e.Leaf, range(6))
exprs = [e.where(gate, e.tanh(a) * b + factor * c, a), e.where(d < 0.0, e.exp(d - c), b)]
computed = prepare(exprs, [spec(array) for array in arrays])
key = e.DistinctExpressions(tuple(exprs))
assert simd_function(key, [spec(array) for array in arrays]) is not None
for expr, result in zip(exprs, computed(arrays)):
    np.testing.assert_allclose(result, evaluate(expr, arrays), rtol=2e-6, atol=2e-7)
small = [array[:1] if array.ndim == 2 else array for array in arrays]
assert simd_function(key, [spec(array) for array in small]) is None
print("computed")
"""
    assert finish(engine, source) == "computed"
