"""``playgrad train --watch``: the training serves its events while it runs."""

from __future__ import annotations

import argparse
import getpass
import platform
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playgrad.errors import PlaygradError
from playgrad.runtime.members import current_members
from playgrad.watching.address import WatchAddress, is_here

if TYPE_CHECKING:
    from playgrad.watching.broadcast import Broadcast

_TOKEN_BYTES = 24


@contextmanager
def watchable(program: Path, options: argparse.Namespace) -> Iterator[Broadcast | None]:
    """Serve the events of the block, if ``--watch`` says so, and say how to watch it.

    Raises:
        PlaygradError: the address cannot be used.
    """
    if options.watch is None or current_members().rank > 0:  # the first member tells of all
        yield None
        return
    from playgrad.watching.broadcast import Broadcast
    from playgrad.watching.event_log import EventLog
    from playgrad.watching.event_server import EventServer

    host, port = options.watch
    token = options.token or secrets.token_urlsafe(_TOKEN_BYTES)
    log = EventLog()
    try:
        server = EventServer(log, token, host, port)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PlaygradError(
            f"--watch cannot use port {port} on {host}: {reason}.",
            hint="Name another port, or 0 for any that is free.",
        ) from None
    try:
        print(_invitation(host, server.port, "" if options.token else token), file=sys.stderr)
        with (broadcast := Broadcast(log, program)).of_run():
            yield broadcast
    finally:
        server.close()


def _invitation(host: str, port: int, token: str) -> str:
    """Return what to type to watch; ``token`` is empty if the user has it in a file."""
    reached = platform.node() if host in ("0.0.0.0", "::") else host
    known = f"#{token}" if token else " --token-file FILE"
    command = f"  playgrad watch {WatchAddress(reached, port).name}{known}"
    if not is_here(host):
        return f"playgrad: to watch this training, which others can reach:\n{command}"
    tunnel = f"  ssh -N -L {port}:{WatchAddress(host, port).name} {_user()}@{platform.node()}"
    return (
        f"playgrad: to watch this training:\n{command}\n"
        f"on another machine, while this runs there:\n{tunnel}"
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container, whose user has no name
        return "USER"
