"""Members as their supervisor sees them: connections, and signs of life."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from playgrad.cluster.link import SILENCE_SECONDS

HELD_SECONDS = 60.0
"""The time in which a member may neither answer nor compute, if its sentinel answers for it."""


@dataclass
class MemberConnection:
    """The connection of a member, or of its sentinel.

    Attributes:
        rank: None until it has said who it is.
        heard: when it was last heard of.
        code, text: its exit code and its error, once it has ended.
        is_sentinel: whether it answers for the member with this rank (`playgrad.cluster.sentinel`).
        computed: of a sentinel, when its member was last seen to compute.
        cpu: of a sentinel, the seconds that its member has computed.
    """

    socket: socket.socket
    heard: float
    rank: int | None = None
    rest: bytes = b""
    code: int | None = None
    text: str = ""
    is_sentinel: bool = False
    computed: float = 0.0
    cpu: float = -1.0

    def report(self, cpu: float) -> None:
        """Take note of what a sentinel has just said: the seconds that its member has computed."""
        if cpu > self.cpu:
            self.cpu, self.computed = cpu, self.heard


@dataclass(frozen=True)
class LostMember:
    """A member that is gone, the reason in words, and whether its machine may be gone, too."""

    rank: int
    reason: str
    with_host: bool


def loss_of(
    rank: int, member: MemberConnection, sentinel: MemberConnection | None, now: float
) -> LostMember | None:
    """Return the loss of a member that has not ended, or None while it shows signs of life.

    A member that does not answer may be in a call that holds Python's lock. Then its sentinel
    answers, and it is given up only if it does not compute for `HELD_SECONDS`, or is stopped.
    """
    if member.socket.fileno() < 0:
        return LostMember(rank, "has died", False)
    if now - member.heard <= SILENCE_SECONDS:
        return None
    if sentinel is None or now - sentinel.heard > SILENCE_SECONDS:
        return LostMember(rank, f"has not answered for {SILENCE_SECONDS:g} s", True)
    if now - max(sentinel.computed, member.heard) > HELD_SECONDS:
        text = f"has neither answered nor computed for {HELD_SECONDS:g} s"
        return LostMember(rank, text, True)
    return None
