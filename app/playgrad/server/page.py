"""The page itself, with its early scripts and styles put inline, and with all of its panels.

The early files show a sentence and try again when something that the page loads is missing, so they
must not be among what can be missing: they arrive with the page or not at all. The policy allows
these inline texts, and no others, by their hashes.

A panel is a folder with a ``panel.js`` in ``static/js/panels/``. A module cannot list a folder, so
the server puts these scripts, and the styles beside them, into the page, or their bundle.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from playgrad import paths
from playgrad.server.embedding import FramePolicy
from playgrad.server.headers import content_security_policy
from playgrad.server.page_bundle import STYLES, PageBundle, page_bundle
from playgrad.server.texts import Text

# The elements of index.html that are replaced, and the files whose content replaces them.
_EARLY = re.compile(
    r'<script(?: nomodule)? src="static/(?P<script>js/start/early-[a-z-]+\.js)"></script>'
    r'|<link rel="stylesheet" href="static/(?P<style>css/early\.css)">'
)
_ENDS = {"script": "</script", "style": "</style"}
# The comments of index.html that are replaced by an element for each file of the panels.
_PANELS = {
    "<!-- panels: scripts -->": ("panel.js", '<script type="module" src="static/{}"></script>'),
    "<!-- panels: styles -->": ("*.css", '<link rel="stylesheet" href="static/{}">'),
}
# The style sheets of index.html, of which the bundle has one.
_STYLES = re.compile(r'(?: *<link rel="stylesheet" href="static/(?!css/early)[^"]+">\n)+')
# What the page in a frame has in place of elements of index.html.
_EMBEDDED = {
    'src="static/js/main.js"': 'src="static/js/embed-main.js"',
    '    <link rel="manifest" href="static/manifest.webmanifest">\n': "",
    '    <script src="static/js/start/early-python.js"></script>\n': "",
    "  </body>": '    <link rel="stylesheet" href="static/css/embed.css">\n  </body>',
}

# What the page that watches a training has in place of them.
_WATCHING = {
    'src="static/js/main.js"': 'src="static/js/watch-main.js"',
    '    <link rel="manifest" href="static/manifest.webmanifest">\n': "",
    '    <script src="static/js/start/early-python.js"></script>\n': "",
    "  </body>": '    <link rel="stylesheet" href="static/css/watch.css">\n  </body>',
}

# What the first page of a static host lacks of index.html, and has in place of its elements.
_LATER = re.compile(
    r' *<(?:link rel="(?:apple-touch-icon|manifest|modulepreload)"|div id="app"|!-- '
    r'|script (?:type="module"|src="static/js/start/early-python)'
    r'|link rel="stylesheet" href="static/(?!css/early)).*\n'
)
_CHARSET = '<meta charset="utf-8">'  # a browser looks for it at the beginning only
_FIRST = {
    "static/js/start/early-boot.js": "static/js/start/early-site.js",
    'href="static/favicon.svg" type="image/svg+xml"': 'href="data:,"',
}


@dataclass(frozen=True)
class ComposedPage:
    """The page as it is sent, and the Content-Security-Policy that allows its inline texts."""

    text: Text
    policy: str


def compose(embedding: FramePolicy | None = None, watches: bool = False) -> ComposedPage:
    """Return the page of the current files.

    Args:
        embedding: for the page in a frame, the sites that may show it.
        watches: for the page that shows a training elsewhere.

    Raises:
        FileNotFoundError: a file that the page names is missing.
        ValueError: a file cannot be put inline, because it contains the end of its element; or
            index.html lacks a text that is to be replaced.
    """
    page = paths.static() / "index.html"
    names = [
        page,
        *sorted(page.parent.glob("js/start/early-*.js")),
        page.parent / "css" / "early.css",
    ]
    modified = tuple((path, path.stat().st_mtime_ns) for path in names)
    changes = _EMBEDDED if embedding else _WATCHING if watches else {}
    panels = (*_panels(page.parent, page_bundle()), *changes.items())
    return _compose(page, modified, panels, embedding.ancestors if embedding else ())


def _panels(static: Path, bundle: PageBundle | None) -> tuple[tuple[str, str], ...]:
    """Return the texts of index.html to replace with the panels' files, and the replacements."""
    if bundle:
        preload = (f'<link rel="modulepreload" href="static/{path}">' for path in bundle.preload)
        style = f'<link rel="stylesheet" href="static/{STYLES}">'
        return tuple(zip(_PANELS, ("\n    ".join(preload), style), strict=True))
    replacements = []
    for comment, (pattern, element) in _PANELS.items():
        files = sorted(static.glob(f"js/panels/*/{pattern}"))
        elements = (element.format(path.relative_to(static).as_posix()) for path in files)
        replacements.append((comment, "\n    ".join(elements)))
    return tuple(replacements)


@lru_cache(maxsize=4)
def _compose(
    page: Path,
    _modified: tuple[tuple[Path, int], ...],
    changes: tuple[tuple[str, str], ...],
    ancestors: tuple[str, ...],
) -> ComposedPage:
    source = page.read_text(encoding="utf-8")
    if any(STYLES in replacement for _, replacement in changes):
        source = _STYLES.sub("", source)
    for element, replacement in changes:
        if element not in source:
            raise ValueError(f"index.html lacks {element!r}, which the server replaces")
        source = source.replace(element, replacement)
    text, hashes = _with_early_files(source, page.parent)
    policy = content_security_policy(hashes["script"], hashes["style"], ancestors)
    return ComposedPage(Text(text.encode()), policy)


def compose_first_page() -> bytes:
    """Return the page with which a static host begins: it starts the service worker.

    Raises:
        FileNotFoundError, ValueError: as `compose` does.
    """
    static = paths.static()
    source = _LATER.sub("", (static / "index.html").read_text(encoding="utf-8"))
    for there, here in _FIRST.items():
        source = source.replace(there, here)
    text, hashes = _with_early_files(source, static)
    policy = content_security_policy(hashes["script"], hashes["style"])
    # In an element, browsers do not take the directive about frames.
    kept = "; ".join(rule for rule in policy.split("; ") if not rule.startswith("frame-"))
    element = f'<meta http-equiv="Content-Security-Policy" content="{kept}">'
    return text.replace(_CHARSET, f"{_CHARSET}\n    {element}").encode()


def _with_early_files(source: str, static: Path) -> tuple[str, dict[str, list[str]]]:
    """Put the early files inline; return the page, and their hashes by kind of element."""
    hashes: dict[str, list[str]] = {kind: [] for kind in _ENDS}

    def inline(found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        text = (static / found[kind]).read_text(encoding="utf-8")
        if _ENDS[kind] in text.lower():
            raise ValueError(f"{found[kind]} contains {_ENDS[kind]!r}, so it cannot be put inline")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
        nomodule = " nomodule" if " nomodule " in found[0] else ""
        return f"<{kind}{nomodule}>{text}</{kind}>"

    return _EARLY.sub(inline, source), hashes
