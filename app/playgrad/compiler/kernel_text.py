"""Reads the WGSL of a kernel, and writes it out as a function beside those of others.

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

# Kernels are long, and a pattern is searched for ten times as fast if it begins with a letter: what
# must not come before that is said after it.
_COMMENT = re.compile(r"//[^\n]*")
_NAME = re.compile(r"[A-Za-z_](?<![\w.].)\w*")  # not that of a member
_AFTER_AND = re.compile(r"&\s*([A-Za-z_]\w*)")
_BRACKET = re.compile(r"[(\[{)\]}]")
_BRACE = re.compile(r"([{}])")
_ASSIGNMENT = re.compile(r"\s*=(?!=)")
_CHANGE = re.compile(r"\s*(?:\+\+|--|\.|(?:<<|>>|[+\-*/%&|^])=)")
_DECLARED = re.compile(
    r"\b(?:fn|const|alias|override|struct|var(?:<[^>]*>)?)\s+([A-Za-z_]\w*)", re.DOTALL
)
_MAIN = re.compile(r"@compute\s*@workgroup_size\(([^)]*)\)\s*fn\s+main\s*\((.*?)\)\s*\{", re.DOTALL)
_PARAMETER = re.compile(r"@builtin\((\w+)\)\s*(\w+)\s*:\s*([\w<>]+)")
_SHARED = re.compile(r"var<workgroup>\s+(\w+)\s*:\s*array<(\w+),([^>]+)>;")
_CONST = re.compile(r"const(?<!\wconst)\s+(\w+)[^=;]*=([^;]+);")
_WHOLE = re.compile(r"\d+u?")
_ALIAS = re.compile(r"alias(?<!\walias)\s+(\w+)\s*=\s*(\w+)\s*;")
_DIRECTIVES = ("enable", "requires", "diagnostic", "override", "atomic")
BUILTINS = {
    "workgroup_id",
    "local_invocation_id",
    "local_invocation_index",
    "global_invocation_id",
}
_OPENING = "([{"


@dataclass(frozen=True)
class BufferAccess:
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
        return (
            f"{self.buffer}[{self.base}u + u32({index})]"
            if self.base
            else (f"{self.buffer}[{index}]")
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
        if _WHOLE.fullmatch(text):
            return int(text.rstrip("u"))
        for sign, combine in (("+", sum), ("*", prod)):
            if sign in text:
                return combine(self._number(part.strip()) for part in text.split(sign))
        if text not in self._constants:
            raise ValueError(f"{text} is no constant")
        return self._number(self._constants[text])

    @cached_property
    def _constants(self) -> dict[str, str]:
        return {name: value.strip() for name, value in _CONST.findall(self._plain)}

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
        text = self._plain
        if any(word in text for word in _DIRECTIVES):
            return False
        if text.count("var<workgroup>") != len(_SHARED.findall(text)):
            return False
        try:
            x, y, z = self.workgroup
            known = {name for name, _, _ in self.parameters} <= BUILTINS and x * y * z > 0
            return known and len(self.shared) < 8 and self._indexed_only(set(buffers))
        except ValueError:
            return False

    def _indexed_only(self, buffers: set[str]) -> bool:
        """Whether ``buffers`` occur as ``name[index]`` alone, and are assigned only by ``=``."""
        text = self._plain
        if not buffers.isdisjoint(_AFTER_AND.findall(text)):
            return False
        for name in [found for found in _NAME.finditer(text) if found[0] in buffers]:
            if text[name.end()] != "[":
                return False
            end = _closing(text, name.end()) + 1
            if _CHANGE.match(text, end):
                return False
            if assignment := _ASSIGNMENT.match(text, end):
                # A statement, not the last part of a loop's head.
                value = text[assignment.end() : text.index(";", end)]
                brackets = _BRACKET.findall(value)
                depths = accumulate(1 if bracket in _OPENING else -1 for bracket in brackets)
                if min(depths, default=0) < 0:
                    return False
        return True

    @cached_property
    def _declared(self) -> set[str]:
        depth, outer = 0, []
        for part in _BRACE.split(self._plain):
            depth -= part == "}"
            if depth == 0:
                outer.append(part)
            depth += part == "{"
        return set(_DECLARED.findall("".join(outer)))

    def function(
        self,
        prefix: str,
        slots: Mapping[str, BufferAccess],
        shared: Mapping[str, str] | None = None,
    ) -> str:
        """The kernel with ``prefix`` before all names of module level, its entry point a function
        ``<prefix>main`` of the same parameters, buffers reached as ``slots`` say, and arrays in
        workgroup memory declared elsewhere, under the names ``shared``."""
        start, end = self._main.span()
        head = ", ".join(f"{name}: {kind}" for _, name, kind in self.parameters)
        text = f"{self._plain[:start]}fn main({head}) {{{self._plain[end:]}"
        names = {name: prefix + name for name in self._declared} | dict(shared or {})
        renamed = _rename(_SHARED.sub("", text), names, slots)
        return re.sub(r"\n\s*\n+", "\n", renamed).strip()


@lru_cache(maxsize=4096)
def kernel_text(code: str) -> KernelText:
    """``code`` as a ``KernelText``, read once."""
    return KernelText(code)


@lru_cache(maxsize=4096)
def is_plain(code: str, buffers: tuple[str, ...]) -> bool:
    """Whether ``code``, which binds ``buffers``, can be part of another kernel."""
    return kernel_text(code).is_plain(buffers)


def _rename(text: str, names: Mapping[str, str], slots: Mapping[str, BufferAccess]) -> str:
    parts: list[str] = []
    done = 0
    for found in [each for each in _NAME.finditer(text) if each[0] in names or each[0] in slots]:
        name, start, end = found[0], *found.span()
        if start < done:
            continue  # within an index or a value, which was written
        if name in slots and text[end : end + 1] == "[":
            parts.append(text[done:start])
            closed = _closing(text, end)
            index = _rename(text[end + 1 : closed], names, slots)
            done = closed + 1
            if assignment := _ASSIGNMENT.match(text, done):
                stop = text.index(";", done)
                value = _rename(text[assignment.end() : stop], names, slots).strip()
                parts.append(slots[name].store(index, value))
                done = stop
            else:
                parts.append(slots[name].load(index))
        elif name in names:
            parts += text[done:start], names[name]
            done = end
    parts.append(text[done:])
    return "".join(parts)


def _closing(text: str, opening: int) -> int:
    """Where the bracket that opens at ``opening`` is closed."""
    depth = 0
    for found in _BRACKET.finditer(text, opening):
        depth += 1 if found[0] in _OPENING else -1
        if depth == 0:
            return found.start()
    raise ValueError("brackets do not match")
