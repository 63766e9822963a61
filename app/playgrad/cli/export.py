"""``playgrad train --export``: saves the weights of the trained model."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from playgrad.errors import CheckpointError


def export(model: Any, path: str) -> None:
    """Save the weights; in the folder of temporary files if the chosen place fails.

    Raises:
        CheckpointError: the chosen place failed; the hint says where the weights are.
    """
    try:
        model.save_weights(path)
    except CheckpointError as error:
        rescued = Path(tempfile.gettempdir()) / f"playgrad-{os.getpid()}-{Path(path).name}"
        with contextlib.suppress(CheckpointError):  # then the first error says it all
            model.save_weights(rescued)
            error.hint = f"The trained weights are in {rescued} instead. {error.hint or ''}".strip()
        raise
