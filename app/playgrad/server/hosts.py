"""The names by which requests may call the server.

A page of another site can make its own name resolve to this machine (DNS rebinding) and would then
share an origin with playgrad. The browser still sends that name in ``Host``, so it is refused.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

_HOST = re.compile(
    r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?)(?::[0-9]{0,5})?"
)


def host_name(host: str) -> str | None:
    """Return the name in ``host``, a ``Host`` header: in lower case, without port, brackets and
    trailing dot; None if it is malformed. An IPv6 address is written in its shortest form."""
    match = _HOST.fullmatch(host)
    if match is None or len(host) > 300:
        return None
    name = match["name"].lower().removesuffix(".")
    address = _address(name.strip("[]"))
    if name.startswith("["):
        return str(address) if isinstance(address, ipaddress.IPv6Address) else None
    return str(address) if address else name


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


@dataclass(frozen=True)
class Hosts:
    """The names that are allowed.

    Attributes:
        listening: the address that the server listens on.
        named: further names, in lower case.
    """

    listening: str = "127.0.0.1"
    named: frozenset[str] = frozenset()

    @classmethod
    def of(cls, listening: str, allowed: Iterable[str] = ()) -> Hosts:
        """Return the names for ``--host`` and each ``--allow-host``.

        Raises:
            ValueError: one of ``allowed`` is not a host name; the message says so.
        """
        names = set()
        for text in allowed:
            name = host_name(text) or host_name(f"[{text}]")
            if name is None:
                raise ValueError(f"{text!r} is not a host name, such as playgrad.example.org")
            names.add(name)
        return cls(listening, frozenset(names))

    @property
    def reach_others(self) -> bool:
        """Whether other machines can call the server, as far as it knows."""
        address = _address(self.listening)
        is_here = self.listening == "localhost" or (address is not None and address.is_loopback)
        return bool(self.named) or not is_here

    def allow(self, name: str) -> bool:
        """Return whether requests may call this server ``name``, as `host_name` returns it.

        This machine's own names are allowed, the address that the server listens on, and what was
        named. A server that listens on all addresses allows each address: only names can be
        rebound.
        """
        if name in self.named or name == "localhost" or name.endswith(".localhost"):
            return True
        address = _address(name)
        if address is None:
            return name == self.listening.lower().removesuffix(".")
        bound = _address(self.listening)
        mapped = getattr(address, "ipv4_mapped", None) or address
        everywhere = self.listening == "" or (bound is not None and bound.is_unspecified)
        return bool(mapped.is_loopback) or everywhere or address == bound
