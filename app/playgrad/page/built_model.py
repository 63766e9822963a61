"""A model that a program has built or loaded and not trained, to be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt, excerpt_of
from playgrad.models.network import Network

Array = np.ndarray[Any, Any]
_TARGETS = ("y", "label", "target", "class")


class BuiltModel:
    """A model with the data of its program that it could take. Otherwise it is the model.

    Attributes:
        test_excerpt: samples, with targets (samples, 0) if the program has none; None without data.
        train_excerpt: None: it has not been trained.
    """

    train_excerpt = None

    def __init__(self, model: Network, test_excerpt: Excerpt | None) -> None:
        self._model = model
        self.test_excerpt = test_excerpt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def built_model(namespace: Mapping[str, Any]) -> BuiltModel | None:
    """Return the last model with weights among the names of a program; None if there is none."""
    networks = [v for v in namespace.values() if isinstance(v, Network) and v.built and v.layers]
    if not networks:
        return None
    model = networks[-1]
    return BuiltModel(model, _data_for(model, namespace) if len(model.inputs) == 1 else None)


def _data_for(model: Network, namespace: Mapping[str, Any]) -> Excerpt | None:
    """Return arrays whose samples have the shape of the input; those of a test are preferred."""
    arrays = {n: v for n, v in namespace.items() if isinstance(v, np.ndarray) and v.dtype != object}
    shape = model.input_shape[1:]
    fitting = [name for name, array in arrays.items() if _fits(array, shape)]
    if not fitting:
        return None
    name = next((name for name in fitting if "test" in name), fitting[0])
    x = arrays[name]
    targets = [
        array
        for other, array in arrays.items()
        if other != name and other.startswith(_TARGETS) and array.shape in ((len(x),), (len(x), 1))
    ]
    y = targets[-1] if targets else np.zeros((len(x), 0), np.float32)
    return excerpt_of(x, y)


def _fits(array: Array, shape: tuple[int | None, ...]) -> bool:
    if array.dtype.kind not in "fiub" or array.ndim != len(shape) + 1 or not len(array):
        return False
    return all(size in (None, given) for given, size in zip(array.shape[1:], shape, strict=True))
