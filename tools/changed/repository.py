"""Files of the repository: where they are, and what changed since a commit."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def git(*arguments: str, root: Path = ROOT) -> str:
    """Return the output of git."""
    command = ["git", "-c", "core.quotePath=off", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


class Repository:
    """Paths relative to the root, with slashes, of all files that git knows or would add."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        listed = git("ls-files", "--cached", "--others", "--exclude-standard", root=root)
        self.files = {path for path in listed.splitlines() if (root / path).is_file()}

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def under(self, *folders: str, suffix: str = "") -> list[str]:
        """Return the files in folders, of which each name ends in a slash."""
        return sorted(p for p in self.files if p.startswith(folders) and p.endswith(suffix))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = defaultdict(list)
        for path in self.files:
            names[path.rpartition("/")[2]].append(path)
        return names

    def named(self, text: str) -> list[str]:
        """Return the files that ``text`` names: by its path, the end of it, or a pattern with *."""
        name = text.rpartition("/")[2]
        if not 4 < len(text) < 100 or "." not in name or any(c.isspace() for c in text):
            return []
        if "*" in name:
            if len(name.replace("*", "").partition(".")[0]) < 3:
                return []
            names: Iterable[str] = (each for each in self._by_name if fnmatchcase(each, name))
        else:
            names = (name,)
        end = f"/{text.lstrip('./')}"
        return [
            path
            for each in names
            for path in self._by_name.get(each, ())
            if fnmatchcase(f"/{path}", f"*{end}")
        ]

    def fork(self) -> str:
        """Return the commit at which HEAD left the main branch."""
        branches = git("for-each-ref", "--format=%(refname)", root=self.root).splitlines()
        mains = [
            each for each in ("refs/remotes/origin/main", "refs/heads/main") if each in branches
        ]
        return git("merge-base", "HEAD", mains[0] if mains else "HEAD", root=self.root).strip()

    def changed_since(self, base: str) -> list[str]:
        """Return the files that differ from a commit, including new and deleted ones."""
        differ = git("diff", "--name-only", "--no-renames", base, root=self.root)
        new = git("ls-files", "--others", "--exclude-standard", root=self.root)
        return sorted({*differ.splitlines(), *new.splitlines()})
