"""Models from files of projects, with the state of their training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, TypeVar

from playgrad.errors import CheckpointError, PlaygradError
from playgrad.graph.source import warn_user
from playgrad.io.file_kinds import PROJECT, kind_of
from playgrad.io.weights import named_after, path_or_bytes, read_file
from playgrad.models.loading import model_from_json
from playgrad.models.model import Model
from playgrad.models.trainable import ARCHITECTURE
from playgrad.ops.state import RANDOM_STEP, random_step
from playgrad.runtime.options import get_options, options_set
from playgrad.training.checkpoints.compile_settings import compile_arguments
from playgrad.training.checkpoints.project_file import decode_project
from playgrad.training.checkpoints.record import Checkpoint
from playgrad.training.checkpoints.resume import load_state

T = TypeVar("T")
_OF_DAMAGE = (AssertionError, AttributeError, LookupError, TypeError, ValueError, OverflowError)
"""Errors that data of another form than the expected one raises."""


def load(file: str | Path | BinaryIO | bytes, device: str = "auto") -> Model:
    """Return the model in a file of `Model.save`, or of a project of the page.

    It has its weights, and is compiled with the optimizer and its state, the losses, metrics and
    strategy that it was trained with. ``model.fit(..., resume=True)`` continues its training as
    if it had never been interrupted; without ``resume``, a new training begins with this state.
    Nothing in the file is executed, the program least of all. If the program defines a loss or an
    optimizer itself, the model is not compiled: call ``compile`` before ``fit(resume=True)``.

    Args:
        file: a path, an open binary file, or the bytes of a file.
        device: "auto", "cpu" or "gpu", as for `Model.compile`.

    Raises:
        CheckpointError: the file cannot be read, is damaged, is of a later version, has no model,
            or one of a class without ``call``.
        GraphError: it has a layer that the program defines.
    """
    source = path_or_bytes(file)
    content = source if isinstance(source, bytes) else read_file(source)
    with named_after(source):
        return _loaded(content, device)


def _loaded(content: bytes, device: str) -> Model:
    kind = kind_of(content)
    if kind not in (None, PROJECT):
        assert kind is not None
        raise CheckpointError(f"the file is {kind.name}, not a playgrad project.", hint=kind.use)
    return model_of(decode_project(content), device)


def model_of(checkpoint: Checkpoint, device: str = "auto") -> Model:
    """Return the model of a checkpoint, as `load` does."""
    record = checkpoint.model
    text = record.file_metadata.get(ARCHITECTURE)
    if text is None and not record.outputs:
        raise CheckpointError(
            "the model is of a class without a method call, whose training is in the program, so "
            "the file has its weights, but no network.",
            hint="Create the model and build it as the program does, then call "
            "model.load_weights(file).",
        )
    if text is None:
        raise CheckpointError(
            "the file does not describe the layers, because functions of the program are among "
            "their arguments.",
            hint="Build the model, then call model.load_weights(file).",
        )
    with options_set(replace(get_options(), seed=record.seed)):  # of the graph of a Sequential
        model = model_from_json(text)
    try:
        _restore(model, checkpoint, device)
    except BaseException as error:
        model.close()
        if not isinstance(error, _OF_DAMAGE) or isinstance(error, PlaygradError):
            raise
        what = f"{type(error).__name__} {str(error)[:200]}"
        raise CheckpointError(f"the file is damaged: {what}.") from None
    return model


def _restore(model: Model, checkpoint: Checkpoint, device: str) -> None:
    if checkpoint.model.compiled is None:
        model.set_device(device)
        _warn(checkpoint.model.not_compiled)
    else:
        model.compile(**compile_arguments(checkpoint.model.compiled), device=device)
        checkpoint = _with_optimizer(model, checkpoint)
    state = checkpoint.state
    missing = next((v.node.name for v in model.variables if v.node.name not in state), None)
    if missing is not None:
        raise CheckpointError(f"the file is damaged: it lacks the values of '{missing}'.")
    if RANDOM_STEP in state:
        random_step(model.graph)
    load_state(model, state)
    model.take_loaded(checkpoint)


def _warn(reason: str) -> None:
    """Warn that the model is not compiled, although it was when it was saved."""
    if reason:
        warn_user(
            f"the model is loaded, but not compiled: {reason} Call compile() with the arguments of "
            "the program before fit(resume=True)."
        )


def _with_optimizer(model: Model, checkpoint: Checkpoint) -> Checkpoint:
    """Create the state of the optimizer; return the checkpoint with the names that it has here.

    A graph numbers its optimizers: the second Adam of a program is the first of a loaded model.
    """
    record = checkpoint.model
    assert model.optimizer is not None
    created = model.optimizer.add_state(model.graph, record.optimizer or {})
    names = {old: variable.node.name for old, variable in created.items()}

    def renamed(values: Mapping[str, T]) -> dict[str, T]:
        return {names.get(name, name): value for name, value in values.items()}

    return replace(
        checkpoint,
        states=[renamed(checkpoint.state)],
        models=[replace(record, state=0, variables=renamed(record.variables))],
        fits=[replace(fit, model=0) for fit in checkpoint.fits if fit.model == checkpoint.current],
        current=0,
    )
