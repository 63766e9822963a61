"""Edges of the graph of uses that begin at the page, its scripts and its kernels."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tools.changed.python_uses import PythonUses
from tools.changed.repository import Repository

PAGE = "static/index.html"
_PANELS = "static/js/panels/"
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
_PATH = re.compile(r"""["'`](\.{1,2}/|/static/)([\w./-]+\.\w+)["'`]""")
_PYTHON = re.compile(
    r"^(?:from playgrad[\w.]* import [\w, ]+|import playgrad[\w. ]*)$", re.MULTILINE
)
_INCLUDE = re.compile(r'#include "([^"]+)"')
_TEST_ID = re.compile(r"""(?:data-testid|testId)=["']?([\w-]+)""")
_OPENS = re.compile(r'\.goto\((?:server|address|f"\{[\w.]+\}(?:/|\{path\})?")[,)]')


def uses_of_script(path: str, repository: Repository, python: PythonUses) -> Iterator[str]:
    """Yield the files that a script, or the page, imports, starts or fetches."""
    text = _COMMENT.sub("", repository.text(path))
    folder = posixpath.dirname(path)
    for begin, rest in _PATH.findall(text):
        target = f"static/{rest}" if begin == "/static/" else posixpath.join(folder, begin + rest)
        if (target := posixpath.normpath(target)) in repository.files:
            yield target
    for line in _PYTHON.findall(text):
        yield from python.imported(line)
    if path == PAGE:  # the server adds the panels
        yield from (p for p in repository.under(_PANELS) if p.endswith(("/panel.js", ".css")))


def uses_of_kernel(path: str, repository: Repository) -> Iterator[str]:
    """Yield the kernels that a kernel includes."""
    for name in _INCLUDE.findall(repository.text(path)):
        yield f"kernels/{name}"


def test_ids(text: str) -> set[str]:
    """Return the test ids that a component gives to elements, or a string of a test selects."""
    return set(_TEST_ID.findall(text))


def opens_page(text: str) -> bool:
    """Return whether the text of a test has a call that opens the page."""
    return bool(_OPENS.search(text))
