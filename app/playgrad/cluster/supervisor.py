"""Starts the members of a run, watches them, and starts them again without a machine that is lost.

The supervisor takes no part in the run. Each member is connected to it (`playgrad.cluster.link`),
and ends if that connection is lost: so of two halves of a divided network, only the one with the
supervisor goes on. MPI itself would notice a silent link never, or only when the next message is
sent.
"""

from __future__ import annotations

import hmac
import json
import secrets
import selectors
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playgrad.cluster.hosts import HostSlots, host_of, member_names
from playgrad.cluster.launch import Launch
from playgrad.cluster.link import BEAT_SECONDS, LONGEST_LINE
from playgrad.cluster.watched import LostMember, MemberConnection, loss_of
from playgrad.errors import PlaygradError
from playgrad.signals import Terminated, signals

START_SECONDS = 60.0
"""The time for all members to start, over a slow network."""
GRACE_SECONDS = 3.0
"""The time for the others to end after one has ended with an error."""
STOP_SECONDS = 30.0
"""The time for a training to end between two steps, and to save a checkpoint."""
MOST_LOSSES = 8
MOST_STRANGERS = 16
"""Connections that may be open without having said who they are, beside two for each member."""
LONGEST_HELLO = 1 << 12


class ClusterError(PlaygradError, RuntimeError):
    """Members of a run could not be started, or were lost."""


@dataclass
class RunOfMembers:
    """One start of all members.

    Args:
        hosts: the machines.
        command: what each member runs.
        shell: what takes the place of ``ssh``; None for that.
    """

    hosts: Sequence[HostSlots]
    command: Sequence[str]
    shell: str | None
    names: list[str] = field(init=False)
    members: dict[int, MemberConnection] = field(default_factory=dict)
    result: Any = None

    def __post_init__(self) -> None:
        self.names = member_names(self.hosts)
        self._token = secrets.token_hex(16)
        self._strangers: list[MemberConnection] = []  # that have not said who they are
        self._sentinels: dict[int, MemberConnection] = {}
        self._stops = False  # it was asked to

    def run(self) -> int | LostMember:
        """Run to the end; return the exit code, or the member that was lost.

        Raises:
            ClusterError: members did not start, or failed in different ways.
        """
        with (
            socket.create_server((_address_for(self.hosts), 0)) as server,
            selectors.DefaultSelector() as selector,
        ):
            server.setblocking(False)
            selector.register(server, selectors.EVENT_READ)
            address = "{}:{}".format(*server.getsockname()[:2])
            launch = Launch(self.hosts, self.command, self.shell, address, self._token)
            result: int | LostMember = 1
            try:
                result = self._watch(launch, server, selector)
                return result
            finally:
                launch.end(at_once=isinstance(result, LostMember))
                for connections in (self.members, self._sentinels):
                    self._strangers += connections.values()
                for connection in self._strangers:
                    connection.socket.close()

    def _watch(
        self,
        launch: Launch,
        server: socket.socket,
        selector: selectors.BaseSelector,
    ) -> int | LostMember:
        began = beat = time.monotonic()
        first_end: float | None = None
        stop_at: float | None = None
        while True:
            try:
                for key, _ in selector.select(BEAT_SECONDS / 5):
                    if key.fileobj is server:
                        self._accept(server, selector)
                    else:
                        self._read(key.data, selector)
            except (KeyboardInterrupt, Terminated):
                number = signals.received or signal.SIGINT
                self._tell({"signal": number})
                stop_at = time.monotonic()
                self._stops = True
            now = time.monotonic()
            if now - beat > BEAT_SECONDS:
                beat = now
                self._tell({})
            over = [each for each in self.members.values() if each.code is not None]
            if len(over) == len(self.names):
                return self._outcome()
            loss = self._loss(now)
            if loss is not None:
                return loss
            if over and first_end is None:
                first_end = now
            failed = any(each.code for each in over)
            if failed and first_end is not None and now - first_end > GRACE_SECONDS:
                return self._outcome()
            if stop_at is not None and now - stop_at > STOP_SECONDS:
                return signals.exit_code
            if launch.has_ended and len(self.members) < len(self.names):
                missing = self._missing()
                raise ClusterError(
                    f"{missing} did not start.",
                    hint="The lines above say why. Each machine needs the same playgrad in the "
                    "same folder, and must be reachable by ssh without a password.",
                )
            if len(self.members) < len(self.names) and now - began > START_SECONDS:
                raise ClusterError(
                    f"{self._missing()} did not start within {START_SECONDS:g} s.",
                    hint="`playgrad hosts` with the same machines says what keeps them.",
                )

    def _missing(self) -> str:
        missing = [name for rank, name in enumerate(self.names) if rank not in self.members]
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        return ", ".join(missing[:3]) + more

    def _loss(self, now: float) -> LostMember | None:
        for rank, member in sorted(self.members.items()):
            if member.code is None:
                loss = loss_of(rank, member, self._sentinels.get(rank), now)
                if loss is not None:
                    return loss
        return None

    def _outcome(self) -> int:
        """Return the exit code, and print the errors, once if it is the same for all."""
        over = {rank: each for rank, each in sorted(self.members.items()) if each.code is not None}
        texts = {each.text for each in over.values() if each.text}
        if self._stops and len(texts) > 1:  # wherever each member was
            print("playgrad: stopped", file=sys.stderr, flush=True)
            return signals.exit_code
        for rank, each in over.items():
            if each.text and (len(texts) > 1 or len(over) < len(self.names)):
                print(f"playgrad: {self.names[rank]}: {each.text}", file=sys.stderr)
        if len(texts) == 1 and len(over) == len(self.names):
            print(f"playgrad: {texts.pop()}", file=sys.stderr)
        sys.stderr.flush()
        return max((each.code or 0 for each in over.values()), default=0)

    # Connections

    def _tell(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        for member in self.members.values():
            with suppress(OSError):  # reading finds out
                member.socket.send(line)

    def _accept(self, server: socket.socket, selector: selectors.BaseSelector) -> None:
        try:
            connected, _ = server.accept()
        except OSError:  # it is gone already
            return
        connected.setblocking(False)
        connection = MemberConnection(connected, time.monotonic())
        self._strangers.append(connection)
        selector.register(connected, selectors.EVENT_READ, connection)
        if len(self._strangers) > 2 * len(self.names) + MOST_STRANGERS:
            self._drop(self._strangers[0], selector)  # members say at once who they are

    def _drop(self, connection: MemberConnection, selector: selectors.BaseSelector) -> None:
        selector.unregister(connection.socket)
        connection.socket.close()
        if connection in self._strangers:
            self._strangers.remove(connection)

    def _read(self, connection: MemberConnection, selector: selectors.BaseSelector) -> None:
        try:
            content = connection.socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            content = b""
        *lines, connection.rest = (connection.rest + content).split(b"\n")
        try:
            for line in lines:
                self._take(connection, json.loads(line))
            longest = LONGEST_HELLO if connection.rank is None else LONGEST_LINE
            is_bad = len(connection.rest) > longest
        except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
            is_bad = True
        if is_bad or not content:
            self._drop(connection, selector)

    def _take(self, connection: MemberConnection, message: dict[str, Any]) -> None:
        """Take a message of a member.

        Raises:
            ValueError: it is not one of this run.
        """
        if connection.rank is None:
            rank = int(message.get("rank", -1))
            is_member = hmac.compare_digest(str(message.get("token")), self._token)
            known = self._sentinels if message.get("sentinel") else self.members
            if not is_member or not 0 <= rank < len(self.names) or rank in known:
                raise ValueError("not a member")
            connection.rank, connection.is_sentinel = rank, known is self._sentinels
            known[rank] = connection
            self._strangers.remove(connection)
        connection.heard = time.monotonic()
        if connection.is_sentinel:
            connection.report(float(message.get("cpu", -1.0)))
            return
        for name in ("stdout", "stderr"):
            if name in message:
                stream = getattr(sys, name)
                stream.write(str(message[name]))
                stream.flush()
        self.result = message.get("result", self.result)
        if "end" in message:
            connection.code, connection.text = int(message["end"]), str(message.get("text", ""))


def supervise(
    hosts: Sequence[HostSlots],
    command: Sequence[str],
    shell: str | None,
    checkpoints: str | None,
) -> int:
    """Run ``command`` as members on ``hosts``; return the exit code.

    Args:
        command: what each member runs.
        shell: what takes the place of ``ssh``; None for that.
        checkpoints: the folder of the run's checkpoints, from which it continues without a machine
            that is lost; None if it has none.

    Raises:
        ClusterError: members could not be started, or were lost.
    """
    for _ in range(MOST_LOSSES):
        job = RunOfMembers(hosts, command, shell)
        result = job.run()
        if not isinstance(result, LostMember):
            return result
        lost = host_of(hosts, result.rank)
        text = f"{job.names[result.rank]} {result.reason}"
        rest = [host for host in hosts if host != lost]
        if checkpoints is None:
            raise ClusterError(
                f"{text}, so the run has ended.",
                hint="With --checkpoint DIR it would continue from the last checkpoint.",
            )
        if rest:
            hosts = rest
        elif result.with_host:
            raise ClusterError(f"{text}, and no other machine is left.")
        without = f", without {lost.name}" if rest else ""
        print(
            f"playgrad: {text}. The run starts again from the last checkpoint{without}.",
            file=sys.stderr,
            flush=True,
        )
        if "--resume" not in command:
            command = [*command, "--resume"]
    raise ClusterError(f"{text}, the {MOST_LOSSES}th loss of this run.")


def _address_for(hosts: Sequence[HostSlots]) -> str:
    """Return the address of this machine that the members on ``hosts`` can reach.

    Raises:
        ClusterError: a host cannot be found.
    """
    for host in hosts:
        if host.is_local:
            continue
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect((host.name, 9))  # sends nothing, but chooses the way
                return str(probe.getsockname()[0])
        except OSError as error:
            raise ClusterError(f"the host {host.name} cannot be found: {error.strerror}.") from None
    return "127.0.0.1"
