"""Errors that break the code that inspects them are described all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playgrad.errors import PlaygradError, ShapeError
from playgrad.page.faults import FILE, LONGEST_MESSAGE, LONGEST_TRACEBACK, describe
from tests.page.answers import check_event

PROGRAMS = {
    "a chain of causes": """
def chain(n):
    error = ValueError("first")
    for i in range(n):
        try:
            raise RuntimeError(f"error {i}") from error
        except RuntimeError as e:
            error = e
    raise error
chain(2000)
""",
    "a chain of contexts": """
error = None
for i in range(2000):
    new = ValueError(str(i))
    new.__context__ = error
    error = new
raise error
""",
    "a cycle of causes": """
a, b = ValueError("a"), ValueError("b")
a.__cause__, b.__cause__ = b, a
raise a
""",
    "__getattr__ that recurses": """
class Recursive:
    def __getattr__(self, name):
        return getattr(self, name + "x")
Recursive().attribute
""",
    "__getattr__ and __dir__ that fail": """
class Odd:
    def __getattr__(self, name):
        raise AttributeError(name, obj=self, name=name)
    def __dir__(self):
        raise SystemExit(3)
Odd().attribute
""",
    "__str__ that fails": """
class Bad(Exception):
    def __str__(self):
        raise ValueError("no text")
raise Bad()
""",
    "__str__ that recurses": """
class Bad(Exception):
    def __str__(self):
        return str(self)
raise Bad()
""",
    "__str__ that returns a number": """
class Bad(Exception):
    def __str__(self):
        return 3
raise Bad()
""",
    "__str__ that exits": """
class Bad(Exception):
    def __str__(self):
        raise SystemExit(1)
raise Bad()
""",
    "__str__ of an odd string": """
class Odd(str):
    def __len__(self):
        raise ValueError
    def encode(self, *args):
        raise ValueError
class Bad(Exception):
    def __str__(self):
        return Odd("readable")
raise Bad()
""",
    "lone surrogates": "raise ValueError('\\ud800 and \\udfff')",
    "lone surrogates in a name": "raise type('Bad\\ud800', (Exception,), {})('x')",
    "a huge message": "raise ValueError('x' * 50_000_000)",
    "a huge name": "raise type('B' * 1_000_000, (Exception,), {})('x')",
    "no message": "raise ValueError",
    "deep recursion": """
def down(n):
    return down(n + 1)
down(0)
""",
    "a name that is a property": """
class Meta(type):
    @property
    def __name__(cls):
        raise ValueError
class Bad(Exception, metaclass=Meta):
    pass
raise Bad("x")
""",
    "a metaclass that fails": """
class Meta(type):
    def __getattribute__(cls, name):
        raise ValueError(name)
class Bad(Exception, metaclass=Meta):
    pass
raise Bad("x")
""",
    "a traceback that is a property": """
class Bad(Exception):
    @property
    def __traceback__(self):
        raise ValueError
raise Bad("x")
""",
    "a syntax error without parts": "raise SyntaxError",
    "a syntax error with odd parts": "raise SyntaxError(3, ('main.py', 'one', None, 5))",
    "a syntax error of another kind": "raise SyntaxError('odd', ('main.py', -4, 1, 'x'))",
    "an error group": "raise ExceptionGroup('many', [ValueError(i) for i in range(1000)])",
    "nested groups": """
group = ExceptionGroup("inner", [ValueError(1)])
for i in range(500):
    group = ExceptionGroup(str(i), [group])
raise group
""",
    "an error of playgrad with odd parts": """
from playgrad.errors import GraphError
class Odd:
    def __str__(self):
        raise ValueError
raise GraphError("x", op=Odd(), source=3)
""",
    "an error of playgrad from another file": """
from playgrad.errors import GraphError
raise GraphError("x", source=("main.py", "line"))
""",
    "notes that fail": """
error = ValueError("x")
error.__notes__ = [object()] * 3 + [None]
raise error
""",
    "a missing name": "missing",
    "a missing module": "import missing_module",
    "input": "raise EOFError('EOF when reading a line')",
}


@pytest.mark.survival("Errors of errors")
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_error_is_described(name: str) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(PROGRAMS[name], FILE, "exec"), namespace)
    except BaseException as error:
        description = describe(error)
    check_event({"kind": "error", **description})
    for value in description.values():
        assert type(value) in (str, int, type(None))
    json.dumps(description, ensure_ascii=False).encode()
    assert description["type"] and description["message"]
    assert len(description["type"]) <= 2 * LONGEST_MESSAGE
    assert len(description["message"]) <= 2 * LONGEST_MESSAGE
    assert len(description["traceback"]) <= 2 * LONGEST_TRACEBACK
    assert description["line"] is None or description["line"] > 0


def test_a_readable_message_is_not_changed() -> None:
    try:
        exec(compile("\n\nraise ValueError('plain ünd clear')", FILE, "exec"), {})
    except ValueError as error:
        description = describe(error)
    assert description["message"] == "plain ünd clear"
    assert description["line"] == 3


@pytest.mark.parametrize(
    ("source", "begin", "end"),
    [
        ("impor numpy", "invalid syntax. Python cannot read this line", "or quotation mark."),
        ("print((1, 2)", "'(' was never closed", "closed"),
    ],
)
def test_a_syntax_error_names_its_line(source: str, begin: str, end: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        compile(source, FILE, "exec")
    description = describe(caught.value)
    assert description["message"].startswith(begin)
    assert description["message"].endswith(end)
    assert description["line"] == 1


def test_a_huge_message_has_its_beginning_and_its_end() -> None:
    message = describe(ValueError("begin" + "x" * 1_000_000 + "end"))["message"]
    assert message.startswith("beginx")
    assert message.endswith("xend")
    assert "… 992,008 characters left out …" in message


def test_an_error_of_playgrad_names_its_line_and_operation() -> None:
    description = describe(PlaygradError("x", op="dense_1/matmul", source=(FILE, 7)))
    assert (description["line"], description["op"]) == (7, "dense_1/matmul")


def test_the_name_of_an_operation_is_said_once() -> None:
    one = ShapeError("matmul: inner dimensions differ.", op="matmul")
    other = ShapeError("inner dimensions differ.", op="matmul_1")
    assert str(one) == "matmul: inner dimensions differ."
    assert str(other) == "matmul_1: inner dimensions differ."
