"""Builds the site into ``var/docs``. ``--strict`` builds everything, with warnings as errors.

A build that fails or is interrupted leaves the old site, or none.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

from tools.docs import ROOT, SITE
from tools.lock import locked

_STRICT = ["--fresh-env", "--write-all", "--fail-on-warning", "--keep-going"]


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--strict"]):
        print("usage: python -m tools.docs [--strict]", file=sys.stderr)
        return 2
    with locked(SITE.with_name(".docs.lock"), "docs: waiting for the build in another terminal"):
        return build(ROOT / "docs", SITE, _STRICT if arguments else [])


def build(source: Path, site: Path, options: list[str]) -> int:
    """Build ``site``, and return the exit code of Sphinx. Later builds read only what changed.

    A build with warnings is not built upon: the next one gives them again.
    """
    cache = site.with_name("docs-cache")
    whole = cache / "whole"
    if not whole.is_file():  # Sphinx takes a page that was cut off for a current one
        shutil.rmtree(cache, ignore_errors=True)
    whole.unlink(missing_ok=True)
    built, warnings = cache / "site", cache / "warnings"
    cache.mkdir(parents=True, exist_ok=True)
    options = ["--quiet", "--warning-file", str(warnings), *options]
    code = sphinx_build(
        [*options, "--doctree-dir", str(cache / "doctrees"), str(source), str(built)]
    )
    if code == 0:
        if not warnings.stat().st_size:
            whole.touch()
        publish(built, site)
    return code


def publish(built: Path, site: Path) -> None:
    """Replace ``site`` by a copy of ``built``, complete at any time or, for a moment, missing."""
    fresh, old = site.with_name("docs-new"), site.with_name("docs-old")
    for path in (fresh, old):
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(built, fresh)
    if site.exists():
        site.rename(old)
    fresh.rename(site)
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
