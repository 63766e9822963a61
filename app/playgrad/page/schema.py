"""The forms of messages, read from the annotations of records: one source for three languages.

A form is plain data, as JSON has it, so that a page can read it too:

- ``"text"``, ``"flag"``, ``"count"`` (a whole number from 0), ``"number"``, ``"bytes"``,
  ``"null"``, ``"any"``
- the name of a record, with a capital: its form is in ``Schema.named``
- ``{"field": form, "field?": form}``: an object; a question mark allows the field to be left out
- ``["list", form]``, ``["map", form]`` (an object with any names), ``["tuple", form, ...]``
- ``["one", value, ...]``: one of these values; ``["or", form, ...]``: one of these forms
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, Required

Form = Any
Problem = str | None
_PLAIN: dict[Any, str] = {
    str: "text", bool: "flag", int: "count", float: "number", bytes: "bytes", Any: "any",
    type(None): "null",
}  # fmt: skip
_TYPES = {
    "text": "string", "flag": "boolean", "count": "number", "number": "number", "any": "any",
    "bytes": "Uint8Array", "null": "null",
}  # fmt: skip
_CLASSES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "flag": (bool,),
    "count": (int,),
    "number": (int, float),
    "bytes": (bytes, bytearray, memoryview),
    "null": (type(None),),
    "any": (object,),
}


class Schema:
    """Forms of the records that annotations name.

    Attributes:
        named: the form of each record by its name in a page. A record ``XForm`` is called ``X``
            there: it is the form of objects of a class ``X``.
        about: the docstring of each record that has one.
    """

    def __init__(self) -> None:
        self.named: dict[str, Form] = {}
        self.about: dict[str, str] = {}

    def form(self, annotation: Any) -> Form:
        """Return the form of the values of a type.

        Raises:
            TypeError: messages have no such values.
        """
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if annotation in _PLAIN:
            return _PLAIN[annotation]
        if origin is typing.Annotated:  # Annotated[union, "Name"]
            return self._name(arguments[1], lambda: self.form(arguments[0]))
        if typing.is_typeddict(annotation) or dataclasses.is_dataclass(annotation):
            name = annotation.__name__.removesuffix("Form")
            if typing.is_typeddict(annotation) and annotation.__doc__:
                self.about[name] = " ".join(inspect.cleandoc(annotation.__doc__).split())
            return self._name(name, lambda: self._fields(annotation))
        if origin is Literal:
            return ["one", *arguments]
        if origin in (typing.Union, types.UnionType):
            return ["or", *map(self.form, arguments)]
        if origin is tuple and arguments[-1] is not Ellipsis:
            return ["tuple", *map(self.form, arguments)]
        if inspect.isclass(origin) and issubclass(origin, Mapping):
            return ["map", self.form(arguments[1])]
        if inspect.isclass(origin) and issubclass(origin, Sequence):
            return ["list", self.form(arguments[0])]
        raise TypeError(f"messages have no values of type {annotation}")

    def record(self, record: Any) -> dict[str, Form]:
        """Return the forms of the fields of a record by name; "field?" for one that may lack."""
        fields: dict[str, Form] = self.named[self.form(record)]
        return fields

    def _fields(self, record: Any) -> dict[str, Form]:
        optional = getattr(record, "__optional_keys__", ())
        fields = {}
        for name, hint in typing.get_type_hints(record, include_extras=True).items():
            wrapper = typing.get_origin(hint)
            is_wrapped = wrapper in (NotRequired, Required)
            inner = typing.get_args(hint)[0] if is_wrapped else hint
            may_lack = wrapper is NotRequired or (name in optional and wrapper is not Required)
            fields[f"{name}?" if may_lack else name] = self.form(inner)
        return fields

    def _name(self, name: str, make: Callable[[], Form]) -> str:
        if name not in self.named:
            self.named[name] = make()
        return name

    def problem(self, form: Form, value: Any, path: str = "") -> Problem:
        """Return the problem with a value, beginning with its ``path``; None if it fits."""
        if isinstance(form, str):
            if form in self.named:
                return self.problem(self.named[form], value, path)
            fits = isinstance(value, _CLASSES[form])
            if isinstance(value, bool):
                fits = form in ("flag", "any")
            if form == "count":
                fits = fits and value >= 0
            return None if fits else f"{path}: {value!r:.80} is no {form}"
        if isinstance(form, dict):
            return self._problem_of_fields(form, value, path)
        kind, *parts = form
        if kind == "one":
            fits = any(value == each and type(value) is type(each) for each in parts)
            return (
                None if fits else f"{path}: {value!r:.80} is not one of {json.dumps(parts)[1:-1]}"
            )
        if kind == "or":
            problems = [self.problem(part, value, path) for part in parts]
            return None if None in problems else " / ".join(map(str, problems))
        if kind == "map":
            if not isinstance(value, dict):
                return f"{path}: {value!r:.80} is not an object"
            return _first(self.problem(parts[0], v, f"{path}.{key}") for key, v in value.items())
        if not isinstance(value, (list, tuple)):
            return f"{path}: {value!r:.80} is not a list"
        if kind == "tuple" and len(value) != len(parts):
            return f"{path}: {value!r:.80} does not have {len(parts)} items"
        inner = parts if kind == "tuple" else parts * len(value)
        pairs = enumerate(zip(inner, value, strict=True))
        return _first(self.problem(f, v, f"{path}[{at}]") for at, (f, v) in pairs)

    def _problem_of_fields(self, form: dict[str, Form], value: Any, path: str) -> Problem:
        if not isinstance(value, dict):
            return f"{path}: {value!r:.80} is not an object"
        known = {name.removesuffix("?"): part for name, part in form.items()}
        if unknown := sorted(value.keys() - known.keys()):
            return f"{path}.{unknown[0]}: there is no such field"
        if missing := [name for name in form if not name.endswith("?") and name not in value]:
            return f"{path}.{missing[0]}: is missing"
        return _first(self.problem(known[name], v, f"{path}.{name}") for name, v in value.items())


def plain(value: Any) -> Any:
    """Return a value with the fields of dataclasses in their place: its own, or its fields'."""
    if isinstance(value, dict):
        return {name: plain(each) if _is_record(each) else each for name, each in value.items()}
    return dataclasses.asdict(value) if _is_record(value) else value


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def typescript(form: Form) -> str:
    """Return a form as a type of TypeScript."""
    if isinstance(form, str):
        return _TYPES.get(form, form)
    if isinstance(form, dict):
        return "{" + ", ".join(f"{name}: {typescript(part)}" for name, part in form.items()) + "}"
    kind, *parts = form
    if kind == "one":
        return " | ".join(json.dumps(part) for part in parts)
    if kind == "tuple":
        return f"[{', '.join(map(typescript, parts))}]"
    if kind == "map":
        return f"Record<string, {typescript(parts[0])}>"
    if kind == "or":
        return " | ".join(map(typescript, parts))
    inner = typescript(parts[0])
    return f"({inner})[]" if " | " in inner and not inner.startswith("{") else f"{inner}[]"


def _first(problems: Iterable[Problem]) -> Problem:
    return next((each for each in problems if each is not None), None)
