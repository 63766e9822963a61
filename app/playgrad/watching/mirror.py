"""A copy of the log of a training elsewhere, kept up to date by a thread.

The thread connects again whenever the connection is lost, and continues where it was. It adds
``link`` events to the copy, which say how the connection is.
"""

from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Iterator
from typing import NamedTuple

import playgrad
from playgrad.watching.address import WatchAddress
from playgrad.watching.event_log import EventLog
from playgrad.watching.event_server import PATH
from playgrad.watching.event_stream import CONTENT_TYPE, QUIET_SECONDS
from playgrad.watching.messages import LONGEST_EVENT, LinkForm, LinkState, received

SILENCE_SECONDS = 3 * QUIET_SECONDS
"""A connection on which nothing arrives for so long is lost."""
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 8.0
_LONGEST_LINE = LONGEST_EVENT + 1000


class WatchProblem(Exception):  # noqa: N818 (an answer that the page shows)
    """The server does not give the events of a training."""


class Frame(NamedTuple):
    """A server-sent event."""

    name: str
    id: str
    data: str


class Mirror:
    """Copies the log of the training at an address.

    Attributes:
        log: the copy.
    """

    def __init__(self, address: WatchAddress) -> None:
        self.log = EventLog()
        self._address = address
        self._position = ""
        self._link: LinkForm | None = None
        self._closing = threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self._note("connecting")
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Give up the connection, and end the log."""
        self._closing.set()
        self.log.close()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            connection.sock.close()

    def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self._closing.is_set():
            try:
                if self._follow():
                    self._note("ended")
                else:
                    self._lost("the connection was closed")
                pause = FIRST_PAUSE_SECONDS
            except WatchProblem as problem:
                self._note("refused", str(problem))
            except (OSError, UnicodeError, http.client.HTTPException) as error:
                self._lost(_in_words(error))
            self._closing.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _follow(self) -> bool:
        """Copy events until the connection ends. Return whether the training has ended with it.

        Raises:
            WatchProblem: the server refuses, or sends something else.
            OSError, HTTPException: there is no connection.
        """
        address = self._address
        kind = http.client.HTTPSConnection if address.is_encrypted else http.client.HTTPConnection
        connection = kind(address.host, address.port, timeout=SILENCE_SECONDS)
        self._connection = connection
        headers = {"Accept": CONTENT_TYPE, "Authorization": f"Bearer {address.token}"}
        if self._position:
            headers["Last-Event-ID"] = self._position
        try:
            connection.request("GET", PATH, headers=headers)
            response = connection.getresponse()
            _check(response)
            self._note("live")
            for frame in _frames(response):
                if frame.name == "end":
                    return True
                if frame.name == "first":
                    self._begin_anew()
                elif frame.name == "message":
                    self._take(frame)
            return False
        finally:
            connection.close()

    def _begin_anew(self) -> None:
        link, self._link = self._link, None
        self.log.clear()
        if link is not None:
            self._note(link["state"], link["reason"])

    def _take(self, frame: Frame) -> None:
        try:
            self.log.add(received(frame.data))
        except (ValueError, RecursionError) as problem:
            raise WatchProblem(
                f"an event has another form ({str(problem)[:200]}). Both ends need the same "
                f"version of playgrad, which is {playgrad.__version__} here"
            ) from None
        self._position = frame.id

    def _lost(self, reason: str) -> None:
        """A training that has ended is not lost: its server is gone."""
        if self._link is None or self._link["state"] != "ended":
            self._note("lost", reason)

    def _note(self, state: LinkState, reason: str = "") -> None:
        link: LinkForm = {"state": state, "address": self._address.name, "reason": reason}
        if link != self._link and not self._closing.is_set():
            self._link = link
            self.log.add({"kind": "link", **link})


def _check(response: http.client.HTTPResponse) -> None:
    kind = response.headers.get_content_type()
    if response.status == http.HTTPStatus.OK and kind == CONTENT_TYPE:
        return
    if response.status == http.HTTPStatus.UNAUTHORIZED:
        raise WatchProblem("the token is missing or wrong")
    if response.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        raise WatchProblem("too many readers watch this training already")
    raise WatchProblem(f"what answers there is not a training (HTTP {response.status})")


def _frames(response: http.client.HTTPResponse) -> Iterator[Frame]:
    name, place, data = "message", "", ""
    while line := response.readline(_LONGEST_LINE):
        if not line.endswith(b"\n"):
            if len(line) == _LONGEST_LINE:
                raise WatchProblem("it sends events that are too long")
            return  # the connection ended within the line
        text = line.decode("ascii", "replace").rstrip("\r\n")
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if not text and data:
            yield Frame(name, place[:100], data)
        if not text:
            name, data = "message", ""
        elif field == "event":
            name = value
        elif field == "id":
            place = value
        elif field == "data":
            data = value


def _in_words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "nothing has arrived for a while"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return "what answers there does not speak TLS"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
