"""``pg.quantize``: a network of integers from a network of floats."""

from __future__ import annotations

from typing import Any

from playgrad.compression.calibration import METHODS, calibrate, calibration_samples
from playgrad.compression.canonical import canonical
from playgrad.compression.compressed_model import CompressedModel, Origin, original_of
from playgrad.compression.conversion import Conversion
from playgrad.compression.quantization_aware import expect_floats, without_rounding
from playgrad.compression.rewriting import draft_of, opened
from playgrad.compression.units import Units
from playgrad.compression.weight_only import quantize_weights
from playgrad.errors import DataError, GraphError
from playgrad.models.model import Model

WEIGHTS = {"int8": 8, "int4": 4}
"""The bits of weights beside int8 activations."""
_REASONS = 5
"""At most so many are in an error."""


def quantize(
    model: Model,
    data: Any = None,
    weights: str = "int8",
    activations: str | None = "int8",
    calibration: str = "minmax",
) -> CompressedModel:
    """Return a network that computes what ``model`` does with 8-bit integers.

    Weights are symmetric integers with a scale for each output; activations have a scale and a zero
    point for each tensor; sums are 32-bit integers (Jacob et al. 2018). Batch normalization is
    folded first. Layers without an integer form stay float32, and ``report()`` of the result says
    which and why. Results are the same, bit by bit, on the processor and on every GPU.

    Args:
        model: it is built, and is not changed. If it was made by `playgrad.quantization_aware`, the
            ranges and the bits of its weights are those of its training.
        data: a few hundred inputs such as the network will get, as for `Model.predict`, or a data
            set of batches. At most 512 of them are used, spread over arrays. None if the model has
            been trained with quantization in mind.
        weights: "int8", or "int4" for weights from -7 to 7.
        activations: "int8"; None rounds the weights alone, and the network computes in float32.
            Then ``weights`` can be "float16", too, and ``data`` is not needed.
        calibration: how the range of a tensor follows from its values for ``data``: "minmax" takes
            all of them, "percentile" the middle 99.99 percent, "mse" the part with the least
            squared error.

    Returns:
        The new model, with the arguments of ``compile``. It can be evaluated, saved and exported,
        but not trained.

    Raises:
        GraphError: the model is not built or is quantized already, none of its layers has an
            integer form, or an argument has another value.
        DataError: there is no data, or it has no samples, or NaN or infinite values.
        ShapeError, DTypeError: the data does not fit.
    """
    if activations is None:
        return quantize_weights(model, weights)
    if weights not in WEIGHTS or activations != "int8":
        raise GraphError(
            f"there are no {weights} weights with {activations} activations.",
            hint=f"Use one of: {', '.join(WEIGHTS)}, with int8 activations.",
        )
    if calibration not in METHODS:
        raise GraphError(
            f"there is no calibration {calibration!r}.", hint=f"Use one of: {', '.join(METHODS)}."
        )
    expect_floats(model)
    trained = without_rounding(draft_of(model))
    form = canonical(trained.draft)
    units = Units(form.draft.structure)
    if not units.integer_units:
        names, calls = form.draft.names, units.reasons.items()
        reasons = [f"'{names[call.layer]}' {reason}" for call, reason in calls]
        raise GraphError(
            f"no layer of the model '{model.name}' can compute in integers: "
            f"{', '.join(reasons[:_REASONS]) or 'it has none'}.",
            source=model.source,
        )
    ranges = {form.tensors[tensor]: limits for tensor, limits in trained.ranges.items()}
    missing = [tensor for tensor in units.points() if tensor not in ranges]
    samples = [] if data is None else calibration_samples(model, data)
    if missing and not samples:
        raise DataError(
            "there is no data to find the ranges of activations with.",
            hint="Pass a few hundred inputs: pg.quantize(model, x).",
        )
    if missing:
        with opened(form.draft, model) as network:
            ranges |= calibrate(network, missing, samples, calibration)
    bits = dict.fromkeys(form.draft.names.values(), WEIGHTS[weights]) | dict(trained.bits)
    conversion = Conversion(form.draft, units, ranges, bits)
    draft = conversion.draft()
    notes = {**form.notes, **conversion.notes}
    origin = Origin(original_of(model), notes, samples, conversion.pairs, form.draft)
    small = CompressedModel.from_structure(draft.structure, origin)
    small.session.assign(dict(draft.values))
    return small
