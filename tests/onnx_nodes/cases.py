"""The backend node tests of the onnx package, and their run on a device of playgrad."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

import playgrad as pg
from playgrad.errors import CheckpointError, UnsupportedOpError
from playgrad.interchange.onnx.importing import arrays, pointwise, recurrent, resizing, windows
from playgrad.interchange.onnx.importing.call import TRANSLATIONS, NotApplicableError, OperatorCall
from playgrad.interchange.onnx.importing.file import read_node
from playgrad.interchange.onnx.importing.replay import attributes_of

assert (
    arrays and pointwise and recurrent and resizing and windows
)  # imported to register their translations
Array = np.ndarray[Any, Any]
OURS = {"float16", "float32", "float64", "int32", "uint32", "uint8", "int8", "bool"}
"""The dtypes of playgrad. int64 is tested as int32, where the values fit."""


@dataclass(frozen=True)
class NodeCase:
    """A node test: a model of one operator, with inputs and the expected outputs."""

    name: str
    model: Any
    inputs: list[Any]
    expected: list[Any]
    rtol: float
    atol: float

    def __str__(self) -> str:
        return self.name.removeprefix("test_")

    @property
    def operator(self) -> str:
        """The operator, or several joined by +."""
        return "+".join(node.op_type for node in self.model.graph.node)


@cache
def node_cases(modules: tuple[str, ...] = ()) -> list[NodeCase]:
    """Return the node tests of the package, in order of their names.

    Args:
        modules: the modules of the package whose tests to generate; empty for all.
    """
    from onnx.backend.test.case import node

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if modules:
            for name in modules:
                import_module(f"{node.__name__}.{name}")
            operators = set(modules)
            collected = [
                case
                for case in node._NodeTestCases
                if case.model.graph.node[0].op_type.lower() in operators
            ]
        else:
            collected = node.collect_testcases(None)
    cases = [
        NodeCase(case.name, case.model, list(inputs), list(outputs), case.rtol, case.atol)
        for case in collected
        for inputs, outputs in case.data_sets[:1]
    ]
    return sorted(cases, key=lambda case: case.name)


def check_case(case: NodeCase, device: str) -> None:
    """Run ``case`` on ``device`` and compare its outputs.

    Raises:
        NotApplicableError: playgrad does not have the operator, or what the case asks of it.
        AssertionError: an output differs.
    """
    if len(case.model.graph.node) > 1:
        raise NotApplicableError(
            "a function written out in other operators, which have their own tests"
        )
    (node,) = case.model.graph.node
    translation = TRANSLATIONS.get(node.op_type)
    if translation is None or node.domain not in ("", "ai.onnx"):
        raise NotApplicableError("no such operation")
    arrays_ = [_usable(value, device) for value in case.inputs]
    expected = [_usable(value, device) for value in case.expected]
    attributes = attributes_of(read_node(node, 0))
    names = [value.name for value in case.model.graph.input]
    given = dict(zip(names, arrays_, strict=True))
    values = [given.get(name) for name in node.input]
    with (graph := pg.Graph()).as_default(), graph.device(device):
        inputs = [
            None if value is None else pg.placeholder(value.dtype.name, value.shape)
            for value in values
        ]
        call = OperatorCall(inputs, values, attributes, list(node.output))
        result = translation(call)
        every = [result] if isinstance(result, pg.Tensor) else list(result)
        results = [each for each, name in zip(every, node.output, strict=False) if name]
    feeds = {t: v for t, v in zip(inputs, values, strict=True) if t is not None}
    with pg.Session(graph, device=device) as session:
        try:
            actual = session.run(results, feeds)
        except UnsupportedOpError as error:
            if device.startswith("cpu"):
                raise
            kind = values[0].dtype.name if values[0] is not None else "other"
            raise NotApplicableError(f"{kind} values on a GPU") from error
    _expect_equal(case, actual, expected)


def check_file(case: NodeCase) -> None:
    """Load ``case`` as a file whose inputs after the first are weights, and compare its outputs.

    Raises:
        NotApplicableError: the file cannot be loaded.
        AssertionError: an output differs.
    """
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    others = list(model.graph.input)[1:]
    for info, value in zip(others, case.inputs[1:], strict=True):
        if not isinstance(value, onnx.TensorProto):
            value = numpy_helper.from_array(np.asarray(value), info.name)
        model.graph.initializer.add().CopyFrom(value)
        model.graph.initializer[-1].name = info.name
    try:
        imported = pg.load_model(model.SerializeToString())
    except CheckpointError as error:
        raise NotApplicableError(str(error)) from None
    x = _usable(case.inputs[0], "cpu:0")
    actual = imported.session.run(list(imported.outputs), {imported.inputs[0]: x})
    imported.close()
    _expect_equal(case, actual, [_usable(value, "cpu:0") for value in case.expected])


def _expect_equal(case: NodeCase, actual: list[Array], expected: list[Array]) -> None:
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=case.rtol, atol=max(case.atol, 1e-6))


def _usable(value: Any, device: str) -> Array:
    """Return an input or output as an array of a dtype of playgrad."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        raise NotApplicableError("sequences and optional values")
    array = np.asarray(value)
    if array.dtype == np.int64:
        # The largest and smallest number mean "to the end" in slices.
        array = np.clip(array, -(2**31), 2**31 - 1).astype(np.int32)
    name = "string" if array.dtype.kind in "OU" else array.dtype.name
    if name not in OURS:
        raise NotApplicableError(f"{name} values")
    if name == "float64" and not device.startswith("cpu"):
        raise NotApplicableError("float64 values on a GPU")
    return array
