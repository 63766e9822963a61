"""The public API as plain data: for `api.json` of the documentation, and for the editor."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import playgrad as pg

MODULES = (pg, pg.nn, pg.optim, pg.parallel, pg.data, pg.games, pg.io)
Entry = dict[str, Any]
_PACKAGE = "playgrad."


def describe_api() -> list[Entry]:
    """Return an entry for each public name, and for the public members of each class.

    Every entry has ``name``, ``kind`` (class, function, method, property, module or data),
    ``module`` (where it is defined), ``signature`` and ``doc``. Callables add ``parameters`` and
    ``returns``, classes add the ``bases`` that users can name. A name exported twice has
    ``alias_of`` the second time.
    """
    entries: list[Entry] = []
    canonical: dict[int, str] = {}
    for module in MODULES:
        for short in module.__all__:
            value = getattr(module, short)
            name = f"{module.__name__}.{short}"
            entry = _describe(name, value, module)
            if id(value) in canonical:
                entry["alias_of"] = canonical[id(value)]
            else:
                canonical[id(value)] = name
            entries.append(entry)
    for entry in list(entries):
        if entry["kind"] == "class" and "alias_of" not in entry:
            entries += _members(entry["name"], _value(entry["name"]), canonical)
    return entries


def _value(name: str) -> Any:
    value: Any = pg
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def _describe(name: str, value: Any, module: ModuleType) -> Entry:
    kind = _kind(value)
    doc = _data_doc(module, name) if kind == "data" else inspect.getdoc(value) or ""
    entry: Entry = {
        "name": name,
        "kind": kind,
        "module": getattr(value, "__module__", None) or module.__name__,
        "signature": "",
        "doc": doc,
    }
    if kind in ("class", "function"):
        entry |= _signature(value, doc)
    if kind == "class":
        entry["bases"] = _public_bases(value)
    return entry


def _public_bases(owner: type) -> list[str]:
    """Return the names of the nearest base classes that users can name; of others, like an
    exception of Python's, their own names."""
    bases: dict[str, None] = {}
    for base in owner.__bases__:
        internal = base.__module__.startswith(_PACKAGE) and base not in _public_classes()
        for each in _public_bases(base) if internal else [base.__name__]:
            bases[each] = None
    bases.pop("object", None)
    return list(bases)


@cache
def _public_classes() -> frozenset[type]:
    values = (getattr(module, name) for module in MODULES for name in module.__all__)
    return frozenset(value for value in values if inspect.isclass(value))


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "class"
    if inspect.ismodule(value):
        return "module"
    if inspect.isroutine(value):
        return "function"
    return "property" if isinstance(value, property) else "data"


def _signature(value: Any, doc: str) -> Entry:
    signature = inspect.signature(value)
    texts = described(doc, "Args")
    parameters = [
        {
            "name": parameter.name,
            "kind": parameter.kind.description,
            "annotation": _text(parameter.annotation),
            "default": None if parameter.default is parameter.empty else repr(parameter.default),
            "doc": texts.get(parameter.name, ""),
        }
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    return {
        "signature": str(_unquoted(signature)),
        "parameters": parameters,
        "returns": _text(signature.return_annotation),
    }


class _Bare(str):
    """An annotation that is printed without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _unquoted(signature: inspect.Signature) -> inspect.Signature:
    parameters = [
        parameter.replace(annotation=_Bare(_text(parameter.annotation)))
        if parameter.annotation is not parameter.empty
        else parameter
        for parameter in signature.parameters.values()
    ]
    returned = signature.return_annotation
    if returned is not signature.empty:
        returned = _Bare(_text(returned))
    return signature.replace(parameters=parameters, return_annotation=returned)


def _text(annotation: Any) -> str:
    """Return an annotation as it is written in the source; empty where there is none."""
    if annotation is inspect.Signature.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def described(doc: str, title: str) -> dict[str, str]:
    """Return the texts of a docstring's section, such as ``Args``, by name."""
    doc = inspect.cleandoc(doc)
    section = re.search(rf"^{title}:\n((?:[ ]+.*\n?|\n)+)", doc, re.MULTILINE)
    if section is None:
        return {}
    texts = re.split(r"^ {4}(\*{0,2}\w+(?:, \w+)*): ", section[1], flags=re.MULTILINE)[1:]
    return {
        name.lstrip("*"): " ".join(text.split())
        for names, text in zip(texts[::2], texts[1::2], strict=True)
        for name in names.split(", ")
    }


def _members(name: str, owner: type, canonical: dict[int, str]) -> list[Entry]:
    """Describe the documented members of a class, down to the first base that is public too."""
    members: dict[str, Entry] = {}
    for cls in owner.__mro__:
        if (cls is not owner and id(cls) in canonical) or cls.__module__ == "builtins":
            break
        for short in vars(cls):
            if not short.startswith("_") and short not in members:
                member = _member(name, short, inspect.getattr_static(owner, short), owner)
                members |= {short: member} if member else {}
    return list(members.values())


def _member(name: str, short: str, value: Any, owner: type) -> Entry | None:
    if isinstance(value, (staticmethod, classmethod)):
        value = getattr(owner, short)
    doc, kind = inspect.getdoc(value), _kind(value)
    if not doc or kind not in ("function", "property"):
        return None
    module = getattr(value, "__module__", None) or owner.__module__
    entry: Entry = {"name": f"{name}.{short}", "kind": "method", "module": module}
    if kind == "property":
        returns = _text(inspect.signature(value.fget).return_annotation)
        return {**entry, "kind": kind, "signature": returns, "doc": doc}
    return {**entry, "doc": doc, **_signature(value, doc)}


def _data_doc(module: ModuleType, name: str) -> str:
    """Return the string below the assignment of a constant, in the module that defines it."""
    short = name.rpartition(".")[2]
    body = ast.parse(inspect.getsource(module)).body
    for statement, following in pairwise(body):
        match statement, following:
            case ast.Assign(targets=[ast.Name(id=target)]), ast.Expr(ast.Constant(str(text))):
                if target == short:
                    return inspect.cleandoc(text)
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            for alias in statement.names:
                if alias.name == short:
                    return _data_doc(importlib.import_module(statement.module), short)
    return ""
