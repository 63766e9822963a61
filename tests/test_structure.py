"""The structure of the library: imports without cycles, and unique class names."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

PACKAGE = Path(__file__).resolve().parent.parent / "app" / "playgrad"
ONE_IDEA = (
    {"playgrad.graph.graph", "playgrad.graph.opdef", "playgrad.graph.tensor"},
    {"playgrad.nn.layer", "playgrad.nn.layer_calls", "playgrad.nn.deferred"},
)
"""Modules that may import each other, because none is of use without the others."""
LOSS_AND_METRIC = (
    {"playgrad.nn.losses", "playgrad.nn.metrics"},
    {"playgrad.nn.cross_entropy_losses", "playgrad.nn.metrics"},
)


def test_imports_have_no_cycles() -> None:
    """Imports inside functions and for type checking count."""
    imports = grimp.build_graph("playgrad", cache_dir=None)
    name_of = {module: min(group) for group in ONE_IDEA for module in group}
    assert name_of.keys() <= imports.modules, "a module listed in ONE_IDEA does not exist"
    needed: dict[str, set[str]] = defaultdict(set)
    for module in imports.modules:
        importer = name_of.get(module, module)
        for other in imports.find_modules_directly_imported_by(module):
            imported = name_of.get(other, other)
            if imported != importer:
                needed[importer].add(imported)
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        raise AssertionError(f"imports form a cycle: {' <- '.join(error.args[1])}") from None


def test_classes_have_different_names() -> None:
    """A loss and the metric that reports it share a name, as in Keras."""
    modules: dict[str, set[str]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        module = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(module)
    shared = {name: where for name, where in modules.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if where not in LOSS_AND_METRIC} == {}


def test_modules_that_tests_import_from_the_page_are_the_pages_own() -> None:
    """A module that is not listed would be a second copy, with a state of its own."""
    root = PACKAGE.parents[1]
    listed = set(json.loads((root / "tools" / "exposed-modules.json").read_text(encoding="utf-8")))
    imported = {
        name
        for folder in ("tests", "tools", "bench")
        for pattern in ("*.py", "*.js")
        for file in (root / folder).rglob(pattern)
        for name in re.findall(
            r"""import\(\s*['"]/static/(js/[\w/-]+\.js)""", file.read_text(encoding="utf-8")
        )
    }
    assert imported == listed
