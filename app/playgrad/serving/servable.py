"""Models that are loaded, checked and warmed, so that requests can be answered at once."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import CheckpointError, DataError, NonFiniteError, PlaygradError
from playgrad.interchange.readers import ending_of, load_model, reader_of
from playgrad.models.model import Model
from playgrad.networks.inference import needed
from playgrad.networks.shared_session import shared_session
from playgrad.nn.stateful import StatefulLayer
from playgrad.ops.state import is_variable
from playgrad.serving.signature import ModelSignature

Array = np.ndarray[Any, Any]
_TIMED_RUNS = 5
"""The fastest counts: other programs may take the processor meanwhile."""
_gpu = threading.Lock()
"""Sessions on a GPU run one after the other: they share its queue."""


def model_of(content: bytes, file_name: str) -> Model:
    """Return the model in a file.

    Args:
        file_name: its ending is that of the format.

    Raises:
        CheckpointError, GraphError: it is not a file of a model.
    """
    reader = reader_of(content if ending_of(file_name) is None else file_name)
    if not reader.recognizes(content):
        raise CheckpointError(f"{file_name} is not a file of the format {reader.name}.")
    return load_model(content)


class Servable:
    """A model that answers, with its weights on a device.

    Args:
        model: it belongs to the servable from now on.
        device: "auto", "cpu" or "gpu".

    Attributes:
        signature: its inputs and outputs.
        batches: whether samples of several requests can be computed together: the first dimension
            of all inputs and outputs is open, and a sample's outputs do not depend on the others.
        is_warm: whether it was run for all the sizes that it will meet.
        seconds: the least time of a run of the largest batch; infinite until it is warm.

    Raises:
        DataError: it cannot be served: it has no batches, or keeps states between runs.
        NonFiniteError: a weight, or an output for a test input, is not a number.
    """

    def __init__(self, model: Model, device: str = "auto") -> None:
        self.signature = ModelSignature.of(model)
        _expect_no_states(model)
        self._model = model
        session = shared_session(model.graph).on(model.graph, device)
        self._session = session.in_precision(model.precision)
        self._compute = self._session.make_callable(list(model.outputs), model.inputs)
        self._turn = nullcontext() if self._session.device.startswith("cpu") else _gpu
        self._expect_numbers()
        tensors = (*self.signature.inputs, *self.signature.outputs)
        self.batches = all(tensor.shape[0] is None for tensor in tensors)
        self.is_warm = False
        self.seconds = math.inf

    @property
    def device(self) -> str:
        """The name of the device."""
        return self._session.device

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the outputs for a batch.

        Args:
            arrays: one for each input, as `signature` has them.

        Raises:
            PlaygradError: an operation cannot take a value, such as an index out of range.
        """
        with self._turn:
            results: list[Array] = self._compute(*arrays)
        return results

    def bytes_in_use(self) -> int:
        """Return the bytes of weights and compiled programs, on all devices."""
        sizes: dict[str, int] = {}
        self._session.add_memory(sizes)
        return sum(sizes.values())

    def warm(self, sizes: Sequence[int]) -> None:
        """Run test inputs of all ``sizes`` of batches, so that nothing is compiled later.

        A model whose inputs have other open dimensions is compiled for each when it comes.

        Raises:
            NonFiniteError: an output is NaN.
            PlaygradError: the model cannot be run.
        """
        inputs = self.signature.inputs
        if any(None in tensor.shape[1:] for tensor in inputs):
            return
        if not self.batches:
            rows = inputs[0].shape[0] or 1
            self._tested([_test_input(each.dtype, each.shape, rows) for each in inputs])
        else:
            rows = max(*sizes, 2)  # of one row nobody could tell whether others change it
            whole = [_test_input(each.dtype, each.shape, rows) for each in inputs]
            reference = self._tested(whole)
            for _ in range(_TIMED_RUNS):
                begin = time.perf_counter()
                self.run(whole)
                self.seconds = min(self.seconds, time.perf_counter() - begin)
            for size in {*sizes, 1}:
                # The first rows, and the last ones in the opposite order: what a sample does to
                # those after it shows in one of them.
                for step in (1, -1):
                    outputs = self._tested([array[::step][:size] for array in whole])
                    expected = [array[::step] for array in reference]
                    self.batches &= _agree(outputs, expected, size)
            self.batches &= self._tells_whole_numbers_apart(whole)
        self.is_warm = True

    def _tells_whole_numbers_apart(self, whole: Sequence[Array]) -> bool:
        """Return whether inputs of whole numbers, which are all 0 in the test, were seen to leave
        other samples alone: with 0 and 1 in turn, if the model takes that."""
        if all(array.dtype.kind == "f" for array in whole):
            return True
        mixed = [array.copy() for array in whole]
        for array in mixed:
            if array.dtype.kind != "f":
                array[1::2] = 1
        try:
            both = self._tested([array[:2] for array in mixed])
            alone = self._tested([array[1:2] for array in mixed])
        except PlaygradError:
            return False
        return _agree(alone, [array[1:] for array in both], 1)

    def _tested(self, arrays: list[Array]) -> list[Array]:
        outputs = self.run(arrays)
        for array, signature in zip(outputs, self.signature.outputs, strict=True):
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise NonFiniteError(f"the output '{signature.name}' of a test input is NaN.")
        return outputs

    def _expect_numbers(self) -> None:
        nodes = needed(self._model.inputs, self._model.outputs)
        variables = [node.output for node in nodes if is_variable(node)]
        for variable, value in zip(variables, self._session.values(variables), strict=True):
            if value.dtype.kind == "f" and np.isnan(value).any():
                raise NonFiniteError(
                    f"the weights '{variable.node.name}' are NaN in "
                    f"{np.isnan(value).sum():,} of {value.size:,} places.",
                    hint="The training failed: serve an earlier checkpoint.",
                )

    def close(self) -> None:
        """Free the memory."""
        self._model.close()


def _expect_no_states(model: Model) -> None:
    for name, layer in model.named_layers():
        if isinstance(layer, StatefulLayer) and layer.states:
            raise DataError(
                f"the layer '{name}' keeps states from batch to batch, so that an answer would "
                "depend on the requests before it.",
                hint="Save the model with stateful=False.",
            )


def _test_input(kind: str, shape: Sequence[int | None], rows: int) -> Array:
    """Return an input of which each sample is another one, where all of its values are valid."""
    random = np.random.default_rng(0)
    size = (rows, *(dim or 1 for dim in shape[1:]))
    if dtype(kind).floating:
        return random.normal(size=size).astype(kind)
    return np.zeros(size, kind)  # whole numbers may be indices


def _agree(outputs: Sequence[Array], reference: Sequence[Array], size: int) -> bool:
    """Return whether ``outputs`` are the first rows of ``reference``, but for rounding."""
    return all(
        len(array) == size
        and array.shape[1:] == whole.shape[1:]
        and np.allclose(array, whole[:size], rtol=1e-2, atol=1e-4)
        for array, whole in zip(outputs, reference, strict=True)
    )


def servable_of(content: bytes, file_name: str, device: str = "auto") -> Servable:
    """Return the model of a file, loaded and checked, but not warm.

    Raises:
        CheckpointError, GraphError: it is not a file of a model.
        DataError, NonFiniteError: as for `Servable`.
    """
    model = model_of(content, file_name)
    try:
        return Servable(model, device)
    except PlaygradError:
        model.close()
        raise
