"""Errors that name what members of a run do differently, although all must do the same."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.errors import MembersDifferError
from playgrad.runtime.run_digest import RunDigest

_HINT = (
    "Let nothing depend on the process, on clocks, or on random numbers without a seed, and use "
    "the same files on every machine."
)


def differing_runs(runs: Sequence[RunDigest]) -> MembersDifferError:
    """Return the error for runs that began at all members, by rank, and differ."""
    if len({run.program for run in runs}) > 1:
        return MembersDifferError(
            "the members of the run compute different programs: "
            f"{_grouped([run.text for run in runs], 'computes', 'compute')}.",
            hint=_HINT,
        )
    names = sorted({name for run in runs for name in run.feeds})
    for name in names:
        texts = [f"{run.feeds[name]:08x}" if name in run.feeds else "none" for run in runs]
        if len(set(texts)) > 1:
            return MembersDifferError(
                f"the feed of '{name}' differs between the members of the run: "
                f"{_grouped(texts, 'has digest', 'have digest')}.",
                hint=_HINT,
            )
    return MembersDifferError("the members of the run do different things.", hint=_HINT)


def differing_calls(calls: Sequence[str]) -> MembersDifferError:
    """Return the error for calls that all members made at once, by rank, and that differ."""
    return MembersDifferError(
        "the members of the run do different things, but must all make the same calls: "
        f"{_grouped(calls, 'is at', 'are at')}.",
        hint=_HINT,
    )


def out_of_step(call: str) -> MembersDifferError:
    """Return the error of a member that makes ``call`` while others are elsewhere."""
    return MembersDifferError(
        "the members of the run do different things, but must all make the same calls: this one "
        f"is at {call}, and another one elsewhere.",
        hint=_HINT,
    )


def _grouped(texts: Sequence[str], verb: str, plural: str) -> str:
    """Return ``texts`` by rank in words, members with the same text together."""
    groups: dict[str, list[int]] = {}
    for rank, text in enumerate(texts):
        groups.setdefault(text, []).append(rank)
    phrases = []
    for text, ranks in groups.items():
        if len(ranks) == 1:
            phrases.append(f"member {ranks[0]} {verb} {text}")
        else:
            listed = ", ".join(map(str, ranks[:4])) + (", …" if len(ranks) > 4 else "")
            phrases.append(f"members {listed} {plural} {text}")
    return " and ".join(phrases)
