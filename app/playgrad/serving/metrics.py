"""Measurements for Prometheus."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

_SECONDS = (
    0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5,
    1.0, 2.0, 5.0, 10.0, 30.0,
)  # fmt: skip
_SAMPLES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_VERSION = ("model", "version")
NO_VERSION = ("", "")
"""The labels of requests that no version has answered: names that clients make up are none."""


@dataclass(frozen=True)
class VersionMetrics:
    """The measurements of one version.

    Attributes:
        batch: the number of samples in a run, without padding.
        queue: requests that wait for a run.
    """

    batch: Histogram
    queue: Gauge


class ServingMetrics:
    """The measurements of a server, with a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.requests = Counter(
            "playgrad_requests", "Requests, by the version that answered and by status",
            (*_VERSION, "interface", "status"), registry=self.registry,
        )  # fmt: skip
        self.latency = Histogram(
            "playgrad_request_seconds", "Time from a request to its answer",
            _VERSION, buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self._batch = Histogram(
            "playgrad_batch_samples", "Samples in a run, without padding",
            _VERSION, buckets=_SAMPLES, registry=self.registry,
        )  # fmt: skip
        self._queue = Gauge(
            "playgrad_queue_requests", "Requests that wait for a run",
            _VERSION, registry=self.registry,
        )  # fmt: skip
        self.bytes = Gauge(
            "playgrad_version_bytes", "Memory of a loaded version's weights and programs",
            _VERSION, registry=self.registry,
        )  # fmt: skip
        self.refused = Counter(
            "playgrad_refused_versions", "Versions that were not taken up, by the kind of error",
            (*_VERSION, "reason"), registry=self.registry,
        )  # fmt: skip
        self.swaps = Counter(
            "playgrad_swaps", "Changes of the versions that answer",
            ("model",), registry=self.registry,
        )  # fmt: skip

    def of_version(self, name: str, version: int) -> VersionMetrics:
        """Return the measurements of one version."""
        labels = (name, str(version))
        return VersionMetrics(self._batch.labels(*labels), self._queue.labels(*labels))

    def text(self) -> bytes:
        """Return all measurements in the format of Prometheus."""
        return generate_latest(self.registry)
