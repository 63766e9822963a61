"""``playgrad train --export``: saves the trained model."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playgrad.errors import CheckpointError, ExportError
from playgrad.interchange.formats import format_of


def export(model: Any, path: str) -> None:
    """Save the model; in the folder of temporary files if the chosen place fails.

    Raises:
        CheckpointError: the chosen place failed; the hint says where the model is.
        ExportError: the format has no equivalent of a layer; the hint says where the weights are.
    """
    try:
        model.export(path)
    except CheckpointError as error:
        name, save = Path(path), model.export
        if isinstance(error, ExportError):
            name, save = name.with_suffix(".safetensors"), model.save_weights
        with contextlib.suppress(CheckpointError, OSError):  # then the first error says it all
            rescued = _saved_elsewhere(name.name, save)
            error.hint = f"The trained weights are in {rescued} instead. {error.hint or ''}".strip()
        raise


def written(path: str | Path) -> str:
    """Return the line that says what was saved, and what is missing."""
    return f"weights written to {path}, without {format_of(path).lacks}"


def _saved_elsewhere(name: str, save: Callable[[Path], None]) -> Path:
    """Save a file in a new folder for temporary files, which may hold none of other runs."""
    folder = Path(tempfile.mkdtemp(prefix="playgrad-"))
    try:
        save(folder / name)
    except CheckpointError:
        folder.rmdir()
        raise
    return folder / name
