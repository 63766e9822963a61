"""The sites that may show the page in a frame, and the headers of the one route that allows it.

A frame is cross-origin isolated, which shared memory requires, either by itself where the browser
knows Document-Isolation-Policy, or because the page around it is, and passes that on
(docs/decisions/023-embedding.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

PATH = "/embed"

_ORIGIN = re.compile(
    r"https?://(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:([0-9]{1,5}|\*))?"
)


@dataclass(frozen=True)
class FramePolicy:
    """The sites that may embed the page.

    Attributes:
        ancestors: sources of the directive ``frame-ancestors``; ``("'none'",)`` for no site at all.
    """

    ancestors: tuple[str, ...] = ("*",)

    @classmethod
    def of(cls, allowed: Iterable[str]) -> FramePolicy:
        """Return the policy of ``--embed-in``: each of ``allowed`` is an origin, or ``none`` alone.

        Without any, every site may embed the page.

        Raises:
            ValueError: one of ``allowed`` is neither; the message says so.
        """
        names = list(dict.fromkeys(allowed))
        if names == ["none"]:
            return cls(("'none'",))
        for name in names:
            if name == "none":
                raise ValueError("'none' excludes every site, so it cannot be used with others")
            if not _ORIGIN.fullmatch(name):
                raise ValueError(
                    f"{name!r} is not the origin of a site, such as https://school.example or "
                    "https://*.school.example"
                )
        return cls(tuple(names) or ("*",))

    @property
    def is_allowed(self) -> bool:
        return self.ancestors != ("'none'",)

    @property
    def headers(self) -> dict[str, str]:
        """The headers that differ from other routes', without the content policy."""
        return {
            "Cross-Origin-Resource-Policy": "cross-origin",
            "Document-Isolation-Policy": "isolate-and-require-corp",
        }
