"""``playgrad train --hosts``: trains with processes on several machines."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from playgrad.cli.train import train
from playgrad.cluster.hosts import parse_hosts
from playgrad.cluster.link import HOSTS
from playgrad.cluster.member import Membership, is_member, kind_for
from playgrad.cluster.same_program import check_same_program
from playgrad.cluster.supervisor import supervise
from playgrad.signals import signals


def train_on_hosts(program: Path, options: argparse.Namespace) -> int:
    """Start the members of a run and watch them, or, as one of them, run ``program``."""
    options.device = kind_for(options.device)
    if not is_member():
        command = [sys.executable, "-m", "playgrad", *sys.argv[1:]]
        folder = None if options.checkpoint is None else str(options.checkpoint)
        return supervise(options.hosts, command, options.rsh, folder)
    options.hosts = parse_hosts(os.environ[HOSTS])  # machines may have been lost before
    options.membership = Membership(options.hosts)
    with options.membership.joined(options.device) as members:
        check_same_program(members, program, options.hosts)
        options.devices = options.devices or members.size
        code = train(program, options)
        members.all_of("end")  # none ends while others still wait for it
    signals.end_work()
    return code
