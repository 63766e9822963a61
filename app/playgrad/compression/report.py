"""The report of a compressed network: bytes, arithmetic, accuracy, and errors layer by layer."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from playgrad.compression.arithmetic import multiply_adds
from playgrad.compression.latency import Latency
from playgrad.errors import DataError, GraphError
from playgrad.networks.network import Network
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]
WORST = 3
"""The layers that the text of a report names as the worst ones."""


class LayerBytes(NamedTuple):
    """The bytes of a layer's weights in a file, as they are and compressed by gzip."""

    raw: int
    gzip: int


class Note(NamedTuple):
    """The form of a layer's weights, such as "int8" or "float32"; and why, if that needs a word."""

    form: str
    reason: str = ""


@dataclass(frozen=True)
class LayerReport:
    """A row of a report.

    Attributes:
        name: of the layer in the compressed network, or, if it is no longer there, in the original.
        kind: the kind of the layer.
        form, reason: see `Note`.
        before, after: the bytes of its weights; of 0 where a network has no such layer.
        multiply_adds: for one sample, in the compressed network.
        signal_to_noise: of its output against that of the original, in decibels: infinite if they
            are equal; None if it has not been measured.
    """

    name: str
    kind: str
    form: str
    reason: str
    before: LayerBytes
    after: LayerBytes
    multiply_adds: int
    signal_to_noise: float | None = None


@dataclass(frozen=True)
class Comparison:
    """A loss or a metric of both networks on the same samples.

    Attributes:
        data: "test data", or "training data" if the original was trained with these samples.
    """

    metric: str
    before: float
    after: float
    samples: int
    data: str


@dataclass(frozen=True)
class CompressionReport:
    """The costs of a compressed network, and its losses. ``str()`` of it is a table.

    Attributes:
        layers: in the order of the compressed network, and then those that it no longer has.
        comparisons: losses and metrics; empty without data.
        multiply_adds_before: for one sample, in the original.
        latency: the time for one sample; None if it has not been measured.
    """

    layers: tuple[LayerReport, ...]
    comparisons: tuple[Comparison, ...]
    multiply_adds_before: int
    latency: Latency | None = None

    @property
    def before(self) -> LayerBytes:
        """The bytes of all weights of the original."""
        return _sum(layer.before for layer in self.layers)

    @property
    def after(self) -> LayerBytes:
        """The bytes of all weights of the compressed network."""
        return _sum(layer.after for layer in self.layers)

    @property
    def multiply_adds(self) -> int:
        """Multiplications with an addition for one sample, in the compressed network."""
        return sum(layer.multiply_adds for layer in self.layers)

    @property
    def worst_layers(self) -> list[LayerReport]:
        """The layers whose outputs differ from the original's, those that differ most first."""
        measured = [
            layer
            for layer in self.layers
            if layer.signal_to_noise is not None and layer.signal_to_noise < math.inf
        ]
        return sorted(measured, key=lambda layer: layer.signal_to_noise or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data that JSON can hold: infinite ratios are None."""
        data = asdict(self)
        for layer in data["layers"]:
            for key in ("before", "after"):
                layer[key] = layer[key]._asdict()
            if layer["signal_to_noise"] in (math.inf, -math.inf):
                layer["signal_to_noise"] = None
        return {
            **data,
            "before": self.before._asdict(),
            "after": self.after._asdict(),
            "multiply_adds": self.multiply_adds,
            "latency": None if self.latency is None else self.latency._asdict(),
        }

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("layer", "form", "bytes", "gzip", "multiply-adds", "SNR")]
        rows += [_row(layer) for layer in self.layers]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join(
                text.ljust(width) if column < 2 else text.rjust(width)
                for column, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, "", *self._sentences()])

    def _sentences(self) -> Iterable[str]:
        before, after = self.before, self.after
        for what, old, new in (
            ("weights", before.raw, after.raw),
            ("weights, gzip", before.gzip, after.gzip),
        ):
            yield f"{what}: {old:,} to {new:,} bytes{_times(old, new)}"
        yield f"multiply-adds: {self.multiply_adds_before:,} to {self.multiply_adds:,}"
        if self.latency is not None:
            device, old_time, new_time = self.latency
            yield f"milliseconds for one sample on {device}: {old_time:.3g} to {new_time:.3g}"
        for each in self.comparisons:
            yield (
                f"{each.metric} on {each.samples:,} samples of {each.data}: "
                f"{each.before:.4f} to {each.after:.4f}"
            )
        for layer in self.worst_layers[:WORST]:
            yield f"worst: {layer.name}, {_decibels(layer)}"
        for layer in self.layers:
            if layer.reason:
                yield f"{layer.name}: {layer.form}, {layer.reason}"


def stored_bytes(network: Network) -> dict[str, LayerBytes]:
    """Return the bytes of the weights of each layer, each weight in its own dtype."""
    return {name: bytes_of_arrays(arrays) for name, arrays in weights_by_layer(network).items()}


def weights_by_layer(network: Network) -> dict[str, list[Array]]:
    """Return the weights of each layer, by the names of the layers."""
    parts: dict[str, list[Array]] = {name: [] for name, _ in network.named_layers()}
    for name, array in network.named_weights().items():
        layer = max((each for each in parts if name.startswith(f"{each}/")), key=len)
        parts[layer].append(array)
    return parts


def bytes_of_arrays(arrays: Iterable[Array]) -> LayerBytes:
    """Return the bytes of ``arrays``, one after the other."""
    content = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    packed = len(gzip.compress(content, 9, mtime=0)) if content else 0
    return LayerBytes(len(content), packed)


def make_report(
    original: Network,
    small: Network,
    notes: Mapping[str, Note] | None = None,
    ratios: Mapping[str, float] | None = None,
    comparisons: Sequence[Comparison] = (),
    after: Mapping[str, LayerBytes] | None = None,
) -> CompressionReport:
    """Return the report of ``small``, which was made from ``original``.

    Args:
        notes: the form of layers of either network, by name; the dtypes of the weights if None.
        ratios: the signal-to-noise ratios of layers of ``small``, in decibels.
        after: the bytes of the layers of ``small`` as its file holds them; those of `stored_bytes`
            if None.
    """
    notes, ratios = notes or {}, ratios or {}
    before = stored_bytes(original)
    after = stored_bytes(small) if after is None else after
    arithmetic = multiply_adds(small)
    layers, old = dict(small.named_layers()), dict(original.named_layers())
    nothing = LayerBytes(0, 0)
    rows = [
        LayerReport(
            name,
            (layers.get(name) or old[name]).kind,
            notes[name].form if name in notes else _form(layers.get(name)),
            notes[name].reason if name in notes else "",
            before.get(name, nothing),
            after.get(name, nothing),
            arithmetic.get(name, 0),
            ratios.get(name),
        )
        for name in [*layers, *(each for each in old if each not in layers)]
    ]
    total = sum(multiply_adds(original).values())
    return CompressionReport(tuple(rows), tuple(comparisons), total)


def signal_to_noise(signal: Array, received: Array) -> float:
    """Return the ratio of the power of ``signal`` to that of its difference from ``received``, in
    decibels. It is infinite if they are equal."""
    exact = signal.astype(np.float64)
    noise = float(np.sum(np.square(exact - received)))
    power = float(np.sum(np.square(exact)))
    if not noise:
        return math.inf
    return 10 * math.log10(power / noise) if power else -math.inf


def compare(original: Any, small: Any, x: Any, y: Any, is_training_data: bool) -> list[Comparison]:
    """Return losses and metrics of both models on samples.

    Args:
        x, y: samples, as for `Model.evaluate`.
        is_training_data: whether they are called that; samples of ``x`` among those that the
            original remembers of its training are called so in any case.

    Raises:
        GraphError: the original is not compiled, so that it has no loss.
        DataError: the data does not fit.
    """
    if not original.is_compiled:
        raise GraphError(
            f"the model '{original.name}' has no loss and no metrics to compare.",
            source=original.source,
            hint="Call model.compile(optimizer, loss, metrics) before it is compressed.",
        )
    if x is None or y is None:
        raise DataError("data to compare with is a pair (x, y).")
    before = original.evaluate(x, y, return_dict=True)
    after = small.evaluate(x, y, return_dict=True)
    trained = is_training_data or _was_trained_with(original, x)
    data = "training data" if trained else "test data"
    count = len(y[0] if isinstance(y, (list, tuple)) else y)
    return [
        Comparison(name, float(value), float(after[name]), count, data)
        for name, value in before.items()
    ]


def _was_trained_with(model: Any, x: Any) -> bool:
    """Return whether a sample of the excerpt of the last ``fit`` is among ``x``."""
    excerpt = model.train_excerpt
    if excerpt is None or not isinstance(x, np.ndarray):
        return False
    known = np.asarray(excerpt.x)
    if not len(known) or known.shape[1:] != x.shape[1:]:
        return False
    wanted = {sample.astype(x.dtype).tobytes() for sample in known[:16]}
    return any(np.ascontiguousarray(sample).tobytes() in wanted for sample in x)


def first_calls(network: Network) -> dict[str, LayerCall]:
    """Return the first call of each layer, by the names of the layers in ``network``."""
    names = {layer: name for name, layer in network.named_layers()}
    calls: dict[str, LayerCall] = {}
    for item in network.structure.items:
        if isinstance(item, LayerCall):
            calls.setdefault(names[item.layer], item)
    return calls


def _form(layer: Any) -> str:
    if layer is None:
        return "removed"
    dtypes = dict.fromkeys(variable.dtype for variable in layer.variables.values())
    return next((name for name in dtypes if name != "int32"), "")


def _sum(parts: Iterable[LayerBytes]) -> LayerBytes:
    each = list(parts)
    return LayerBytes(sum(part.raw for part in each), sum(part.gzip for part in each))


def _times(old: int, new: int) -> str:
    if not old or not new or old == new:
        return ""
    ratio = max(old / new, new / old)
    return f", {ratio:.1f} times {'smaller' if new < old else 'larger'}"


def _decibels(layer: LayerReport) -> str:
    ratio = layer.signal_to_noise
    return "" if ratio is None else "exact" if ratio == math.inf else f"{ratio:.1f} dB"


def _row(layer: LayerReport) -> tuple[str, ...]:
    counts = (layer.after.raw, layer.after.gzip, layer.multiply_adds)
    return (layer.name, layer.form, *(f"{n:,}" for n in counts), _decibels(layer))
