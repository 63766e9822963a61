"""The arguments of ``fit``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from playgrad.errors import DataError, GraphError
from playgrad.runtime.options import get_options
from playgrad.training.batch_source import is_stream
from playgrad.training.callbacks import Callback
from playgrad.training.data_checks import check_count
from playgrad.training.sample_weights import check_validation_split

BATCH = 32
"""Samples of a batch if the user names no number."""


@dataclass(frozen=True)
class Settings:
    """The arguments of ``fit``.

    Attributes:
        steps: exactly this many steps, whatever ``epochs`` says.
        resume: whether to continue the training in the file that the model was loaded from.
        drop_remainder: whether samples that do not fill a last batch are left out of an epoch.
    """

    batch_size: int | None
    epochs: int
    verbose: int
    callbacks: tuple[Callback, ...]
    validation_data: Any
    shuffle: bool
    seed: int | None
    validation_split: float = 0.0
    class_weight: Mapping[int, float] | None = None
    sample_weight: Any = None
    steps_per_epoch: int | None = None
    validation_steps: int | None = None
    steps: int | None = None
    initial_epoch: int = 0
    resume: bool = False
    drop_remainder: bool = False

    @property
    def rounds(self) -> int:
        """The number of epochs to train."""
        return self.epochs - self.initial_epoch

    def facts(self) -> dict[str, Any]:
        """Return the settings that the order of samples and the epochs depend on, as plain data."""
        names = (
            "shuffle", "seed", "steps_per_epoch", "initial_epoch", "validation_split",
            "drop_remainder",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def overridden(self) -> Settings:
        """Return the settings with the overrides of the host's options."""
        options = get_options()
        names = ("batch_size", "epochs", "verbose", "steps")
        overrides = {name: getattr(options, name) for name in names}
        if options.epochs is not None:  # the number to train
            overrides["epochs"] = options.epochs + self.initial_epoch
        return replace(self, **{name: v for name, v in overrides.items() if v is not None})

    def check(self) -> None:
        """Check what can be checked without the model.

        Raises:
            DataError: a number is not a whole number of at least 1, ``initial_epoch`` is not less
                than ``epochs``, the validation data is not a
                pair, or there are two kinds of it.
            GraphError: a callback is not a `Callback`.
        """
        for name in ("batch_size", "epochs", "steps", "steps_per_epoch", "validation_steps"):
            value = getattr(self, name)
            if value is not None:
                check_count(value, name)
        first = self.initial_epoch
        if not (isinstance(first, int) and 0 <= first < self.epochs):
            raise DataError(
                "initial_epoch must be a whole number from 0 to less than epochs "
                f"({self.epochs}), got {first!r}."
            )
        parts = self.validation_data
        is_tuple = isinstance(parts, (tuple, list)) and len(parts) in (2, 3)
        if not (parts is None or is_tuple or is_stream(parts)):
            raise DataError(
                "validation_data must be a pair (x, y), (x, y, sample_weight), or a Dataset."
            )
        if self.validation_steps is not None and not is_stream(parts):
            raise DataError("validation_steps is for validation_data that is a Dataset.")
        check_validation_split(self.validation_split, parts is not None)
        for callback in self.callbacks:
            if not isinstance(callback, Callback):
                raise GraphError(f"not a Callback: {callback!r:.60}.")
