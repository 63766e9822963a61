"""Recovery of a session after the loss of a device, from copies of its variables in host memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from playgrad.devices.device import Device
from playgrad.errors import DeviceLostError, DeviceTimeoutError
from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Node
from playgrad.runtime.host_copies import Key
from playgrad.runtime.programs import Programs
from playgrad.runtime.runnable import Runnable

Array = np.ndarray[Any, Any]
R = TypeVar("R")


class Recovery:
    """Runs programs so that the loss of a device leaves all variables with values of one moment.

    Args:
        devices: the devices that the session has opened, by name.
        reopen: opens the session's device again if it was lost.

    Attributes:
        in_progress: whether work of several runs is in progress, such as a training, which must
            not continue with variables that have gone back to earlier values.
        reasons: why devices were lost when the variables went back last.
    """

    def __init__(
        self, programs: Programs, devices: Mapping[str, Device], reopen: Callable[[], None]
    ) -> None:
        self._programs = programs
        self._devices = devices
        self._reopen = reopen
        self._store = programs.store
        self.in_progress = False
        self._failed: Runnable | None = None
        self._told = False
        self.reasons: list[str] = []

    @property
    def losses(self) -> list[str]:
        """The reasons why devices were lost that variables are on, or that are still in use."""
        return [device.loss.message for device in self._lost_devices() if device.loss]

    def _lost_devices(self) -> list[Device]:
        """Return the devices that were lost, also if one is open in their place already.

        Another thread may lose a device between any two steps of a recovery.
        """
        opened = dict.fromkeys([*self._devices.values(), *self._store.devices()])
        return [device for device in opened if device.lost]

    @property
    def is_needed(self) -> bool:
        """True if variables, other than data sets, were lost or interrupted in an update."""
        if not self._lost_devices():
            return False
        return self._store.has_lost() or not (self._failed is None or self._failed.usable())

    def roll_back(self) -> None:
        """Give all variables, except data sets, the values that were copied last."""
        self.reasons = self.losses or self.reasons
        self._programs.roll_back()
        self._failed, self._told = None, False

    def roll_back_if_needed(self) -> None:
        """Roll back after a loss. A warning reports undone steps that no earlier error reported.

        Raises:
            DeviceLostError: it would undo work while ``in_progress``.
        """
        undone = self._undo()
        if undone:
            warn_user(f"{self._lost()} was lost. {undone}")

    def recover(self) -> None:
        """Roll back after a loss, and open the session's device again.

        Raises:
            DeviceLostError: steps were rolled back that no earlier error reported. Call again to
                continue.
            DeviceError: the device cannot be opened.
        """
        undone = self._undo()
        if undone:
            raise self._error(undone)
        self._reopen()

    def _undo(self) -> str:
        """Roll back if needed; return a sentence if this undoes steps that no error has reported.

        Raises:
            DeviceLostError: it would undo such work while ``in_progress``.
        """
        if not self.is_needed:
            return ""
        undoes = not (self._store.copies.is_current or self._told)
        text = self._going_back()
        if undoes and self.in_progress:
            raise self._error(text)
        self.roll_back()
        return text if undoes else ""

    def _error(self, hint: str) -> DeviceLostError:
        return DeviceLostError(" ".join(self.losses), hint=hint)

    def _going_back(self) -> str:
        age = self._store.copies.age
        return (
            f"The variables have their values from {age:.1f} s earlier again. Run again to "
            "continue from there."
        )

    def _lost(self) -> str:
        return ", ".join(device.name for device in self._lost_devices())

    def run(self, prepare: Callable[[], Runnable], work: Callable[[Runnable], R]) -> R:
        """Prepare a program and let ``work`` run it; copy the variables when it is time.

        If a device is lost and no work with it, because the copies were current before the run, the
        program runs once more, on the device that is opened in its place.

        Raises:
            DeviceLostError: a device was lost. Call again to continue from the copies.
        """
        if self._devices or self._store.buffers:
            self.recover()
        copies = self._store.copies
        was_current = copies.is_current

        def attempt() -> R:
            runnable = prepare()
            if runnable.writes:
                self._store.wrote()
            try:
                return work(runnable)
            except DeviceLostError:
                self._failed = runnable
                raise

        try:
            result = attempt()
        except DeviceLostError as error:
            # Several processes do not run again by themselves: each would decide by its own clock.
            again = was_current and not self._store.is_shared
            if not again or isinstance(error, DeviceTimeoutError):
                self._told = True
                if self.is_needed:
                    error.hint = self._going_back()
                raise
            self.roll_back()
            try:
                self._reopen()
                result = attempt()
            except DeviceLostError:
                self._told = True
                raise error from None
        self._failed = None
        if copies.is_due():
            copies.take()
        return result

    def values(self, nodes: Sequence[Node]) -> list[Array]:
        """Return copies of the values of variables, initialized if necessary; see
        ``Session.values``."""
        try:
            return self._values(nodes)
        except DeviceLostError:
            if not self.is_needed:
                raise
            return self._values(nodes)

    def _values(self, nodes: Sequence[Node]) -> list[Array]:
        self.roll_back_if_needed()
        keys = [(node.graph, node.name) for node in nodes]
        for graph in dict.fromkeys(node.graph for node in nodes):
            fresh = [n for n in nodes if n.graph is graph and (graph, n.name) not in self._store]
            self._programs.initialize(graph, fresh)
        copies = self._store.copies
        known: Mapping[Key, Array] = {}
        if len(keys) > 1 and not copies.is_current and not self._store.is_shared:
            copies.take()  # read everything now, rather than once more for the copy
            known = copies.values if copies.is_current else {}
        arrays = {key: known[key].copy() for key in keys if key in known}
        arrays.update(self._store.get([key for key in dict.fromkeys(keys) if key not in known]))
        return [arrays[key] for key in keys]

    def put(self, values: Sequence[tuple[Node, Array]]) -> None:
        """Assign values to variables; see ``Session.assign``."""
        self.roll_back_if_needed()
        try:
            self._programs.put(values)
        except DeviceLostError:
            if not self.is_needed:
                raise
            self.roll_back_if_needed()
            self._programs.put(values)

    def surviving(self, nodes: Sequence[Node]) -> list[Array] | None:
        """Return the values of variables before a roll back; see ``Session.surviving``."""
        keys = [(node.graph, node.name) for node in nodes]
        homes = {self._programs.home(node) for node in nodes}
        usable = self._failed is None or self._failed.usable(homes)
        if not usable or any(key not in self._store for key in keys):
            return None
        try:
            arrays = self._store.get(keys)
        except DeviceLostError:
            return None
        return [arrays[key] for key in keys]
