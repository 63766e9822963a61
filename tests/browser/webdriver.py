"""Firefox and WebKit as Debian has them, which Playwright cannot drive.

WebKitGTK has a server for the commands of WebDriver (https://www.w3.org/TR/webdriver2/). Firefox
takes the same commands by Marionette, the protocol behind geckodriver: JSON with its length before.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

START_S = 240
ANSWER_S = 240

# Of the commands of WebDriver: their HTTP method and path, with fields of the parameters.
_ROUTES = {
    "Navigate": ("POST", "/url"),
    "Refresh": ("POST", "/refresh"),
    "ExecuteAsyncScript": ("POST", "/execute/async"),
    "SetTimeouts": ("POST", "/timeouts"),
    "SetWindowRect": ("POST", "/window/rect"),
    "FindElement": ("POST", "/element"),
    "ElementClick": ("POST", "/element/{id}/click"),
    "ElementSendKeys": ("POST", "/element/{id}/value"),
    "PerformActions": ("POST", "/actions"),
    "TakeScreenshot": ("GET", "/screenshot"),
}

# Firefox shows nothing of its own, asks for nothing, and saves files where the test finds them.
_PREFERENCES = {
    "marionette.port": 0,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "extensions.update.enabled": False,
    "browser.aboutConfig.showWarning": False,
    "browser.download.folderList": 2,
    "layout.css.prefers-color-scheme.content-override": 1,  # light, whatever the system has
}


class Session(Protocol):
    """A browser with one window."""

    def command(self, name: str, **parameters: Any) -> Any:
        """Execute a command; raise WebDriverError if it fails."""


class WebDriverError(Exception):
    """The browser could not execute a command; the message is its own."""


class _Marionette:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), ANSWER_S)
        self._stream = self._socket.makefile("rb")
        self._numbers = itertools.count(1)
        self._read()  # its greeting
        self.command("NewSession")

    def __enter__(self) -> _Marionette:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._socket.close()

    def _read(self) -> Any:
        digits = iter(lambda: self._stream.read(1), b":")
        return json.loads(self._stream.read(int(b"".join(digits))))

    def command(self, name: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        command = name if ":" in name else f"WebDriver:{name}"
        message = json.dumps([0, number, command, parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._read()
        if error:
            raise WebDriverError(f"{name}: {error['message']}")
        is_value = isinstance(result, dict) and list(result) == ["value"]
        return result["value"] if is_value else result


class _Http:
    def __init__(self, address: str, capabilities: dict[str, Any]) -> None:
        self._address = f"{address}/session"
        request = {"capabilities": {"alwaysMatch": capabilities}}
        self._address += f"/{self._ask('POST', '', request)['sessionId']}"

    def _ask(self, method: str, path: str, parameters: dict[str, Any]) -> Any:
        body = json.dumps(parameters).encode() if method == "POST" else None
        request = urllib.request.Request(self._address + path, body, method=method)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise WebDriverError(error.read().decode()) from None

    def command(self, name: str, **parameters: Any) -> Any:
        method, path = _ROUTES[name]
        return self._ask(method, path.format_map(parameters), parameters)

    def close(self) -> None:
        self._ask("DELETE", "", {})


def _when(found: Any, process: subprocess.Popen[bytes], errors: Path) -> Any:
    """Return the first true result of ``found``, which looks whether ``process`` is ready.

    ``errors`` has what it writes to stderr.
    """
    end = time.monotonic() + START_S
    while not (result := found()):
        said = errors.read_text(errors="replace")[-4000:]
        assert process.poll() is None, f"{process.args} has ended ({process.returncode}): {said}"
        assert time.monotonic() < end, f"{process.args} does not answer: {said}"
        time.sleep(0.05)
    return result


@contextmanager
def firefox(downloads: Path) -> Iterator[Session]:
    """A headless Firefox, with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        preferences = {**_PREFERENCES, "browser.download.dir": str(downloads)}
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in preferences.items()]
        Path(folder, "user.js").write_text("\n".join(lines))
        executable = shutil.which("firefox-esr") or shutil.which("firefox")
        assert executable, "no Firefox on PATH: `make test` installs it"
        command = [executable, "--headless", "--marionette", "--no-remote", "--profile", folder]
        errors = Path(folder, "stderr")
        with (
            errors.open("wb") as log,
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log) as process,
        ):
            port = Path(folder, "MarionetteActivePort")
            try:
                number = _when(lambda: port.exists() and port.read_text(), process, errors)
                with _Marionette(int(number)) as session:
                    yield session
            finally:
                process.terminate()


@contextmanager
def webkit(downloads: Path) -> Iterator[Session]:
    """WebKitGTK's MiniBrowser on a display of its own, under the locale "C"."""
    binary = next(Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser"), None)
    assert binary, "no MiniBrowser of WebKitGTK: `make nightly` installs it"
    with _display() as display, tempfile.TemporaryDirectory() as folder:
        Path(folder, "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{downloads}"\n')
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = {
            **os.environ,
            "DISPLAY": display,
            "LC_ALL": "C",
            "GTK_THEME": "Adwaita",  # light, whatever the system has
            "JSC_useSharedArrayBuffer": "1",  # as Safari has it
            "XDG_CONFIG_HOME": folder,
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",  # root has none
        }
        command = ["WebKitWebDriver", "--host=127.0.0.1", f"--port={port}"]
        errors = Path(folder, "stderr")
        with (
            errors.open("wb") as log,
            subprocess.Popen(command, env=environment, stderr=log) as process,
        ):
            address = f"http://127.0.0.1:{port}"
            try:
                _when(lambda: _answers(f"{address}/status"), process, errors)
                options = {"binary": str(binary), "args": ["--automation"]}
                session = _Http(address, {"webkitgtk:browserOptions": options})
                yield session
                session.close()
            finally:
                process.terminate()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


@contextmanager
def _display() -> Iterator[str]:
    """A virtual screen; its name."""
    reader, writer = os.pipe()
    screen = ["-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    command = ["Xvfb", "-displayfd", str(writer), *screen]
    with (
        open(reader) as numbers,
        subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as process,
    ):
        os.close(writer)
        try:
            yield f":{numbers.readline().strip()}"
        finally:
            process.terminate()
