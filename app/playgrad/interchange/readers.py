"""The formats from which `pg.load_model` makes models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar, overload

from playgrad.errors import CheckpointError
from playgrad.interchange.bounds import MOST_STEPS
from playgrad.io.file_kinds import (
    PYTORCH_EXPORT,
    TFJS,
    TFJS_MODEL,
    TFJS_TOPOLOGY,
    TORCH,
    is_keras_file,
    is_onnx_file,
    kind_of,
)
from playgrad.io.project_archive import ENDING, is_project
from playgrad.io.tensorflow.bundle import index_of_bundle
from playgrad.io.weights import path_or_bytes, read_file
from playgrad.models.checkpoints import load
from playgrad.models.loading import model_from_weights
from playgrad.models.model import Model

M = TypeVar("M", bound=Model)
File = str | Path | bytes
"""A path, or the bytes of a file."""


@dataclass(frozen=True)
class Reader:
    """A format of files that describe models.

    Attributes:
        name: the name of the format.
        endings: the endings of its files, in lower case and with the dot.
        recognizes: whether the bytes of a file without a name have this format.
        read: returns the model of a file. It executes nothing from the file.
        read_steps: returns the model for sequences of a length, if files may leave it open.
    """

    name: str
    endings: tuple[str, ...]
    recognizes: Callable[[bytes], bool]
    read: Callable[[File], Model]
    read_steps: Callable[[File, int], Model] | None = None

    def model(self, file: File, sequence_length: int | None = None) -> Model:
        """Return the model of a file, as `load_model`."""
        if sequence_length is None:
            return self.read(file)
        is_whole = type(sequence_length) is int and 0 < sequence_length <= MOST_STEPS
        if self.read_steps is None or not is_whole:
            raise ValueError(
                f"sequence_length must be a whole number from 1 to {MOST_STEPS:,}, for a file of "
                f"Keras or TensorFlow.js, got {sequence_length!r} for one of {self.name}"
            )
        return self.read_steps(file, sequence_length)


def _from_onnx(file: File) -> Model:
    # Imported here, as below: the library starts without these modules.
    from playgrad.interchange.onnx.importing.model import model_from_onnx

    return model_from_onnx(file)


def _from_keras(file: File, sequence_length: int | None = None) -> Model:
    from playgrad.interchange.keras.importing.model import model_from_keras

    return model_from_keras(file, sequence_length)


def _from_tfjs(file: File, sequence_length: int | None = None) -> Model:
    from playgrad.interchange.tfjs.importing.model import model_from_tfjs

    return model_from_tfjs(file, sequence_length)


ONNX = Reader("onnx", (".onnx",), is_onnx_file, _from_onnx)

KERAS = Reader("keras", (".keras",), is_keras_file, _from_keras, _from_keras)


def _is_tfjs(content: bytes) -> bool:
    return kind_of(content) in (TFJS, TFJS_TOPOLOGY)


TENSORFLOW_JS = Reader(
    "tfjs", (*TFJS.endings, *TFJS_TOPOLOGY.endings), _is_tfjs, _from_tfjs, _from_tfjs
)

PROJECT = Reader("project", (ENDING,), is_project, load)

PYTORCH = Reader("pytorch", PYTORCH_EXPORT.endings, PYTORCH_EXPORT.recognizes, model_from_weights)

WEIGHTS = Reader(
    "weights", (".safetensors", ".npz", *TORCH.endings), lambda content: True, model_from_weights
)

READERS: tuple[Reader, ...] = (ONNX, KERAS, TENSORFLOW_JS, PROJECT, PYTORCH, WEIGHTS)
"""In order: the first that recognizes bytes reads them, and the weights take the rest."""


def ending_of(name: str) -> str | None:
    """Return the ending of a name that decides the format, in lower case; None for another."""
    name = name.lower()
    endings = (ending for reader in READERS for ending in reader.endings)
    return next((ending for ending in endings if name.endswith(ending)), None)


def whole_file(file: Path) -> tuple[bytes, str]:
    """Return the content of a model's file, and its ending.

    The files of a model of TensorFlow.js are packed into an archive.

    Raises:
        CheckpointError: it cannot be read.
    """
    reader = reader_of(file)
    if reader is TENSORFLOW_JS and (file.is_dir() or kind_of(read_file(file)) is TFJS_TOPOLOGY):
        from playgrad.interchange.tfjs.importing.file import packed

        return packed(file), TFJS.endings[0]
    return read_file(file), ending_of(file.name) or file.suffix


def reader_of(file: File) -> Reader:
    """Return the reader for the ending of a path or for the content of bytes.

    If the ending says nothing, the content of the file does.

    Raises:
        CheckpointError: such a file cannot be read.
    """
    if not isinstance(file, bytes):
        if (Path(file) / TFJS_MODEL).is_file():
            return TENSORFLOW_JS
        if index_of_bundle(Path(file)) is not None:
            raise CheckpointError(
                f"'{file}' has the variables of TensorFlow, and operations in place of layers.",
                hint="Build the model, then call pg.load_model(file, model=model).",
            )
        ending = ending_of(str(file))
        if ending is not None:
            return next(reader for reader in READERS if ending in reader.endings)
        file = read_file(file)
    return next(reader for reader in READERS if reader.recognizes(file))


@overload
def load_model(file: File | BinaryIO, sequence_length: int | None = None) -> Model: ...


@overload
def load_model(file: File | BinaryIO, *, model: M) -> M: ...


def load_model(
    file: File | BinaryIO, sequence_length: int | None = None, *, model: Model | None = None
) -> Model:
    """Return the model that a file describes, with its weights.

    ONNX files become graphs that can be trained. Files of Keras 3 have the settings of ``compile``,
    too. Files of weights in the safetensors format describe their layers when
    ``model.save_weights`` or ``model.export`` for PyTorch wrote them; the program is not needed.
    Others, such as a ``state_dict`` of PyTorch, and variables of TensorFlow need a ``model``. The
    model of a file has a graph of its own and is not compiled, unless the file says how; nothing in
    a file is executed.

    Args:
        file: a path, whose ending decides the format, an open binary file, or the bytes of a file;
            or the folder of a layers model of TensorFlow.js.
        sequence_length: the number of steps of samples, for a file of Keras or TensorFlow.js whose
            inputs do not say it, ``Input((None, 3))``. Without it the model takes sequences of any
            length, unless its layers keep states. With it, as ONNX files need it, the length is
            that of the model and of the file that it is saved to. At most 10,000, for each step is
            a part of the graph.
        model: a model with the layers of the file, which gets its weights as by
            ``model.load_weights(file)``, and is returned.

    Raises:
        CheckpointError: the file cannot be read, is damaged, has weights alone, weights that do not
            fit its layers, or an operator of ONNX or a layer of Keras that playgrad does not have.
        SequenceLengthError: a CheckpointError; the file needs a ``sequence_length``.
        GraphError: the description of the layers is damaged, or has an unknown layer.
    """
    source = path_or_bytes(file)
    if model is not None:
        if sequence_length is not None:
            raise ValueError("sequence_length is for files that describe a model, not for model=")
        model.load_weights(source)
        return model
    reader = reader_of(source)
    if isinstance(source, bytes):
        return reader.model(source, sequence_length)
    try:
        return reader.model(source, sequence_length)
    except CheckpointError as error:
        _say_what_it_is(source, reader, error)
        raise


def _say_what_it_is(file: Path, reader: Reader, error: CheckpointError) -> None:
    """Name the file in an error, and its kind if the ending of its name misleads."""
    name = file.name
    if name not in error.message:
        error.message = f"{name}: {error.message}"
    try:
        content = read_file(file)
    except CheckpointError:
        return  # which the error says
    kind = kind_of(content)
    if kind is None or not name.lower().endswith(reader.endings):
        return
    if reader.recognizes(content) and reader is not WEIGHTS:
        return
    if any(ending in reader.endings for ending in kind.endings):
        return
    ending = next(each for each in reader.endings if name.lower().endswith(each))
    error.message = f"{name}: the file is {kind.name}, although its name ends in {ending}."
    is_read = any(set(kind.endings) & set(each.endings) for each in READERS)
    error.hint = f"Rename it: its name should end in {kind.endings[0]}." if is_read else kind.use
