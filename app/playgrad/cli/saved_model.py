"""The saved models that ``playgrad predict`` and ``playgrad export`` take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playgrad.cli.checkpoint_folder import model_file
from playgrad.errors import DataError, SequenceLengthError
from playgrad.interchange.readers import load_model, reader_of
from playgrad.models.model import Model


def saved_model(name: str, sequence_length: int | None = None) -> Model:
    """Return the model of a file, or of the last whole checkpoint in a folder.

    Args:
        sequence_length: that of ``--sequence-length``; None without it.

    Raises:
        CheckpointError, GraphError: it cannot be loaded.
        SequenceLengthError: the option is missing, as the hint says.
        DataError: the option is not for such a file.
    """
    file = model_file(name)
    if sequence_length is not None and (reader := reader_of(file)).read_steps is None:
        raise DataError(
            "--sequence-length is for files of Keras and TensorFlow.js, but "
            f"{name} is one of {reader.name}.",
            hint="Leave it out.",
        )
    with asking_for_length():
        return load_model(file, sequence_length)


@contextmanager
def asking_for_length() -> Iterator[None]:
    """Have errors about an open length of sequences name the option that sets it."""
    try:
        yield
    except SequenceLengthError as error:
        error.hint = "Add --sequence-length N: the number of steps in each sample."
        raise
