"""Schedules of pipelines: in which order each stage does its passes over the micro-batches."""

from __future__ import annotations

from playgrad.parallel.rewrite import Pass


def gpipe(stages: int, micro_batches: int) -> list[Pass]:
    """All forward passes, then all backward passes (Huang et al. 2019)."""
    forward = [Pass(s, m, False) for m in range(micro_batches) for s in range(stages)]
    backward = [Pass(s, m, True) for m in range(micro_batches) for s in reversed(range(stages))]
    return forward + backward
