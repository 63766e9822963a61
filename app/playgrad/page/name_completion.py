"""Completion of the names that a program has, without running any of its code.

Attributes are looked up where they are stored: no property is computed, and no ``__getattr__`` or
``__dir__`` of the program is called.
"""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
from typing import Any, TypedDict

MOST_NAMES = 1000
_PATH = re.compile(r"(?:[^\W\d]\w*\.)*(?:[^\W\d]\w*)?$")
_MISSING = object()


class Completion(TypedDict):
    """`type`: "variable", "function", "class", "property", "namespace" or "keyword"."""

    label: str
    type: str


def complete(text: str, namespace: dict[str, Any]) -> list[Completion]:
    """Return the names that can follow at the end of ``text``, with their kinds."""
    match = _PATH.search(text)
    path = match.group() if match else ""
    before = text[: len(text) - len(path)]
    if before.rstrip().endswith((".", ")", "]", '"', "'")) and before.endswith("."):
        return []  # of a value that would have to be computed
    *owners, word = path.split(".")
    if not owners:
        names = {**vars(builtins), **namespace}
        found = {name: _kind(value) for name, value in names.items() if isinstance(name, str)}
        found |= dict.fromkeys(keyword.kwlist, "keyword")
        return _listed(found, word)
    value: Any = namespace.get(owners[0], vars(builtins).get(owners[0], _MISSING))
    for name in owners[1:]:
        value = inspect.getattr_static(value, name, _MISSING)
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
    if value is _MISSING or inspect.isdatadescriptor(value):
        return []
    return _listed(_attributes(value), word)


def _attributes(value: Any) -> dict[str, str]:
    """Return the names of attributes that are stored in an object, its class or its bases."""
    classes = [*type(value).__mro__]
    if isinstance(value, type):
        classes += value.__mro__
    found: dict[str, str] = {}
    for each in [*reversed(classes), value]:
        try:
            stored = object.__getattribute__(each, "__dict__") if each is value else vars(each)
        except (AttributeError, TypeError):
            continue
        if isinstance(stored, dict) or hasattr(stored, "items"):
            found |= {n: _kind(v) for n, v in dict(stored).items() if isinstance(n, str)}
    return found


def _kind(value: Any) -> str:
    """Return the kind of a name as the editor's list of completions knows it."""
    if inspect.ismodule(value):
        return "namespace"
    if isinstance(value, type):
        return "class"
    if isinstance(value, property):
        return "property"
    is_function = inspect.isroutine(value) or isinstance(value, (staticmethod, classmethod))
    return "function" if is_function else "variable"


def _listed(found: dict[str, str], word: str) -> list[Completion]:
    """Return the names that begin with ``word``; without an underscore, no private names."""
    hidden = word.startswith("_")
    names = [name for name in found if name.startswith(word) and name.startswith("_") <= hidden]
    return [{"label": name, "type": found[name]} for name in sorted(names)[:MOST_NAMES]]
