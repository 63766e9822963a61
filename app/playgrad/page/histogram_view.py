"""The page's view of the histograms of a network in training."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from playgrad.inspection.histogram_recorder import HistogramRecorder
from playgrad.inspection.histories import HistogramHistory
from playgrad.inspection.unseen_networks import UnseenNetworkError
from playgrad.page.restored_model import RestoredModel

MOST_LAYERS = 24


def histogram_view(recorder: HistogramRecorder, model: Any) -> dict[str, Any]:
    """Return the histograms that were recorded, or the reason why there are none."""
    began = time.perf_counter()
    reason, history = None, HistogramHistory()
    if isinstance(model, RestoredModel):
        reason = "restored"
    else:
        try:
            history = recorder.look(model)
        except UnseenNetworkError as error:
            reason = error.reason
    names = history.layers
    view = {
        "reason": reason,
        "steps": history.steps,
        "layers": [_layer(history, name) for name in names[:MOST_LAYERS]],
        "left_out": max(0, len(names) - MOST_LAYERS),
        "pending": 0 if reason else len(recorder.snapshots),
    }
    return {"histograms": {**view, "seconds": time.perf_counter() - began}}


def _layer(history: HistogramHistory, name: str) -> dict[str, Any]:
    series = []
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
