"""Building a file of TensorFlow Lite: tensors, operators and constants in one subgraph.

The classes of the package tflite are made from the schema,
https://ai.google.dev/edge/litert/conversion/tensorflow/ (``schema.fbs`` of LiteRT).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.errors import ExportError

Array = np.ndarray[Any, Any]

_SCHEMA_VERSION = 3
_IDENTIFIER = b"TFL3"
_ALIGNMENT = 16
"""Runtimes read constants in place."""


class Quantization(NamedTuple):
    """Scales and zero points: one of each, or one for each index of the axis ``axis``."""

    scale: Array
    zero_point: Array
    axis: int = 0


class TFLiteBuilder:
    """A model of TensorFlow Lite with one subgraph.

    Raises:
        ExportError: the packages tflite and flatbuffers are not installed.
    """

    def __init__(self, name: str) -> None:
        try:
            import flatbuffers
            import tflite
        except ImportError as error:
            raise ExportError(
                f"TensorFlow Lite files need the package {error.name}.",
                hint='Install it: pip install "playgrad[tflite]"',
            ) from None
        self._schema: Any = tflite
        self._flat: Any = flatbuffers.Builder(1024)
        self._name = name
        self._buffers: list[bytes] = [b""]  # the schema reserves the first for tensors without one
        self._tensors: list[tuple[str, tuple[int, ...], bool, str, int, Quantization | None]] = []
        self._operators: list[tuple[int, list[int], list[int], str, dict[str, Any]]] = []
        self._codes: list[tuple[int, int]] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes, str], int] = {}
        self.fixed_batch = False

    def enum(self, kind: str, name: str) -> int:
        """Return a value of an enumeration of the schema."""
        return int(getattr(getattr(self._schema, kind), name))

    def tensor(
        self, name: str, shape: Sequence[int], dtype: str, quantization: Quantization | None = None
    ) -> int:
        """Append a tensor, and return its number.

        Args:
            shape: without the batch.
        """
        return self._add(name, (1, *shape), True, dtype, 0, quantization)

    def constant(self, name: str, array: Array, quantization: Quantization | None = None) -> int:
        """Append a constant, and return the number of its tensor; equal ones are stored once."""
        data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        key = (array.dtype.name, array.shape, data, repr(quantization))
        if key not in self._constants:
            self._buffers.append(data)
            buffer = len(self._buffers) - 1
            self._constants[key] = self._add(
                name, array.shape, False, array.dtype.name, buffer, quantization
            )
        return self._constants[key]

    def _add(
        self,
        name: str,
        shape: tuple[int, ...],
        batch: bool,
        dtype: str,
        buffer: int,
        quantization: Quantization | None,
    ) -> int:
        self._tensors.append((name, shape, batch, dtype, buffer, quantization))
        return len(self._tensors) - 1

    def operator(
        self,
        kind: str,
        inputs: Sequence[int],
        output: int,
        version: int = 1,
        options: str = "",
        **fields: Any,
    ) -> None:
        """Append an operator with one output.

        Args:
            kind: the name in the enumeration BuiltinOperator.
            version: the first version of the operator with these types and fields.
            options: the name of the table with its attributes.
            fields: the attributes.
        """
        code = (self.enum("BuiltinOperator", kind), version)
        if code not in self._codes:
            self._codes.append(code)
        number = self._codes.index(code)
        self._operators.append((number, list(inputs), [output], options, fields))

    def model(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """Return the content of a file."""
        buffers = [self._buffer(data) for data in self._buffers]
        tensors = [self._tensor(*tensor) for tensor in self._tensors]
        operators = [self._operator(*operator) for operator in self._operators]
        subgraph = self._table(
            "SubGraph",
            Tensors=self._offsets(tensors),
            Inputs=self._ints(inputs),
            Outputs=self._ints(outputs),
            Operators=self._offsets(operators),
            Name=self._flat.CreateString("main"),
        )
        codes = [
            self._table(
                "OperatorCode",
                # Old readers know the codes below 127 by this field only.
                DeprecatedBuiltinCode=min(code, 127),
                Version=version,
                BuiltinCode=code,
            )
            for code, version in self._codes
        ]
        model = self._table(
            "Model",
            Version=_SCHEMA_VERSION,
            OperatorCodes=self._offsets(codes),
            Subgraphs=self._offsets([subgraph]),
            Description=self._flat.CreateString(f"{self._name}, written by playgrad"),
            Buffers=self._offsets(buffers),
        )
        self._flat.Finish(model, _IDENTIFIER)
        return bytes(self._flat.Output())

    def _table(self, kind: str, **fields: Any) -> int:
        getattr(self._schema, f"{kind}Start")(self._flat)
        for field, value in fields.items():
            if value is not None:
                getattr(self._schema, f"{kind}Add{field}")(self._flat, value)
        return int(getattr(self._schema, f"{kind}End")(self._flat))

    def _offsets(self, offsets: Sequence[int]) -> int:
        self._flat.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._flat.PrependUOffsetTRelative(offset)
        return int(self._flat.EndVector())

    def _ints(self, values: Sequence[int]) -> int:
        return int(self._flat.CreateNumpyVector(np.array(values, np.int32)))

    def _buffer(self, data: bytes) -> int:
        if not data:
            return self._table("Buffer")
        self._flat.StartVector(1, len(data), _ALIGNMENT)
        self._flat.head -= len(data)
        self._flat.Bytes[self._flat.head : self._flat.head + len(data)] = data
        return self._table("Buffer", Data=self._flat.EndVector())

    def _tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        batch: bool,
        dtype: str,
        buffer: int,
        quantization: Quantization | None,
    ) -> int:
        free = batch and not self.fixed_batch
        parameters = None
        if quantization is not None:
            parameters = self._table(
                "QuantizationParameters",
                Scale=self._flat.CreateNumpyVector(quantization.scale.astype(np.float32)),
                ZeroPoint=self._flat.CreateNumpyVector(quantization.zero_point.astype(np.int64)),
                QuantizedDimension=quantization.axis,
            )
        return self._table(
            "Tensor",
            Shape=self._ints(shape),
            Type=self.enum("TensorType", dtype.upper()),
            Buffer=buffer,
            Name=self._flat.CreateString(name),
            Quantization=parameters,
            ShapeSignature=self._ints((-1, *shape[1:])) if free else None,
        )

    def _operator(
        self, code: int, inputs: list[int], outputs: list[int], options: str, fields: dict[str, Any]
    ) -> int:
        table = self._table(options, **fields) if options else None
        return self._table(
            "Operator",
            OpcodeIndex=code,
            Inputs=self._ints(inputs),
            Outputs=self._ints(outputs),
            BuiltinOptionsType=self.enum("BuiltinOptions", options) if options else None,
            BuiltinOptions=table,
        )
