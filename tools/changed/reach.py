"""Which test files use a file, directly or through others, and how near they are to it."""

from __future__ import annotations

import ast
import heapq
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from tools.changed import page_uses
from tools.changed.python_uses import PythonUses
from tools.changed.repository import Repository

# Lengths of edges. A test that opens the page runs all of it, but mostly tests the parts whose ids
# it names; the networks that it trains there are seldom its subject.
_NEAR, _IN_PAGE, _PAGE, _UNNAMED = 1, 3, 4, 6

READ_WHOLE = {
    "CHANGELOG.md": ("tests/test_docs.py",),
    "CONTRIBUTING.md": ("tests/test_docs.py",),
    "README.md": ("tests/test_docs.py",),
    "app/": ("tests/test_structure.py",),
    "app/playgrad/ops/": ("tests/test_op_contract.py",),
    "docs/": ("tests/test_docs.py",),
    "kernels/": ("tests/test_op_contract.py", "tests/server/test_assets.py"),
    "static/": ("tests/server/test_assets.py", "tests/server/test_version.py"),
    "static/engine/": ("tests/page/test_messages.py",),
    "static/examples/": (
        "tests/test_examples.py",
        "tests/test_gallery.py",
        "tests/page/test_chinese_examples.py",
        "tests/browser/test_examples_in_page.py",
    ),
    "static/gallery/": ("tests/test_gallery.py", "tests/browser/test_gallery.py"),
    "static/js/": ("tests/page/test_messages.py", "tests/page/test_test_ids.py"),
}
"""Folders, and the tests that use all files in them without naming each."""

BROWSER = "tests/browser/"
NODE_RUNNER, NODE_TEST = "tests/page/test_modules.py", "test_page_module_passes_its_tests"
"""The file and the test that run the ``*.test.mjs`` files beside them, each as one test."""


class Reach:
    """The graph of which file uses which."""

    def __init__(self, repository: Repository) -> None:
        self._users: dict[str, dict[str, int]] = defaultdict(dict)
        python = PythonUses(repository)
        scripts = repository.under("static/", "tests/", "bench/")
        components: dict[str, set[str]] = defaultdict(set)
        for path in scripts:
            if path.endswith((".js", ".mjs")) or path == page_uses.PAGE:
                length = _PAGE if path == page_uses.PAGE else _NEAR
                self._add(path, page_uses.uses_of_script(path, repository, python), length)
                if path.startswith("static/js/"):
                    for each in page_uses.test_ids(repository.text(path)):
                        components[each].add(path)
        for path in repository.under("kernels/", suffix=".wgsl"):
            self._add(path, page_uses.uses_of_kernel(path, repository))
        for path in python.files:
            for user, used in python.edges(path):
                in_page = user.startswith(BROWSER) and used.startswith("app/")
                self._add(user, (used,), _IN_PAGE if in_page else _NEAR)
            if path.startswith("tests/"):
                self._add(path, python.unnamed_fixtures(path), _UNNAMED)
                if page_uses.opens_page(repository.text(path)):
                    self._add(path, (page_uses.PAGE,))
            if path.startswith(BROWSER):
                for each in _ids_in(python.nodes(path)) & components.keys():
                    self._add(path, components[each])

    def _add(self, user: str, files: Iterable[str], length: int = _NEAR) -> None:
        for used in files:
            if used != user:
                self._users[used][user] = min(length, self._users[used].get(user, length))

    def tests(self, changed: Iterable[str]) -> dict[str, int]:
        """Return the test files that use a changed file, each with the length of the shortest way.

        Of a test that runs under Node: its id.
        """
        waiting = [(0, path) for path in changed]
        waiting += [
            (_NEAR, test)
            for _, path in waiting
            for folder, tests in READ_WHOLE.items()
            if path.startswith(folder)
            for test in tests
        ]
        heapq.heapify(waiting)
        seen: set[str] = set()
        tests: dict[str, int] = {}
        while waiting:
            distance, path = heapq.heappop(waiting)
            if path in seen:
                continue
            seen.add(path)
            for user, length in self._users[path].items():
                heapq.heappush(waiting, (distance + length, user))
            name = path.rpartition("/")[2]
            if name.endswith(".test.mjs"):
                tests[f"{NODE_RUNNER}::{NODE_TEST}[{name}]"] = distance
            elif is_test(path):
                tests[path] = distance
        return tests

    def nearest_first(self, changed: Iterable[str]) -> list[tuple[str, int]]:
        """Return the tests of `tests` with their distances.

        Of tests at the same distance, tests come first that share the name or folder of a changed
        file, and browser tests last.
        """
        changed = list(changed)
        tests = self.tests(changed)
        stems = {PurePosixPath(path).stem.strip("_") for path in changed} - {"init", "index"}
        folders = {name for path in changed for name in PurePosixPath(path).parent.parts}

        def place(test: str) -> tuple[int, bool, bool, bool, str]:
            named = any(stem in test.rpartition("/")[2] for stem in stems)
            beside = test.split("/")[1] in folders
            return tests[test], not named, not beside, test.startswith(BROWSER), test

        return [(test, tests[test]) for test in sorted(tests, key=place)]


def is_test(path: str) -> bool:
    """Return whether pytest collects the file."""
    name = path.rpartition("/")[2]
    return path.startswith("tests/") and name.startswith("test_") and name.endswith(".py")


def _ids_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return what may be test ids in the strings of a browser test."""
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    texts = {value for value in values if isinstance(value, str)}
    return texts.union(*map(page_uses.test_ids, texts))
