"""Checks at the start of a run that all members run the same program on the same software."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from playgrad.cluster.facts import source_digest
from playgrad.cluster.hosts import HostSlots, member_names
from playgrad.errors import MembersDifferError
from playgrad.runtime.desktop_host import compiler_name
from playgrad.runtime.members import Members


def check_same_program(members: Members, program: Path, hosts: Sequence[HostSlots]) -> None:
    """Compare the program, and what it runs on, between all members. Collective.

    Args:
        program: the file that this member is about to run.

    Raises:
        MembersDifferError: a member has another program or other software than the first one.
        OSError: the program cannot be read.
    """
    accounts = members.all_of(_account(program))
    for name, account in zip(member_names(hosts), accounts, strict=True):
        different = _different(accounts[0], account)
        if different:
            raise MembersDifferError(
                f"{name} would run something else than member 0 ({hosts[0].name}): {different}.",
                hint="Copy the program, and install the same versions; `playgrad hosts` with the "
                "same machines compares everything.",
            )


def _account(program: Path) -> dict[str, str]:
    """Return what has to be equal, by its name."""
    package = Path(__file__).parent.parent
    return {
        program.name: hashlib.sha256(program.read_bytes()).hexdigest()[:12],
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "NumPy": np.__version__,
        "the compiler of steps": compiler_name(),
        "the source of playgrad": source_digest(str(package)),
    }


def _different(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    return ", ".join(
        f"{name} is {theirs.get(name, 'missing')} instead of {value}"
        for name, value in ours.items()
        if theirs.get(name) != value
    )
