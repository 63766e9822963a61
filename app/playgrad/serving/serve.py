"""The model server as a process: uvicorn, signals, and the order of beginning and end."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import uvicorn

from playgrad.runtime.desktop_host import VARIABLE
from playgrad.server.hosts import Hosts
from playgrad.server.serve import listen, page_address
from playgrad.serving.app import ServingApp
from playgrad.serving.connection import connections
from playgrad.serving.manager import ModelManager
from playgrad.serving.metrics import ServingMetrics
from playgrad.serving.settings import ServingSettings
from playgrad.serving.store import ModelStore
from playgrad.serving.tokens import Tokens

_SWITCH_SECONDS = 0.0005
"""How long a thread may keep Python to itself: with the usual 5 ms, an answer that is ready would
wait for the next batch."""
KEEP_ALIVE = 75
"""Seconds that a connection stays open between two requests."""


def make_server(
    manager: ModelManager, hosts: Hosts, tokens: Tokens | None = None
) -> uvicorn.Server:
    """Return a server, whose ``run(sockets=[...])`` serves until a signal or ``should_exit``."""
    settings = manager.settings
    config = uvicorn.Config(
        ServingApp(manager, hosts, tokens),
        http=connections(settings.request_seconds, settings.max_connections),
        loop="asyncio",
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=1024,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=int(settings.request_seconds) + 1,
    )
    return uvicorn.Server(config)


def serve_models(
    folder: Path,
    host: str,
    port: int,
    settings: ServingSettings,
    allowed: Iterable[str] = (),
    token_file: Path | None = None,
    access_log: bool = True,
) -> None:
    """Serve the models in a folder until a signal ends it; requests that have begun are answered.

    Port 0 chooses a free port. The address is printed either way.

    Raises:
        ReadError: the tokens cannot be read.
        SystemExit: the address cannot be used.
    """
    tokens = Tokens(token_file) if token_file else None
    hosts = Hosts.of(host, allowed)
    with listen(host, port, "models serve") as listening:
        start_log(access_log)
        manager = started_manager(folder, settings)
        address = page_address(host, listening.getsockname()[1])
        print(f"playgrad serves models at {address} (Ctrl+C stops it)", flush=True)
        try:
            make_server(manager, hosts, tokens).run(sockets=[listening])
        finally:
            manager.close()


def started_manager(folder: Path, settings: ServingSettings) -> ModelManager:
    """Return a manager that has loaded the models in a folder, and prepare the process for it."""
    # A program is compiled after some runs, and answers would change their last digits then.
    os.environ.setdefault(VARIABLE, "0")
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()  # so that freeing a model later does not look through all of the library
    manager = ModelManager(ModelStore(folder), settings, ServingMetrics())
    manager.update()
    manager.start()
    return manager


def start_log(access_log: bool) -> None:
    """Write the log of this process to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("playgrad.serving")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    logging.getLogger("playgrad.serving.access").disabled = not access_log
