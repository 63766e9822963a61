"""The address of a training to watch: ``HOST:PORT``, with the token perhaps."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

PORT = 8765
"""Where a training serves its events by default."""
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,200}")


@dataclass(frozen=True)
class WatchAddress:
    """The server of a training.

    Attributes:
        token: empty if the address came without one.
        is_encrypted: whether it is reached by HTTPS.
    """

    host: str
    port: int
    token: str = ""
    is_encrypted: bool = False

    @classmethod
    def parse(cls, text: str) -> WatchAddress:
        """Return the address that ``text`` denotes: ``[http[s]://]HOST[:PORT][/][#TOKEN]``.

        Raises:
            ValueError: it is none; the message says so.
        """
        problem = f"{text.partition('#')[0]!r:.200} is not HOST:PORT, such as 127.0.0.1:{PORT}"
        try:
            parts = urlsplit(text if "://" in text else f"http://{text}")
            port = parts.port
        except ValueError:
            raise ValueError(problem) from None
        is_plain = parts.path in ("", "/") and not parts.query and "@" not in parts.netloc
        if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
            raise ValueError(problem)
        is_encrypted = parts.scheme == "https"
        usual = 443 if is_encrypted else PORT
        token = checked_token(parts.fragment) if parts.fragment else ""
        return cls(parts.hostname, usual if port is None else port, token, is_encrypted)

    @property
    def name(self) -> str:
        """Host and port, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether nobody on the way can read what is sent."""
        return self.is_encrypted or is_here(self.host)


def is_here(host: str) -> bool:
    """Return whether ``host`` is this machine, and not reached by others."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked_token(text: str) -> str:
    """Return ``text``.

    Raises:
        ValueError: it cannot be a token; the message says why, without it.
    """
    if not _TOKEN.fullmatch(text):
        raise ValueError(
            "a token has 16 to 200 letters, digits and characters of ._~+/=-, such as "
            "`openssl rand -hex 32` prints"
        )
    return text


def read_token(path: Path) -> str:
    """Return the token in the file at ``path``, whose first line it is.

    Raises:
        ValueError: the file cannot be read, or contains no token; the message says so.
    """
    try:
        with path.open("rb") as file:
            line = file.readline(1000)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    return checked_token(line.decode("ascii", "replace").strip())
