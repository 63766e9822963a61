"""The page's view of the histograms of a network in training."""

from __future__ import annotations

import time
from typing import Any, Literal, TypedDict

import numpy as np

from playgrad.inspection.histories import HistogramHistory
from playgrad.inspection.unseen_networks import UnseenNetworkError
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.workspace import Workspace

MOST_LAYERS = 24
Reason = Literal["untrained", "data", "large", "restored"]


class HistogramSeriesForm(TypedDict):
    """`counts`: uint32, least byte first, for each step and bin, from -range to range; `sizes`:
    mean magnitudes; `spreads`: standard deviations; `strays`: how many values are NaN or infinite.
    """

    kind: Literal["weights", "gradients", "activations"]
    steps: list[int]
    range: float
    counts: bytes
    sizes: list[float | None]
    spreads: list[float | None]
    strays: list[int]


class LayerHistograms(TypedDict):
    """`ratios`: for each step, the norm of the weights' change in the next step over their norm."""

    name: str
    series: list[HistogramSeriesForm]
    ratios: list[float | None]


class HistogramView(TypedDict):
    """`reason`: why there is nothing; `left_out`: the number of further layers; `pending`: the
    number of steps that the next answers will add."""

    reason: Reason | None
    steps: list[int]
    layers: list[LayerHistograms]
    left_out: int
    pending: int
    seconds: float


@question("histograms", "workspace")
def histogram_view(workspace: Workspace) -> HistogramView:
    """Return the histograms that were recorded, or the reason why there are none. For some seconds
    after each question, more is recorded."""
    began = time.perf_counter()
    recorder, model = workspace.histograms, workspace.shown()
    reason: Reason | None = None
    history = HistogramHistory()
    if isinstance(model, RestoredModel):
        reason = "restored"
    else:
        try:
            history = recorder.look(model)
        except UnseenNetworkError as error:
            reason = error.reason
    names = history.layers
    return {
        "reason": reason,
        "steps": history.steps,
        "layers": [_layer(history, name) for name in names[:MOST_LAYERS]],
        "left_out": max(0, len(names) - MOST_LAYERS),
        "pending": 0 if reason else len(recorder.snapshots),
        "seconds": time.perf_counter() - began,
    }


def _layer(history: HistogramHistory, name: str) -> LayerHistograms:
    series: list[HistogramSeriesForm] = []
    for kind in history.kinds(name):
        each = history.series(name, kind)
        series.append(
            {
                "kind": kind,
                "steps": each.steps,
                "range": float(each.edges[-1]),
                "counts": each.counts.astype("<u4").tobytes(),
                "sizes": _numbers(each.sizes),
                "spreads": _numbers(each.spreads),
                "strays": each.strays,
            }
        )
    return {"name": name, "series": series, "ratios": _numbers(history.ratios(name))}


def _numbers(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
