"""The emitter of a node whose shapes are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import playgrad.ops.compiled.indexing
import playgrad.ops.compiled.moves
import playgrad.ops.compiled.reductions
import playgrad.ops.compiled.rows
from playgrad.graph.opdef import Attrs, OpDef, lookup
from playgrad.graph.spec import TensorSpec
from playgrad.ops.compiled.emitter import EMITTERS
from playgrad.ops.compiled.moves import emit_constant, emit_copy
from playgrad.wasm.kernel import KernelCode, NotCompiledError, Operand

assert playgrad.ops.compiled  # the modules above register emitters


def emit_node(
    code: KernelCode,
    op: OpDef,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    attrs: Attrs,
) -> None:
    """Write the code of a node.

    Raises:
        NotCompiledError: there is no kernel for it; nothing has been written.
    """
    while op.specialise is not None:
        specialised = op.specialise([TensorSpec(x.shape, x.dtype) for x in inputs], attrs)
        if specialised is None:
            break
        name, attrs, kept = specialised
        op, inputs = lookup(name), [inputs[number] for number in kept]
    if op.alias:
        emit_copy(code, inputs[0], outputs[0])
    elif op.name == "constant":
        emit_constant(code, outputs[0], np.asarray(attrs["value"]))
    elif op.name in EMITTERS:
        EMITTERS[op.name](code, inputs, outputs, attrs)
    else:
        raise NotCompiledError(f"no kernel of {op.name}")
