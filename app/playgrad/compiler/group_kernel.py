"""Writes the kernel of a dispatch group: one entry point that divides workgroups among the members.

Each buffer is bound once, over the range that its members use; a member accesses its tensors at
constant offsets. So a group's kernel belongs to one memory plan, and no buffer is bound twice,
however many of its tensors are read and written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playgrad.compiler.dispatch_groups import (
    DispatchGroup,
    Strand,
    invocations,
    workgroup_size_of,
    workgroups_of,
)
from playgrad.compiler.dispatches import Dispatch
from playgrad.compiler.kernel_text import BufferAccess, KernelText, kernel_text
from playgrad.devices.target import Limits
from playgrad.ops.core.kernel import grid

Range = tuple[int, int, int]
"""Buffer, offset and size of a tensor, in bytes."""


@dataclass(frozen=True)
class GroupKernel:
    """The kernel of a dispatch group.

    Attributes:
        bindings, elements, written: the range, element type and access of each binding.
    """

    params: Mapping[str, Any]
    code: str
    bindings: list[Range]
    elements: list[str]
    written: list[bool]
    workgroups: tuple[int, int, int]


def group_kernel(
    group: DispatchGroup, ranges: Mapping[Dispatch, Sequence[Range]], limits: Limits
) -> GroupKernel | None:
    """Return one kernel for ``group``, or None if it would bind more than a kernel may.

    Args:
        ranges: the operands of each member.
    """
    buffers = _BoundBuffers(group, ranges)
    sizes = [size for _, _, size in buffers.ranges]
    if len(sizes) > limits.max_storage_buffers_per_shader_stage:
        return None
    if max(sizes) > limits.max_storage_buffer_binding_size:
        return None
    size = group.workgroup_size
    numbers = {member: number for number, member in enumerate(group.members)}
    functions: list[str] = []
    branches: list[str] = []
    first = 0
    for strands in _alike(group, {m: buffers.slots(ranges[m], m) for m in group.members}):
        members = [member for strand in strands for member in strand.members]
        slots = {member: buffers.slots(ranges[member], member) for member in members}
        strand = strands[0]
        count = 1 if strand.is_chain else _rounds(strand.members[0], size)
        if len(strands) > 1:
            function, body = _copies(members, slots, numbers, count, first, size)
            functions.append(function)
        else:
            functions += [_member(m, f"m{numbers[m]}_", slots[m], size) for m in members]
            body = _strand(strand, numbers, first, size)
        first += count * len(strands)
        branches.append(f"if (group < {first}u) {{\n{body}\n  }}")
    workgroups = grid(first, 1, limits)
    declared = [
        f"var<workgroup> {name}: array<{element}, {length}>;\n"
        for (element, length), count in group.shared.items()
        for name in _shared_names(element, length, count)
    ]
    code = (
        "".join(declared)
        + "\n\n".join(functions)
        + f"""

@compute @workgroup_size({size})
fn main(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {{
  let group = id.y * {workgroups[0]}u + id.x;
  {" else ".join(branches)}
}}
"""
    )
    params = {
        "strands": [[numbers[member] for member in strand.members] for strand in group.strands],
        "members": [_described(member) for member in group.members],
    }
    return GroupKernel(params, code, buffers.ranges, buffers.elements, buffers.written, workgroups)


def _alike(
    group: DispatchGroup, slots: Mapping[Dispatch, Mapping[str, BufferAccess]]
) -> list[list[Strand]]:
    """Return the strands of a group. On hardware, those with the same code in the same buffers are
    together: compilers insert a function wherever it is called, so it is called once for all."""
    alike: dict[Any, list[Strand]] = {}
    for number, strand in enumerate(group.strands):
        key: Any = number
        if not (strand.is_chain or group.target.is_software):
            (member,) = strand.members
            places = [(name, replace(slot, base=0)) for name, slot in slots[member].items()]
            key = (member.call.code, member.call.workgroups, *places)
        alike.setdefault(key, []).append(strand)
    return list(alike.values())


def _copies(
    members: Sequence[Dispatch],
    slots: Mapping[Dispatch, Mapping[str, BufferAccess]],
    numbers: Mapping[Dispatch, int],
    count: int,
    first: int,
    size: int,
) -> tuple[str, str]:
    """Return a function for members with the same code, each of ``count`` workgroups, and its call
    for workgroups from number ``first`` on. It finds their tensors by variables."""
    prefix = f"m{numbers[members[0]]}_"
    variables = {name: f"{prefix}base_{name}" for name in slots[members[0]]}
    moved = {name: replace(slot, base=variables[name]) for name, slot in slots[members[0]].items()}
    declared = "\n".join(f"var<private> {variable}: u32;" for variable in variables.values())
    cases = []
    for copy, member in enumerate(members):
        bases = " ".join(f"{variables[n]} = {slot.base}u;" for n, slot in slots[member].items())
        cases.append(f"      case {copy}u{', default' if copy == 0 else ''}: {{ {bases} }}")
    lines = "\n".join(cases)
    call = f"""    let place = group - {first}u;
    switch (place / {count}u) {{
{lines}
    }}
    {prefix}at(place % {count}u, invocation);"""
    return f"{declared}\n{_member(members[0], prefix, moved, size)}", call


def _described(member: Dispatch) -> dict[str, Any]:
    call = member.call
    return {
        "family": call.family,
        "params": dict(call.params),
        "workgroups": list(call.workgroups),
        "node": member.node.name,
    }


class _BoundBuffers:
    """The buffers that a group binds: the range of each that its members use, its element type
    (u32 where the members' types differ), and whether any member writes it."""

    def __init__(self, group: DispatchGroup, ranges: Mapping[Dispatch, Sequence[Range]]) -> None:
        spans: dict[int, tuple[int, int]] = {}
        types: dict[int, set[str]] = {}
        written: set[int] = set()
        for member in group.members:
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
        self.elements = [
            next(iter(types[buffer])) if len(types[buffer]) == 1 else "u32" for buffer in spans
        ]
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


def _rounds(member: Dispatch, size: int) -> int:
    """The number of workgroups of ``size`` invocations that do the work of ``member``."""
    return -(-invocations(member) // size)


def _member(member: Dispatch, prefix: str, slots: Mapping[str, BufferAccess], size: int) -> str:
    """The kernel as a function, and ``<prefix>at(group, invocation)`` that calls it as invocation
    ``invocation`` of workgroup ``group``, if workgroups had ``size`` invocations."""
    text = kernel_text(member.call.code)
    same = workgroup_size_of(member) == size
    split = f"""
  let at = group * {size}u + invocation;
  let number = at / {workgroup_size_of(member)}u;
  let inner = at % {workgroup_size_of(member)}u;"""
    split = "" if same else split
    number, inner = ("group", "invocation") if same else ("number", "inner")
    # A barrier must be in uniform control flow, so a cooperating kernel has no early return.
    guard = f"\n  if ({number} >= {workgroups_of(member)}u) {{ return; }}"
    guard = "" if text.cooperates else guard
    builtins = [name for name, _, _ in text.parameters]
    arguments = ", ".join(_builtin(name, number, inner, member, text) for name in builtins)
    return f"""// {member.call.family}
{text.function(prefix, slots, _shared(text))}

fn {prefix}at(group: u32, invocation: u32) {{{split}{guard}
  {prefix}main({arguments});
}}"""


def _shared_names(element: str, length: int, count: int) -> list[str]:
    return [f"shared_{element}_{length}_{number}" for number in range(count)]


def _shared(text: KernelText) -> dict[str, str]:
    """The group's array that replaces each array of a member in workgroup memory."""
    free = {kind: iter(_shared_names(*kind, len(text.shared))) for kind in text.shared.values()}
    return {name: next(free[kind]) for name, kind in text.shared.items()}


def _builtin(name: str, number: str, inner: str, member: Dispatch, text: KernelText) -> str:
    """WGSL's builtin ``name`` for invocation ``inner`` of workgroup ``number``."""
    group = _vector(number, member.call.workgroups)
    local = _vector(inner, text.workgroup)
    extent = ", ".join(f"{n}u" for n in text.workgroup)
    return {
        "workgroup_id": group,
        "local_invocation_id": local,
        "local_invocation_index": inner,
        "global_invocation_id": f"{group} * vec3<u32>({extent}) + {local}",
    }[name]


def _vector(number: str, sizes: tuple[int, int, int]) -> str:
    """``number`` as a position in a box of ``sizes``, x running fastest."""
    x, y, z = sizes
    if y == z == 1:
        return f"vec3<u32>({number}, 0u, 0u)"
    return f"vec3<u32>({number} % {x}u, {number} / {x}u % {y}u, {number} / {x * y}u)"


def _strand(strand: Strand, numbers: Mapping[Dispatch, int], first: int, size: int) -> str:
    """The calls of a strand, for its workgroups from number ``first`` on."""
    if not strand.is_chain:
        group = f"group - {first}u" if first else "group"
        return f"    m{numbers[strand.members[0]]}_at({group}, invocation);"
    # The next member may use the same workgroup memory.
    wait = any(kernel_text(member.call.code).cooperates for member in strand.members)
    lines: list[str] = []
    for member in strand.members:
        if lines:
            lines.append(f"    storageBarrier();{' workgroupBarrier();' if wait else ''}")
        rounds = _rounds(member, size)
        function = f"m{numbers[member]}_at"
        lines.append(
            f"    {function}(0u, invocation);"
            if rounds == 1
            else f"    for (var r = 0u; r < {rounds}u; r++) {{ {function}(r, invocation); }}"
        )
    return "\n".join(lines)
