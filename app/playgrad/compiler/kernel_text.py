"""Parses the WGSL of a kernel, and rewrites it as a function that can be combined with others.

The parser knows the WGSL that kernels of this library use: declarations at module level, one entry
point ``main``, and buffers that are read and assigned as ``name[index]``. Any other kernel, such as
one of an operation registered by a user, runs in a dispatch of its own (``is_mergeable``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import prod

from playgrad.ops.core.wgsl_text import BRACKET, OPENING, closing, without_comments

# Kernels are long, and a search is ten times as fast if its pattern begins with a letter: so what
# must not precede a match is checked after its first letter.
_NAME = re.compile(r"[A-Za-z_](?<![\w.].)\w*")  # not the name of a member
_AFTER_AND = re.compile(r"&\s*([A-Za-z_]\w*)")
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


@dataclass(frozen=True)
class BufferAccess:
    """Access to a tensor of a kernel: in ``buffer``, from word ``base`` on, a number or a variable.

    ``element`` is the type that the kernel sees, ``stored`` the one that the buffer is declared
    with.
    """

    buffer: str
    base: int | str
    element: str
    stored: str

    def load(self, index: str) -> str:
        text = self._at(index)
        return text if self.element == self.stored else f"bitcast<{self.element}>({text})"

    def store(self, index: str, value: str) -> str:
        cast = self.element != self.stored
        return f"{self._at(index)} = {f'bitcast<{self.stored}>({value})' if cast else value}"

    def _at(self, index: str) -> str:
        if self.base:
            base = self.base if isinstance(self.base, str) else f"{self.base}u"
            return f"{self.buffer}[{base} + u32({index})]"
        return f"{self.buffer}[{index}]"


@dataclass(frozen=True)
class KernelText:
    """The code of a kernel without its bindings, as ``KernelCall.code`` has it."""

    code: str

    @cached_property
    def _plain(self) -> str:
        return without_comments(self.code)

    @cached_property
    def _main(self) -> re.Match[str]:
        main = _MAIN.search(self._plain)
        if main is None:
            raise ValueError("there is no entry point main")
        return main

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
            raise ValueError(f"{text} is not a constant")
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
        """Return whether the invocations of a workgroup wait for each other or share memory."""
        return "Barrier()" in self._plain or "var<workgroup>" in self._plain

    def is_mergeable(self, buffers: Sequence[str]) -> bool:
        """Return whether ``function`` can rewrite the kernel, which binds ``buffers``."""
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
        """Return whether ``buffers`` occur only as ``name[index]``, assigned only with ``=``."""
        text = self._plain
        if not buffers.isdisjoint(_AFTER_AND.findall(text)):
            return False
        for name in [match for match in _NAME.finditer(text) if match[0] in buffers]:
            if text[name.end()] != "[":
                return False
            end = closing(text, name.end()) + 1
            if _CHANGE.match(text, end):
                return False
            if assignment := _ASSIGNMENT.match(text, end):
                # A statement, not the last part of a loop's head.
                value = text[assignment.end() : text.index(";", end)]
                brackets = BRACKET.findall(value)
                depths = accumulate(1 if bracket in OPENING else -1 for bracket in brackets)
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
        """The kernel as functions, without an entry point of its own.

        Args:
            prefix: put before all names at module level; ``main`` becomes ``<prefix>main``, with
                the same parameters.
            slots: access to each buffer.
            shared: names under which its arrays in workgroup memory are declared elsewhere.
        """
        start, end = self._main.span()
        head = ", ".join(f"{name}: {kind}" for _, name, kind in self.parameters)
        text = f"{self._plain[:start]}fn main({head}) {{{self._plain[end:]}"
        names = {name: prefix + name for name in self._declared} | dict(shared or {})
        renamed = _rename(_SHARED.sub("", text), names, slots)
        return re.sub(r"\n\s*\n+", "\n", renamed).strip()


@lru_cache(maxsize=4096)
def kernel_text(code: str) -> KernelText:
    """Return ``code`` as a ``KernelText``, parsed once."""
    return KernelText(code)


@lru_cache(maxsize=4096)
def is_mergeable(code: str, buffers: tuple[str, ...]) -> bool:
    """Return whether ``code``, which binds ``buffers``, can become part of another kernel."""
    return kernel_text(code).is_mergeable(buffers)


def _rename(text: str, names: Mapping[str, str], slots: Mapping[str, BufferAccess]) -> str:
    parts: list[str] = []
    done = 0
    for match in [each for each in _NAME.finditer(text) if each[0] in names or each[0] in slots]:
        name, start, end = match[0], *match.span()
        if start < done:
            continue  # within an index or a value that has been written already
        if name in slots and text[end : end + 1] == "[":
            parts.append(text[done:start])
            closed = closing(text, end)
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
