"""A parser of the WGSL that kernels of this library consist of, which writes it again, changed.

It knows the type of each expression as far as a rewriter needs it: whether it is a float. WGSL that
it does not know is a ValueError, not copied, so that no kernel escapes what a rewriter changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Value(NamedTuple):
    """An expression: its text, its type ("f32", another one, or "" for an abstract integer), and
    the factors of a product."""

    text: str
    kind: str
    factors: tuple[Value, Value] | None = None


_TOKEN = re.compile(
    r"""(?P<number>0[xX][0-9a-fA-F]+(?:p[+-]?\d+f?|[ui])?|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[uif]?)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>->|<<=|>>=|\+\+|--|&&|\|\||<<|>>|<=|>=|==|!=|[-+*/%&|^]=|[-+*/%&|^~!<>=(){}\[\],;:.@])
    |(?P<space>\s+)""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"//[^\n]*")
_PRECEDENCE: Sequence[Sequence[str]] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "<", ">", "<=", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
_TEMPLATED = ("bitcast", "vec2", "vec3", "vec4", "array")
_OF_FIRST_ARGUMENT = (
    *("abs", "ceil", "clamp", "cos", "exp", "exp2", "floor", "fma", "fract", "inverseSqrt", "log"),
    *("log2", "max", "min", "pow", "quadSwapX", "quadSwapY", "round", "select", "sign", "sin"),
    *("sqrt", "step", "tan", "tanh", "trunc"),
)
"""Functions of WGSL whose result has the type of their first argument."""
_OTHERS = {"all": "bool", "any": "bool", "dot": "f32", "countTrailingZeros": "u32"}
_TYPES = ("f32", "u32", "i32", "bool")


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = _COMMENT.sub("", text)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"not WGSL: {text[at : at + 40]!r}")
        if match.lastgroup != "space":
            tokens.append(match[0])
        at = match.end()
    return tokens


class WgslRewriter:
    """Writes a kernel again. Subclasses override what they change.

    Attributes:
        function: the name of the function that is being written.
    """

    prelude = ""

    def __init__(self, text: str) -> None:
        self._rest = _tokens(text)
        self._at = 0
        self._types: dict[str, str] = {}  # of variables, and of what functions return
        self._aliases: dict[str, str] = {}
        self._members: dict[str, str] = {}
        self.function = ""

    def binary(self, sign: str, a: Value, b: Value) -> str:
        """Return the text of ``a sign b``."""
        return f"({a.text} {sign} {b.text})"

    def call(self, name: str, arguments: str, kinds: Sequence[str]) -> str:
        """Return the text of a call of a function.

        Args:
            kinds: the types of the arguments.
        """
        return f"{name}({arguments})"

    def condition(self, text: str) -> str:
        """Return the text of the condition of a loop."""
        return text

    def main(self, body: str) -> str:
        """Return the text of the statements of the entry point."""
        return body

    def rewritten(self) -> str:
        """Return the kernel, changed."""
        parts = [self.prelude]
        while self._at < len(self._rest):
            parts.append(self._declaration())
        return "\n".join(parts)

    # Tokens

    def _next(self, *expected: str) -> str:
        token = self._peek()
        if expected and token not in expected:
            around = " ".join(self._rest[max(0, self._at - 8) : self._at + 4])
            raise ValueError(f"expected {' or '.join(expected)}: {around}")
        self._at += 1
        return token

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._rest[at] if at < len(self._rest) else ""

    def _accept(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _type(self) -> str:
        """Read a type; return its text, without aliases."""
        name = self._next()
        text = self._aliases.get(name, name)
        return text + (self._template() if self._peek() == "<" else "")

    def _template(self) -> str:
        """Read ``<...>``."""
        depth, parts = 0, []
        while True:
            token = self._next()
            depth += {"<": 1, ">": -1, ">>": -2}.get(token, 0)
            parts.append(self._aliases.get(token, token) + (" " if token == "," else ""))
            if depth == 0:
                return "".join(parts)

    # Declarations

    def _declaration(self) -> str:
        attributes = ""
        while self._accept("@"):
            attributes += f"@{self._next()}"
            if self._peek() == "(":
                attributes += self._parenthesis()
        word = self._next("fn", "struct", "alias", "const", "var", "enable", ";")
        if word == ";":
            return ""
        if word == "enable":
            return f"enable {self._next()}{self._next(';')}"
        if word == "fn":
            return self._function(attributes)
        if word == "struct":
            return self._struct()
        if word == "alias":
            name = self._next()
            self._next("=")
            self._aliases[name] = self._type()
            self._next(";")
            return f"alias {name} = {self._aliases[name]};"
        template = self._template() if word == "var" and self._peek() == "<" else ""
        return f"{attributes}{word}{template} {self._variable(constant=True)}"

    def _parenthesis(self) -> str:
        depth, parts = 0, []
        while True:
            token = self._next()
            depth += {"(": 1, ")": -1}.get(token, 0)
            parts.append(token)
            if depth == 0:
                return " ".join(parts)

    def _struct(self) -> str:
        name = self._next()
        self._next("{")
        members = []
        while not self._accept("}"):
            member = self._next()
            self._next(":")
            self._members[member] = self._type()
            members.append(f"{member}: {self._members[member]}")
            self._accept(",")
        return f"struct {name} {{ {', '.join(members)} }}"

    def _function(self, attributes: str) -> str:
        name = self.function = self._next()
        self._next("(")
        parameters = []
        while not self._accept(")"):
            builtin = ""
            if self._accept("@"):
                builtin = f"@{self._next()}{self._parenthesis()} "
            parameter = self._next()
            self._next(":")
            self._types[parameter] = self._type()
            parameters.append(f"{builtin}{parameter}: {self._types[parameter]}")
            self._accept(",")
        result = ""
        if self._accept("->"):
            self._types[f"{name}()"] = self._type()
            result = f" -> {self._types[f'{name}()']}"
        body = self._block()
        if "@compute" in attributes:
            body = f"{{\n{self.main(body)}\n}}"
        return f"{attributes} fn {name}({', '.join(parameters)}){result} {body}"

    def _variable(self, constant: bool = False) -> str:
        """Read the rest of a declaration, from the name on."""
        name = self._next()
        kind = self._type() if self._accept(":") else ""
        text = name + (f": {kind}" if kind else "")
        if self._accept("="):
            start = self._at
            value = self._expression()
            # A constant expression may not call a function, and stays as it is.
            written = " ".join(self._rest[start : self._at]) if constant else value.text
            text += f" = {written}"
            kind = kind or value.kind
        self._types[name] = kind
        self._next(";")
        return f"{text};"

    # Statements

    def _block(self) -> str:
        self._next("{")
        parts = []
        while not self._accept("}"):
            parts.append(self._statement())
        return "{\n" + "\n".join(parts) + "\n}"

    def _statement(self) -> str:
        word = self._peek()
        if word == "{":
            return self._block()
        if word in ("let", "var", "const"):
            return f"{self._next()} {self._variable()}"
        if word == "if":
            return self._if()
        if word == "for":
            return self._for()
        if word in ("while", "loop"):
            self._next()
            condition = self._expression().text if word == "while" else "true"
            return f"while ({self.condition(condition)}) {self._block()}"
        if word == "return":
            self._next()
            if self._accept(";"):
                return "return;"
            text = f"return {self._expression().text};"
            self._next(";")
            return text
        if word in ("break", "continue", ";"):
            self._next()
            return "" if word == ";" else f"{word}{self._next(';')}"
        return self._simple() + self._next(";")

    def _if(self) -> str:
        self._next("if")
        text = f"if ({self._expression().text}) {self._block()}"
        if self._accept("else"):
            text += f" else {self._if() if self._peek() == 'if' else self._block()}"
        return text

    def _for(self) -> str:
        self._next("for")
        self._next("(")
        if self._peek() in ("let", "var"):
            first = f"{self._next()} {self._variable()}"
        else:
            first = ("" if self._peek() == ";" else self._simple()) + self._next(";")
        condition = "true" if self._peek() == ";" else self._expression().text
        self._next(";")
        step = "" if self._peek() == ")" else self._simple()
        self._next(")")
        return f"for ({first} {self.condition(condition)}; {step}) {self._block()}"

    def _simple(self) -> str:
        """Read an assignment or a call, without the semicolon."""
        target = self._unary()
        sign = self._peek()
        if sign in ("++", "--"):
            return target.text + self._next()
        if sign == "=":
            self._next()
            return f"{target.text} = {self._expression().text}"
        if sign.endswith("="):
            self._next()
            return f"{target.text} = {self.binary(sign[:-1], target, self._expression())}"
        return target.text

    # Expressions

    def _expression(self, level: int = 0) -> Value:
        if level == len(_PRECEDENCE):
            return self._unary()
        left = self._expression(level + 1)
        while self._peek() in _PRECEDENCE[level]:
            sign = self._next()
            right = self._expression(level + 1)
            kind = left.kind if sign in ("<<", ">>") else _common(left.kind, right.kind)
            kind = "bool" if sign in (*COMPARISONS, "&&", "||") else kind
            factors = (left, right) if sign == "*" else None
            left = Value(self.binary(sign, left, right), kind, factors)
        return left

    def _unary(self) -> Value:
        if self._peek() in ("-", "!", "~", "&", "*"):
            sign = self._next()
            value = self._unary()
            return Value(f"({sign}{value.text})", value.kind)
        return self._postfix(self._primary())

    def _primary(self) -> Value:
        token = self._next()
        if token == "(":
            value = self._expression()
            self._next(")")
            return value._replace(text=f"({value.text})")
        if token[0].isdigit() or token[0] == ".":
            return Value(token, _literal_type(token))
        if token in ("true", "false"):
            return Value(token, "bool")
        if token in _TEMPLATED and self._peek() == "<":
            template = self._template()
            kind = template[1:-1] if token == "bitcast" else token + template
            return Value(f"{token}{template}({self._arguments()[0]})", kind)
        if self._peek() == "(":
            return self._call(token)
        return Value(token, self._types.get(token, ""))

    def _call(self, name: str) -> Value:
        text, kinds = self._arguments()
        if name in _OF_FIRST_ARGUMENT:
            kind = next(filter(None, kinds), "")
        elif name in self._aliases or name in _TYPES:
            kind = self._aliases.get(name, name)
        else:
            kind = self._types.get(f"{name}()", _OTHERS.get(name, name))
        return Value(self.call(name, text, kinds), kind)

    def _arguments(self) -> tuple[str, list[str]]:
        self._next("(")
        texts, kinds = [], []
        while not self._accept(")"):
            value = self._expression()
            texts.append(value.text)
            kinds.append(value.kind)
            self._accept(",")
        return ", ".join(texts), kinds

    def _postfix(self, value: Value) -> Value:
        while self._peek() in ("[", "."):
            if self._next() == "[":
                text = f"{value.text}[{self._expression().text}]"
                self._next("]")
                value = Value(text, _element(value.kind))
            else:
                member = self._next()
                kind = self._members.get(member, _element(value.kind))
                value = Value(f"{value.text}.{member}", kind)
        return value


def _literal_type(token: str) -> str:
    if token[:2].lower() == "0x":
        return "f32" if "p" in token else {"u": "u32", "i": "i32"}.get(token[-1], "")
    if token[-1] in "ui":
        return {"u": "u32", "i": "i32"}[token[-1]]
    return "f32" if re.search(r"[.eEf]", token) else ""


def _element(kind: str) -> str:
    """Return the type of an element of an array or a vector."""
    inner = re.fullmatch(r"\w+<(\w+(?:<\w+>)?)(?:,.*)?>", kind)
    return inner[1] if inner else ""


def _common(a: str, b: str) -> str:
    vector = next((kind for kind in (a, b) if kind.startswith("vec")), "")
    return vector or a or b
