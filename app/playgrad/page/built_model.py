"""A model that a program has built or loaded and not trained, for the views of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from playgrad.data.excerpt import Excerpt, excerpt_of
from playgrad.errors import PlaygradError
from playgrad.models.trainable import TrainableNetwork
from playgrad.page.shown_model import LiveModel
from playgrad.training.prepare_data import prepare_data, prepare_inputs

Array = np.ndarray[Any, Any]
_TARGETS = ("y", "label", "target", "class")


class BuiltModel:
    """A model with the data of its program that it could take. Otherwise it is the model.

    Attributes:
        test_excerpt: samples, with targets (samples, 0) if the program has none; None without data.
        train_excerpt: None: it has not been trained.
        tested: True for samples that the program calls a test; None for others.
    """

    train_excerpt = None

    def __init__(
        self, model: TrainableNetwork, test_excerpt: Excerpt | None, tested: bool | None
    ) -> None:
        self._model = model
        self.test_excerpt = test_excerpt
        self.tested = tested

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def built_model(namespace: Mapping[str, Any]) -> LiveModel | None:
    """Return the last model with weights among the names of a program; None if there is none."""
    networks = [
        v for v in namespace.values() if isinstance(v, TrainableNetwork) and v.built and v.layers
    ]
    if not networks:
        return None
    model = networks[-1]
    if len(model.inputs) != 1:
        return _shown(model, None, None)
    arrays = {n: v for n, v in namespace.items() if isinstance(v, np.ndarray) and v.dtype != object}
    fitting = [name for name, array in arrays.items() if _fits(model, array)]
    if not fitting:
        return _shown(model, None, None)
    name = next((name for name in fitting if "test" in name), fitting[0])
    (x,) = prepare_inputs(model, arrays[name], "x")
    excerpt = excerpt_of(x, _targets(model, name, x, arrays))
    return _shown(model, excerpt, True if "test" in name else None)


def _shown(model: TrainableNetwork, excerpt: Excerpt | None, tested: bool | None) -> LiveModel:
    return cast(LiveModel, BuiltModel(model, excerpt, tested))  # it passes everything on


def _fits(model: TrainableNetwork, array: Array) -> bool:
    """Return whether ``array`` holds samples that the model takes."""
    if array.dtype.kind not in "fiub" or not array.size:
        return False
    try:
        prepare_inputs(model, array, "x")
    except PlaygradError:
        return False
    return True


def _targets(model: TrainableNetwork, name: str, x: Array, arrays: Mapping[str, Array]) -> Array:
    """Return the array that is called targets and has one for each sample, or (samples, 0).

    Of several, such as the truth and a prediction, that with the ending of ``name`` is meant, or
    the first.
    """
    fitting = {}
    for other, array in arrays.items():
        if other != name and other.startswith(_TARGETS) and array.shape[:1] == (len(x),):
            checked = _checked_targets(model, x, array)
            if checked is not None:
                fitting[other] = checked
    ending = name.partition("_")[2]
    alike = [y for other, y in fitting.items() if other.partition("_")[2] == ending]
    return next(iter([*alike, *fitting.values()]), np.zeros((len(x), 0), np.float32))


def _checked_targets(model: TrainableNetwork, x: Array, y: Array) -> Array | None:
    """Return ``y`` as targets for the loss of the model, or as numbers if it has no loss."""
    if not model.is_compiled:
        return y if y.dtype.kind in "fiub" and y.shape in ((len(x),), (len(x), 1)) else None
    try:
        return prepare_data(model.recipe, x, y, "")[1][0]
    except PlaygradError:
        return None
