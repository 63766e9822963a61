"""The page itself, with its early scripts and styles put inline.

They show a sentence and try again when something that the page loads is missing, so they must not
be among what can be missing: they arrive with the page or not at all. The policy allows these
inline texts, and no others, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from playgrad import paths
from playgrad.server.headers import content_security_policy
from playgrad.server.texts import Text

# The elements of index.html that are replaced, and the files whose content replaces them.
_EARLY = re.compile(
    r'<script(?: nomodule)? src="/static/(?P<script>js/early-[a-z-]+\.js)"></script>'
    r'|<link rel="stylesheet" href="/static/(?P<style>css/early\.css)">'
)
_ENDS = {"script": "</script", "style": "</style"}


@dataclass(frozen=True)
class ComposedPage:
    """The page as it is sent, and the Content-Security-Policy that allows its inline texts."""

    text: Text
    policy: str


def compose() -> ComposedPage:
    """Return the page of the current files.

    Raises:
        FileNotFoundError: a file that the page names is missing.
        ValueError: a file cannot be put inline, because it contains the end of its element.
    """
    page = paths.static() / "index.html"
    names = [page, *sorted(page.parent.glob("js/early-*.js")), page.parent / "css" / "early.css"]
    return _compose(page, tuple((path, path.stat().st_mtime_ns) for path in names))


@lru_cache(maxsize=2)
def _compose(page: Path, _modified: tuple[tuple[Path, int], ...]) -> ComposedPage:
    hashes: dict[str, list[str]] = {kind: [] for kind in _ENDS}

    def inline(found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        text = (page.parent / found[kind]).read_text(encoding="utf-8")
        if _ENDS[kind] in text.lower():
            raise ValueError(f"{found[kind]} contains {_ENDS[kind]!r}, so it cannot be put inline")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
        nomodule = " nomodule" if " nomodule " in found[0] else ""
        return f"<{kind}{nomodule}>{text}</{kind}>"

    text = Text.of(_EARLY.sub(inline, page.read_text(encoding="utf-8")).encode())
    policy = content_security_policy(scripts=hashes["script"], styles=hashes["style"])
    return ComposedPage(text, policy)
