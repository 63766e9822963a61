"""The settings of a model server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServingSettings:
    """Limits and defaults, as the options of ``playgrad models serve`` set them.

    Attributes:
        device: "auto", "cpu" or "gpu".
        max_batch: samples in a run.
        batch_timeout: seconds that the first request of a batch waits for others.
        max_queue: requests that wait for a run of one version; others get status 503.
        max_body: bytes of a request.
        max_instances: samples of a request.
        request_seconds: seconds to receive a request, and to answer it.
        max_connections: connections at the same time.
        allow_new_signature: whether any version may have another signature than the one before.
        poll_seconds: seconds between two looks at the folder.
    """

    device: str = "auto"
    max_batch: int = 32
    batch_timeout: float = 0.0
    max_queue: int = 256
    max_body: int = 16 << 20
    max_instances: int = 1024
    request_seconds: float = 30.0
    max_connections: int = 1000
    allow_new_signature: bool = False
    poll_seconds: float = 1.0

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """The sizes to which batches are padded: powers of 2, and the largest batch."""
        powers = [1 << power for power in range(self.max_batch.bit_length())]
        return (*(size for size in powers if size < self.max_batch), self.max_batch)
