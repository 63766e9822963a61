"""The log of requests: one JSON object in a line."""

from __future__ import annotations

import logging
import time
from typing import Any

import orjson

log = logging.getLogger("playgrad.serving.access")
_LONGEST = 200


def log_request(scope: dict[str, Any], status: int, seconds: float, size: int) -> None:
    """Log a request that was answered.

    Args:
        scope: that of ASGI; its state says which version answered, and for how many samples.
        size: bytes of the answer.
    """
    if not log.isEnabledFor(logging.INFO):
        return
    state = scope.get("state", {})
    name, version = state.get("answered_by", ("", ""))
    client = scope.get("client")
    entry = {
        "time": round(time.time(), 3),
        "client": client[0] if client else "",
        "method": scope["method"][:20],
        "path": scope["path"][:_LONGEST],
        "status": status,
        "ms": round(seconds * 1000, 2),
        "bytes": size,
        "model": name,
        "version": version,
        "rows": state.get("rows", 0),
    }
    log.info("%s", orjson.dumps(entry).decode())
