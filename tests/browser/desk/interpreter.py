"""An interpreter of the desktop in the place of one of Pyodide, for one worker of the page.

`boot.js` is the worker's end. Each end calls the other one, and the worker sleeps while this end
computes, as it does while Pyodide computes. A message has a byte of flags, the length of a text,
the text (JSON), and the bytes that the text mentions, in their order.
"""

from __future__ import annotations

import _thread
import ast
import io
import math
import os
import queue
import random
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from json import dumps, loads
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from tests.browser.desk.websocket import WebSocket

_INTERRUPT, _STOP = 1, 2
"""Flags of a message: the page may have requested an interrupt; it has requested a stop."""
_MOST = 2**53
"""Larger integers are no numbers in JavaScript."""
_SIGNAL = signal.SIGUSR1
"""Tells the main thread of an interrupt, unless it waits for the page."""

_DATA_FILES = {
    path.stat().st_size: path
    for path in (Path(__file__).parents[3] / "var" / "mnist").glob("*images-idx3-ubyte")
}
"""Large files of the page by their sizes. To send one, Chromium and Playwright take seconds."""


def _checksum(path: Path) -> int:
    """Return the sum of all words of a file, weighted by their places, as `boot.js` computes it."""
    words = np.fromfile(path, "<u4")
    return int(np.dot(words, 2 * np.arange(len(words), dtype=np.uint32) + 1))


class JsError(Exception):
    """An error that JavaScript has thrown."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class JsBytes:
    """A Uint8Array: its bytes, or, in memory that the page's workers share, its number there."""

    def __init__(self, content: bytes | None, size: int, number: int = 0) -> None:
        self.byteLength = size
        self.number = number
        self._content = content

    def to_bytes(self) -> bytes:
        if self._content is not None:
            return self._content
        path = _DATA_FILES.get(self.byteLength)
        if path and _interpreter().call("desk.checksum", self.number) == _checksum(path):
            return path.read_bytes()
        return bytes(_interpreter().call("desk.read", self.number).to_bytes())

    def assign_to(self, target: Any) -> None:
        memoryview(target).cast("B")[:] = self.to_bytes()


class Interpreter:
    """Serves the calls of one worker, from its first one to its end, which ends this process.

    Attributes:
        stop: whether the page has requested a stop and not withdrawn it.
    """

    def __init__(self, page: WebSocket) -> None:
        self.stop = False
        self._page = page
        self._received: queue.SimpleQueue[tuple[Any, bytes]] = queue.SimpleQueue()
        self._functions: list[Callable[..., Any]] = []
        self._globals: dict[str, Any] = {"__name__": "__main__"}
        self._missed = False
        signal.pthread_sigmask(signal.SIG_BLOCK, [_SIGNAL])
        signal.signal(_SIGNAL, self._interrupted)
        threading.Thread(target=self._read, daemon=True).start()

    def serve(self) -> None:
        while True:
            message, payload = self._received.get()
            work = self._run if "code" in message else self._invoke
            self._send(*self._outcome(partial(work, message, _decoder(payload))))

    def call(self, function: str | int, *arguments: Any) -> Any:
        """Call a function of the worker, whose name is its module's with a dot, or its number."""
        message = _encoded({"call": function, "arguments": list(arguments)}, self._functions)
        signal.pthread_sigmask(signal.SIG_BLOCK, [_SIGNAL])
        try:
            self._send(*message)
            answer, payload = self._received.get()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [_SIGNAL])
        if self._missed:
            self._missed = False
            self._take_interrupt()
        if "thrown" in answer:
            raise JsError(answer["thrown"])
        return _decoder(payload)(answer["returned"])

    def _read(self) -> None:
        """Receive messages until the worker ends, in a thread."""
        main = threading.main_thread().ident or 0
        try:
            while True:
                message = self._page.receive()
                flags, length = struct.unpack_from("<BI", message)
                self.stop = bool(flags & _STOP)
                if flags & _INTERRUPT:
                    signal.pthread_kill(main, _SIGNAL)
                else:
                    text = message[5 : 5 + length]
                    self._received.put((loads(text), message[5 + length :]))
        finally:
            os._exit(0)

    def _send(self, text: bytes, parts: list[bytes]) -> None:
        self._page.send(struct.pack("<I", len(text)), text, *parts)

    def _outcome(self, work: Callable[[], Any]) -> tuple[bytes, list[bytes]]:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [_SIGNAL])
            value = work()
        except BaseException:
            return _encoded({"raised": traceback.format_exc()}, self._functions)
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, [_SIGNAL])
        return _encoded({"returned": value}, self._functions)

    def _run(self, message: Any, decoded: Callable[[Any], Any]) -> Any:
        """Execute code; return the value of its last line, if that is an expression."""
        names = self._globals if message["names"] is None else decoded(message["names"])
        tree = ast.parse(message["code"])
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<exec>", "exec"), names)
        if isinstance(last, ast.Expr):
            return eval(compile(ast.Expression(last.value), "<exec>", "eval"), names)
        return None

    def _invoke(self, message: Any, decoded: Callable[[Any], Any]) -> Any:
        return self._functions[message["function"]](*decoded(message["arguments"]))

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Look for an interrupt, unless no code of the page runs to be interrupted."""
        if frame is not None and frame.f_code is Interpreter._outcome.__code__:
            self._missed = True
        else:
            self._take_interrupt()

    def _take_interrupt(self) -> None:
        # Pyodide, too, takes the request out of the page's memory, and then gets the signal.
        if self.call("desk.take_interrupt"):
            signal.raise_signal(signal.SIGINT)


def _encoded(
    message: dict[str, Any], functions: list[Callable[..., Any]]
) -> tuple[bytes, list[bytes]]:
    """Return the text of a message, and the bytes that it mentions; add what it names to
    ``functions``."""
    parts: list[bytes] = []

    def plain(value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return value if abs(value) < _MOST else {"$": ["integer", str(value)]}
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$": ["float", str(float(value))]}
        if isinstance(value, dict):
            return {str(key): plain(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        if isinstance(value, JsBytes):
            return {"$": ["object", value.number]}
        if callable(value):
            functions.append(value)
            return {"$": ["function", len(functions) - 1]}
        parts.append(memoryview(value).tobytes())
        return {"$": ["bytes", len(parts[-1])]}

    return dumps(plain(message), allow_nan=False).encode("utf-8", "surrogatepass"), parts


def _decoder(payload: bytes) -> Callable[[Any], Any]:
    """Return a function that puts the bytes of a message, in their order, into what it says."""
    start = 0

    def whole(value: Any) -> Any:
        nonlocal start
        if isinstance(value, list):
            return [whole(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "$" not in value:
            return {key: whole(each) for key, each in value.items()}
        kind, number, *size = value["$"]
        if kind == "function":
            return partial(_interpreter().call, number)
        if kind == "shared":
            return JsBytes(None, size[0], number)
        start += number
        return JsBytes(payload[start - number : start], number)

    return whole


_interpreters: list[Interpreter] = []


def _interpreter() -> Interpreter:
    return _interpreters[0]


class _Host(ModuleType):
    """The module of the worker that Python imports."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(_interpreter().call, f"{self.__name__}.{name}")

    def stop_requested(self) -> bool:
        """Return what the last message said: this is asked between any two steps."""
        return _interpreter().stop


class _Stream(io.TextIOBase):
    """Prints lines as Pyodide does until the page's Python side takes over the streams."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            _interpreter().call(f"streams.{self._name}", line)
        return len(text)


def pretend() -> None:
    """Have the library see what it sees in a page. Call this before it is imported."""
    ffi = SimpleNamespace(JsException=JsError, to_js=lambda value: value)
    # A browser without SIMD: this Python's memory is not one of WebAssembly.
    web_assembly = SimpleNamespace(validate=lambda module: False)
    memory = SimpleNamespace(HEAPU8=SimpleNamespace(byteLength=64 << 20))
    modules: dict[str, Any] = {
        "js": SimpleNamespace(WebAssembly=web_assembly),
        "playgrad_host": _Host("playgrad_host"),
        "pyodide": SimpleNamespace(ffi=ffi),
        "pyodide.ffi": ffi,
        "pyodide_js": SimpleNamespace(_module=memory),
    }
    sys.modules.update(modules)
    sys.platform = "emscripten"


def _no_thread(*_: object) -> None:
    raise RuntimeError("can't start new thread")


def interpret(page: WebSocket) -> None:
    """Be the interpreter of a worker until it ends."""
    random.seed()
    np.random.seed()
    _interpreters.append(Interpreter(page))
    for module, name in ((_thread, "start_new_thread"), (threading, "_start_new_thread")):
        setattr(module, name, _no_thread)  # as in a page
    sys.stdin = io.StringIO()
    sys.stdout, sys.stderr = _Stream("stdout"), _Stream("stderr")
    _interpreter().serve()
