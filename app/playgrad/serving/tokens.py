"""Tokens, which requests from other machines must have."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path

from playgrad.errors import ReadError

_SHORTEST = 16
_MOST = 1000


class Tokens:
    """The tokens in a file, one in a line; empty lines and those that begin with # are left out.

    Raises:
        ReadError: the file cannot be read, has no tokens, or one that is easily guessed.
    """

    def __init__(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise ReadError(f"cannot read the tokens in {path}: {error}.") from None
        lines = [line.strip() for line in text.splitlines()]
        tokens = [line for line in lines if line and not line.startswith("#")]
        if not tokens or len(tokens) > _MOST or any(len(each) < _SHORTEST for each in tokens):
            raise ReadError(
                f"{path} must have 1 to {_MOST:,} tokens of at least {_SHORTEST} characters.",
                hint='For one: python -c "import secrets; print(secrets.token_urlsafe())"',
            )
        self._digests: Sequence[bytes] = [_digest(each.encode()) for each in tokens]

    def allow(self, authorization: str) -> bool:
        """Return whether a header ``Authorization: Bearer TOKEN`` has one of them.

        It takes the same time for all wrong ones.
        """
        scheme, _, token = authorization.partition(" ")
        digest = _digest(token.strip().encode("utf-8", "surrogateescape"))
        matches = [hmac.compare_digest(digest, each) for each in self._digests]
        return scheme.lower() == "bearer" and any(matches)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
