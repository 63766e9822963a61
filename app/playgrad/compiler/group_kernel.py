"""Writes the kernel of a batch: one entry point that shares workgroups among the members.

Each buffer is bound once, over the range that all members use of it; a member sees its tensors
from fixed offsets on. So a merged kernel belongs to one layout of memory, and no buffer is bound
twice however many of its tensors are read and written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.dispatch_groups import Batch, Strand, invocations, lanes_of, workgroups_of
from playgrad.compiler.dispatches import Dispatch
from playgrad.compiler.kernel_text import BufferAccess, KernelText, kernel_text
from playgrad.devices.base import Limits
from playgrad.ops.core.kernel import grid

Range = tuple[int, int, int]
"""Buffer, offset and size of a tensor, in bytes."""


@dataclass(frozen=True)
class Merged:
    """A kernel of many, with its bindings in order."""

    params: Mapping[str, Any]
    code: str
    bindings: list[Range]
    elements: list[str]
    written: list[bool]
    workgroups: tuple[int, int, int]


def merge(
    batch: Batch, ranges: Mapping[Dispatch, Sequence[Range]], limits: Limits
) -> Merged | None:
    """One kernel for ``batch``; None where it would bind more than a kernel may.

    Args:
        ranges: where the operands of each member are.
    """
    buffers = _Bound(batch, ranges)
    sizes = [size for _, _, size in buffers.ranges]
    if len(sizes) > limits.max_storage_buffers_per_shader_stage:
        return None
    if max(sizes) > limits.max_storage_buffer_binding_size:
        return None
    lanes = batch.lanes
    numbers = {member: number for number, member in enumerate(batch.members)}
    functions = [
        _member(member, f"m{number}_", buffers.slots(ranges[member], member), lanes)
        for member, number in numbers.items()
    ]
    branches: list[str] = []
    first = 0
    for strand in batch.strands:
        count = 1 if strand.is_chain else _groups(strand.members[0], lanes)
        body = _strand(strand, numbers, first, lanes)
        branches.append(f"if (group < {first + count}u) {{\n{body}\n  }}")
        first += count
    workgroups = grid(first, 1, limits)
    declared = [
        f"var<workgroup> {name}: array<{element}, {length}>;\n"
        for (element, length), count in batch.shared.items()
        for name in _shared_names(element, length, count)
    ]
    code = (
        "".join(declared)
        + "\n\n".join(functions)
        + f"""

@compute @workgroup_size({lanes})
fn main(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {{
  let group = id.y * {workgroups[0]}u + id.x;
  {" else ".join(branches)}
}}
"""
    )
    params = {
        "strands": [[numbers[member] for member in strand.members] for strand in batch.strands],
        "members": [_described(member) for member in batch.members],
    }
    return Merged(params, code, buffers.ranges, buffers.elements, buffers.written, workgroups)


def _described(member: Dispatch) -> dict[str, Any]:
    call = member.call
    return {
        "family": call.family,
        "params": dict(call.params),
        "workgroups": list(call.workgroups),
        "node": member.node.name,
    }


class _Bound:
    """What a batch binds: for each buffer the range its members use, its element type, and
    whether any writes it. Where types differ the buffer holds words, u32."""

    def __init__(self, batch: Batch, ranges: Mapping[Dispatch, Sequence[Range]]) -> None:
        spans: dict[int, tuple[int, int]] = {}
        types: dict[int, set[str]] = {}
        written: set[int] = set()
        for member in batch.members:
            for (buffer, offset, size), binding, (_, is_written) in zip(
                ranges[member], member.call.bindings, member.operands, strict=True
            ):
                start, end = spans.get(buffer, (offset, offset))
                spans[buffer] = (min(start, offset), max(end, offset + size))
                types.setdefault(buffer, set()).add(binding.element)
                if is_written:
                    written.add(buffer)
        self._number = {buffer: number for number, buffer in enumerate(spans)}
        self.ranges = [(buffer, start, end - start) for buffer, (start, end) in spans.items()]
        self.elements = [_common(types[buffer]) for buffer in spans]
        self.written = [buffer in written for buffer in spans]

    def slots(self, ranges: Sequence[Range], member: Dispatch) -> dict[str, BufferAccess]:
        slots = {}
        for (buffer, offset, _), binding in zip(ranges, member.call.bindings, strict=True):
            number = self._number[buffer]
            base = (offset - self.ranges[number][1]) // 4
            slots[binding.name] = BufferAccess(
                f"buffer{number}", base, binding.element, self.elements[number]
            )
        return slots


def _common(types: set[str]) -> str:
    return next(iter(types)) if len(types) == 1 else "u32"


def _groups(member: Dispatch, lanes: int) -> int:
    """Workgroups of ``lanes`` that do the work of ``member``."""
    return -(-invocations(member) // lanes)


def _member(member: Dispatch, prefix: str, slots: Mapping[str, BufferAccess], lanes: int) -> str:
    """The kernel as a function, and ``<prefix>at(group, lane)`` that calls it as if it were
    invocation ``lane`` of workgroup ``group`` of workgroups of ``lanes``."""
    text = kernel_text(member.call.code)
    same = lanes_of(member) == lanes
    split = f"""
  let at = group * {lanes}u + lane;
  let number = at / {lanes_of(member)}u;
  let inner = at % {lanes_of(member)}u;"""
    split = "" if same else split
    number, inner = ("group", "lane") if same else ("number", "inner")
    # In a cooperating kernel all come this way together, as the compiler must be able to see.
    guard = f"\n  if ({number} >= {workgroups_of(member)}u) {{ return; }}"
    guard = "" if text.cooperates else guard
    builtins = [name for name, _, _ in text.parameters]
    arguments = ", ".join(_builtin(name, number, inner, member, text) for name in builtins)
    return f"""// {member.call.family}
{text.function(prefix, slots, _shared(text))}

fn {prefix}at(group: u32, lane: u32) {{{split}{guard}
  {prefix}main({arguments});
}}"""


def _shared_names(element: str, length: int, count: int) -> list[str]:
    return [f"shared_{element}_{length}_{number}" for number in range(count)]


def _shared(text: KernelText) -> dict[str, str]:
    """Which of the batch's arrays in workgroup memory a member has for its own."""
    free = {kind: iter(_shared_names(*kind, len(text.shared))) for kind in text.shared.values()}
    return {name: next(free[kind]) for name, kind in text.shared.items()}


def _builtin(name: str, number: str, inner: str, member: Dispatch, text: KernelText) -> str:
    """What WGSL's builtin ``name`` is for invocation ``inner`` of workgroup ``number``."""
    group = _vector(number, member.call.workgroups)
    local = _vector(inner, text.workgroup)
    size = ", ".join(f"{n}u" for n in text.workgroup)
    return {
        "workgroup_id": group,
        "local_invocation_id": local,
        "local_invocation_index": inner,
        "global_invocation_id": f"{group} * vec3<u32>({size}) + {local}",
    }[name]


def _vector(number: str, sizes: tuple[int, int, int]) -> str:
    """``number`` as a position in a box of ``sizes``, x running fastest."""
    x, y, z = sizes
    if y == z == 1:
        return f"vec3<u32>({number}, 0u, 0u)"
    return f"vec3<u32>({number} % {x}u, {number} / {x}u % {y}u, {number} / {x * y}u)"


def _strand(strand: Strand, numbers: Mapping[Dispatch, int], first: int, lanes: int) -> str:
    """What the workgroups from ``first`` on do."""
    if not strand.is_chain:
        group = f"group - {first}u" if first else "group"
        return f"    m{numbers[strand.members[0]]}_at({group}, lane);"
    # The next member may use the same workgroup memory.
    wait = any(kernel_text(member.call.code).cooperates for member in strand.members)
    lines: list[str] = []
    for member in strand.members:
        if lines:
            lines.append(f"    storageBarrier();{' workgroupBarrier();' if wait else ''}")
        rounds = _groups(member, lanes)
        function = f"m{numbers[member]}_at"
        lines.append(
            f"    {function}(0u, lane);"
            if rounds == 1
            else f"    for (var r = 0u; r < {rounds}u; r++) {{ {function}(r, lane); }}"
        )
    return "\n".join(lines)
