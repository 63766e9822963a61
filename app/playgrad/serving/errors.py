"""The errors that an answer reports."""

from __future__ import annotations

from typing import Any

from playgrad.errors import PlaygradError


class AnswerError(PlaygradError):
    """A request that is answered with an error.

    Attributes:
        status: the status of HTTP.
        retry_after: after how many seconds to try again; None if that is of no use.
        closes: whether the connection is closed, because not all of the request was read.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        retry_after: int | None = None,
        closes: bool = False,
        **details: Any,
    ) -> None:
        super().__init__(message, **details)
        self.status = status
        self.retry_after = retry_after
        self.closes = closes
