"""The kinds of files, by their content: for errors of a reader that got a file of another kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playgrad.io.hdf5.layout import SIGNATURE as HDF5
from playgrad.io.npy_header import MAGIC as NPY
from playgrad.io.project_archive import is_project
from playgrad.io.torch_file import is_torch_file

_EXCERPT = 1024
TFJS_MODEL = "model.json"
"""The file with the layers of a model of TensorFlow.js, beside its weights."""
_ONNX_FIELDS = tuple(bytes([tag]) for tag in (0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42))
_LOAD_MODEL = "Load it with pg.load_model(file)."
_LOAD_WEIGHTS = "Load it with model.load_weights(file)."


@dataclass(frozen=True)
class FileKind:
    """A kind of files.

    Attributes:
        name: the kind in words, with an article.
        endings: its usual endings; none if there are many.
        recognizes: whether the content of a file is of this kind.
        use: what to do with it, as a sentence.
    """

    name: str
    endings: tuple[str, ...]
    recognizes: Callable[[bytes], bool]
    use: str | None = None


def is_keras_file(content: bytes) -> bool:
    """Return whether a zip file has the members of one of Keras 3."""
    return _is_archive_of(content, b"config.json", b"model.weights.h5")


def is_keras(file: str | Path | bytes) -> bool:
    """Return whether a path, or the bytes of a file, belongs to a model of Keras 3."""
    if isinstance(file, bytes):
        return is_keras_file(file)
    return str(file).lower().endswith(".keras")


def is_onnx_file(content: bytes) -> bool:
    """True if the first field is the version of the format, and no safetensors header follows."""
    return content[:1] == b"\x08" and content[4:9] != b"\0\0\0\0{"


def kind_of(content: bytes) -> FileKind | None:
    """Return the kind of a file by its content; None if it is not known."""
    return next((kind for kind in _KINDS if kind.recognizes(content)), None)


def _is_archive_of(content: bytes, *members: bytes) -> bool:
    return content[:2] == b"PK" and all(member in content for member in members)


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda content: content.startswith(starts)


def _is_text(content: bytes) -> bool:
    """Return whether the file begins with UTF-8 text; a character may be cut at the end."""
    excerpt = content[:_EXCERPT]
    if not excerpt or b"\0" in excerpt or excerpt[:2] == b"PK":
        return False
    try:
        excerpt.decode()
    except UnicodeDecodeError as error:
        return len(content) > _EXCERPT and error.start > _EXCERPT - 4
    return True


def _is_web_page(content: bytes) -> bool:
    return content[:_EXCERPT].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _is_onnx_model(content: bytes) -> bool:
    """Return whether a version of at most 63 is followed by another field of ONNX' ModelProto."""
    return is_onnx_file(content) and content[1:2] < b"@" and content[2:3] in _ONNX_FIELDS


TORCH = FileKind(
    "a PyTorch file (torch.save)",
    (".pt", ".pth"),
    lambda content: content[:2] == b"PK" and is_torch_file(content),
    _LOAD_WEIGHTS,
)
NPZ = FileKind(
    "an npz file", (".npz",), lambda content: _is_archive_of(content, b".npy"), _LOAD_WEIGHTS
)
SAFETENSORS = FileKind(
    "a safetensors file",
    (".safetensors",),
    lambda content: content[5:9] == b"\0\0\0{",
    _LOAD_WEIGHTS,
)
PYTORCH_EXPORT = FileKind(
    "an export for PyTorch",
    (".pt.zip",),
    lambda content: _is_archive_of(content, b"model.py", b"model.safetensors"),
    _LOAD_MODEL,
)
TFJS = FileKind(
    "a model of TensorFlow.js",
    (".tfjs.zip",),
    lambda content: _is_archive_of(content, TFJS_MODEL.encode(), b".bin"),
    _LOAD_MODEL,
)
TFJS_TOPOLOGY = FileKind(
    "a model of TensorFlow.js without its weights",
    (".json",),
    lambda content: content[:1] == b"{" and b'"weightsManifest"' in content,
    "Pass the path of model.json beside its weights, or a ZIP archive with all of its files.",
)
PROJECT = FileKind("a playgrad project", (".playgrad",), is_project, "Load it with pg.load(file).")
_KINDS = (
    TORCH,
    PROJECT,
    FileKind("a model of Keras 3", (".keras",), is_keras_file, _LOAD_MODEL),
    PYTORCH_EXPORT,
    TFJS,
    TFJS_TOPOLOGY,
    NPZ,
    SAFETENSORS,
    FileKind(
        "an HDF5 file", (".weights.h5",), _begins(HDF5),
        "model.load_weights(file) reads those of Keras 3, which end in .weights.h5.",
    ),
    FileKind("a single array (npy)", (".npy",), _begins(NPY), "Save weights with numpy.savez."),
    FileKind("a PNG image", (".png",), _begins(b"\x89PNG")),
    FileKind(
        "a pickle", (), _begins(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        "A pickle may run any program, and is not read. Save tensors with torch.save of PyTorch "
        "1.6 or newer, or with safetensors.",
    ),
    FileKind(
        "compressed", (), _begins(b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"),
        "Unpack it first.",
    ),
    FileKind("empty", (), lambda content: not content),
    FileKind("a web page", (".html",), _is_web_page),
    FileKind("a text", (), _is_text),
    FileKind("a model in the ONNX format", (".onnx",), _is_onnx_model, _LOAD_MODEL),
)  # fmt: skip
"""In order: the first that recognizes a file is its kind."""
