"""Forks an interpreter for each worker that connects, until standard input ends.

``python -m tests.browser.desk.interpreters`` prints its port.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import sysconfig
import tempfile

from tests.browser.desk.interpreter import interpret, pretend
from tests.browser.desk.websocket import WebSocket


def main() -> None:
    for name in [name for name in os.environ if name.startswith("PLAYGRAD")]:
        del os.environ[name]  # a page has no environment
    sysconfig.get_config_vars()  # while the platform is this one
    pretend()
    import playgrad.page.controller  # noqa: F401
    from playgrad.page.warm_up import warm_up

    warm_up()
    # A page has no packages besides. What belongs to the two is found through them.
    standard = sysconfig.get_path("stdlib")
    sys.path[:] = [standard, f"{standard}/lib-dynload"]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the interpreters
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        print(listening.getsockname()[1], flush=True)
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                os.chdir(tempfile.mkdtemp(dir=folder))
                try:
                    interpret(WebSocket(connection))
                finally:
                    os._exit(0)
            connection.close()


if __name__ == "__main__":
    main()
