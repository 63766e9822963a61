"""The files of other libraries: a seam, as their readers and writers are above networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from playgrad.graph.spec import TensorSpec
from playgrad.nn.layer import Layer

Array = np.ndarray[Any, Any]


class Formats(Protocol):
    """Reads and writes files of other libraries for networks, as `playgrad.interchange.formats`."""

    def export(
        self, model: Any, path: str | Path, name: str | None = None, opset: int | None = None
    ) -> None: ...

    def keras_weights_bytes(
        self, architecture: Mapping[str, Any], weights: Mapping[str, Array]
    ) -> bytes: ...

    def weights_from_keras(
        self,
        content: Any,
        is_model: bool,
        layers: Mapping[str, Layer],
        layer_graph: Callable[[], Mapping[str, Any]],
        specs: Mapping[str, TensorSpec],
    ) -> dict[str, Array]: ...

    def weights_of_file(self, model: Any, file: Path | bytes) -> dict[str, Array]: ...


_providers: list[Callable[[], Formats]] = []


def provide_formats(provider: Callable[[], Formats]) -> None:
    """Let networks use the result of ``provider``. The package itself calls this once."""
    _providers[:] = [provider]


def formats() -> Formats:
    """Return the formats, which are imported when they are first needed."""
    return _providers[0]()
