"""The result of programs that train by a loop of their own, without ``fit``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from playgrad.cli.export import export, written
from playgrad.cli.late_errors import LateErrors
from playgrad.errors import GraphError

_ONLY_FIT_USES = (
    "epochs", "steps", "batch_size", "parallel", "placement", "explain", "trace", "report",
)  # fmt: skip


def finish_without_fit(
    program: Path, options: argparse.Namespace, model: Any, seconds: float, problems: LateErrors
) -> None:
    """Export the model, and report how long the program took; its results it prints itself.

    Args:
        program: ran to its end, and never called ``fit``.
        model: the last one that a `pg.function` of the program trained, or None.
        seconds: the time that the program took.
        problems: receives the error if the file of ``--export`` cannot be written.

    Raises:
        GraphError: an option of the command line needs ``fit`` or a model.
    """
    files: list[str] = []
    if options.export is not None:
        if model is None:
            raise GraphError(
                f"{program.name} did not train a model whose weights --export could write.",
                hint="Call fit(), or name the model in @pg.function(model).",
            )
        with problems.kept():
            export(model, options.export)
            files.append(written(options.export))
    unused = [name for name in _ONLY_FIT_USES if getattr(options, name)]
    if unused:
        names = ", ".join("--" + name.replace("_", "-") for name in unused)
        raise GraphError(
            f"{program.name} did not call fit(), so {names} had no effect.",
            hint="Train with fit(), or leave the option out.",
        )
    if options.json:
        result = {"example": program.stem, "seed": options.seed, "seconds": round(seconds, 3)}
        print(json.dumps(result), flush=True)
        return
    print(f"{program.stem} finished in {seconds:.1f} s, without fit()")
    for line in files:
        print(line)
