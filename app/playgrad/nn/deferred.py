"""Layers whose operations depend on sizes that only a run knows, such as the steps of sequences.

A recurrent layer has operations for each step. Where its input leaves the number of steps open, the
graph has one operation in their place. The compiler replaces it by the layer's operations once the
shapes of the feeds are known, for each of these shapes anew.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.opdef import OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor, specs_of
from playgrad.nn.layer_calls import layers_of
from playgrad.nn.layer_checks import LayerChecks
from playgrad.nn.sublayers import attributes
from playgrad.ops.state import Variable, placeholder

DEFERRED = "deferred_layer"
"""The name of the operation."""
_TRIED = ((12, 24), (4, 8), (1, 2))
"""Pairs of sizes in place of unknown ones. A size of the result that differs with them is unknown,
also after a stride; layers with few positions take small ones only."""
_lock = threading.RLock()
Call = Callable[..., Any]


def has_open_sizes(tensors: Sequence[Tensor]) -> bool:
    """Return whether a size other than that of the batch is unknown."""
    return any(None in tensor.shape[1:] for tensor in tensors)


def deferred_call(layer: Any, call: Call, tensors: Sequence[Tensor]) -> Any:
    """Return the results of ``call`` of ``layer``, as one operation that the compiler replaces.

    Args:
        call: its method, with the options of this call.
        tensors: the inputs, some of whose sizes are unknown.

    Raises:
        PlaygradError: the layer cannot take the inputs, whatever these sizes are.
    """
    deferred = _Deferred(layer, call, tensors)
    attrs = {"layer": layer.kind or type(layer).__name__}
    node = tensors[0].graph.add(deferred.op(), deferred.inputs, attrs, name="of_any_size")
    known = [*deferred.masks, *node.outputs[deferred.count :]]
    outputs = list(node.outputs[: deferred.count])
    for output, number in zip(outputs, deferred.mask_numbers, strict=True):
        _set_mask(output, None if number is None else known[number])
    return outputs if deferred.is_list else outputs[0]


class _Deferred:
    """The call of a layer, which can be made in other graphs.

    Attributes:
        masks: the masks of its inputs.
        inputs: the inputs of the operation: the call's inputs, the masks, the variables.
        count: the number of its results.
        is_list: whether it returns a list.
        mask_numbers: for each result the number of its mask, among ``masks`` and further results.
    """

    def __init__(self, layer: Any, call: Call, tensors: Sequence[Tensor]) -> None:
        self.layer, self.call, self.input_count = layer, call, len(tensors)
        masks = [_mask_of(tensor) for tensor in tensors]
        self.masks = list(dict.fromkeys(mask for mask in masks if mask is not None))
        self._mask_of_input = [None if m is None else _place(m, self.masks) for m in masks]
        self._owned = [(owner, _variables_of(owner)) for owner in _with_inner(layer)]
        self.variables = list(dict.fromkeys(v for _, named in self._owned for v in named.values()))
        self.inputs: list[Tensor] = [*tensors, *self.masks, *self.variables]
        self.count, self.is_list = 1, False
        self.mask_numbers: list[int | None] = []
        self._known: dict[tuple[TensorSpec, ...], list[TensorSpec]] = {}

    def op(self) -> OpDef:
        return OpDef(
            name=DEFERRED,
            infer=lambda specs, attrs: self.infer(specs),
            reference=self._not_yet,
            gradient=self._not_yet,
            expand=lambda inputs, attrs: self.results(inputs),
        )

    def _not_yet(self, *_: Any) -> Any:
        raise GraphError(
            f"the operations of layer '{self.layer.name}' depend on sizes that are not known here.",
            op=self.layer.name,
            source=self.layer.source,
            hint="Call the model on an input whose sizes are known.",
        )

    def results(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Return the results in the graph of ``inputs``, and masks that no input has."""
        first, last = self.input_count, self.input_count + len(self.masks)
        tensors, masks = list(inputs[:first]), list(inputs[first:last])
        for tensor, number in zip(tensors, self._mask_of_input, strict=True):
            _set_mask(tensor, None if number is None else masks[number])
        with self._moved(inputs[0].graph, inputs[last:]):
            result = self.call(*tensors)
        self.is_list = isinstance(result, (list, tuple))
        results: list[Tensor] = list(result) if self.is_list else [result]
        self.count, self.mask_numbers = len(results), []
        for output in results[: self.count]:
            mask = _mask_of(output)
            if mask is not None and _place(mask, masks) is None:
                masks.append(mask)
                results.append(mask)
            self.mask_numbers.append(None if mask is None else _place(mask, masks))
        return results

    @contextmanager
    def _moved(self, graph: Graph, values: Sequence[Tensor]) -> Iterator[None]:
        """Have the layers use ``values`` for their variables, in another graph."""
        new = dict(zip(self.variables, values, strict=True))
        with _lock:
            before = [dict(vars(owner)) for owner, _ in self._owned]
            try:
                for owner, named in self._owned:
                    own = {name[1:]: new[v] for name, v in named.items() if name[0] == "."}
                    variables = {name: new[v] for name, v in named.items() if name[0] != "."}
                    vars(owner).update(own, graph=graph, variables=variables)
                yield
            finally:
                for (owner, _), attributes_before in zip(self._owned, before, strict=True):
                    vars(owner).update(attributes_before)

    def infer(self, specs: Sequence[TensorSpec]) -> list[TensorSpec]:
        """Return the specs of the results, by trying sizes.

        Raises:
            PlaygradError: the layer takes none of them.
        """
        key = tuple(specs)
        if key not in self._known:
            self._known[key] = self._infer(key)
        return self._known[key]

    def _infer(self, specs: Sequence[TensorSpec]) -> list[TensorSpec]:
        for i, pair in enumerate(_TRIED):
            try:
                small, large = (self._with_sizes(specs, size) for size in pair)
                break
            except PlaygradError:
                if i == len(_TRIED) - 1:
                    raise
        return [
            TensorSpec(tuple(m if m == n else None for m, n in zip(a, b, strict=True)), spec.dtype)
            for spec, a, b in ((s, s.shape, t.shape) for s, t in zip(small, large, strict=True))
        ]

    def _with_sizes(self, specs: Sequence[TensorSpec], size: int) -> list[TensorSpec]:
        """Return the specs of the results for ``size`` in place of unknown sizes."""
        with warnings.catch_warnings(), at_top(Graph()):
            warnings.simplefilter("ignore")  # calls with known sizes will show them
            inputs = []
            for spec in specs:
                sizes = [size if n is None else n for n in spec.shape[1:]]
                inputs.append(placeholder(spec.dtype, (*spec.shape[:1], *sizes)))
            return specs_of(self.results(inputs))


def _mask_of(x: Tensor) -> Tensor | None:
    return layers_of(x.graph).masks.get(x)


def _set_mask(x: Tensor, mask: Tensor | None) -> None:
    if mask is not None:
        layers_of(x.graph).masks[x] = mask


def _place(tensor: Tensor, tensors: Sequence[Tensor]) -> int | None:
    return next((i for i, each in enumerate(tensors) if each is tensor), None)


def _with_inner(layer: Any) -> Iterator[Any]:
    yield layer
    for _, inner in attributes(layer, (LayerChecks,)):
        yield from _with_inner(inner)


def _variables_of(layer: Any) -> dict[str, Variable]:
    """Return the variables of a layer by name; names of attributes begin with a dot."""
    own = {f".{name}": value for name, value in vars(layer).items() if isinstance(value, Variable)}
    return {**layer.variables, **own}
