"""Lets a dispatch write its result over an input that nothing reads afterwards.

This is possible where each invocation reads only the element of the input that it then writes
(``Binding.is_elementwise``). The input is read through the binding of the output, because a
dispatch cannot bind one range for reading and for writing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from playgrad.compiler.dispatch_groups import DispatchGroup
from playgrad.compiler.dispatches import Dispatch, Dispatches
from playgrad.compiler.memory import Block
from playgrad.compiler.steps import Storage


def write_in_place(parts: Dispatches, groups: Sequence[DispatchGroup]) -> None:
    """Change the dispatches and storages of ``parts``, whose blocks have their lifetimes set.

    Nothing uses the blocks of the results afterwards.
    """
    moved: dict[int, Storage] = {}
    for now, group in enumerate(groups):
        members = group.members
        touched = Counter(storage.block for member in members for storage, _ in member.operands)
        for member in members:
            for source, target in _pairs(member, parts.steps.blocks, now, touched):
                operands = dict(zip(_names(member), member.operands, strict=True))
                moved[operands[target][0].block] = operands[source][0]
                _read_through(member, source, target)
    if not moved:
        return

    def place(storage: Storage) -> Storage:
        while storage.block in moved:
            storage = moved[storage.block]
        return storage

    for dispatch in parts.items:
        dispatch.operands = [(place(storage), written) for storage, written in dispatch.operands]
    steps = parts.steps
    steps.storage = {tensor: place(storage) for tensor, storage in steps.storage.items()}


def _names(member: Dispatch) -> list[str]:
    return [binding.name for binding in member.call.bindings]


def _pairs(
    member: Dispatch, blocks: Sequence[Block], now: int, touched: Counter[int]
) -> list[tuple[str, str]]:
    """Inputs, and the outputs that may overwrite them, by the names of their bindings."""
    operands = list(zip(member.call.bindings, member.operands, strict=True))
    free = [
        (binding, storage)
        for binding, (storage, written) in operands
        if written and storage.block >= 0 and blocks[storage.block].first == now
    ]
    pairs = []
    for binding, (storage, _) in operands:
        if not binding.is_elementwise or storage.block < 0:
            continue
        # Other readers in the group may run after this member has written.
        if blocks[storage.block].last != now or touched[storage.block] > 1:
            continue
        for target in free:
            if (target[0].element, target[1].size) == (binding.element, storage.size):
                free.remove(target)
                pairs.append((binding.name, target[0].name))
                break
    return pairs


def _read_through(member: Dispatch, name: str, through: str) -> None:
    """Make ``member`` read the input bound as ``name`` through ``through``, an output's binding."""
    call = member.call
    remaining = [i for i, binding in enumerate(call.bindings) if binding.name != name]
    member.call = replace(
        call,
        code=re.sub(rf"(?<!\.)\b{name}\b", through, call.code),  # not the component of a vector
        params={**call.params, "in_place": {**call.params.get("in_place", {}), name: through}},
        bindings=tuple(call.bindings[i] for i in remaining),
    )
    member.operands = [member.operands[i] for i in remaining]
