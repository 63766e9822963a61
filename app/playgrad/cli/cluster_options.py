"""The arguments of ``playgrad simulate`` and ``playgrad hosts``."""

from __future__ import annotations

from playgrad.cli import commands, kinds
from playgrad.cli.parsers import Parsers
from playgrad.parallel.schedules import SCHEDULES
from playgrad.training.strategies.registry import STRATEGIES


def add_simulate(parsers: Parsers) -> None:
    """Add the command ``simulate``."""
    parser = parsers.add_parser(
        "simulate", help="predict how long a training step takes on more devices"
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="name of an example, or a .py file")
    parser.add_argument(
        "--device",
        type=kinds.device,
        default="auto",
        help="device to measure (default: auto)",
    )
    strategies = [name for name, s in STRATEGIES.items() if s.descriptor.can_be_simulated]
    parser.add_argument("--parallel", choices=strategies, default="sync")
    parser.add_argument(
        "--devices",
        type=kinds.count,
        nargs="+",
        default=[1, 2, 4, 8],
        metavar="N",
        help="numbers of devices to simulate (default: 1 2 4 8)",
    )
    parser.add_argument(
        "--here",
        action="store_true",
        help="devices share the memory and cores of this machine; without it each has its own",
    )
    parser.add_argument("--batch-size", type=kinds.count, metavar="N", help="samples per batch")
    parser.add_argument(
        "--micro-batches", type=kinds.count, metavar="N", help="micro-batches per batch"
    )
    parser.add_argument("--schedule", choices=tuple(SCHEDULES), help="pipeline schedule")
    parser.add_argument(
        "--chunks", type=kinds.count, metavar="N", help="stages on each device, if interleaved"
    )
    parser.add_argument("--replicas", type=kinds.count, metavar="N", help="number of pipelines")
    parser.add_argument(
        "--devices-per-stage", type=kinds.count, metavar="N", help="devices of each stage"
    )
    parser.add_argument(
        "--collective", choices=("ring", "tree", "central"), help="how gradients are added up"
    )
    parser.add_argument(
        "--latency",
        type=kinds.positive,
        default=20.0,
        help="microseconds per message (default: 20)",
    )
    parser.add_argument(
        "--bandwidth",
        type=kinds.positive,
        default=10.0,
        help="GB/s per device (default: 10)",
    )
    parser.add_argument(
        "--links",
        type=kinds.links,
        metavar="FILE",
        help="links and cores as measured by hosts --json, in place of --latency and --bandwidth",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=commands.run_simulate)


def add_hosts(parsers: Parsers) -> None:
    """Add the command ``hosts``."""
    parser = parsers.add_parser(
        "hosts",
        help="check the machines for train --hosts, and measure the links between them",
        description="Ask each machine for its versions, cores, memory, GPUs and clock, measure the "
        "links between all of them, and say what to mend. The exit code is 1 if there is "
        "something.",
    )
    parser.add_argument(
        "hosts", type=kinds.hosts, metavar="A:N,B:N", help="machines, and processes on each"
    )
    parser.add_argument("--rsh", metavar="COMMAND", help="command in place of ssh")
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object, which simulate --links reads"
    )
    parser.set_defaults(command=commands.run_hosts)
