"""The types in static/engine/messages.js, parsed from JSDoc, and a checker of values by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "static" / "engine" / "messages.js"
_TOKEN = re.compile(r'\s*("[^"]*"|[\w$]+|[{}()\[\]<>|&,:?.])')
_PRIMITIVES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "Uint8Array": (bytes, bytearray, memoryview),
    "SharedArrayBuffer": (),
}
_SAMPLES: dict[str, Any] = {
    "string": "text",
    "number": 1,
    "boolean": True,
    "null": None,
    "Uint8Array": "a Uint8Array",
    "SharedArrayBuffer": "a SharedArrayBuffer",
    "WebAssembly.Module": "a WebAssembly.Module",
}


@dataclass(frozen=True)
class Field:
    type: Any
    optional: bool = False


Shape = dict[str, Field]
"""The fields of an object by name."""


class Types:
    """A type is a nested tuple whose first item is "union", "and", "object", "list", "tuple",
    "name", "literal" or "keyof"."""

    def __init__(self, source: str = SOURCE.read_text(encoding="utf-8")) -> None:
        comments = "\n".join(re.findall(r"/\*\*(.*?)\*/", source, re.DOTALL))
        text = re.sub(r"^ *\* ?", "", comments, flags=re.MULTILINE)
        self.named: dict[str, Any] = {}
        for match in re.finditer(r"@typedef \{", text):
            reader = _Reader(text, match.end())
            type_ = reader.union()
            reader.take("}")
            self.named[reader.next()] = type_

    def shapes(self, type_: Any) -> list[Shape]:
        """Return the object types that a type allows, as fields by name."""
        match type_:
            case ("name", name, *_) if name in self.named:
                return self.shapes(self.named[name])
            case ("object", shape):
                return [shape]
            case ("union", members):
                return [shape for member in members for shape in self.shapes(member)]
            case ("and", members):
                combined = product(*map(self.shapes, members))
                return [{k: f for shape in shapes for k, f in shape.items()} for shapes in combined]
        raise AssertionError(f"{type_} is not an object type")

    def messages(self, name: str) -> dict[str, list[Shape]]:
        """Return the message types of a union by kind."""
        kinds: dict[str, list[Shape]] = {}
        for shape in self.shapes(("name", name)):
            kinds.setdefault(shape["kind"].type[1], []).append(shape)
        return kinds

    def mismatch(self, type_: Any, value: Any, path: str = "") -> str | None:
        """Describe the first difference between a Python value and a type; None if the value
        fits."""
        match type_:
            case ("literal", literal):
                fits = value == literal and type(value) is type(literal)
            case ("list", item):
                if not isinstance(value, (list, tuple)):
                    return f"{path}: {value!r} is not a list"
                return _first(self.mismatch(item, v, f"{path}[{i}]") for i, v in enumerate(value))
            case ("tuple", items):
                if not isinstance(value, (list, tuple)) or len(value) != len(items):
                    return f"{path}: {value!r} does not have {len(items)} items"
                pairs = zip(items, value, strict=True)
                return _first(self.mismatch(t, v, f"{path}[{i}]") for i, (t, v) in enumerate(pairs))
            case ("name", name, *_) if name in _PRIMITIVES:
                fits = isinstance(value, _PRIMITIVES[name])
                fits = fits and not (name == "number" and isinstance(value, bool))
            case ("name", "Record", (_, item)):
                if not isinstance(value, dict):
                    return f"{path}: {value!r} is not a dict"
                return _first(self.mismatch(item, v, f"{path}.{k}") for k, v in value.items())
            case ("name", "any", *_):
                fits = True
            case ("keyof", inner):
                (shape,) = self.shapes(inner)
                fits = value in shape
            case ("name", name, *_) if name in self.named:
                return self.mismatch(self.named[name], value, path)
            case ("union", members):
                mismatches = [self.mismatch(member, value, path) for member in members]
                return None if None in mismatches else " / ".join(map(str, mismatches))
            case _:
                mismatches = [self._difference(shape, value, path) for shape in self.shapes(type_)]
                return None if None in mismatches else " / ".join(map(str, mismatches))
        return None if fits else f"{path}: {value!r} is not {type_[1]}"

    def _difference(self, shape: Shape, value: Any, path: str) -> str | None:
        if not isinstance(value, dict):
            return f"{path}: {value!r} is not a dict"
        required = {name for name, field in shape.items() if not field.optional}
        if missing := required - value.keys():
            return f"{path}: lacks {sorted(missing)}"
        if unknown := value.keys() - shape.keys():
            return f"{path}: has {sorted(unknown)}, which JavaScript does not know"
        return _first(self.mismatch(shape[k].type, v, f"{path}.{k}") for k, v in value.items())

    def sample(self, type_: Any) -> Any:
        """Return an example value of a type."""
        match type_:
            case ("literal", literal):
                return literal
            case ("list", item):
                return [self.sample(item)]
            case ("tuple", items):
                return [self.sample(item) for item in items]
            case ("name", "Record", _):
                return {}
            case ("name", name, *_) if name in _SAMPLES:
                return _SAMPLES[name]
            case ("name", name, *_) if name in self.named:
                return self.sample(self.named[name])
            case ("union", members):
                return self.sample(members[0])
            case ("keyof", inner):
                return next(iter(self.shapes(inner)[0]))
        return {name: self.sample(field.type) for name, field in self.shapes(type_)[0].items()}


class _Reader:
    """Recursive descent over the text of a JSDoc type."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def peek(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        assert match, f"unexpected {self.text[self.at : self.at + 40]!r}"
        return match[1]

    def next(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        assert match, f"unexpected {self.text[self.at : self.at + 40]!r}"
        self.at = match.end()
        return match[1]

    def take(self, token: str) -> None:
        assert (got := self.next()) == token, f"expected {token!r}, got {got!r}"

    def skip(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.next()
        return True

    def union(self) -> Any:
        self.skip("|")
        members = [self.intersection()]
        while self.skip("|"):
            members.append(self.intersection())
        return members[0] if len(members) == 1 else ("union", members)

    def intersection(self) -> Any:
        members = [self.postfix()]
        while self.skip("&"):
            members.append(self.postfix())
        return members[0] if len(members) == 1 else ("and", members)

    def postfix(self) -> Any:
        if self.skip("keyof"):
            return ("keyof", self.postfix())
        type_ = self.primary()
        while self.peek() == "[":
            self.next()
            self.take("]")
            type_ = ("list", type_)
        return type_

    def primary(self) -> Any:
        token = self.next()
        if token.startswith('"'):
            return ("literal", token[1:-1])
        if token in ("true", "false"):
            return ("literal", token == "true")
        if token == "(":
            type_ = self.union()
            self.take(")")
            return type_
        if token == "[":
            return ("tuple", list(self.items("]")))
        if token == "{":
            return ("object", dict(self.fields()))
        if token == "import":  # a type of another module, which Python need not know
            while self.next() != ")":
                pass
            self.take(".")
            self.next()
            return ("name", "any")
        if token == "WebAssembly":  # the only name with a dot
            self.take(".")
            token += f".{self.next()}"
        arguments = tuple(self.items(">")) if self.skip("<") else ()
        return ("name", token, arguments)

    def items(self, end: str) -> Iterator[Any]:
        while not self.skip(end):
            yield self.union()
            self.skip(",")

    def fields(self) -> Iterator[tuple[str, Field]]:
        while not self.skip("}"):
            name = self.next()
            optional = self.skip("?")
            self.take(":")
            yield name, Field(self.union(), optional)
            self.skip(",")


def _first(mismatches: Iterator[str | None]) -> str | None:
    return next((each for each in mismatches if each is not None), None)
