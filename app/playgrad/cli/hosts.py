"""``playgrad hosts``: checks the machines of a run, and measures the links between them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from playgrad.cli.lists import print_table
from playgrad.cluster.check import HostProblem, find_problems
from playgrad.cluster.hosts import HostSlots, device_numbers
from playgrad.cluster.member import is_member
from playgrad.cluster.probe import Account, ask_all
from playgrad.cluster.supervisor import ClusterError, LostMember, RunOfMembers


def check_hosts(options: argparse.Namespace) -> int:
    """Print what the machines have, what their links achieve, and what to mend.

    Returns:
        1 if something must be mended.
    """
    if is_member():
        from playgrad.cluster.links import measure_as_member

        return measure_as_member(options.hosts)
    folder = os.getcwd()
    hosts = options.hosts
    if not any(host.is_local for host in hosts):
        hosts = [HostSlots("localhost", 1), *hosts]
    asked = ask_all(hosts, options.rsh, folder)
    here = next(account for account in asked if account.host.is_local)
    if here.problem:
        raise ClusterError(f"this machine cannot be asked: {here.problem}.")
    accounts = asked[len(hosts) - len(options.hosts) :]
    problems = find_problems(accounts, here, folder)
    measured = None
    if not any(problem.prevents for problem in problems):
        measured, problem = _measure(options.hosts, options.rsh)
        problems += problem
    if options.json:
        print(json.dumps(_as_json(accounts, measured, problems)))
    else:
        _print(accounts, measured, problems)
    return 1 if problems else 0


def _measure(
    hosts: Sequence[HostSlots], shell: str | None
) -> tuple[dict[str, Any] | None, list[HostProblem]]:
    """Start a member for each process, which measure their links."""
    job = RunOfMembers(hosts, [sys.executable, "-m", "playgrad", *sys.argv[1:]], shell)
    names = ", ".join(host.name for host in hosts)
    try:
        end = job.run()
    except ClusterError as error:
        return None, [HostProblem(names, str(error))]
    if isinstance(end, LostMember):
        return None, [HostProblem(hosts[0].name, f"{job.names[end.rank]} {end.reason}")]
    if end or job.result is None:
        return None, [
            HostProblem(names, "the links could not be measured: the lines above say why")
        ]
    return job.result, []


def _as_json(
    accounts: Sequence[Account], measured: dict[str, Any] | None, problems: Sequence[HostProblem]
) -> dict[str, Any]:
    hosts = [
        {
            "name": account.host.name,
            "slots": account.host.slots,
            "devices": list(numbers),
            "reachable": not account.problem,
            **account.facts,
            "clock_offset": account.offset if account.facts else None,
            "clock_uncertainty": account.uncertainty if account.facts else None,
        }
        for account, numbers in zip(
            accounts, device_numbers([each.host for each in accounts]), strict=True
        )
    ]
    links = measured or {"links": [], "together": None, "members": None}
    listed = [{"host": problem.host, "text": problem.text} for problem in problems]
    return {"hosts": hosts, **links, "problems": listed}


def _print(
    accounts: Sequence[Account], measured: dict[str, Any] | None, problems: Sequence[HostProblem]
) -> None:
    rows = [
        [
            "host", "processes", "devices", "cores", "free memory", "GPUs", "clock", "playgrad",
            "Python", "NumPy", "mpi4py", "MPI",
        ]
    ]  # fmt: skip
    numbers = device_numbers([account.host for account in accounts])
    rows += [_row(*each) for each in zip(accounts, numbers, strict=True)]
    print_table(rows)
    if measured is not None and measured["links"]:
        print()
        print_table(
            [["link", "latency", "bandwidth", "both ways"], *map(_link_row, measured["links"])]
        )
    if measured is not None and measured["together"]:
        together = measured["together"]
        share = min(account.facts["cores"] / account.host.slots for account in accounts)
        rate = min(1.0, share) * together["rate"]
        print(
            f"\nall {measured['members']} at once: {1e6 * together['latency']:.0f} µs, each moves "
            f"{together['bandwidth'] / 1e6:,.0f} MB/s, and computes {rate:.0%} as fast "
            "as alone; to agree they take "
            f"{1e6 * together['agreement']:.0f} µs, and to go on after a wait "
            f"{1e6 * together['waking']:.0f} µs"
        )
    print()
    for problem in problems:
        print(f"{problem.host}: {problem.text}")
    for account in accounts:
        if account.facts and account.facts["cores"] < account.host.slots:
            print(
                f"{account.host.name}: {account.host.slots} processes share "
                f"{account.facts['cores']} cores, so they will be slower than one for each core"
            )
    if not problems:
        print("nothing to mend")


def _row(account: Account, numbers: range) -> list[str]:
    host, facts = account.host, account.facts
    last = f" to cpu:{numbers[-1]}" if len(numbers) > 1 else ""
    about = [host.name, str(host.slots), f"cpu:{numbers[0]}{last}"]
    if not facts:
        return [*about, "not reached", *[""] * 8]
    memory, gpus = facts["memory"], facts["gpus"]
    clock = f"{1e3 * account.offset:+.1f} ± {1e3 * account.uncertainty:.1f} ms"
    versions = (facts[name] for name in ("playgrad", "python", "numpy", "mpi4py", "mpi"))
    return [
        *about,
        str(facts["cores"]),
        "?" if memory is None else f"{memory / 2**30:.1f} GiB",
        "?" if gpus is None else ", ".join(gpus) or "none",
        clock,
        *(version or "missing" for version in versions),
    ]


def _link_row(link: dict[str, Any]) -> list[str]:
    one, other = link["hosts"]
    return [
        f"within {one}" if one == other else f"{one} – {other}",
        f"{1e6 * link['latency']:,.0f} µs",
        f"{link['bandwidth'] / 1e6:,.0f} MB/s",
        f"{link['both_ways'] / 1e6:,.0f} MB/s",
    ]
