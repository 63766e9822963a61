"""A log as server-sent events (the HTML standard, section 9.2).

Each event is JSON, and its id is its position in the log, which a client sends back as
``Last-Event-ID`` when it connects again. Two named events belong to the stream: ``first`` says that
everything before it is void, ``end`` that nothing will follow.
"""

from __future__ import annotations

from collections.abc import Iterator

from playgrad.watching.event_log import EventLog, Position

CONTENT_TYPE = "text/event-stream"
QUIET_SECONDS = 10.0
"""After so long without an event a comment is sent: either end notices a lost connection."""
_RETRY_MS = 1000


def event_stream(
    log: EventLog, last_event_id: str | None, quiet_seconds: float = QUIET_SECONDS
) -> Iterator[bytes]:
    """Yield the events after ``last_event_id``, and those to come, until ``log`` is closed."""
    position = Position.parse(last_event_id)
    yield f"retry: {_RETRY_MS}\n\n".encode()
    while True:
        portion = log.read(position, quiet_seconds)
        position = portion.position
        parts = ["event: first\ndata: {}\n\n"] if portion.is_first else []
        for entry in portion.entries:
            parts.append(f"id: {portion.position_of(entry)}\ndata: {entry.text}\n\n")
        if parts:
            yield "".join(parts).encode("ascii")
        elif log.is_closed:
            yield b"event: end\ndata: {}\n\n"
            return
        else:
            yield b":\n\n"
