"""Reads the WGSL of a kernel as tokens, and writes it out as a function beside those of others.

Only what kernels of this library use is understood: declarations at module level, one entry point
``main``, and buffers that are read and assigned as ``name[index]``. A kernel of another kind, of an
op that a user registered perhaps, is left to run by itself (``is_plain``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import prod

_COMMENT = re.compile(r"//[^\n]*")
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[=!<>+\-*/%&|^]=|\+\+|--|\s+|.", re.DOTALL)
_DECLARED = re.compile(
    r"\b(?:fn|const|alias|override|struct|var(?:<[^>]*>)?)\s+([A-Za-z_]\w*)", re.DOTALL
)
_MAIN = re.compile(
    r"@compute\s*@workgroup_size\(([^)]*)\)\s*fn\s+main\s*\((.*?)\)\s*\{", re.DOTALL
)
_PARAMETER = re.compile(r"@builtin\((\w+)\)\s*(\w+)\s*:\s*([\w<>]+)")
_SHARED = re.compile(r"var<workgroup>\s+(\w+)\s*:\s*array<(\w+),([^>]+)>;")
_ALIAS = re.compile(r"\balias\s+(\w+)\s*=\s*(\w+)\s*;")
_DIRECTIVE = re.compile(r"\b(enable|requires|diagnostic|override|atomic\w*)\b")
_COMPARISONS = ("=", "==", "!=", "<=", ">=")
BUILTINS = {
    "workgroup_id",
    "local_invocation_id",
    "local_invocation_index",
    "global_invocation_id",
}
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Slot:
    """How a buffer of a kernel is reached: ``buffer`` from word ``base`` on.

    ``element`` is the type the kernel sees, ``stored`` the one that the buffer is declared with.
    """

    buffer: str
    base: int
    element: str
    stored: str

    def load(self, index: str) -> str:
        text = self._at(index)
        return text if self.element == self.stored else f"bitcast<{self.element}>({text})"

    def store(self, index: str, value: str) -> str:
        cast = self.element != self.stored
        return f"{self._at(index)} = {f'bitcast<{self.stored}>({value})' if cast else value}"

    def _at(self, index: str) -> str:
        return f"{self.buffer}[{self.base}u + u32({index})]" if self.base else (
            f"{self.buffer}[{index}]"
        )


@dataclass(frozen=True)
class KernelText:
    """The code of a kernel without its bindings, as ``KernelCall.code`` has it."""

    code: str

    @cached_property
    def _plain(self) -> str:
        return _COMMENT.sub("", self.code)

    @cached_property
    def _main(self) -> re.Match[str]:
        found = _MAIN.search(self._plain)
        if found is None:
            raise ValueError("there is no entry point main")
        return found

    @cached_property
    def workgroup(self) -> tuple[int, int, int]:
        """Invocations of a workgroup along x, y and z."""
        sizes = [self._number(part.strip()) for part in self._main.group(1).split(",")]
        x, y, z = (*sizes, 1, 1)[:3]
        return x, y, z

    def _number(self, text: str) -> int:
        """The value of a constant expression: products and sums of numbers and constants."""
        if re.fullmatch(r"\d+u?", text):
            return int(text.rstrip("u"))
        for sign, combine in (("+", sum), ("*", prod)):
            if sign in text:
                return combine(self._number(part.strip()) for part in text.split(sign))
        found = re.search(rf"\bconst\s+{text}\s*=([^;]+);", self._plain)
        if found is None:
            raise ValueError(f"{text} is no constant")
        return self._number(found.group(1).strip())

    @cached_property
    def shared(self) -> dict[str, tuple[str, int]]:
        """The arrays in workgroup memory: element type and length by name."""
        aliases = dict(_ALIAS.findall(self._plain))
        return {
            name: (aliases.get(element, element), self._number(length.strip()))
            for name, element, length in _SHARED.findall(self._plain)
        }

    @cached_property
    def parameters(self) -> list[tuple[str, str, str]]:
        """The parameters of ``main``: builtin, name and type."""
        return _PARAMETER.findall(self._main.group(2))

    @cached_property
    def cooperates(self) -> bool:
        """Whether the invocations of a workgroup wait for each other or share memory."""
        return "Barrier()" in self._plain or "var<workgroup>" in self._plain

    def is_plain(self, buffers: Sequence[str]) -> bool:
        """Whether ``function`` can be made of it, ``buffers`` being what it binds."""
        if _DIRECTIVE.search(self._plain) or self._plain.count("var<workgroup>") != len(
            _SHARED.findall(self._plain)
        ):
            return False
        try:
            x, y, z = self.workgroup
            known = {name for name, _, _ in self.parameters} <= BUILTINS and x * y * z > 0
            return known and len(self.shared) < 8 and self._indexed_only(set(buffers))
        except ValueError:
            return False

    def _indexed_only(self, buffers: set[str]) -> bool:
        """Whether ``buffers`` occur as ``name[index]`` alone, and are assigned only by ``=``."""
        tokens = [token for token in _TOKEN.findall(self._plain) if not token.isspace()]
        for at, token in enumerate(tokens):
            if token not in buffers or tokens[at - 1] == ".":
                continue
            if tokens[at + 1] != "[" or tokens[at - 1] == "&":
                return False
            end = _closing(tokens, at + 1) + 1
            after = tokens[end]
            if after == "=":  # a statement, not the last part of a loop's head
                value = tokens[end : tokens.index(";", end)]
                depths = accumulate((t in _OPENING) - (t in _CLOSING) for t in value)
                if min(depths) < 0:
                    return False
            if after in ("++", "--", ".") or (after[-1] == "=" and after not in _COMPARISONS):
                return False
        return True

    @cached_property
    def _declared(self) -> set[str]:
        depth, outer = 0, []
        for token in _TOKEN.findall(self._plain):
            depth -= token in ("}",)
            if depth == 0:
                outer.append(token)
            depth += token in ("{",)
        return set(_DECLARED.findall("".join(outer)))

    def function(
        self, prefix: str, slots: Mapping[str, Slot], shared: Mapping[str, str] | None = None
    ) -> str:
        """The kernel with ``prefix`` before all names of module level, its entry point a function
        ``<prefix>main`` of the same parameters, buffers reached as ``slots`` say, and arrays in
        workgroup memory declared elsewhere, under the names ``shared``."""
        start, end = self._main.span()
        head = ", ".join(f"{name}: {kind}" for _, name, kind in self.parameters)
        text = f"{self._plain[:start]}fn main({head}) {{{self._plain[end:]}"
        tokens = _TOKEN.findall(_SHARED.sub("", text))
        names = {name: prefix + name for name in self._declared} | dict(shared or {})
        return re.sub(r"\n\s*\n+", "\n", _rename(tokens, names, slots)).strip()


@lru_cache(maxsize=4096)
def kernel_text(code: str) -> KernelText:
    """``code`` as a ``KernelText``, read once."""
    return KernelText(code)


@lru_cache(maxsize=4096)
def is_plain(code: str, buffers: tuple[str, ...]) -> bool:
    """Whether ``code``, which binds ``buffers``, can be part of another kernel."""
    return kernel_text(code).is_plain(buffers)


def _rename(
    tokens: Sequence[str], names: Mapping[str, str], slots: Mapping[str, Slot]
) -> str:
    parts: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        member = at > 0 and tokens[at - 1] == "."
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token in slots and following == "[" and not member:
            end = _closing(tokens, at + 1)
            index = _rename(tokens[at + 2 : end], names, slots)
            at = end + 1
            after = at
            while after < len(tokens) and tokens[after].isspace():
                after += 1
            if after < len(tokens) and tokens[after] == "=":
                stop = tokens.index(";", after)
                value = _rename(tokens[after + 1 : stop], names, slots).strip()
                parts.append(slots[token].store(index, value))
                at = stop
            else:
                parts.append(slots[token].load(index))
            continue
        parts.append(token if member else names.get(token, token))
        at += 1
    return "".join(parts)


def _closing(tokens: Sequence[str], opening: int) -> int:
    """Where the bracket that opens at ``opening`` is closed."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at] in _OPENING) - (tokens[at] in _CLOSING)
        if depth == 0:
            return at
    raise ValueError("brackets do not match")
