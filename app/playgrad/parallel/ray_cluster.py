"""Connections to Ray, which runs processes on the machines of a cluster and notices their end."""

from __future__ import annotations

import math
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from playgrad.errors import DataError, DeviceError

MOST_RESOURCES = 1024
_ANSWER_SECONDS = 5.0
_QUIET = {"logging_level": "error", "log_to_driver": False}
_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]{1,253}):(\d{1,5})")


@dataclass(frozen=True)
class Ray:
    """A Ray cluster, and what each process on it takes. It needs ``pip install 'playgrad[ray]'``.

    Args:
        address: "local" starts Ray on this machine, for as long as it is used, and listens on
            127.0.0.1 only; "auto" takes the cluster to which this machine belongs; "HOST:PORT" is
            the address of a cluster's head.
        cpus: cores that Ray reserves for each process; NumPy computes with as many threads.
        gpus: GPUs that Ray reserves for each process; 0.5 lets two share one.

    Raises:
        DataError: an argument is out of bounds, or the address has another form.
    """

    address: str = "local"
    cpus: float = 1
    gpus: float = 0

    def __post_init__(self) -> None:
        for name, number, least in (("cpus", self.cpus, 0.01), ("gpus", self.gpus, 0)):
            if not (math.isfinite(number) and least <= number <= MOST_RESOURCES):
                raise DataError(f"{name} is from {least} to {MOST_RESOURCES}, got {number}.")
            if number > 1 and number % 1:
                raise DataError(f"{name} above 1 is a whole number, got {number}.")
        match = _HOST.fullmatch(self.address)
        if self.address not in ("local", "auto") and not (match and 0 < int(match[2]) < 2**16):
            raise DataError(
                f"'{self.address}' is not the address of a Ray cluster.",
                hint="Pass local, auto, or HOST:PORT, such as 10.0.0.1:6379.",
            )

    @property
    def threads(self) -> int:
        """The threads for matrix products in each process."""
        return max(1, round(self.cpus))

    @contextmanager
    def connected(self) -> Iterator[ModuleType]:
        """Connect this process to the cluster within the block; provide the module ``ray``.

        A connection that the program has made itself is used, and stays.

        Raises:
            DeviceError: Ray is not installed, does not start, or cannot be reached.
        """
        ray = _imported()
        if ray.is_initialized():
            yield ray
            return
        _secure(ray)
        try:
            if self.address == "local":
                _have_token()
                with _only_on_loopback(ray):
                    ray.init("local", include_dashboard=False, **_QUIET)
            else:
                self._check_answers()
                ray.init(self.address, **_QUIET)
        except Exception as error:  # of many classes
            ray.shutdown()
            raise DeviceError(
                f"Ray at '{self.address}' cannot be used: {first_line(error)}",
                hint="On all machines, the versions of Python, Ray and playgrad must be the same, "
                "and so must the token: see 'Token' in the guide to sweeps.",
            ) from None
        try:
            yield ray
        finally:
            ray.shutdown()

    def _check_answers(self) -> None:
        """Raise OSError if nothing listens at the address: Ray would try for a minute."""
        if match := _HOST.fullmatch(self.address):
            socket.create_connection((match[1].strip("[]"), int(match[2])), _ANSWER_SECONDS).close()

    def capacity(self, ray: ModuleType) -> int:
        """Return how many processes the cluster holds at the same time.

        Raises:
            DeviceError: none of its machines is large enough for one.
        """
        count = 0
        for machine in ray.nodes():
            if machine["Alive"]:
                has = machine["Resources"]
                by_gpus = has.get("GPU", 0) / self.gpus if self.gpus else math.inf
                count += int(min(has.get("CPU", 0) / self.cpus, by_gpus))
        if count == 0:
            raise DeviceError(
                "no machine of the Ray cluster is large enough for a process "
                f"(CPU: {self.cpus:g}, GPU: {self.gpus:g}).",
                hint="Ask for less, or start Ray with --num-cpus and --num-gpus as they are.",
            )
        return count

    def new_actor(self, ray: ModuleType, cls: type, *arguments: Any, methods: int = 1) -> Any:
        """Start an actor that is not restarted by Ray, and return its handle at once.

        Args:
            methods: how many of its methods can run at the same time; a single one in the order of
                the calls.
        """
        options = {"num_cpus": self.cpus, "num_gpus": self.gpus, "max_concurrency": methods}
        return ray.remote(**options)(cls).remote(*arguments)


def reserved_gpu() -> str | None:
    """Return the first GPU that Ray has reserved for the actor that calls this, as ``gpu:N``.

    Processes on a machine get different numbers, unless they share a GPU.
    """
    numbers = _imported().get_runtime_context().get_accelerator_ids().get("GPU", [])
    return next((f"gpu:{number}" for number in numbers if number.isdecimal()), None)


def _imported() -> ModuleType:
    """Return the module ``ray``.

    Raises:
        DeviceError: it is not installed.
    """
    try:
        import ray
    except ImportError:
        raise DeviceError(
            "Ray is not installed.", hint="Install it: pip install 'playgrad[ray]'"
        ) from None
    return ray


def _secure(ray: ModuleType) -> None:
    """Switch tokens on, and reports to the makers of Ray off, unless the user has decided."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        ray._raylet.Config.initialize("")  # it has read the environment when it was imported


def _have_token() -> None:
    """Make a token for a Ray of this process, unless there is one: Ray itself would write it to a
    file that every user of this machine can read."""
    configured = os.environ.keys() & {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"}
    if not configured and not Path.home().joinpath(".ray", "auth_token").exists():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


@contextmanager
def _only_on_loopback(ray: ModuleType) -> Iterator[None]:
    """Let a Ray that is started in the block listen on 127.0.0.1 only, as it does by itself on
    Windows and macOS. Elsewhere it would listen on the machine's address in its network."""
    constants = ray._private.ray_constants  # `_node_ip_address` of `init` does not do it
    before, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
