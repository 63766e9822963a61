"""What must be mended before machines can take part in one run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.cluster.probe import Account

CLOCK_SECONDS = 1.0
"""Clocks that differ by more put files and timelines of several machines in a wrong order."""
_MOST_NAMED = 5


@dataclass(frozen=True)
class HostProblem:
    """Something to mend.

    Attributes:
        host: the name of the machine.
        text: what is wrong, and what to do.
        prevents: whether no run can start before.
    """

    host: str
    text: str
    prevents: bool = True


def find_problems(accounts: Sequence[Account], here: Account, folder: str) -> list[HostProblem]:
    """Compare the machines of a run with this one, which starts it.

    Args:
        here: the account of this machine.
        folder: the working folder.
    """
    problems: list[HostProblem] = []
    for account in accounts:
        name = account.host.name
        if account.problem:
            problems.append(HostProblem(name, f"cannot be reached: {account.problem}"))
            continue
        problems += [HostProblem(name, text) for text in _versions(account, here)]
        problems += _folder(account, here, folder)
        ahead = abs(account.offset) - account.uncertainty
        if ahead > CLOCK_SECONDS:
            direction = "ahead" if account.offset > 0 else "behind"
            text = (
                f"its clock is {abs(account.offset):.1f} s {direction}: let a time service set it "
                "on both machines (timedatectl set-ntp true)"
            )
            problems.append(HostProblem(name, text, prevents=False))
    return problems


def _versions(account: Account, here: Account) -> list[str]:
    """Return what is wrong with what is installed."""
    facts, ours = account.facts, here.facts
    errors = facts["errors"]
    texts = []
    if _minor(facts["python"]) != _minor(ours["python"]):
        texts.append(
            f"has Python {facts['python']}, and here is {ours['python']}: install Python "
            f"{_minor(ours['python'])} there, too, as {sys.executable}"
        )
    for key, title, package in (
        ("playgrad", "playgrad", "playgrad"),
        ("numpy", "NumPy", "numpy"),
        ("mpi4py", "mpi4py", "mpi4py"),
        ("mpi", "MPI", ""),
    ):
        installed, expected = facts[key], ours[key]
        if installed is None:
            if key == "mpi" and facts["mpi4py"] is None:
                continue  # mpi4py comes first
            error = f" ({errors[key]:.200})" if key in errors else ""
            texts.append(f"cannot load {title}{error}: pip install 'playgrad[cluster]'")
        elif expected is not None and installed != expected:
            cure = (
                f"install the same version (pip install {package}=={expected})"
                if package
                else "install the same package of MPI on both (pip install 'playgrad[cluster]')"
            )
            texts.append(f"has {title} {installed}, and here is {expected}: {cure}")
    theirs, compiler = facts.get("wasmtime"), ours.get("wasmtime")
    if theirs != compiler:
        texts.append(
            f"has wasmtime {theirs or '(none)'}, and here is {compiler or 'none'}: install the "
            f"same version on both (pip install wasmtime=={compiler or theirs}), or set "
            "PLAYGRAD_SIMD=0"
        )
    if facts["playgrad"] == ours["playgrad"] and facts["source"] != ours["source"]:
        texts.append(
            f"has other source files of playgrad {ours['playgrad']} than this machine: install the "
            "same ones"
        )
    return texts


def _folder(account: Account, here: Account, folder: str) -> list[HostProblem]:
    """Return what is wrong with the working folder."""
    name = account.host.name
    copy = f"rsync -a {folder}/ {name}:{folder}"
    if not account.facts["folder"]:
        return [
            HostProblem(
                name, f"has no folder {folder}: copy it there (rsync -a {folder}/ {name}:{folder})"
            )
        ]
    ours, theirs = here.facts["files"], account.facts["files"]
    different = sorted(file for file in ours if ours[file] != theirs.get(file))
    if not different:
        return []
    more = f" and {len(different) - _MOST_NAMED} more" if len(different) > _MOST_NAMED else ""
    text = (
        f"has other files than here, or lacks them: {', '.join(different[:_MOST_NAMED])}{more} in "
        f"{folder}: copy the folder ({copy})"
    )
    return [HostProblem(name, text, prevents=False)]


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
