"""Advice for the errors of programs that were written for another library."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import playgrad as pg
from playgrad.bridge.rule import Rule
from playgrad.bridge.table import ROOTS, RULES, SPACES, TABLE, WELL_KNOWN

_LIBRARIES = {"keras": "Keras", "tensorflow": "TensorFlow", "torch": "PyTorch"}
_OTHER_MODULES = {"tf_keras": "keras", "torchvision": "torch", "torchtext": "torch"}
_NOT_IMPORTED = re.compile(r"cannot import name '(\w+)' from")
_UNEXPECTED = re.compile(r"(?:(\w+)\.)?(\w+)\(\) got an unexpected keyword argument '(\w+)'")


def advice(error: BaseException) -> str | None:
    """Return a sentence about a name of Keras, TensorFlow or PyTorch in ``error``; None if there
    is nothing to say."""
    if isinstance(error, ModuleNotFoundError):
        return _of_module(error.name or "")
    if isinstance(error, ImportError):
        name = _NOT_IMPORTED.search(str(error))  # `name_from` is younger than Python 3.11
        return _of_path(_within(error.name or "", name[1]), guessed=True) if name else None
    if isinstance(error, NameError):
        return _of_variable(error.name or "")
    if isinstance(error, AttributeError):
        return _of_path(_missing(error.obj, error.name or ""), guessed=True)
    if isinstance(error, TypeError):
        return _of_argument(str(error))
    return None


def _of_module(path: str) -> str | None:
    root = _OTHER_MODULES.get(path.partition(".")[0], path.partition(".")[0])
    if root not in _LIBRARIES:
        return _reason(path, guessed=False)
    return (
        f"{_LIBRARIES[root]} is not available, but playgrad has much of it under its own names: "
        "import playgrad as pg, from playgrad import nn."
    )


def _of_variable(name: str) -> str | None:
    path = WELL_KNOWN.get(name)
    if path is not None:
        return _of_module(path) if path in _LIBRARIES else _of_path([path])
    modules = {"": pg, "nn": pg.nn, "optim": pg.optim}
    place = next((m for m, module in modules.items() if name in module.__all__), None)
    # Operations have names that any program may have misspelt or forgotten to define.
    if place is None or not name[:1].isupper():
        return None
    return f"In playgrad it is {spelled(f'{place}.{name}'.removeprefix('.'))}."


def _within(module: str, name: str) -> list[str]:
    """Return the paths that ``name`` may have meant, which a module of playgrad lacks."""
    if module != "playgrad" and not module.startswith("playgrad."):
        return []
    owner = module.removeprefix("playgrad").removeprefix(".")
    if owner == "models":  # Keras has models there, playgrad at the top
        owner = ""
    return [f"{space}.{name}" for space, ours in SPACES.items() if ours == owner]


def _missing(owner: Any, name: str) -> list[str]:
    if isinstance(owner, ModuleType):
        return _within(owner.__name__, name)
    module = getattr(type(owner), "__module__", "")
    if callable(owner) and getattr(owner, "__module__", "") == "playgrad.data.mnist":
        return [f"data.mnist.{name}"]
    if not module.startswith("playgrad."):
        return []
    return [path for place in _places(type(owner)) if (path := f"{place}.{name}") in RULES]


def _places(owner: type) -> Iterator[str]:
    """Yield the classes under which the table has members and arguments."""
    for base in owner.__mro__:
        yield from (base.__name__, f"nn.{base.__name__}", f"optim.{base.__name__}")
    yield "*"


def _of_path(paths: list[str], guessed: bool = False) -> str | None:
    """Return a sentence about the first path that the table knows.

    Args:
        guessed: whether the name may just be misspelt.
    """
    for path in paths:
        sentence = _sentence(path)
        if sentence:
            return sentence
    for path in paths:
        reason = _reason(path, guessed)
        if reason:
            return f"It is not in playgrad. {reason}"
    return None


def _sentence(path: str) -> str | None:
    """Return what the table says of exactly this path, or of names in playgrad's modules."""
    path = next((to + path[len(old) :] for old, to in ROOTS.items() if path.startswith(old)), path)
    rule = RULES.get(path)
    if rule is not None:
        here = rule.get("to") or rule.get("call") or rule.get("value")
        owner = {"Model": "model", "nn": "layer"}.get(path.partition(".")[0], "it")
        said = f"In playgrad it is {spelled(here, owner)}." if here else "It is not in playgrad."
        return f"{said} {rule['no']}" if "no" in rule else said
    if path in SPACES:
        return f"In playgrad these names are in {spelled(SPACES[path]) or 'pg'}."
    module, _, name = path.rpartition(".")
    ours = SPACES.get(module)
    if ours is None or not _exists(ours, name):
        return None
    return f"In playgrad it is {spelled(f'{ours}.{name}'.removeprefix('.'))}."


def _exists(module: str, name: str) -> bool:
    return name in (getattr(pg, module) if module else pg).__all__


def spelled(text: str, owner: str = "it") -> str:
    """Return a name or an expression of the table as programs write it.

    Args:
        owner: what a method is called on.
    """
    if re.fullmatch(r"[\w.]*", text):
        text = f"@{text}" if text else ""
    text = re.sub(r"@(nn\b)", r"\1", text).replace("@", "pg.")
    text = re.sub(r"\{(\w+):\w+\}", r"{\1}", re.sub(r"\{(\w+)\|[^{}]*\}", r"{\1}", text))
    return text.replace("{self}", owner).replace("{*}", "...").translate({123: None, 125: None})


def _reason(path: str, guessed: bool) -> str | None:
    absent: dict[str, str] = TABLE["absent"]
    for pattern, text in absent.items():
        if re.fullmatch(pattern, path) and not (guessed and pattern.endswith(r"\..*")):
            return text
    return None


def _of_argument(message: str) -> str | None:
    match = _UNEXPECTED.search(message)
    if match is None:
        return None
    owner, function, argument = match.groups()
    for place, rules in TABLE["arguments"].items():
        if argument in rules and _takes_part(place, owner, function, rules[argument]):
            rule = rules[argument]
            if "to" in rule:
                return f"In playgrad it is {rule['to']}."
            return f"Leave {argument} out: {rule['no']}."
    return None


def _takes_part(place: str, owner: str | None, function: str, rule: Rule) -> bool:
    """Return whether ``owner.function`` is the function ``place``, or makes one of its class.

    The place ``*`` is any function that takes what the argument is called here.
    """
    if place == "*":
        target = vars(pg).get(function)
        known = inspect.signature(target).parameters if inspect.isfunction(target) else {}
        return bool(known) and rule.get("to", next(iter(known))) in known
    if place.count(".") and not place.startswith(("nn.", "optim.")):
        return place.partition(".")[2] == function
    if function != "__init__" or owner is None:
        return place == function
    base: Any = pg
    for part in place.split("."):
        base = getattr(base, part)
    made = next((vars(m)[owner] for m in (pg.nn, pg.optim, pg) if owner in vars(m)), None)
    return isinstance(made, type) and isinstance(base, type) and issubclass(made, base)
