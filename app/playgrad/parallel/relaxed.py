"""Strategies whose devices do not meet at every step, and one for a single device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from playgrad.errors import GraphError
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.schedules import Pass
from playgrad.parallel.strategies import Devices, as_devices, named_devices


@dataclass(frozen=True)
class AsynchronousDataParallel:
    """A parameter server, and replicas that wait for nobody; see `playgrad.parallel.asynchronous`.

    The model's own device holds the weights. Each replica computes gradients of whole batches. A
    slow replica, or one that dies, does not stop the others. Runs are not repeatable: the order in
    which gradients arrive is not.

    Args:
        devices: of the replicas: names, or how many of the kind that the model trains on.
        staleness: how many batches a replica may be ahead of the slowest; None for any number.
        delays: seconds that each batch is held up, by device: to see what a slow replica does.
    """

    devices: Devices
    staleness: int | None = None
    delays: Mapping[str, float] = field(default_factory=dict, hash=False)

    name = "asynchronous"

    def __post_init__(self) -> None:
        as_devices(self)
        if self.staleness is not None and self.staleness < 0:
            raise GraphError(f"a staleness of {self.staleness} is none: it is 0 or more.")

    def replicas(self, kind: str) -> tuple[str, ...]:
        """The names of the replicas' devices."""
        return named_devices(self.devices, kind)


@dataclass(frozen=True)
class LocalSGD:
    """Each device trains for its share of the batch; every so many steps all take on their mean.

    With plain SGD and ``every=1`` the result is that of `DataParallel` (Stich 2019). Between two
    means the losses shown, and the weights, are those of the first device.

    Args:
        devices: names, or how many of the kind that the model trains on.
        every: steps between two means. Each epoch ends with one as well.
        collective, bucket_bytes: as in `DataParallel`.
    """

    devices: Devices
    every: int = 8
    collective: str = "auto"
    bucket_bytes: int = 1 << 20

    name = "local_sgd"

    def __post_init__(self) -> None:
        as_devices(self)
        if self.every < 1:
            raise GraphError(f"a mean every {self.every} steps is none: it is 1 or more.")

    def layout(self, kind: str) -> Distribution:
        """The layout over devices of ``kind``, unless they are named."""
        return Distribution(
            tuple((name,) for name in named_devices(self.devices, kind)),
            (Pass(0, 0, False), Pass(0, 0, True)),
            collectives.get(self.collective),
            self.bucket_bytes,
            apart=True,
        )


@dataclass(frozen=True)
class Overlap:
    """Successive steps on one device overlap: the next begins where the last still goes on.

    Args:
        steps: how many are made one run.
    """

    steps: int = 4

    name = "overlap"

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise GraphError(f"{self.steps} steps cannot overlap.")
