"""`KerasFile`: the parts of a ``.keras`` file, checked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import CheckpointError
from playgrad.io.hdf5.reader import Hdf5File
from playgrad.io.npz import DAMAGE, check_packing, check_places
from playgrad.io.tensor_entry import check_count
from playgrad.io.weights import read_file
from playgrad.json_text import check_unicode, parse_json

_CONFIG = "config.json"
_WEIGHTS = "model.weights.h5"
INPUT = f"{KEY}.json"
"""The member with the description of the input, in files of playgrad."""
_LARGEST_CONFIG = 1 << 24
_DIRECTORY_ENTRY = b"PK\x01\x02"


class KerasFile:
    """The configuration and the weights of a model in a file.

    Other members, such as vocabularies, are not read.

    Args:
        file: a path, or the bytes of a file.

    Attributes:
        config: the config of the model.
        weights: its arrays, which are not read yet.
        input: how a picture becomes the input, if playgrad wrote the file and knew it.

    Raises:
        CheckpointError: the file cannot be read, is damaged, or is not one of Keras 3.
    """

    def __init__(self, file: str | Path | bytes) -> None:
        content = file if isinstance(file, bytes) else read_file(file)
        try:
            check_count(content.count(_DIRECTORY_ENTRY))
            archive = zipfile.ZipFile(io.BytesIO(content))
            check_places(archive)
            config = parse_json(_member(archive, _CONFIG, _LARGEST_CONFIG))
            check_unicode(config)
            # Keras stores weights as they are: packed ones are hardly smaller.
            weights = _member(archive, _WEIGHTS, 2 * len(content) + _LARGEST_CONFIG)
            has_input = INPUT in archive.namelist()
            described = _member(archive, INPUT, _LARGEST_CONFIG) if has_input else None
        except CheckpointError:
            raise
        except DAMAGE as error:
            raise CheckpointError(
                f"not a file of Keras 3, or a damaged one: {str(error)[:200]}."
            ) from None
        if not isinstance(config, Mapping):
            raise CheckpointError(f"'{_CONFIG}' in the Keras file does not describe a model.")
        self.config: Mapping[str, Any] = config
        self.weights = Hdf5File(weights)
        self.input = InputDescription.from_json(described)


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    try:
        member = archive.getinfo(name)
    except KeyError:
        raise CheckpointError(
            f"the Keras file has no '{name}'.",
            hint="Save the model with model.save('name.keras') of Keras 3.",
        ) from None
    check_packing(member)
    if member.file_size > most:
        raise CheckpointError(
            f"'{name}' in the Keras file has {member.file_size:,} bytes, more than {most:,}."
        )
    return archive.read(member)
