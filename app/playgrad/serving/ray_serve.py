"""The model server as a Ray Serve deployment: several replicas, on one machine or many.

Ray's proxy takes the connections and passes each request to one of the replicas, which are the
same application as `playgrad.serving.serve` runs. Each replica keeps in step with the folder by
itself, so that for a moment after a change some answer with the new version and some with the old
one; the header ``Model-Version`` names the version of each answer.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from playgrad.errors import DataError, DeviceError
from playgrad.parallel.ray_cluster import Ray, first_line
from playgrad.server.hosts import Hosts
from playgrad.server.serve import listen, page_address
from playgrad.serving.app import ServingApp
from playgrad.serving.serve import KEEP_ALIVE, start_log, started_manager
from playgrad.serving.settings import ServingSettings
from playgrad.serving.tokens import Tokens

_NAME = "playgrad-models"


def serve_models_on_ray(
    folder: Path,
    host: str,
    port: int,
    settings: ServingSettings,
    cluster: Ray,
    replicas: int,
    allowed: Iterable[str] = (),
    token_file: Path | None = None,
    access_log: bool = True,
) -> None:
    """Serve the models in a folder by ``replicas`` processes until SIGTERM or SIGINT.

    The folder, and the file of tokens, must be at the same place on all machines of the cluster.

    Raises:
        DataError: the cluster serves something already.
        DeviceError: Ray Serve is not installed, cannot be used, or has no room for the replicas.
        ReadError: the tokens cannot be read.
        SystemExit: the address cannot be used.
    """
    if token_file:
        Tokens(token_file)  # before anything is started
    with listen(host, port):
        pass  # Ray would try other things before it reports an address that is in use
    with cluster.connected() as ray:
        if (room := cluster.capacity(ray)) < replicas:
            raise DeviceError(
                f"the Ray cluster has room for {room} of {replicas} replicas "
                f"(CPU: {cluster.cpus:g}, GPU: {cluster.gpus:g} each).",
                hint="Ask for fewer replicas, or for less with --replica-cpus.",
            )
        serve = _imported()
        logging.getLogger("ray.serve").setLevel(logging.WARNING)
        folder, hosts = folder.resolve(), Hosts.of(host, allowed)

        def replica() -> ServingApp:
            return _replica(folder, settings, hosts, token_file, access_log)

        deployment = serve.deployment(
            serve.ingress(replica)(),
            name="models",
            num_replicas=replicas,
            max_ongoing_requests=settings.max_connections,
            graceful_shutdown_timeout_s=settings.request_seconds + 1,
            ray_actor_options={"num_cpus": cluster.cpus, "num_gpus": cluster.gpus},
        )
        if serve.status().applications:
            raise DataError(
                "Ray Serve runs on this cluster already, at an address of its own.",
                hint="End its applications first, or use another cluster.",
            )
        options = {"host": host, "port": port, "keep_alive_timeout_s": KEEP_ALIVE}
        try:
            serve.start(http_options=options)
            with _until_signal() as ended:
                try:
                    serve.run(deployment.bind(), name=_NAME, route_prefix="/")
                    print(
                        f"playgrad serves models at {page_address(host, port)} by {replicas} "
                        "replicas (Ctrl+C stops them)",
                        flush=True,
                    )
                    ended.wait()
                finally:
                    serve.delete(_NAME)  # when requests that have begun are answered
                    if cluster.address != "local":
                        serve.shutdown()
        except (RuntimeError, ray.exceptions.RayError) as error:
            raise DeviceError(f"the replicas do not start: {first_line(error)}") from None


def _replica(
    folder: Path, settings: ServingSettings, hosts: Hosts, token_file: Path | None, access_log: bool
) -> ServingApp:
    """Return the application of a replica, in the process of that replica."""
    _listen_on_the_cluster_only()
    start_log(access_log)
    tokens = Tokens(token_file) if token_file else None
    return ServingApp(started_manager(folder, settings), hosts, tokens)


def _listen_on_the_cluster_only() -> None:
    """Let Ray Serve listen for other replicas at the address that this machine has in the cluster.

    By itself, it listens at all addresses of the machine, asks for no token, and unpickles what
    comes.
    """
    import ray
    from ray.serve._private import replica

    listen_at = replica.add_port_to_grpc_server
    address = ray.util.get_node_ip_address()

    def listen_here(server: Any, _: str) -> Any:
        return listen_at(server, f"[{address}]:0" if ":" in address else f"{address}:0")

    replica.add_port_to_grpc_server = listen_here


@contextmanager
def _until_signal() -> Iterator[threading.Event]:
    """Provide an event that SIGTERM and SIGINT set within the block."""
    ended = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _imported() -> ModuleType:
    """Return the module ``ray.serve``.

    Raises:
        DeviceError: it is not installed.
    """
    try:
        from ray import serve
    except ImportError:
        raise DeviceError(
            "Ray Serve is not installed.",
            hint="Install it: pip install 'playgrad[models,ray-serve]'",
        ) from None
    return serve
