"""The samples of a model that takes sequences of any length, read before it can be built."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.cli.prediction_inputs import Samples, read_samples
from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.spec import Shape
from playgrad.interchange.bounds import MOST_STEPS
from playgrad.models.inputs import Input
from playgrad.models.model import Model
from playgrad.ops import identity


def open_samples(files: Sequence[str], shape: Shape, dtype: str) -> list[Samples]:
    """Return the samples of all files, whose sequences have one length.

    Args:
        files: their names.
        shape: of a sample, whose first size is None.
        dtype: that the model takes.

    Raises:
        ReadError, DTypeError: as `read_samples`.
        ShapeError: a file has samples of another rank, or sequences without steps or too long.
        DataError: the lengths differ.
    """
    with Graph().as_default():
        inputs = Input(shape, dtype=dtype)
        reader = Model(inputs, identity(inputs))
    try:
        samples = [read_samples(file, reader) for file in files]
    finally:
        reader.close()
    for name, array in samples:
        if array.ndim != len(shape) + 1 or not 0 < array.shape[1] <= MOST_STEPS:
            raise ShapeError(
                f"the model takes samples of shape {shape_text(shape)} with 1 to {MOST_STEPS:,} "
                f"steps, but {name} has samples of shape {shape_text(array.shape[1:])}."
            )
    lengths: dict[int, str] = {}
    for name, array in samples:
        lengths.setdefault(array.shape[1], name)
    if len(lengths) > 1:
        listed = ", ".join(f"{length} in {name}" for length, name in lengths.items())
        raise DataError(
            f"the sequences of these files differ in length: {listed}.",
            hint="Predict each by itself.",
        )
    return samples
