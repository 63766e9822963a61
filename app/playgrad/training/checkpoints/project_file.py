"""Checkpoints as files of projects, which the page opens: ``run.playgrad``.

The archive has the parts that the page writes as well, as far as there are any: the program, the
checkpoint, and the entry in the list of projects. ``docs/checkpoints.md`` describes the format.
"""

from __future__ import annotations

import json
import linecache
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from playgrad import paths
from playgrad.errors import CheckpointError
from playgrad.io.project_archive import ENDING, ProjectArchive, is_project, pack
from playgrad.io.weights import read_file, write_file
from playgrad.networks.network import Network
from playgrad.training.checkpoints.capture import checkpoint_of
from playgrad.training.checkpoints.record import Checkpoint
from playgrad.training.recipe import Recipe
from playgrad.training.state import TrainingState

Array = np.ndarray[Any, Any]
_WEIGHTS = "checkpoint.safetensors"
_FROM_FILE = "file-"
"""Beginning of the ids that the page gives to programs that are not examples."""
_LONGEST_ID = 60
_UNKNOWN = "# The file does not have the program of this model.\n"
_CAMEL = {"total_steps": "totalSteps"}


@dataclass(frozen=True)
class SavedProgram:
    """The program of a run.

    Attributes:
        name: the name of its file, without the ending.
        source: its text.
    """

    name: str
    source: str

    @classmethod
    def at(cls, file: str) -> SavedProgram | None:
        """Return the program in ``file``, as it was when Python read it; None if it is not known.

        Files that are only in memory count: a cell of a notebook, the program of the page.
        """
        source = "".join(linecache.getlines(file))
        return cls(Path(file).stem.strip("<>"), source) if source.strip() else None

    @property
    def id(self) -> str:
        """The id of the program in the page: that of an example, or one for files."""
        if re.fullmatch("[a-z0-9-]+", self.name):
            example = paths.static() / "examples" / f"{self.name}.py"
            if example.is_file():
                return self.name
        plain = re.sub("[^A-Za-z0-9]+", "-", self.name).strip("-")[:_LONGEST_ID]
        return f"{_FROM_FILE}{plain or 'program'}"


def save_checkpoint(
    network: Network, recipe: Recipe | None, state: TrainingState, path: str | Path
) -> None:
    """Write a model and its training to a file, whole or not at all.

    Args:
        recipe: the recipe of the training; None if the model is not compiled.
        state: the state of its last ``fit``, which may be under way.

    Raises:
        GraphError: the model is not built.
        CheckpointError: the file cannot be written.
    """
    source = state.source or network.source
    program = None if source is None else SavedProgram.at(source[0])
    name = Path(path).name.removesuffix(Path(path).suffix)
    write_file(path, encode_project(checkpoint_of(network, recipe, state), program, name))


def encode_project(checkpoint: Checkpoint, program: SavedProgram | None, name: str) -> bytes:
    """Return a checkpoint as the bytes of a file.

    Args:
        name: the name of the project.
    """
    now = round(1000 * time.time())
    program = program or SavedProgram("program", _UNKNOWN)
    info = checkpoint.info()
    facts = {_CAMEL.get(key, key): value for key, value in info.items()}
    began = {"exampleId": program.id, "source": program.source, "began": now}
    kept = {**facts, "at": now, "program": began, "options": {}}
    progress = {
        "state": "done" if info["finished"] else "stopped",
        "step": info["step"],
        "totalSteps": info["total_steps"],
    }
    files = {_WEIGHTS: checkpoint.encode()}
    return pack_project(program, name, now, progress, {"checkpoint": kept}, files)


def pack_project(
    program: SavedProgram,
    name: str,
    now: int,
    progress: Mapping[str, Any],
    parts: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a project as the bytes of a file.

    Args:
        name: the name of the project.
        now: milliseconds since 1970, when it was made.
        progress: the ``state``, ``step`` and ``totalSteps`` of its training.
        parts: the contents of ``parts/NAME.json``, by name.
        files: further files.
    """
    about = {
        "saved": datetime.fromtimestamp(now / 1000, UTC).isoformat(timespec="milliseconds"),
        "summary": {
            "created": now,
            "touched": True,
            "name": name,
            "exampleId": program.id,
            "title": program.name,
            "edited": True,
            **progress,
        },
        "code": [program.id],
        "parts": list(parts),
        "data": {},
    }
    contents = {f"parts/{part}.json": json.dumps(value).encode() for part, value in parts.items()}
    code = {f"code/{program.id}.py": program.source.encode()}
    return pack(about, code | contents | dict(files or {}))


def decode_project(content: bytes) -> Checkpoint:
    """Return the checkpoint in the bytes of a file.

    Raises:
        CheckpointError: the file is damaged, has no checkpoint, or is of a later version.
    """
    archive = ProjectArchive(content)
    if _WEIGHTS not in archive.names:
        raise CheckpointError(
            "the project has no weights: nothing was trained in it.",
            hint="Train its program, then save it again.",
        )
    return Checkpoint.decode(archive.read(_WEIGHTS))


def checkpoint_of_project(file: Path | bytes) -> Checkpoint | None:
    """Return the checkpoint in the file of a project; None if it is another file.

    Args:
        file: a path, or the bytes of a file.

    Raises:
        CheckpointError: the file cannot be read, is damaged, has no weights, or is of a later
            version.
    """
    if isinstance(file, bytes):
        content = file
    else:
        content = read_file(file) if str(file).lower().endswith(ENDING) else b""
    return decode_project(content) if is_project(content) else None
