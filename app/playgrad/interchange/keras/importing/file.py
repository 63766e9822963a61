"""`KerasFile`: the parts of a ``.keras`` file, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import CheckpointError
from playgrad.io.archives import Archive
from playgrad.io.hdf5.reader import Hdf5File
from playgrad.io.weights import read_file
from playgrad.json_text import check_unicode, parse_json

_CONFIG = "config.json"
_WEIGHTS = "model.weights.h5"
INPUT = f"{KEY}.json"
"""The member with the description of the input, in files of playgrad."""
_SAVE = "Save the model with model.save('name.keras') of Keras 3."


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
        archive = Archive(content, "the Keras file")
        try:
            config = parse_json(archive.read(_CONFIG, hint=_SAVE))
            check_unicode(config)
        except ValueError as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(
                f"'{_CONFIG}' in the Keras file is damaged: {str(error)[:200]}."
            ) from None
        # Keras stores weights as they are: packed ones are hardly smaller.
        weights = archive.read(_WEIGHTS, archive.most_unpacked, _SAVE)
        described = archive.read(INPUT) if INPUT in archive.names else None
        if not isinstance(config, Mapping):
            raise CheckpointError(f"'{_CONFIG}' in the Keras file does not describe a model.")
        self.config: Mapping[str, Any] = config
        self.weights = Hdf5File(weights)
        self.input = InputDescription.from_json(described)
