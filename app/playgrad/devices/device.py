"""What all devices with a memory of their own have in common: they can be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import numpy as np

from playgrad.devices.base import AdapterInfo, Plan, Target
from playgrad.devices.pending import Result
from playgrad.errors import DeviceLostError

Array = np.ndarray[Any, Any]


class Peer(Protocol):
    """What works for a device, perhaps in another worker. Any call may raise `DeviceLostError`."""

    @property
    def info(self) -> AdapterInfo: ...

    def create_buffer(self, size: int) -> int: ...

    def destroy_buffer(self, buffer: int) -> None: ...

    def stats(self) -> dict[str, int]: ...

    def give_up(self) -> None: ...

    def destroy(self) -> None: ...


class Device:
    """One opened device.

    Attributes:
        lost: the device went away; its buffers and programs are gone, and a new one must be opened.
    """

    def __init__(self, name: str, host: Peer) -> None:
        self.name = name
        self.lost = False
        self.target = Target(host.info.is_software, host.info.limits, has_quads=host.info.has_quads)
        self.host = host

    @property
    def adapter(self) -> str:
        return self.host.info.name

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Notes when the device is lost, and lets nothing reach a device that was.

        Raises:
            DeviceLostError: now, or an earlier call has.
        """
        if self.lost:
            raise DeviceLostError(f"{self.name} ({self.adapter}) was lost.", hint="Run again.")
        try:
            yield
        except DeviceLostError as error:
            self.lost = True
            if self.name not in error.message:
                error.message = f"{self.name}: {error.message}"
            raise

    def release(self, give_back: Callable[[], object]) -> None:
        """Give something back. What is on a device that is lost, or turns out to be, is gone with
        it: that is no error."""
        with suppress(DeviceLostError), self.guarded():
            give_back()

    def give_up(self) -> None:
        """Use it no more: it does not answer."""
        self.lost = True
        self.host.give_up()

    def destroy(self) -> None:
        """Give the device and all its buffers back; to those who still use it, it is lost."""
        try:
            self.release(self.host.destroy)
        finally:
            self.lost = True

    def check(self) -> None:
        """Find out whether the device is still there: it can go away while nobody uses it."""
        if self.lost:
            return
        try:
            self.host.stats()
        except DeviceLostError:
            self.lost = True

    def is_used(self) -> bool:
        """Whether there is anything on it."""
        self.check()
        return not self.lost and any(self.stats()[key] for key in ("buffers", "programs"))

    def stats(self) -> dict[str, int]:
        """``buffers``, ``bytes`` and ``programs`` in use."""
        return self.host.stats()

    def bytes_in_use(self) -> int:
        """Of its buffers: 0 when it is lost, or turns out to be."""
        with suppress(DeviceLostError), self.guarded():
            return self.stats()["bytes"]
        return 0

    def data_buffer(self, size: int) -> int | None:
        """A buffer for a data set that may outlive its session; None where none does."""
        return None

    def expect(self, plan: Plan) -> None:
        """``plan`` will be loaded soon: begin with what needs no waiting."""

    def load(self, plan: Plan, external: Mapping[str, int]) -> Loaded:
        """Make ``plan`` ready; ``external`` says which buffer it means by each key."""
        raise NotImplementedError

    def write(self, buffer: int, offset: int, array: Array) -> None:
        """Put an array into a buffer."""
        raise NotImplementedError

    def read(self, buffer: int, offset: int, shape: tuple[int, ...], name: str) -> Array:
        """An array of element type ``name`` out of a buffer."""
        raise NotImplementedError

    def create_buffer(self, size: int) -> int:
        with self.guarded():
            return self.host.create_buffer(size)

    def destroy_buffer(self, buffer: int) -> None:
        self.release(lambda: self.host.destroy_buffer(buffer))


class Loaded(Protocol):
    """A plan on a device, ready to be carried out."""

    @property
    def device(self) -> Device: ...

    plan: Plan

    def start(self) -> None:
        """A run begins. What the last one wrote to variables and did not commit is forgotten."""
        ...

    def commit(self) -> None:
        """The run has ended well: what it wrote to variables counts."""
        ...

    def run(
        self,
        segment: int,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        steps: int = 1,
        stop: Callable[[], bool] | None = None,
    ) -> tuple[dict[str, Array], int, float]:
        """Do ``segment``, all that the program consists of, ``steps`` times or until ``stop``
        answers true.

        Returns:
            The arrays fetched, the number of steps done and the seconds they took.
        """
        ...

    def begin(
        self,
        segment: int | None,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        last: bool = False,
    ) -> Result[dict[str, Array]]:
        """Begin to take ``feeds``, do ``segment`` once (None: not at all) and read ``fetches``;
        the result is the arrays. After the ``last`` of a run, what it wrote counts."""
        ...

    def unload(self) -> None: ...


class Guarded:
    """What was begun on ``device``; a loss that only the outcome tells of is noted, too."""

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
