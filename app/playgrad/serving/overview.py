"""The state of a server as plain data, for its page."""

from __future__ import annotations

from typing import Any

from playgrad.serving.batching import VersionRunner
from playgrad.serving.manager import ModelManager, ServedModel


def overview(manager: ModelManager) -> dict[str, Any]:
    """Return the models with their versions, and what has been measured of each.

    Latencies are the counts of a histogram that only grow: ``[[bound in seconds, count], ...]``
    with the last bound null. A reader takes differences.
    """
    latencies = _histograms(manager)
    return {
        "models": [_model(model, latencies) for model in manager.models()],
        "freeing": len(manager.freeing),
    }


def _model(model: ServedModel, latencies: dict[tuple[str, str], list[Any]]) -> dict[str, Any]:
    runners = dict(model.runners)
    return {
        "name": model.name,
        "policy": model.choice.policy,
        "default": model.default() if runners else None,
        "labels": dict(model.choice.labels),
        "shares": dict(model.choice.shares),
        "withdrawn": list(model.choice.withdrawn),
        "problem": model.problem,
        "loading": model.loading,
        "versions": [
            _version(runner, latencies.get((model.name, str(number)), []))
            for number, runner in runners.items()
        ],
        "refused": [
            {"version": number, "reason": refusal.reason}
            for number, refusal in sorted(dict(model.refusals).items())
        ],
    }


def _version(runner: VersionRunner, latency: list[Any]) -> dict[str, Any]:
    return {
        "version": runner.version,
        "device": runner.device,
        "bytes": runner.bytes,
        "waiting": runner.waiting,
        "batches": runner.batches,
        "warm": runner.is_warm,
        "signature": runner.signature.to_json(),
        "latency": latency,
    }


def _histograms(manager: ModelManager) -> dict[tuple[str, str], list[Any]]:
    counts: dict[tuple[str, str], list[Any]] = {}
    for metric in manager.metrics.latency.collect():
        for sample in metric.samples:
            if sample.name.endswith("_bucket"):
                labels = sample.labels
                bound = None if labels["le"] == "+Inf" else float(labels["le"])
                counts.setdefault((labels["model"], labels["version"]), []).append(
                    [bound, int(sample.value)]
                )
    return counts
