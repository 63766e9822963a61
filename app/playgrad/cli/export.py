"""``playgrad train --export``: saves the trained model."""

from __future__ import annotations

import contextlib
import os
import tempfile
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
        rescued = _rescued(path)
        save = model.export
        if isinstance(error, ExportError):
            rescued, save = rescued.with_suffix(".safetensors"), model.save_weights
        with contextlib.suppress(CheckpointError):  # then the first error says it all
            save(rescued)
            error.hint = f"The trained weights are in {rescued} instead. {error.hint or ''}".strip()
        raise


def written(path: str | Path) -> str:
    """Return the line that says what was saved, and what is not in it."""
    return f"weights written to {path}, without {format_of(path).lacks}"


def _rescued(path: str) -> Path:
    return Path(tempfile.gettempdir()) / f"playgrad-{os.getpid()}-{Path(path).name}"
