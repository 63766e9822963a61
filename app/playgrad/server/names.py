"""The names of the library for the editor: a compact form of the public API.

The editor completes and explains names from it before Python runs, so it is made by the server.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from functools import cache
from inspect import ismodule
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, get_type_hints

import playgrad as pg
from playgrad.bridge import TABLE
from playgrad.page.packages import PACKAGE_OF
from playgrad.server.api import MODULES, Entry, describe_api, described
from playgrad.server.texts import Text

_ROOT = "playgrad."
_KINDS = {"class": "c", "function": "f", "method": "m", "property": "p", "module": "o", "data": "d"}
_STARS = {"variadic positional": "*", "variadic keyword": "**"}
_SENTENCE = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)


@cache
def names_content(packages: bool = True) -> Text:
    """Return the file of names, with the table of the bridge.

    Args:
        packages: whether programs can import the Python packages, and need nothing in their place.
    """
    libraries = [name for name in TABLE["libraries"] if not (packages and name in PACKAGE_OF)]
    content = {"names": describe_names(), "bridge": {**TABLE, "libraries": libraries}}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Text(text.encode())


def describe_names() -> dict[str, Entry]:
    """Return an entry for each public name, without ``playgrad.``, and each member of a class.

    Keys of an entry, without the empty ones:

    - ``k``: the kind: c(lass), f(unction), m(ethod), p(roperty), (m)o(dule), d(ata)
    - ``d``: the first sentence of the docstring
    - ``p``: parameters: lists of name (with its stars), default or None, annotation, text. Empty
      items at the end are left out.
    - ``r``: the annotation of what it returns; of a property, its type
    - ``b``: of a class, the names of its public bases
    - ``x``: of a module, its further attributes, which are not part of the public API
    - ``a``: the name that it is an alias of; there is nothing else

    The library itself is called "".
    """
    entries = {entry["name"].removeprefix(_ROOT): entry for entry in describe_api()}
    names = {name: _compact(name, entry) for name, entry in entries.items()}
    for name, entry in entries.items():
        if entry["kind"] == "class" and "alias_of" not in entry:
            names |= _attributes(name, entry, names)
    names[""] = {"k": _KINDS["module"], "d": first_sentence(inspect.getdoc(pg) or "")}
    for module in MODULES:
        # A program that says `pg.models` means the module of Keras.
        known = {*module.__all__, "models"}
        further = {name for name in _reachable(module) if not name.startswith("_")} - known
        names[module.__name__.removeprefix("playgrad").removeprefix(".")]["x"] = sorted(further)
    return names


def _reachable(module: ModuleType) -> set[str]:
    """Return the names in a module, whatever else has been imported so far."""
    folders = getattr(module, "__path__", [])
    modules = {found.name for found in iter_modules(folders)}
    return modules | {name for name, value in vars(module).items() if not ismodule(value)}


def _compact(name: str, entry: Entry) -> Entry:
    if "alias_of" in entry:
        return {"a": entry["alias_of"].removeprefix(_ROOT)}
    compact: Entry = {"k": _KINDS[entry["kind"]], "d": first_sentence(entry["doc"])}
    if entry["kind"] == "property":
        compact["r"] = entry["signature"]
    if "parameters" in entry:
        compact["p"] = [_parameter(each) for each in _spread(name, entry["parameters"])]
        compact["r"] = entry["returns"]
    if entry["kind"] == "class":
        del compact["r"]
        compact["b"] = _bases(_value(name))
    return {key: value for key, value in compact.items() if value or key == "p"}


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring in one line."""
    paragraph = doc.partition("\n\n")[0]
    match = _SENTENCE.match(paragraph)
    return " ".join((match[0] if match else paragraph).split())


def _parameter(parameter: Entry) -> list[str | None]:
    name = _STARS.get(parameter["kind"], "") + parameter["name"]
    items = [name, parameter["default"], parameter["annotation"], parameter["doc"]]
    while len(items) > 1 and not items[-1]:
        items.pop()
    return items


def _spread(name: str, parameters: list[Entry]) -> list[Entry]:
    """Replace ``**options: Unpack[Options]`` by the options."""
    spread: list[Entry] = []
    for each in parameters:
        match = re.fullmatch(r"Unpack\[(\w+)\]", each["annotation"])
        if not match or each["kind"] != "variadic keyword":
            spread.append(each)
            continue
        owner = _value(name)
        options = getattr(sys.modules[owner.__module__], match[1])
        texts: dict[str, str] = {}
        for base in getattr(owner, "__mro__", ()):
            texts = described(base.__doc__ or "", "Args") | texts
        spread += [
            {
                "name": option,
                "kind": "keyword-only",
                "annotation": hint.__name__ if isinstance(hint, type) else str(hint),
                "default": "…",
                "doc": texts.get(option, ""),
            }
            for option, hint in get_type_hints(options).items()
        ]
    return spread


def _value(name: str) -> Any:
    value: Any = pg
    for part in name.split("."):
        value = getattr(value, part)
    return value


@cache
def _canonical() -> dict[int, str]:
    classes = [e for e in describe_api() if e["kind"] == "class" and "alias_of" not in e]
    return {id(_value(name)): name for e in classes if (name := e["name"].removeprefix(_ROOT))}


def _bases(owner: type) -> list[str]:
    known = _canonical()
    return [known[id(base)] for base in owner.__mro__[1:] if id(base) in known]


def _attributes(name: str, entry: Entry, names: dict[str, Entry]) -> dict[str, Entry]:
    """Return the attributes that a class's docstring lists, and that are not members already."""
    texts = described(entry["doc"], "Attributes")
    return {
        f"{name}.{short}": {"k": "p", "d": first_sentence(text)}
        for short, text in texts.items()
        if f"{name}.{short}" not in names
    }
