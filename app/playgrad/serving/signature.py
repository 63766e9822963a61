"""Signatures: the inputs and outputs of a model by name, with dtypes and shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playgrad.errors import DataError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.networks.named_inputs import input_names

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class TensorSignature:
    """An input or an output.

    Attributes:
        shape: with None for dimensions that are open, such as that of the batch.
        dtype: the name of the element type.
    """

    name: str
    dtype: str
    shape: Shape

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} {shape_text(self.shape)}"


@dataclass(frozen=True)
class ModelSignature:
    """The inputs and the outputs of a model, in order."""

    inputs: tuple[TensorSignature, ...]
    outputs: tuple[TensorSignature, ...]

    @classmethod
    def of(cls, model: Model) -> ModelSignature:
        """Return the signature of a model.

        Raises:
            DataError: it has no known inputs or outputs, or one of them has no batch.
        """
        if not model.built or not model.outputs:
            raise DataError(
                "the model has no outputs, or the shape of its samples is unknown.",
                hint="Build it and save it again: model.build((None, ...)).",
            )
        for tensor in (*model.inputs, *model.outputs):
            if not tensor.shape:
                raise DataError(
                    f"'{tensor.node.name}' is a single number, without a batch of samples."
                )
        return cls(
            _signatures(input_names(model), model.inputs),
            _signatures(model.output_names, model.outputs),
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ModelSignature:
        """Return the signature that `to_json` described.

        Raises:
            DataError: it describes none.
        """
        try:
            return cls(_read(data["inputs"]), _read(data["outputs"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the signature is damaged: {error!r:.100}.") from None

    def to_json(self) -> dict[str, Any]:
        """Return the signature as plain data."""
        return {
            "inputs": [_written(tensor) for tensor in self.inputs],
            "outputs": [_written(tensor) for tensor in self.outputs],
        }

    def difference(self, other: ModelSignature) -> str:
        """Return how ``other`` differs, in a few words; empty if they are equal."""
        for what, mine, others in (
            ("inputs", self.inputs, other.inputs),
            ("outputs", self.outputs, other.outputs),
        ):
            if mine != others:
                return f"the {what} are {_listed(others)} instead of {_listed(mine)}"
        return ""


def _signatures(names: Iterable[str], tensors: Iterable[Tensor]) -> tuple[TensorSignature, ...]:
    """Return signatures with names that differ: a layer may compute several outputs."""
    taken: dict[str, int] = {}
    signatures = []
    for name, tensor in zip(names, tensors, strict=True):
        taken[name] = taken.get(name, 0) + 1
        unique = name if taken[name] == 1 else f"{name}:{taken[name]}"
        signatures.append(TensorSignature(unique, tensor.dtype, tuple(tensor.shape)))
    return tuple(signatures)


def _written(tensor: TensorSignature) -> dict[str, Any]:
    return {"name": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape)}


def _read(data: Iterable[Mapping[str, Any]]) -> tuple[TensorSignature, ...]:
    return tuple(
        TensorSignature(str(each["name"]), str(each["dtype"]), tuple(each["shape"]))
        for each in data
    )


def _listed(tensors: Iterable[TensorSignature]) -> str:
    return ", ".join(map(str, tensors))
