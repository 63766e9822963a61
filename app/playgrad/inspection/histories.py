"""Histories of a network in training: histograms and update ratios of its layers, by step.

A history has at most `MOST_RECORDS` records, spread evenly over the steps: when there are more, the
one is dropped whose neighbours are closest to each other. The first and the last one stay.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from playgrad.dtypes import dtype
from playgrad.inspection.bins import BINS, Binned, binned, common_exponent
from playgrad.inspection.probe import ProbeResults
from playgrad.networks.network import Network
from playgrad.nn.layer import Layer
from playgrad.ops.state import Variable

Array = np.ndarray[Any, Any]
Kind = Literal["weights", "gradients", "activations"]
KINDS: tuple[Kind, ...] = ("weights", "gradients", "activations")
MOST_RECORDS = 60


@dataclass
class HistogramRecord:
    """The layers at one step.

    Attributes:
        step: the number of steps that the optimizer had done.
        histograms: by layer and kind.
        ratios: the update ratio of each layer with weights, of the step after the record; without
            the unknown ones.
    """

    step: int
    histograms: dict[tuple[str, Kind], Binned]
    ratios: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class HistogramSeries:
    """The histograms of one kind of values of a layer, over one range.

    Attributes:
        steps: of the records that have one.
        edges: (BINS + 1,), the same for all records.
        counts: (records, BINS).
        sizes: mean magnitudes of the values that are finite; NaN without any.
        spreads: their standard deviations; NaN without any.
        strays: the numbers of values that are NaN or infinite.
    """

    steps: list[int]
    edges: Array
    counts: Array
    sizes: Array
    spreads: Array
    strays: list[int]


class HistogramHistory:
    """The records of one network.

    Attributes:
        records: in the order of their steps.
    """

    def __init__(self) -> None:
        self.records: list[HistogramRecord] = []

    def __repr__(self) -> str:
        return f"HistogramHistory({len(self.records)} records, layers {self.layers})"

    def add(self, record: HistogramRecord) -> None:
        """Add a record of a later step, or replace the record of the same step."""
        if self.records and self.records[-1].step >= record.step:
            self.records = [each for each in self.records if each.step < record.step]
        self.insert(record)

    def insert(self, record: HistogramRecord) -> None:
        """Add a record of a step that has none, among the others."""
        bisect.insort(self.records, record, key=lambda each: each.step)
        if len(self.records) > MOST_RECORDS:
            steps = [each.step for each in self.records]
            gaps = [after - before for before, after in zip(steps, steps[2:], strict=False)]
            del self.records[1 + int(np.argmin(gaps))]

    @property
    def steps(self) -> list[int]:
        """The steps of the records."""
        return [record.step for record in self.records]

    @property
    def layers(self) -> list[str]:
        """The names of the layers that have histograms, in their order."""
        names = [name for record in self.records for name, _ in record.histograms]
        return list(dict.fromkeys(names))

    def kinds(self, layer: str) -> list[Kind]:
        """Return the kinds of histograms that a layer has."""
        known = {key for record in self.records for key in record.histograms}
        return [kind for kind in KINDS if (layer, kind) in known]

    def series(self, layer: str, kind: Kind) -> HistogramSeries:
        """Return the histograms of a layer over the widest of their ranges.

        Args:
            kind: "weights", "gradients" or "activations".

        Raises:
            KeyError: there are none.
        """
        key = (layer, kind)
        records = [record for record in self.records if key in record.histograms]
        if not records:
            raise KeyError(f"no {kind} of a layer {layer!r} were recorded; layers: {self.layers}")
        histograms = [record.histograms[key] for record in records]
        exponent = common_exponent(histograms)
        return HistogramSeries(
            [record.step for record in records],
            np.linspace(-(2.0**exponent), 2.0**exponent, BINS + 1),
            np.stack([each.widened(exponent) for each in histograms]),
            np.array([np.nan if each.size is None else each.size for each in histograms]),
            np.array([np.nan if each.spread is None else each.spread for each in histograms]),
            [each.strays for each in histograms],
        )

    def ratios(self, layer: str) -> Array:
        """Return the update ratio of a layer for each record: the norm of the change of its weights
        in the step after the record, over the norm of the weights; NaN where it is not known."""
        return np.array([record.ratios.get(layer, np.nan) for record in self.records])


def shown_weights(layer: Layer) -> list[Variable]:
    """Return the variables that count as the weights of a layer: its kernels, which have at least
    two dimensions, or else the vectors that it trains. Biases would only blur the histogram."""
    floating = [v for v in layer.variables.values() if dtype(v.dtype).floating]
    kernels = [v for v in floating if len(v.shape) > 1]
    return kernels or [v for v in floating if v.trainable]


def record_of(
    network: Network, step: int, weights: dict[Variable, Array], results: ProbeResults
) -> HistogramRecord:
    """Return the histograms of the layers of ``network``."""
    histograms: dict[tuple[str, Kind], Binned] = {}
    for name, layer in network.named_layers():
        variables = shown_weights(layer)
        gradients = [results.gradients[v] for v in variables if v in results.gradients]
        activation = results.activations.get(layer)
        if variables:
            histograms[name, "weights"] = binned([weights[v] for v in variables])
        if gradients:
            histograms[name, "gradients"] = binned(gradients)
        if activation is not None and activation.dtype.kind == "f" and activation.size:
            histograms[name, "activations"] = binned([activation])
    return HistogramRecord(step, histograms)


def update_ratios(
    network: Network,
    before: dict[Variable, Array],
    after: dict[Variable, Array],
    steps: int = 1,
) -> dict[str, float]:
    """Return, for each layer with weights that are not all 0, the norm of their change for each of
    ``steps`` steps over the norm that they had. Ratios that are not finite are left out."""
    ratios = {}
    for name, layer in network.named_layers():
        variables = shown_weights(layer)
        with np.errstate(all="ignore"):
            norm = _norm([before[v] for v in variables])
            change = _norm([after[v].astype(np.float64) - before[v] for v in variables])
            if norm and np.isfinite(norm) and np.isfinite(change):
                ratios[name] = change / norm / steps
    return ratios


def _norm(arrays: Sequence[Array]) -> float:
    return float(np.sqrt(sum(float(np.square(a.astype(np.float64)).sum()) for a in arrays)))
