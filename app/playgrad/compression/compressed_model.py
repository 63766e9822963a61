"""Models that were made smaller, with the report of what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from playgrad.compression.latency import Latency, measured_latency, zero_sample
from playgrad.compression.packed_weights import stored_weights
from playgrad.compression.report import (
    CompressionReport,
    Note,
    compare,
    first_calls,
    make_report,
    signal_to_noise,
)
from playgrad.compression.rewriting import Draft, opened
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.networks.network import Network
from playgrad.networks.structure import Structure
from playgrad.nn.layer import Layer

Array = np.ndarray[Any, Any]
BATCH = 64
"""Samples that a network computes at once for the outputs of its layers."""


class Pair(NamedTuple):
    """A tensor of a compressed model, and the one that it stands for.

    Attributes:
        exact: the tensor of the reference.
        close: the tensor of the compressed model; its values stand for
            ``scale * (values - zero_point)``.
    """

    exact: Tensor
    close: Tensor
    scale: float = 1.0
    zero_point: int = 0


@dataclass
class Origin:
    """The model from which a compressed model was made.

    Attributes:
        model: the original. Training it further changes what reports call "before".
        notes: the forms of layers, by name.
        samples: the arrays of inputs with which outputs of layers are compared; empty for none.
        pairs: the tensors to compare, by the names of layers; None for the outputs of layers of the
            same name and shape.
        reference: the network with the exact ones; None for ``model``.
        has_forms: whether the forms of layers that are not in ``notes`` follow from the values of
            their weights at present, such as "90 % zeros".
    """

    model: Model
    notes: Mapping[str, Note] = field(default_factory=dict)
    samples: Sequence[Array] = ()
    pairs: Mapping[str, Pair] | None = None
    reference: Draft | None = None
    has_forms: bool = False


class CompressedModel(Model):
    """A model that was made from another one, and needs fewer bytes.

    It is trained, evaluated, saved and exported like any other. A model loaded from its files is a
    plain `Model`, which no longer knows its original.
    """

    origin: Origin
    packs_weights = True

    @classmethod
    def from_structure(cls, structure: Structure, origin: Origin) -> CompressedModel:
        """Return a model with the name and the arguments of ``compile`` of the original."""
        model = cls.__new__(cls)
        model._set_up(structure.graph, structure, origin.model.name)
        model.take_configuration(origin.model)
        model.origin = origin
        return model

    def report(
        self, test_data: Any = None, training_data: Any = None, latency: bool = False
    ) -> CompressionReport:
        """Return what the model costs and has lost; ``print`` it for a table.

        Args:
            test_data: ``(x, y)``, samples with which neither model was trained. Losses and metrics
                of both are compared on them.
            training_data: ``(x, y)`` to compare on as well; the report says that it is training
                data.
            latency: whether to measure the time for one sample on this device as well, with both
                models: about half a second, without other work on the machine. The sample is the
                first one of the data, or of the samples with which the model was made; or zeros.

        Raises:
            GraphError: there is data, but the original is not compiled; or there is no sample, and
                the size of one is open.
            DataError, ShapeError, DTypeError: the data does not fit.
        """
        origin = self.origin
        comparisons = [
            comparison
            for data, is_training in ((test_data, False), (training_data, True))
            if data is not None
            for comparison in compare(origin.model, self, *_pair(data), is_training)
        ]
        ratios = self._ratios() if len(origin.samples) else {}
        stored = stored_weights(self)
        forms = {name: each.note for name, each in stored.items() if each.note is not None}
        notes = {**(forms if origin.has_forms else {}), **origin.notes}
        sizes = {name: each.bytes for name, each in stored.items()}
        report = make_report(origin.model, self, notes, ratios, comparisons, sizes)
        if not latency:
            return report
        data = next(
            (_pair(each)[0] for each in (test_data, training_data) if each is not None), None
        )
        return replace(report, latency=self._latency(data))

    def _latency(self, x: Any) -> Latency:
        """Return the times for the first sample of ``x``; of another one if that is None."""
        if x is None:
            arrays = list(self.origin.samples) or zero_sample(self)
            x = arrays if len(arrays) > 1 else arrays[0]
        if isinstance(x, Mapping):
            x = {name: np.asarray(each)[:1] for name, each in x.items()}
        elif isinstance(x, (list, tuple)):
            x = [np.asarray(each)[:1] for each in x]
        else:
            x = np.asarray(x)[:1]
        before, after = (measured_latency(model, x) for model in (self.origin.model, self))
        return Latency(str(self.session.device), before, after)

    def _ratios(self) -> dict[str, float]:
        """Return the signal-to-noise ratios of the layers, in decibels."""
        origin = self.origin
        pairs = _same_names(origin.model, self) if origin.pairs is None else origin.pairs
        tensors = [pair.exact for pair in pairs.values()]
        if not pairs:
            return {}
        if origin.reference is None:
            exact = _values(origin.model, tensors, origin.samples)
        else:
            with opened(origin.reference, origin.model) as network:
                exact = _values(network, tensors, origin.samples)
        close = _values(self, [pair.close for pair in pairs.values()], origin.samples)
        return {
            name: signal_to_noise(first, pair.scale * (second.astype(np.float64) - pair.zero_point))
            for (name, pair), first, second in zip(pairs.items(), exact, close, strict=True)
        }

    def _empty(self, layers: list[Layer]) -> Model:
        clone = type(self).__new__(type(self))
        # The tensors of pairs are those of this model.
        origin = self.origin
        clone.origin = Origin(origin.model, origin.notes, has_forms=origin.has_forms)
        clone.take_callbacks(self)
        return clone

    def take_callbacks(self, other: Model) -> None:
        """Take over the callbacks of ``other``, as far as they are, of which this is a copy."""
        self.own_callbacks = tuple(map(copy, other.own_callbacks))

    def clone(self, deep: bool = True) -> Model:
        twin = super().clone(deep)
        for old, new in zip(self.trainable_variables, twin.trainable_variables, strict=True):
            new.keep = old.keep
        return twin


def original_of(model: Model) -> Model:
    """Return the model from which ``model`` was made, step by step; ``model`` if it was not."""
    return model.origin.model if isinstance(model, CompressedModel) else model


def _same_names(original: Model, small: Model) -> dict[str, Pair]:
    """Return the outputs of layers that both models have under one name, in one shape."""
    calls = first_calls(original)
    return {
        name: Pair(calls[name].outputs[0], call.outputs[0])
        for name, call in first_calls(small).items()
        if name in calls and calls[name].outputs[0].shape == call.outputs[0].shape
    }


def _values(network: Network, tensors: list[Tensor], samples: Sequence[Array]) -> list[Array]:
    """Return the values of ``tensors`` for samples, computed in batches."""
    parts: list[list[Array]] = []
    for start in range(0, len(samples[0]), BATCH):
        feeds = {
            tensor: array[start : start + BATCH].astype(tensor.dtype)
            for tensor, array in zip(network.inputs, samples, strict=True)
        }
        parts.append(network.session.run(tensors, feeds))
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def _pair(data: Any) -> tuple[Any, Any]:
    x, y, *_ = data if isinstance(data, (list, tuple)) and len(data) >= 2 else (data, None)
    return x, y
