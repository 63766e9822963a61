"""Checkpoints: the state of the models that a run has trained, as a file that needs no program.

The file is in the safetensors format. Its tensors are the values of variables, ``states/0/<name>``,
and the losses and metrics of each step, ``fits/0/steps``. Its metadata describe, as JSON, the
models with their forward graphs, and the fits.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self

import numpy as np

from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import CheckpointError
from playgrad.graph.graph import FLOAT32
from playgrad.io import safetensors
from playgrad.json_text import parse_json
from playgrad.training.callbacks import History

Array = np.ndarray[Any, Any]
State = dict[str, Array]
"""Values of variables by name."""
VERSION = 2
"""The version that is written; earlier ones are read, too."""
_KEY = "playgrad-checkpoint"
_SUM = "playgrad-crc32"
_TENSOR = "$tensor"


@dataclass
class Weight:
    """A weight as it is named in files: the variables that it is made of, along ``axis``."""

    variables: list[str]
    axis: int
    shape: list[int]
    dtype: str


@dataclass
class ModelRecord:
    """A trained model.

    Attributes:
        state: the number of the state with its variables; models of one graph share it.
        variables: the variables that are needed to train on, with their shapes.
        weights: by their names in files.
        graph: the graph of a prediction, as `graph_to_json` writes it.
        inputs, outputs: names of tensors of ``graph``.
        input_shape: the shape of the first input, with None for the batch.
        input_dtype: the dtype of the first input.
        gives_logits: whether the first output is scores before softmax.
        parameters: the number of weights.
        learning_rate: the rate with which the program creates the optimizer. The present one is
            among the variables, and can differ.
        file_metadata: the description of it in files of its weights.
        seed: the seed of its graph.
        compiled: the arguments of ``compile``, as `compile_settings` returns them; None if files
            cannot have them.
        not_compiled: why they cannot.
        optimizer: the names of the optimizer's variables, as `Optimizer.state_names` returns them;
            None if there is no optimizer.
        precision: in which it trained last, or predicts: "float32" or "mixed".
    """

    state: int
    variables: dict[str, list[int]]
    weights: dict[str, Weight]
    graph: dict[str, Any]
    inputs: list[str]
    outputs: list[str]
    input_shape: list[int | None]
    input_dtype: str
    gives_logits: bool
    parameters: int
    learning_rate: float | None = None
    file_metadata: dict[str, str] = field(default_factory=dict)
    seed: int | None = None
    compiled: dict[str, Any] | None = None
    not_compiled: str = "the file is of a version that did not keep them."
    optimizer: dict[str, list[str]] | None = None
    precision: str = FLOAT32

    @property
    def size(self) -> int:
        """About the bytes of the values of `variables`."""
        return sum(4 * math.prod(shape) for shape in self.variables.values())

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Return the record in JSON data; earlier files described the input by a number."""
        model = dict(data)
        maximum = model.pop("input_maximum", None)
        shape = tuple(model["input_shape"][1:])
        if maximum is not None and maximum != 0 and None not in shape:
            described = InputDescription(shape, (0.0,), (float(maximum),))
            metadata = {KEY: described.to_json(), **model.get("file_metadata", {})}
            model["file_metadata"] = metadata
        weights = {name: Weight(**weight) for name, weight in model["weights"].items()}
        return cls(**{**model, "weights": weights})


LAST_BATCH = "last_batch"
"""The name of the number of samples in the last batch of an epoch, in `FitRecord.data`."""
REPLACED = "replaced"
"""The outcome of a fit that was interrupted, after which a callback changed the weights."""


@dataclass
class FitRecord:
    """One ``fit`` in the order of the program.

    Attributes:
        model: the number of its model.
        outcome: "running" (also if it was stopped), "completed", "failed" or `REPLACED`.
        data: the facts that the order of samples depends on; a resumed fit must have the same.
        step, total_steps: the steps done, of how many; 0 if that is not known.
        epochs_begun: the epochs whose ``on_epoch_begin`` was called.
        epochs: the number of epochs.
        stop: whether training is to end after this epoch.
        seconds, train_seconds: as in `History`.
        names: the columns of ``steps``.
        steps: loss and metrics of each step done, float32 (steps, columns).
        history: as in `History`: the means of each epoch.
        parallel: as in `History`.
        step_state: the state of the strategy's `TrainStep`.
        callbacks: the state of each callback.
        error: type and message of the error with which it failed.
        settings: arguments of ``fit`` on which the order of samples and the epochs depend.
    """

    model: int
    outcome: str
    data: dict[str, int]
    step: int
    total_steps: int
    epochs_begun: int
    epochs: int
    stop: bool
    seconds: float
    train_seconds: float
    names: list[str]
    steps: Array
    history: dict[str, list[float]]
    parallel: dict[str, Any] = field(default_factory=dict)
    step_state: dict[str, int] = field(default_factory=dict)
    callbacks: list[dict[str, Any]] = field(default_factory=list)
    error: list[str] | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def epochs_ended(self) -> int:
        return len(self.history.get("loss", ()))

    def as_history(self) -> History:
        """Return the losses and metrics of the fit."""
        history = History(self.names)
        history.restore(self.steps, self.history, self.seconds, self.train_seconds)
        first = self.settings.get("initial_epoch", 0)
        history.epoch = [first + epoch for epoch in history.epoch]
        history.parallel = self.parallel
        return history


@dataclass
class Checkpoint:
    """The models that a run has trained, and their fits: the record of a checkpoint.

    Attributes:
        states: by number. None for one that was left out because the file would be too large.
        models: in the order in which they were first fitted.
        fits: in the order in which they began; there may be none in what `Model.save` wrote.
        current: the number of the model that was fitted last.
    """

    states: list[State | None]
    models: list[ModelRecord]
    fits: list[FitRecord]
    current: int

    @property
    def model(self) -> ModelRecord:
        """The model that was fitted last."""
        return self.models[self.current]

    @property
    def state(self) -> State:
        """The values of the variables of `model`."""
        state = self.states[self.model.state]
        assert state is not None  # never left out
        return state

    def named_weights(self) -> dict[str, Array]:
        """Return the weights of `model` by name, as in files."""
        state = self.state
        return {
            name: np.concatenate([state[variable] for variable in weight.variables], weight.axis)
            if len(weight.variables) > 1
            else state[weight.variables[0]].copy()
            for name, weight in self.model.weights.items()
        }

    def info(self) -> dict[str, Any]:
        """Return the page's description of the checkpoint: ``CheckpointInfo``."""
        fit = self.fits[-1] if self.fits else None
        return {
            "step": fit.step if fit else 0,
            "total_steps": fit.total_steps if fit else 0,
            "epoch": max(1, min(fit.epochs_ended + 1, fit.epochs)) if fit else 1,
            "epochs": fit.epochs if fit else 0,
            "parameters": self.model.parameters,
            "finished": fit is not None and fit.outcome == "completed",
        }

    def to_json(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the record as JSON data, and its arrays by the names that the data has for them.

        Records within it are left to the encoder, see `_fields`.
        """
        tensors = {
            f"states/{number}/{name}": array
            for number, state in enumerate(self.states)
            for name, array in (state or {}).items()
        }
        about = {
            "version": VERSION,
            "current": self.current,
            "states": [state is not None for state in self.states],
            "models": self.models,
            "fits": [_plain(fit, f"fits/{i}", tensors) for i, fit in enumerate(self.fits)],
        }
        return about, tensors

    @classmethod
    def from_json(cls, about: dict[str, Any], tensors: Mapping[str, Array]) -> Self:
        """Return the record from the results of `to_json`.

        Raises:
            CheckpointError: its parts do not fit together. Damage of other kinds raises the errors
                of reading such data.
        """
        states: list[State | None] = [{} if has_values else None for has_values in about["states"]]
        for name, array in tensors.items():
            kind, number, variable = name.split("/", 2)
            state = states[int(number)] if kind == "states" else None
            if state is not None:
                state[variable] = array
        checkpoint = cls(
            states,
            [ModelRecord.from_json(model) for model in about["models"]],
            [FitRecord(**_with_arrays(fit, tensors)) for fit in about["fits"]],
            int(about["current"]),
        )
        checkpoint._check()
        return checkpoint

    def encode(self) -> bytes:
        """Return the checkpoint as the bytes of a file."""
        about, tensors = self.to_json()
        text = json.dumps(about, separators=(",", ":"), default=_fields)
        return safetensors.dump(tensors, {_SUM: _checksum(text, tensors), _KEY: text})

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Return the checkpoint in the bytes of a file.

        Raises:
            CheckpointError: the file is damaged, is not a checkpoint, or one of another version.
        """
        try:
            tensors = safetensors.parse(content)
            metadata = safetensors.metadata(content)
        except CheckpointError as error:
            raise CheckpointError(f"the checkpoint is damaged: {error.message}") from None
        text = metadata.get(_KEY)
        if text is None:
            raise CheckpointError("the file is not a checkpoint of a training.")
        if metadata.get(_SUM) != _checksum(text, tensors):
            raise CheckpointError("the checkpoint is damaged: its checksum is wrong.")
        try:
            about = parse_json(text)
            version = int(about["version"])
            if version > VERSION:
                raise CheckpointError(
                    f"the checkpoint is of version {version}, but this playgrad reads versions up "
                    f"to {VERSION}.",
                    hint="Update playgrad, or train from the start.",
                )
            checkpoint = cls.from_json(about, tensors)
            checkpoint.info()  # reads fields that nothing else has read yet
            return checkpoint
        except _DAMAGE as e:
            if isinstance(e, CheckpointError):
                raise
            raise CheckpointError(f"the checkpoint is damaged: {type(e).__name__} {e}.") from None

    def _check(self) -> None:
        """Raise CheckpointError unless the parts fit together."""
        if self.states[self.model.state] is None:
            raise CheckpointError("the checkpoint is damaged: its last model has no values.")
        for model in self.models:
            state = self.states[model.state]
            for name, shape in model.variables.items():
                if state is not None and (name not in state or list(state[name].shape) != shape):
                    raise CheckpointError(f"the checkpoint is damaged: it lacks '{name}'.")
        for fit in self.fits:
            is_whole = fit.steps.shape == (fit.step, len(fit.names))
            if not is_whole or not 0 <= fit.model < len(self.models):
                raise CheckpointError("the checkpoint is damaged: its history is incomplete.")


_DAMAGE = (
    KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError,
)  # fmt: skip


def _checksum(text: str, tensors: Mapping[str, Array]) -> str:
    """Return a checksum that shows damage in storage."""
    checksum = zlib.crc32(text.encode())
    for name, array in tensors.items():
        kind = f"{name} {array.dtype.name} {array.shape}"
        checksum = zlib.crc32(kind.encode(), checksum)
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        checksum = zlib.crc32(data, checksum)
    return str(checksum)


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields of a record by name; records within it stay records."""
    return {item.name: getattr(record, item.name) for item in fields(record)}


def _plain(value: Any, path: str, tensors: dict[str, Array]) -> Any:
    """Return ``value`` as JSON data; its arrays become ``tensors``."""
    if is_dataclass(value):
        value = _fields(value)
    if isinstance(value, np.ndarray):
        tensors[path] = value
        return {_TENSOR: path}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{path}/{k}", tensors) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, f"{path}/{i}", tensors) for i, v in enumerate(value)]
    return value


def _with_arrays(value: Any, tensors: Mapping[str, Array]) -> Any:
    """Return JSON data with its arrays in place of their names."""
    if isinstance(value, dict):
        if _TENSOR in value:
            return tensors[value[_TENSOR]]
        return {key: _with_arrays(item, tensors) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_arrays(item, tensors) for item in value]
    return value
