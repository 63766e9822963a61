"""The body of a request, received within limits of bytes and of time."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from playgrad.serving.errors import AnswerError
from playgrad.serving.settings import ServingSettings

_MOST_AT_A_TIME = 256 << 20
"""Bytes of all bodies that are being received: beyond, others have to wait."""


class _Receiving:
    """The bodies that are being received."""

    bytes = 0


async def read_body(request: Request, settings: ServingSettings) -> bytes:
    """Return the whole body.

    Raises:
        AnswerError: 413, it is too long; 408, it takes too long; 415, it is compressed; 503, too
            many others are being received.
    """
    if request.headers.get("content-encoding", "identity") != "identity":
        raise AnswerError(415, "compressed bodies are not taken.", closes=True)
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > settings.max_body:
        raise _too_long(settings)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(settings.request_seconds):
            async for chunk in request.stream():
                if size + len(chunk) > settings.max_body:
                    raise _too_long(settings)
                if _Receiving.bytes + len(chunk) > _MOST_AT_A_TIME:
                    raise AnswerError(
                        503, "too much is being received.", retry_after=1, closes=True
                    )
                chunks.append(chunk)
                size += len(chunk)
                _Receiving.bytes += len(chunk)
    except TimeoutError:
        raise AnswerError(
            408, f"the body was not received within {settings.request_seconds:g} s.", closes=True
        ) from None
    except ClientDisconnect:
        raise AnswerError(400, "the client went away.", closes=True) from None
    finally:
        _Receiving.bytes -= size
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _too_long(settings: ServingSettings) -> AnswerError:
    return AnswerError(413, f"the body has more than {settings.max_body:,} bytes.", closes=True)
