"""Training with quantization in mind: layers with the rounding of integers, and their removal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from playgrad.compression.calibration import Range, calibrate, calibration_samples
from playgrad.compression.canonical import canonical
from playgrad.compression.compressed_model import CompressedModel, Origin, original_of
from playgrad.compression.quantized_layers.quantized_layer import QuantizedLayer
from playgrad.compression.report import Note
from playgrad.compression.rewriting import Draft, Rewrite, draft_of, opened
from playgrad.compression.rounded_weights import QuantizationAware, checked_bits
from playgrad.compression.units import Unit, Units
from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.networks.structure import StructureItem
from playgrad.nn.fake_quantize import FakeQuantize
from playgrad.nn.layer_calls import LayerCall

_OF_SOFTMAX = (0.0, 255 / 256)
"""The range of integer probabilities."""


def quantization_aware(
    model: Model, data: Any = None, bits: int = 8, momentum: float = 0.99
) -> CompressedModel:
    """Return a copy of ``model`` that is trained with the rounding of integers.

    Batch normalization is folded into the weights first, as it is in the network of integers, so
    train the model before. Kernels are rounded with a scale for each output, and activations by
    `playgrad.nn.FakeQuantize`. Zeros and shared values of `playgrad.prune` and `playgrad.cluster`
    are kept, but values are shared no longer where a normalization is folded in. A few epochs with
    a small learning rate are enough. Then ``pg.quantize(model)``, without data, gives the network
    that was trained.

    Args:
        model: it is not changed.
        data: inputs for the first ranges, as for `playgrad.quantize`; None takes them from the
            first batch of the training.
        bits: of the weights, 2 to 8; 4 for ``weights="int4"``.
        momentum: of the moving averages of ranges; see `FakeQuantize`.

    Raises:
        GraphError: the model is not built, is quantized already, or has `FakeQuantize` layers.
        ShapeError: ``bits`` are out of bounds.
        DataError: the data has no samples, or NaN or infinite values.
    """
    bits = checked_bits(bits)
    expect_floats(model)
    if any(isinstance(layer, (FakeQuantize, QuantizationAware)) for layer in model.layers):
        raise GraphError(
            f"the model '{model.name}' has FakeQuantize layers already.",
            source=model.source,
            hint="Train it, or make it from the model without them.",
        )
    form = canonical(draft_of(model), for_training=True)
    units = Units(form.draft.structure)
    ranges: dict[Tensor, Range] = {}
    samples = []
    if data is not None:
        samples = calibration_samples(model, data)
        points = units.points()
        with opened(form.draft, model) as network:
            ranges = calibrate(network, points, samples, "minmax")
    rewrite = _Awareness(form.draft, units, ranges, bits, momentum)
    draft = rewrite.draft()
    notes = {**form.notes, **rewrite.notes}
    origin = Origin(original_of(model), notes, samples)
    aware = CompressedModel.from_structure(draft.structure, origin)
    aware.take_callbacks(model)
    aware.session.assign(dict(draft.values))
    return aware


def expect_floats(model: Model) -> None:
    """Raise GraphError if ``model`` is not a built one with outputs, or computes in integers."""
    if not isinstance(model, Model):
        raise GraphError(f"a model is needed here, got {model!r:.60}.")
    if any(isinstance(layer, QuantizedLayer) for layer in model.structure.layers):
        raise GraphError(
            f"the model '{model.name}' is quantized already.",
            source=model.source,
            hint="Start from the model of float32.",
        )
    model.expect_outputs()


class _Awareness(Rewrite):
    """A canonical network with the rounding of its units."""

    def __init__(
        self,
        draft: Draft,
        units: Units,
        ranges: Mapping[Tensor, Range],
        bits: int,
        momentum: float,
    ) -> None:
        super().__init__(draft)
        self.units = units
        self.ranges = dict(ranges)
        self.bits = bits
        self.momentum = momentum
        self.quantizers: dict[Tensor, FakeQuantize] = {}
        self.rounded: dict[Tensor, Tensor] = {}
        self.notes: dict[str, Note] = {}
        self.count = 0

    def take(self, item: StructureItem) -> None:
        super().take(item)
        if not isinstance(item, LayerCall):
            return
        unit = self.units.by_call.get(item) or self.units.clamps.get(item)
        if unit is not None and unit.is_integer and unit.output is item.outputs[0]:
            self._round(unit)

    def call(self, call: LayerCall) -> Sequence[Tensor]:
        unit = self.units.by_call.get(call)
        if unit is None or not unit.is_integer:
            return super().call(call)
        inputs = [self._integer_input(tensor) for tensor in self.units.integer_inputs(unit)]
        if unit.kind == "linear":
            layer = call.layer.clone()
            layer.name = layer.given_name = None
            source, factor = self._source(call.inputs[0])
            ends = [] if source is None else [source.variables["low"], source.variables["high"]]
            aware = QuantizationAware(layer, self.bits, factor, name=self.names[call.layer])
            aware.trainable = call.layer.trainable
            weights = {f"layer/{name}": v for name, v in self.weights(call.layer).items()}
            self.notes[self.names[call.layer]] = Note(f"float32, rounded to int{self.bits}")
            result = self.put(aware, [*inputs, *ends], weights)
            for name, variable in call.layer.variables.items():
                aware.variables[f"layer/{name}"].keep = variable.keep
            return [result]
        kept = {tensor: self[tensor] for tensor in call.inputs}
        self.tensors.update(zip(call.inputs, inputs, strict=False))
        results = super().call(call)
        self.tensors.update(kept)
        return results

    def _integer_input(self, tensor: Tensor) -> Tensor:
        """Return an input of a unit, rounded."""
        made = self.units.by_output.get(tensor)
        if made is not None and made.is_integer:
            return self[tensor]
        if tensor not in self.rounded:
            self.rounded[tensor] = self._quantizer(tensor)
        return self.rounded[tensor]

    def _round(self, unit: Unit) -> None:
        """Round the results of a unit as integers are."""
        if unit.kind == "embedding":
            table = self.weights(unit.call.layer)["embeddings"]
            self.ranges[unit.output] = (float(table.min()), float(table.max()))
        if unit.has_own_range or unit.kind == "embedding":
            self[unit.output] = self._quantizer(unit.output)
        elif unit.kind == "softmax":
            layer = FakeQuantize(name=self._name())
            layer.trainable = False
            self[unit.output] = self._put(layer, unit.output, _OF_SOFTMAX)

    def _source(self, tensor: Tensor) -> tuple[FakeQuantize | None, float]:
        """Return the layer whose range a tensor has, and the factor that is between them; None if
        its range is of another kind."""
        made = self.units.by_output.get(tensor)
        if tensor in self.quantizers or made is None:
            return self.quantizers.get(tensor), 1.0
        if made.keeps_parameters:
            return self._source(made.call.inputs[0])
        if made.kind == "scale":
            source, factor = self._source(made.call.inputs[0])
            layer: Any = made.call.layer
            return source, factor * layer.scale
        return None, 1.0

    def _quantizer(self, tensor: Tensor) -> Tensor:
        layer = FakeQuantize(momentum=self.momentum, name=self._name())
        self.quantizers[tensor] = layer
        return self._put(layer, tensor, self.ranges.get(tensor))

    def _put(self, layer: FakeQuantize, tensor: Tensor, limits: Range | None) -> Tensor:
        weights: dict[str, Any] = {}
        if limits is not None:
            weights = {"low": limits[0], "high": limits[1], "observed": 1.0}
        return self.put(layer, [self[tensor]], weights)

    def _name(self) -> str:
        self.count += 1
        return f"fake_quantize_{self.count}"


class Trained(NamedTuple):
    """The findings of a training with rounding.

    Attributes:
        draft: the network without rounding.
        ranges: of tensors of it.
        bits: of the weights of its layers, by their names.
    """

    draft: Draft
    ranges: Mapping[Tensor, Range]
    bits: Mapping[str, int]


def without_rounding(draft: Draft) -> Trained:
    """Return a network without the layers that round.

    Raises:
        GraphError: activations are rounded to fewer than 8 bits.
    """
    removal = _Removal(draft)
    return Trained(removal.draft(), removal.ranges, removal.bits)


class _Removal(Rewrite):
    def __init__(self, draft: Draft) -> None:
        super().__init__(draft)
        self.ranges: dict[Tensor, Range] = {}
        self.bits: dict[str, int] = {}

    def call(self, call: LayerCall) -> Sequence[Tensor]:
        layer = call.layer
        if isinstance(layer, FakeQuantize):
            if layer.bits != 8:
                raise GraphError(
                    f"layer '{layer.name}' rounds to {layer.bits} bits, but activations have 8.",
                    op=layer.name,
                    source=layer.source,
                )
            values = self.weights(layer)
            tensor = self[call.inputs[0]]
            if values["observed"]:
                self.ranges[tensor] = (float(values["low"]), float(values["high"]))
            return [tensor]
        if isinstance(layer, QuantizationAware):
            inner = layer.layer.clone()
            inner.name = inner.given_name = self.names[layer]
            self.bits[self.names[layer]] = layer.bits
            weights = {
                name.removeprefix("layer/"): array for name, array in self.weights(layer).items()
            }
            return [self.put(inner, [self[call.inputs[0]]], weights)]
        return super().call(call)
