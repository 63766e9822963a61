"""The Python side of the page, in this interpreter, without a browser."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar

import pytest

from playgrad.data import source as data_source
from playgrad.data import user_data
from playgrad.devices import registry
from playgrad.graph.graph import reset_default_graph
from playgrad.interchange.onnx import messages
from playgrad.io import user_files
from playgrad.runtime.hooks import get_hooks, set_hooks

Message = dict[str, Any]
_OPTIONS = {"device": "cpu", "paused": False}


class PythonSide:
    """The controller, with a page that collects its events and sends it requests.

    Attributes:
        stop_at: the step at which the page requests a stop.
    """

    def __init__(self, controller: ModuleType) -> None:
        self.module = controller
        self.events: list[Message] = []
        self.requests: list[Message] = []
        self.stop_at: float = math.inf
        self.step = 0
        self.streams = sys.stdout, sys.stderr
        self._ids = 0

    def receive(self, event: Message) -> None:
        self.events.append(event)
        self.step = event["step"] if event["kind"] == "progress" else self.step

    def poll(self) -> tuple[Message, bytes | None] | None:
        if not self.requests:
            return None
        request = dict(self.requests.pop(0))
        return request, request.pop("payload", None)

    def run(self, source: str, *during: Message, **options: Any) -> str:
        """Run a program, with requests that arrive while it runs; return the last state."""
        payload = options.pop("payload", None)
        request = {"kind": "run", "source": source, "options": _OPTIONS | options}
        self.requests += [request | {"payload": payload}, *during]
        self.serve()
        return str(self.of("status")[-1]["state"])

    def ask(self, kind: str, **fields: Any) -> Message:
        """Return the reply to a question."""
        self._ids += 1
        self.requests.append({"kind": kind, "id": self._ids, **fields})
        self.serve()
        (reply,) = [event for event in self.of("reply") if event["id"] == self._ids]
        return reply

    def serve(self) -> None:
        """Have the controller serve all requests."""
        with redirect_stdout(self.streams[0]), redirect_stderr(self.streams[1]):
            self.module.handle_pending()

    def of(self, kind: str) -> list[Message]:
        """Return the events of a kind."""
        return [event for event in self.events if event["kind"] == kind]

    @property
    def checkpoint(self) -> bytes:
        """The last checkpoint."""
        return bytes(self.of("checkpoint")[-1]["bytes"])

    @property
    def output(self) -> str:
        return "".join(event["text"] for event in self.of("stdout"))


Side = TypeVar("Side", bound=PythonSide)


@contextmanager
def modules_anew(host: SimpleNamespace) -> Iterator[None]:
    """Import the modules of the page anew, with stubs for modules that only a browser has.

    Args:
        host: stands in for ``playgrad_host``.
    """
    ffi = SimpleNamespace(JsException=Exception)
    memory = SimpleNamespace(HEAPU8=SimpleNamespace(byteLength=64 << 20))
    stubs: dict[str, Any] = {
        "playgrad_host": host,
        "pyodide": SimpleNamespace(ffi=ffi),
        "pyodide.ffi": ffi,
        "pyodide_js": SimpleNamespace(_module=memory),
    }
    before = _forget_modules()
    sys.modules.update(stubs)
    try:
        yield
    finally:
        _forget_modules()
        for name in stubs:
            del sys.modules[name]
        sys.modules.update(before)


def _forget_modules() -> dict[str, ModuleType]:
    names = [n for n in sys.modules if n.startswith(("playgrad.page", "playgrad.devices._browser"))]
    for name in names:
        package, _, attribute = name.rpartition(".")
        vars(sys.modules[package]).pop(attribute, None)
    return {name: sys.modules.pop(name) for name in reversed(names)}


def forget_page() -> None:
    """Read data sets and files as on the desktop again."""
    data_source.set_source(data_source.read_from_files)
    user_data.set_user_data(user_data.FolderUserData())
    user_files.set_user_files(user_files.NoFiles())
    messages.set_archive(messages.in_this_installation)


@contextmanager
def started(controller: ModuleType) -> Iterator[None]:
    """Start a controller; undo within the library what it and its programs have changed there."""
    hooks = get_hooks()
    controller.main()
    try:
        yield
    finally:
        controller.controller.reset()
        set_hooks(hooks)
        forget_page()
        registry.reset_logical_devices()
        reset_default_graph()


@contextmanager
def python_side(kind: type[Side] = PythonSide) -> Iterator[Side]:  # type: ignore[assignment]
    """A new Python side, which shares nothing with the one before but the library."""
    host = SimpleNamespace(take_interrupt=lambda: False)
    with modules_anew(host), pytest.MonkeyPatch.context() as patch:
        from playgrad.page import controller

        side = kind(controller)
        host.emit = side.receive
        host.stop_requested = lambda: side.step >= side.stop_at
        patch.setattr(controller.host, "poll_mailbox", side.poll)
        patch.setattr(controller.host, "wait_mailbox", lambda timeout: side.poll())
        patch.setattr(registry, "enable_data_cache", lambda capacity: None)
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, io.StringIO())
        with started(controller):
            side.streams = sys.stdout, sys.stderr
            yield side
