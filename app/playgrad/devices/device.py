"""Devices with their own memory, which execute Plans and can be lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import numpy as np

from playgrad.devices.base import Plan
from playgrad.devices.first_choices import unmeasured_tuning
from playgrad.devices.machines import full_name
from playgrad.devices.pending import Result
from playgrad.devices.target import PACKED_DOT, AdapterInfo, Target, most_rounds
from playgrad.errors import DeviceLostError

Array = np.ndarray[Any, Any]


class Range(NamedTuple):
    """An array in a buffer: buffer, byte offset, shape and dtype."""

    buffer: int
    offset: int
    shape: tuple[int, ...]
    dtype: str


class DeviceHost(Protocol):
    """The part of a `Host` that every device has. Any call may raise `DeviceLostError`."""

    @property
    def info(self) -> AdapterInfo: ...

    def create_buffer(self, size: int) -> int: ...

    def destroy_buffer(self, buffer: int) -> None: ...

    def stats(self) -> dict[str, int]: ...

    def give_up(self) -> None: ...

    def destroy(self) -> None: ...


def target_for(info: AdapterInfo) -> Target:
    """Return the target of an adapter that has not been measured."""
    return Target(
        info.is_software,
        info.limits,
        has_quads=info.has_quads,
        has_packed_dot=PACKED_DOT in info.features,
        most_rounds=most_rounds(info),
        first_choice=unmeasured_tuning(info),
    )


class Device:
    """An opened device.

    Attributes:
        loss: why the device was lost, None while it works. Its buffers and programs are gone then,
            and it must be opened again.
    """

    def __init__(self, name: str, host: DeviceHost) -> None:
        self.name = name
        self.loss: DeviceLostError | None = None
        self.target = target_for(host.info)
        self.host = host

    @property
    def lost(self) -> bool:
        """True once the device was lost."""
        return self.loss is not None

    def __str__(self) -> str:
        return f"{full_name(self.name)} ({self.adapter})"

    @property
    def adapter(self) -> str:
        """The name of the device's adapter."""
        return self.host.info.name

    def guarded(self) -> GuardedCalls:
        """Enclose calls of the host: refuse them once the device is lost, and note its loss.

        Raises:
            DeviceLostError: the device was lost before or within the block.
        """
        return GuardedCalls(self)

    def note(self, error: DeviceLostError) -> None:
        """Keep the reason of a loss, which may be reported by other code than meets it first."""
        if self.name not in error.message:
            error.message = f"{full_name(self.name)}: {error.message}"
        self.loss = self.loss or error

    def release(self, free: Callable[[], object]) -> None:
        """Call ``free``, which frees something on the device. A lost device is not an error: what
        was on it is gone."""
        with suppress(DeviceLostError), self.guarded():
            free()

    def give_up(self) -> None:
        """Abandon the device, which does not answer."""
        self.note(DeviceLostError(f"{self} was lost: it did not answer."))
        self.host.give_up()

    def destroy(self) -> None:
        """Destroy the device and its buffers; to everyone who still uses it, it is lost."""
        try:
            self.release(self.host.destroy)
        finally:
            self.note(DeviceLostError(f"{self} was lost: it was closed."))

    def check(self) -> None:
        """Update ``lost``: a device can disappear while it is not in use."""
        if self.lost:
            return
        try:
            self.host.stats()
        except DeviceLostError as error:
            self.note(error)

    def is_used(self) -> bool:
        """Return whether the device has buffers or programs."""
        self.check()
        return not self.lost and any(self.stats()[key] for key in ("buffers", "programs"))

    def stats(self) -> dict[str, int]:
        """Return the number of ``buffers``, ``bytes`` and ``programs`` in use."""
        return self.host.stats()

    def bytes_in_use(self) -> int:
        """Return the total size of the device's buffers in bytes, 0 if the device is lost."""
        with suppress(DeviceLostError), self.guarded():
            return self.stats()["bytes"]
        return 0

    def create_data_buffer(self, size: int) -> int | None:
        """Create a buffer for a data set that may outlive its session; None without a data
        cache."""
        return None

    def expect(self, plan: Plan) -> None:
        """Begin to compile the kernels of ``plan``, if the device can do so in the background."""

    def load(self, plan: Plan, external: Mapping[str, int]) -> Loaded:
        """Load ``plan``; ``external`` gives the buffer for each external key in it."""
        raise NotImplementedError

    def write_all(self, writes: Sequence[tuple[int, int, Array]]) -> None:
        """Write several arrays, each given with a buffer and the offset of its first byte there."""
        raise NotImplementedError

    def read_all(self, ranges: Sequence[Range]) -> list[Array]:
        """Read several arrays, in as few round trips as their size allows."""
        raise NotImplementedError

    def create_buffer(self, size: int) -> int:
        """Create a zeroed buffer of ``size`` bytes and return its id."""
        with self.guarded():
            return self.host.create_buffer(size)

    def destroy_buffer(self, buffer: int) -> None:
        """Destroy a buffer, which a loss of the device may have destroyed already."""
        self.release(lambda: self.host.destroy_buffer(buffer))


class GuardedCalls:
    """The context manager of `Device.guarded`, without a generator: each step enters it twice."""

    __slots__ = ("_device",)

    def __init__(self, device: Device) -> None:
        self._device = device

    def __enter__(self) -> None:
        if (loss := self._device.loss) is not None:
            raise DeviceLostError(loss.message, hint="Run again.")

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, DeviceLostError):
            self._device.note(error)


class ReplayResult(NamedTuple):
    """Result of `Loaded.run`: the fetched arrays by name, finished replays and their seconds."""

    arrays: dict[str, Array]
    steps_done: int
    seconds: float


class Loaded(Protocol):
    """A Plan loaded on a device.

    Attributes:
        begun: the segments begun in the current run whose writes to variables take effect without
            a commit.
    """

    @property
    def device(self) -> Device: ...

    plan: Plan
    begun: set[int]

    def start(self) -> None:
        """Begin a run. Writes to variables that the last run did not commit are discarded."""
        ...

    def commit(self) -> None:
        """End a run that succeeded, and keep what it wrote to variables."""
        ...

    def run(
        self,
        segment: int,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        steps: int = 1,
        stop: Callable[[], bool] | None = None,
    ) -> ReplayResult:
        """Feed, replay ``segment``, which is the whole program, ``steps`` times or until ``stop``
        returns true, and fetch."""
        ...

    def begin(
        self,
        segment: int | None,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        last: bool = False,
    ) -> Result[dict[str, Array]]:
        """Begin to feed, replay ``segment`` once (None: not at all) and fetch.

        Args:
            last: whether this ends the run, so that its writes to variables are committed.

        Returns:
            The fetched arrays by name, pending.
        """
        ...

    def unload(self) -> None:
        """Free the program."""
        ...


class Guarded:
    """Pending work of ``device``, whose result may reveal that the device was lost."""

    def __init__(self, device: Device, begun: Result[Any]) -> None:
        self._device = device
        self._begun = begun

    def done(self) -> bool:
        return self._begun.done()

    def wait(self) -> None:
        self._begun.wait()

    def result(self) -> Any:
        with self._device.guarded():
            return self._begun.result()
