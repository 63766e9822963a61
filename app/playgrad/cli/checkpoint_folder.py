"""The folder of ``playgrad train --checkpoint``: the last checkpoints of a run, as files."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

from playgrad.errors import CheckpointError
from playgrad.io.project_archive import ENDING
from playgrad.io.weights import read_file, write_file
from playgrad.training.checkpoints.project_file import SavedProgram, decode_project, encode_project
from playgrad.training.checkpoints.record import Checkpoint

KEPT = 3
"""The number of checkpoints in the folder; a file of the last one could be damaged by the disk."""
_NAME = re.compile(rf"step-(\d+){re.escape(ENDING)}")


class CheckpointFolder:
    """The checkpoints of a run, ``step-00000500.playgrad``, of which the last ones are kept.

    Args:
        path: of the folder.
        program: of the run.
    """

    def __init__(self, path: Path, program: SavedProgram | None = None) -> None:
        self.path = path
        self._program = program
        self._other: CheckpointFolder | None = None  # for checkpoints that cannot be written here

    def files(self) -> list[Path]:
        """Return the checkpoints in the folder, the latest first."""
        if not os.path.isdir(self.path):
            return []
        named = ((each, _NAME.fullmatch(each.name)) for each in self.path.iterdir())
        steps = {each: int(match[1]) for each, match in named if match}
        return sorted(steps, key=lambda each: steps[each], reverse=True)

    def create(self) -> None:
        """Create the folder, unless it exists.

        Raises:
            CheckpointError: that is impossible.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(
                f"cannot create the folder '{self.path}': {error.strerror}.",
                hint="Choose another folder.",
            ) from None

    def write(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, whole or not at all, and remove old ones.

        Raises:
            CheckpointError: it cannot be written. The hint names a folder for temporary files that
                has it instead, if there is one.
        """
        try:
            self._write(checkpoint)
        except CheckpointError as error:
            with contextlib.suppress(CheckpointError, OSError):  # the first error says it all
                path = self._write_elsewhere(checkpoint)
                error.hint = f"With --checkpoint {path} --resume training continues from here."
            raise

    def _write_elsewhere(self, checkpoint: Checkpoint) -> Path:
        """Write a checkpoint to a folder for temporary files, the same for the whole run.

        Raises:
            CheckpointError, OSError: that is impossible as well.
        """
        if self._other is None:  # a new one: it may not hold files of other runs
            path = tempfile.mkdtemp(prefix=f"playgrad-{self.path.name[:40]}-")
            self._other = CheckpointFolder(Path(path), self._program)
        try:
            self._other._write(checkpoint)
        except CheckpointError:
            with contextlib.suppress(OSError):  # it has earlier checkpoints
                self._other.path.rmdir()
                self._other = None
            raise
        return self._other.path

    def _write(self, checkpoint: Checkpoint) -> None:
        steps = sum(fit.step for fit in checkpoint.fits)
        name = self.path.name if self._program is None else self._program.name
        content = encode_project(checkpoint, self._program, name)
        self.create()
        write_file(self.path / f"step-{steps:08}{ENDING}", content)
        for old in self.files()[KEPT:]:
            with contextlib.suppress(OSError):  # another process may have removed it
                old.unlink()

    def last(self) -> tuple[Path, Checkpoint] | None:
        """Return the last checkpoint that is whole, and its file; None if there are none.

        A damaged one is named on standard error.

        Raises:
            CheckpointError: all of them are damaged.
        """
        problem: CheckpointError | None = None
        for file in self.files():
            try:
                return file, decode_project(read_file(file))
            except CheckpointError as error:
                error.message = f"{file.name}: {error.message}"
                print(f"playgrad: {error.message} Trying the one before.", file=sys.stderr)
                problem = problem or error
        if problem is not None:
            raise problem
        return None


def model_file(name: str) -> str:
    """Return the file to load a model from: ``name``, or the last whole checkpoint in that folder.

    Raises:
        CheckpointError: the folder has no checkpoints, or all of them are damaged.
    """
    if not os.path.isdir(name):
        return name
    last = CheckpointFolder(Path(name)).last()
    if last is None:
        raise CheckpointError(
            f"the folder '{name}' has no checkpoints.",
            hint="Name a file, or the folder of playgrad train --checkpoint.",
        )
    return str(last[0])
