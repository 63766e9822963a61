"""The text of the user's program, and the places in it that edits change, by its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from playgrad.doctor.finding import Change
from playgrad.optim.optimizer import RECORDED

OPTIMIZERS = {each.__name__: kind for kind, each in RECORDED.items()}
"""The kinds of optimizers by the names of their classes."""


class ProgramText:
    """The text of a program.

    Raises:
        SyntaxError: it is not Python.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.split("\n")

    # Places

    def calls(self, name: str = "") -> list[ast.Call]:
        """Return the calls of functions whose last name is ``name``, in order; "" for all."""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        return sorted(
            (call for call in calls if not name or name_of(call) == name),
            key=lambda call: (call.lineno, call.col_offset),
        )

    def call_at(self, line: int | None, accepts: Callable[[ast.Call], bool]) -> ast.Call | None:
        """Return the only call that begins in ``line`` and is accepted."""
        calls = [call for call in self.calls() if call.lineno == line and accepts(call)]
        return calls[0] if len(calls) == 1 else None

    def calls_at(self, line: int | None, accepts: Callable[[ast.Call], bool]) -> list[ast.Call]:
        """Return the calls that begin in ``line`` and are accepted."""
        return [call for call in self.calls() if call.lineno == line and accepts(call)]

    def fit_at(self, line: int | None) -> ast.Call | None:
        """Return the call of ``fit`` that ``line`` is part of."""
        spans = [
            call
            for call in self.calls("fit")
            if line is not None and call.lineno <= line <= (call.end_lineno or call.lineno)
        ]
        return spans[-1] if spans else None

    def compile_before(self, line: int | None) -> ast.Call | None:
        """Return the last call of ``compile`` above ``line``, or the only one."""
        calls = self.calls("compile")
        above = [call for call in calls if line is None or call.lineno <= line]
        return above[-1] if above else (calls[0] if len(calls) == 1 else None)

    def optimizer(self, line: int | None) -> ast.expr | None:
        """Return the expression that makes the optimizer of the ``fit`` in ``line``.

        It is the call of a class, or a string with a name.
        """
        compiled = self.compile_before(line)
        made = None if compiled is None else argument(compiled, 0, "optimizer")
        if isinstance(made, ast.Name):
            made = self.assigned(made.id)
        if is_optimizer(made) or (isinstance(made, ast.Constant) and isinstance(made.value, str)):
            return made
        others = [call for call in self.calls() if is_optimizer(call)]
        return others[0] if len(others) == 1 else None

    def names(self, name: str) -> list[ast.Name]:
        """Return the places at which the program has ``name``."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        return [node for node in nodes if node.id == name]

    def assigned(self, name: str) -> ast.expr | None:
        """Return the only value that the program assigns to ``name``."""
        values = [
            node.value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        ]
        stored = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        ]
        return values[0] if len(values) == 1 and len(stored) == 1 else None

    def indexed_alone(self, maker: str) -> list[tuple[ast.Subscript, str]]:
        """Return ``x[order]`` and "x" for each ``order`` that a call of ``maker`` made and that is
        used once: no other array has the same order."""
        names = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        found = []
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
                continue
            order = node.slice
            if not isinstance(order, ast.Name):
                continue
            made = self.assigned(order.id)
            uses = [n for n in names if n.id == order.id and isinstance(n.ctx, ast.Load)]
            if isinstance(made, ast.Call) and name_of(made) == maker and len(uses) == 1:
                found.append((node, node.value.id))
        return found

    def statements(self) -> Iterator[tuple[list[ast.stmt], ast.stmt]]:
        """Yield each statement with the block that it is in."""
        for node in ast.walk(self.tree):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list):
                    for statement in block:
                        if isinstance(statement, ast.stmt):
                            yield block, statement

    def prefix(self, part: str) -> str:
        """Return how the program names ``playgrad`` or a part of it: "pg.", "nn." or "pg.nn."."""
        whole = ""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    if name.name == "playgrad":
                        whole = f"{name.asname or 'playgrad'}."
            if isinstance(node, ast.ImportFrom) and node.module == "playgrad":
                for name in node.names:
                    if part and name.name == part:
                        return f"{name.asname or part}."
        return f"{whole}{part}." if part else whole

    # Changes

    def source_of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        return ast.get_source_segment(self.text, node) or ""

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Change:
        """Return the change of a node's text."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._change(node.lineno, node.col_offset, end_line, end_column, text)

    def before(self, node: ast.expr | ast.keyword | ast.stmt, text: str) -> Change:
        """Return the change that puts ``text`` before a node."""
        return self._change(node.lineno, node.col_offset, node.lineno, node.col_offset, text)

    def after(self, node: ast.expr | ast.keyword, text: str) -> Change:
        """Return the change that puts ``text`` after a node."""
        line, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._change(line, column, line, column, text)

    def with_argument(self, call: ast.Call, text: str) -> Change:
        """Return the change that adds an argument at the end of a call."""
        last = [*call.args, *(keyword.value for keyword in call.keywords)]
        if last:
            return self.after(
                max(last, key=lambda a: (a.end_lineno, a.end_col_offset)), f", {text}"
            )
        line, column = call.end_lineno or call.lineno, (call.end_col_offset or 1) - 1
        return self._change(line, column, line, column, text)

    def without_statement(self, block: list[ast.stmt], statement: ast.stmt) -> Change:
        """Return the change that removes a statement, with its line if it has it for itself."""
        if len(block) == 1:
            return self.replaced(statement, "pass")
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        head = self._lines[first - 1].encode()[: statement.col_offset].strip()
        tail = self._lines[last - 1].encode()[statement.end_col_offset or 0 :].strip()
        if head or (tail and not tail.startswith(b"#")):
            return self.replaced(statement, "pass")
        if last < len(self._lines):
            return self._change(first, 0, last + 1, 0, "")
        return self.replaced(statement, "")

    def _change(self, line: int, column: int, end_line: int, end_column: int, text: str) -> Change:
        """Return a change; ``ast`` counts columns in bytes."""
        start = len(self._lines[line - 1].encode()[:column].decode())
        end = len(self._lines[end_line - 1].encode()[:end_column].decode())
        parts = self._lines[line - 1 : end_line]
        parts[-1] = parts[-1][:end]
        parts[0] = parts[0][start:]
        return Change(line, start, end_line, end, "\n".join(parts), text)


def name_of(call: ast.Call) -> str:
    """Return the last part of the name of a call's function."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def argument(call: ast.Call, position: int | None, name: str) -> ast.expr | None:
    """Return an argument of a call, by its position or its name."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is not None and position < len(call.args):
        return call.args[position]
    return None


def is_optimizer(node: ast.expr | None) -> bool:
    """Return whether a node is the call of an optimizer's class."""
    return isinstance(node, ast.Call) and name_of(node) in OPTIMIZERS
