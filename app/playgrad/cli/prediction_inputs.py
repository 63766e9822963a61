"""The samples that ``playgrad predict`` takes from files: arrays, tables and images."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from playgrad.cli.table_inputs import table_samples, wrong_value
from playgrad.data.picture import fitted
from playgrad.data.png import decode_png, with_channels
from playgrad.data.read_files import MOST_BYTES
from playgrad.data.text_table import ENDINGS
from playgrad.errors import CheckpointError, ReadError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.inspection.input_pixels import described_input, input_of_pixels, usual_input
from playgrad.inspection.pictures import image_size
from playgrad.io.npy_header import MAGIC, read_header
from playgrad.io.npz import NpzFile
from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]
Samples = tuple[str, Array]
"""The name of a file, and the samples in it, (count, ...)."""
STDIN = "-"
_PNG = b"\x89PNG\r\n\x1a\n"
_ZIP = b"PK\x03\x04"
_TABLES = tuple(ending[1:] for ending in ENDINGS)
_OTHER_PICTURES = ("jpg", "jpeg", "webp", "gif", "bmp", "heic", "tif", "tiff")
_FORMATS = ("npy", "npz", "png", *_TABLES)


def read_samples(file: str, model: Network) -> Samples:
    """Return the name of ``file`` and its samples, (count, ...), for the one input of ``model``.

    An array of the shape of one sample is one sample. The rows of a table are reshaped to it. A
    picture is cut and scaled as the description of the model's input says.

    Args:
        file: a name that ends in .npy, .npz, .png, .csv, .tsv, .tab or .txt; "-" for standard
            input, whose content shows its format.

    Raises:
        ReadError: it cannot be read, is damaged, or has a cell that is not a number.
        ShapeError: it does not hold samples of the shape that the model takes.
        DTypeError: the model takes whole numbers, and a table has others.
    """
    name, content, ending = _content(file)
    sample = model.input_shape[1:]
    if ending == "png":
        return name, _image(content, name, model)[None]
    if ending in _TABLES:
        return name, table_samples(content, name, model)
    array = _npy(content, name) if ending == "npy" else _npz(content, name)
    if not array.shape:
        raise ShapeError(
            f"{name} holds a single number, but the model takes samples of shape "
            f"{shape_text(sample)}."
        )
    samples = array[None] if _fits(array.shape, sample) else array
    return name, _checked(samples, name, model.input_dtype)


def _content(file: str) -> tuple[str, bytes, str]:
    """Return the name for errors, the bytes, and the ending that says how to read them."""
    if file == STDIN:
        if sys.stdin is None:
            raise ReadError("standard input is closed.", hint="Name a file in place of -.")
        content = _limited(sys.stdin.buffer, "standard input")
        return "standard input", content, _ending_of(content)
    ending = Path(file).suffix[1:].lower()
    if ending not in _FORMATS:
        raise ReadError(
            f"{file} does not end in {', '.join(f'.{each}' for each in _FORMATS)}.",
            hint="Save the picture as PNG." if ending in _OTHER_PICTURES else None,
            file=file,
        )
    try:
        with open(file, "rb") as opened:
            return file, _limited(opened, file), ending
    except OSError as error:
        raise ReadError(f"cannot open {file}: {error.strerror}.", file=file) from None


def _limited(stream: BinaryIO, name: str) -> bytes:
    """Return the bytes of an ordinary file, or of a stream that ends before memory does.

    Raises:
        ReadError: the stream has too many.
    """
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream.read()
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ReadError(
            f"{name} is not an ordinary file, and has more than the {MOST_BYTES:,} bytes that are "
            "read of others.",
            file=name,
        )
    return content


def _ending_of(content: bytes) -> str:
    starts = {MAGIC: "npy", _ZIP: "npz", _PNG: "png"}
    return next((ending for start, ending in starts.items() if content.startswith(start)), "csv")


def _npy(content: bytes, name: str) -> Array:
    try:
        read_header(io.BytesIO(content), name, len(content))
        array: Array = np.load(io.BytesIO(content), allow_pickle=False)
    except CheckpointError as error:
        raise ReadError(error.message, hint=error.hint, file=name) from None
    except (ValueError, EOFError, OSError) as error:
        raise ReadError(f"'{name}' cannot be read: {error}.", file=name) from None
    return array


def _npz(content: bytes, name: str) -> Array:
    try:
        file = NpzFile(content)
        if len(file.entries) != 1:
            listed = ", ".join(file.entries) or "none"
            raise ReadError(
                f"{name} must hold one array, got {len(file.entries)}: {listed}.",
                hint="Save the samples alone, with numpy.save.",
                file=name,
            )
        if file.unpacked > MOST_BYTES:
            raise ReadError(
                f"{name} unpacks to {file.unpacked:,} bytes, more than the {MOST_BYTES:,} allowed.",
                file=name,
            )
        return file.read(next(iter(file.entries)))
    except CheckpointError as error:
        raise ReadError(f"{name} cannot be read: {error}", file=name) from None


def _checked(array: Array, name: str, dtype: str) -> Array:
    """Return samples whose numbers are finite, and whole if the model takes whole numbers."""
    if array.dtype.kind != "f":
        return array
    wrong = wrong_value(array, dtype)
    if wrong is not None:
        place, error = wrong
        sample, *rest = (int(i) for i in np.unravel_index(place, array.shape))
        where = f" at {rest}" if rest else ""
        raise type(error)(f"{name}[{sample}]{where}: {error.message}")
    return array.astype(dtype) if np.dtype(dtype).kind in "iu" else array


def _image(content: bytes, name: str, model: Network) -> Array:
    """Return a picture as a sample, with the size, channels and range that the model takes."""
    tensor = model.inputs[0]
    described = described_input(tensor, model.input_description)
    pixels = decode_png(content, what=name)
    shape: Shape = described.shape if described else tensor.shape[1:]
    size = _picture_size(shape, pixels.shape)
    if size is None:
        raise ShapeError(
            f"the model takes samples of shape {shape_text(tensor.shape[1:])}, but {name} is an "
            f"image of {pixels.shape[0]} x {pixels.shape[1]} pixels (height x width)."
        )
    if described is None:
        described = usual_input(tensor)
        print(
            f"playgrad: {name}: the model does not say what its pixels are. "
            f"Black is {described.low[0]:g}, white {described.high[0]:g}.",
            file=sys.stderr,
        )
    height, width, channels = size
    has_alpha = channels in (2, 4)
    shown = with_channels(pixels, channels if has_alpha else pixels.shape[2] // 3 * 2 + 1)
    sample = input_of_pixels(fitted(shown, *size) / 255, described, tensor.dtype)
    return sample.reshape((height * width * channels,) if len(shape) == 1 else size[: len(shape)])


def _picture_size(sample: Shape, picture: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Return height, width and channels of a sample.

    Args:
        sample: its shape. An unknown size is taken from the picture.
    """
    height, width, channels = picture
    if len(sample) == 1:
        pixels, values = height * width, sample[0] or 0
        is_row = values in (pixels, 3 * pixels)
        return image_size(sample) or ((height, width, values // pixels) if is_row else None)
    if len(sample) == 2:
        sample = (*sample, 1)
    if len(sample) != 3:
        return None
    of_picture = (height, width, channels - (channels in (2, 4)))
    sizes = [a or b for a, b in zip(sample, of_picture, strict=True)]
    return (sizes[0], sizes[1], sizes[2]) if sizes[2] in (1, 2, 3, 4) else None


def _fits(shape: Shape, sample: Shape) -> bool:
    return len(shape) == len(sample) and all(
        dim in (None, size) for size, dim in zip(shape, sample, strict=True)
    )
