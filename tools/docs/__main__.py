"""Builds the site into ``var/docs``. ``--strict`` builds everything, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

ROOT = Path(__file__).resolve().parents[2]
_STRICT = ["--fresh-env", "--write-all", "--fail-on-warning", "--keep-going"]


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--strict"]):
        print("usage: python -m tools.docs [--strict]", file=sys.stderr)
        return 2
    cache, site = ROOT / "var" / "docs-cache", ROOT / "var" / "docs"
    options = ["--quiet", "--doctree-dir", str(cache), *(_STRICT if arguments else [])]
    return sphinx_build([*options, str(ROOT / "docs"), str(site)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
