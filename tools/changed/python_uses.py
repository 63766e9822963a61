"""Edges of the graph of uses that begin at Python files.

A file uses the modules that it imports (grimp finds them). Packages like `playgrad.nn` only export
what others define, so a file that imports one uses the modules of the names that it takes from it.
Programs in strings count, and so do the files of the repository that strings name. A test uses
the fixtures that its arguments name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePosixPath

import grimp

from tools.changed.repository import Repository

PACKAGES = {"playgrad": "app/", "tests": "", "tools": "", "bench": ""}
"""Packages, and where they lie."""
EXAMPLES = "static/examples/"
ALL = "*"
"""Appended to the path of a package: everything that it exports."""
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITION = _FUNCTION | ast.ClassDef
_ADDRESS = re.compile(r"/static/[\w./-]+\.\w+")


class PythonUses:
    """Reads the Python files of a repository."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        packages = (place + name + "/" for name, place in PACKAGES.items())
        self.files = repository.under(*packages, EXAMPLES, suffix=".py")
        folders = [str(repository.root / place) for place in set(PACKAGES.values())]
        sys.path[:0] = folders
        try:
            self.imports = grimp.build_graph(*PACKAGES, cache_dir=None)
        finally:
            del sys.path[: len(folders)]
        self._paths = {_module(path): path for path in self.files}
        self._exports: dict[str, dict[str, str]] = {}
        self._fixtures: dict[str, dict[str, _FUNCTION]] = {}
        self._texts: dict[str, set[str]] = {}
        for path in self.files:
            if path.endswith("/__init__.py"):
                self._exports[_module(path)] = dict(self._imported(self.nodes(path)))
            elif path.endswith("/conftest.py"):
                functions = (n for n in self.nodes(path) if isinstance(n, _FUNCTION))
                self._fixtures[path] = {n.name: n for n in functions if _decorated(n, "fixture")}

    def nodes(self, path: str) -> list[ast.AST]:
        """Return the nodes of a file's syntax tree."""
        return list(ast.walk(ast.parse(self.repository.text(path))))

    def edges(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the edges that begin at a Python file, or at parts of it."""
        if path in self._fixtures:
            yield from self._edges_of_fixtures(path)
            return
        begin = path
        if path.endswith("/__init__.py"):
            begin = path + ALL
            yield begin, path
        elif _module(path) in self.imports.modules:
            for imported in self.imports.find_modules_directly_imported_by(_module(path)):
                yield path, self._paths[imported]
        nodes = self.nodes(path)
        for used in self._uses(nodes, dict(self._imported(nodes))):
            yield begin, used
        if path.startswith("tests/"):
            for other in (*self._conftests(path), *self._arguments(path, nodes)):
                yield path, other

    def _edges_of_fixtures(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the edges that begin at the fixtures of a conftest file."""
        nodes = self.nodes(path)
        bound = dict(self._imported(nodes))
        definitions: dict[str, ast.AST] = {n.name: n for n in nodes if isinstance(n, _DEFINITION)}
        for node in nodes:
            if isinstance(node, ast.Assign):
                definitions |= {t.id: node for t in node.targets if isinstance(t, ast.Name)}
        for name, function in self._fixtures[path].items():
            fixture = f"{path}::{name}"
            yield fixture, path
            parts, used = [function.name], {function.name}
            while parts:  # and of what it uses of the file
                inner = list(ast.walk(definitions[parts.pop()]))
                for each in (*self._uses(inner, bound), *self._arguments(path, inner)):
                    yield fixture, each
                names = {n.id for n in inner if isinstance(n, ast.Name)} & definitions.keys()
                parts += names - used
                used |= names

    def unnamed_fixtures(self, path: str) -> Iterator[str]:
        """Yield the fixtures that a test uses without naming them."""
        for conftest in self._conftests(path):
            for name, function in self._fixtures[conftest].items():
                if _decorated(function, "autouse"):
                    yield f"{conftest}::{name}"

    def _conftests(self, path: str) -> list[str]:
        """Return the conftest files above a test, the nearest first."""
        above = (f"{folder}/conftest.py" for folder in PurePosixPath(path).parents)
        return [each for each in above if each in self._fixtures]

    def _arguments(self, path: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
        """Yield the fixtures that arguments of functions name."""
        for name in {a.arg for n in nodes if isinstance(n, _FUNCTION) for a in n.args.args}:
            places = (c for c in self._conftests(path) if name in self._fixtures[c])
            if conftest := next(places, None):
                yield f"{conftest}::{name}"

    def _imported(self, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
        """Yield the names that are imported, with the module that each is, or is defined in."""
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    package = alias.name.partition(".")[0]
                    yield (alias.asname, alias.name) if alias.asname else (package, package)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    yield alias.asname or alias.name, self._defining(node.module, alias.name)

    def _defining(self, module: str, name: str) -> str:
        """Return the module that defines a name of ``module``, through the packages between."""
        if f"{module}.{name}" in self._paths:
            return f"{module}.{name}"
        exports = self._exports.get(module, {})
        source = exports.get(name) or exports.get("*")
        return self._defining(source, name) if source and source != module else module

    def imported(self, statement: str) -> set[str]:
        """Return the files of the modules that an import statement names."""
        modules = {module for _, module in self._imported(ast.walk(ast.parse(statement)))}
        return {self._paths[module] for module in modules & self._paths.keys()}

    def _uses(self, nodes: Iterable[ast.AST], bound: dict[str, str]) -> set[str]:
        """Return the files that syntax nodes use."""
        modules: set[str] = set()
        files: set[str] = set()
        within: set[ast.AST] = set()  # what is part of a longer chain of attributes
        for node in nodes:
            if isinstance(node, ast.Attribute | ast.Name):
                if node not in within:
                    modules.add(self._module_of(node, bound, within))
            elif isinstance(node, ast.Constant):
                if isinstance(node.value, str):
                    files |= self.in_text(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = (e.value if isinstance(e, ast.Constant) else "*" for e in node.values)
                files.update(self.repository.named("".join(map(str, parts))))
            elif isinstance(node, ast.List | ast.Tuple):
                texts = [e.value if isinstance(e, ast.Constant) else None for e in node.elts]
                for flag, name in pairwise(texts):
                    if flag == "-m" and isinstance(name, str):
                        modules |= {name, f"{name}.__main__"}
        for path in map(self._paths.get, modules):
            if path:
                files.add(path + ALL if path.endswith("/__init__.py") else path)
        return files

    def _module_of(self, node: ast.AST, bound: dict[str, str], within: set[ast.AST]) -> str:
        """Return the module of ``pg.nn.Dense``, or an empty string."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
            within.add(node)
        module = bound.get(node.id, "") if isinstance(node, ast.Name) else ""
        while attributes and module in self._exports:
            module = self._defining(module, attributes.pop())
        return module

    def in_text(self, text: str) -> set[str]:
        """Return the files that a string names, and the files that a program in it uses."""
        if text not in self._texts:
            named = {address[1:] for address in _ADDRESS.findall(text)}
            named.add(f"{EXAMPLES}{text}.py")
            files = {*self.repository.named(text), *(named & self.repository.files)}
            if "playgrad" in text and "import" in text:
                try:
                    nodes = list(ast.walk(ast.parse(text)))
                except SyntaxError:  # a text, or a part of a program
                    nodes = []
                files |= self._uses(nodes, dict(self._imported(nodes)))
            self._texts[text] = files
        return self._texts[text]


def _module(path: str) -> str:
    return path.removeprefix("app/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _decorated(function: _FUNCTION, word: str) -> bool:
    return any(word in ast.unparse(each) for each in function.decorator_list)
