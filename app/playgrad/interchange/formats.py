"""The formats in which a trained network leaves playgrad."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from playgrad.data.input_description import InputDescription
from playgrad.errors import CheckpointError, ExportError
from playgrad.graph.spec import TensorSpec
from playgrad.interchange.keras.export import keras_weights_bytes as keras_weights_bytes
from playgrad.interchange.keras.importing.file import KerasFile
from playgrad.interchange.keras.importing.weights import weights_for_model
from playgrad.interchange.matching.matching import LAYOUT
from playgrad.interchange.matching.state import weights_of_file as weights_of_file
from playgrad.interchange.onnx.export import onnx_bytes
from playgrad.interchange.script.export import script_text
from playgrad.interchange.webpage.export import page_text
from playgrad.io.project_archive import ENDING
from playgrad.io.weights import encode_checked, write_file
from playgrad.io.zip_file import zip_bytes
from playgrad.networks.inference import InferenceGraph
from playgrad.nn.layer import Layer

if TYPE_CHECKING:
    from playgrad.compression.integer_program import IntegerProgram
    from playgrad.interchange.pytorch.writer import NetworkStructure
    from playgrad.models.model import Model
    from playgrad.networks.compile_settings import CompileSettings

Array = np.ndarray[Any, Any]


class Exported(Protocol):
    """A network, as far as formats need it."""

    @property
    def name(self) -> str: ...

    @property
    def packs_weights(self) -> bool: ...

    def layer_graph(self) -> dict[str, Any]: ...

    def compile_settings(self) -> CompileSettings | None: ...

    @property
    def structure(self) -> NetworkStructure: ...

    def named_layers(self) -> Sequence[tuple[str, Layer]]: ...

    def named_weights(self) -> dict[str, Array]: ...

    def file_metadata(self) -> dict[str, str]: ...

    def inference_graph(self) -> InferenceGraph: ...

    @property
    def input_description(self) -> InputDescription | None: ...


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        name: the name in ``model.export(path, format)``.
        ending: the ending of its files, with the dot.
        encode: returns the content of a file for a model and the name of the file.
        lacks: the parts of a trained model that the file lacks.
        files: returns the content of each file by its name, for a format of several files; then
            ``encode`` returns a zip file with them.
        is_quantized: whether it is for networks of integers only.
    """

    name: str
    ending: str
    encode: Callable[[Exported, str], bytes]
    lacks: str = "compile settings, optimizer state"
    files: Callable[[Exported, str], dict[str, bytes]] | None = None
    is_quantized: bool = False


def _weights(format_name: str) -> Callable[[Exported, str], bytes]:
    return lambda model, _: encode_checked(
        model.named_weights(), format_name, model.file_metadata(), model.packs_weights
    )


def _onnx(model: Exported, opset: int | None = None) -> bytes:
    # Imported here, like the other writers of quantized networks: the page starts without them.
    from playgrad.compression.quantized_layers.quantized_layer import QuantizedLayer

    if not any(isinstance(layer, QuantizedLayer) for _, layer in model.named_layers()):
        return onnx_bytes(model.inference_graph(), opset)
    from playgrad.interchange.onnx.quantized import quantized_onnx_bytes

    program = _integers(model, floats=True)
    return quantized_onnx_bytes(program, model.name, model.input_description, opset)


def _script(model: Exported, file: str) -> bytes:
    return script_text(model.inference_graph(), file).encode()


def _keras(model: Exported, _: str) -> bytes:
    # Imported here, like the writers for PyTorch and TensorFlow.js: the page starts without them.
    from playgrad.interchange.keras.export import keras_bytes

    return keras_bytes(
        model.layer_graph(),
        model.named_weights(),
        model.compile_settings(),
        model.input_description,
    )


def _pytorch(model: Exported, _: str) -> bytes:
    from playgrad.interchange.pytorch.export import pytorch_bytes

    return pytorch_bytes(
        model.name,
        model.structure,
        model.named_layers(),
        model.named_weights(),
        {**model.file_metadata(), LAYOUT: "pytorch"},
    )


def _tfjs(model: Exported, _: str) -> bytes:
    from playgrad.interchange.tfjs.export import tfjs_bytes

    return tfjs_bytes(model.layer_graph(), model.named_weights(), model.input_description)


def _c_files(model: Exported, file: str) -> dict[str, bytes]:
    from playgrad.interchange.c.export import c_files

    return c_files(_integers(model), file, model.name)


def _c(model: Exported, file: str) -> bytes:
    return zip_bytes(_c_files(model, file))


def _tflite(model: Exported, _: str) -> bytes:
    from playgrad.interchange.tflite.export import tflite_bytes

    return tflite_bytes(_integers(model), model.name)


def _integers(model: Exported, floats: bool = False) -> IntegerProgram:
    from playgrad.compression.integer_program import integer_program

    return integer_program(cast("Model", model), floats)


def _page(model: Exported, _: str) -> bytes:
    return page_text(model, model.inference_graph()).encode()


_OF_INTEGERS = "float32 weights, compile settings, optimizer state"

FORMATS: tuple[Format, ...] = (
    Format("safetensors", ".safetensors", _weights("safetensors")),
    Format("npz", ".npz", _weights("npz"), "layers, compile settings, optimizer state"),
    Format("onnx", ".onnx", lambda model, _: _onnx(model)),
    Format("keras", ".keras", _keras, "optimizer state"),
    Format(
        "pytorch",
        ".pt.zip",
        _pytorch,
        "compile settings, optimizer state, regularizers, constraints",
    ),
    Format(
        "tfjs",
        ".tfjs.zip",
        _tfjs,
        "compile settings, optimizer state, initializers, regularizers, constraints",
    ),
    Format("tflite", ".tflite", _tflite, _OF_INTEGERS, is_quantized=True),
    Format("c", ".c", _c, _OF_INTEGERS, _c_files, is_quantized=True),
    Format("script", ".py", _script),
    Format("page", ".html", _page),
)


def format_of(path: str | Path, name: str | None = None) -> Format:
    """Return the format with this name, or with the ending of the path.

    Raises:
        CheckpointError: there is no such format.
    """
    for each in FORMATS:
        if each.name == name if name else str(path).lower().endswith(each.ending):
            return each
    known = ", ".join(f"{each.name} ({each.ending})" for each in FORMATS)
    asked = f"no format is called '{name}'" if name else f"no format has the ending of '{path}'"
    raise CheckpointError(
        f"{asked}.", hint=f"The formats are: {known}. model.save writes {ENDING} files."
    )


def weights_from_keras(
    content: Any,
    is_model: bool,
    layers: Mapping[str, Layer],
    layer_graph: Callable[[], Mapping[str, Any]],
    specs: Mapping[str, TensorSpec],
) -> dict[str, Array]:
    """Return the weights in a file of Keras by the names that they have in a model.

    Args:
        content: the content of the file.
        is_model: whether it is a ``.keras`` file, not one of weights alone.
        layers, layer_graph, specs: as in `weights_for_model`, with the same errors.
    """
    weights = KerasFile(content).weights if is_model else content
    return weights_for_model(weights, layers, layer_graph, specs)


def export(
    model: Exported, path: str | Path, name: str | None = None, opset: int | None = None
) -> None:
    """Write a model to a file in the format of its ending, or with this name.

    Args:
        opset: of ONNX; the lowest that the network needs if None.

    Raises:
        CheckpointError: there is no such format, or the file cannot be written.
        ExportError: the format has no equivalent of a layer or operation, or is for networks of
            integers, or has no such opset; the file is not written.
    """
    chosen, path = format_of(path, name), Path(path)
    if opset is None and chosen.files is not None:
        for file, content in chosen.files(model, path.name).items():
            write_file(path.with_name(file), content)
        return
    if opset is None:
        content = chosen.encode(model, path.name)
    elif chosen.name == "onnx":
        content = _onnx(model, opset)
    else:
        raise ExportError(f"opset={opset} is for ONNX files; '{path}' is one of {chosen.name}.")
    write_file(path, content)
