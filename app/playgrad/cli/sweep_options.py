"""The arguments of ``playgrad sweep``."""

from __future__ import annotations

from playgrad.cli import commands, kinds
from playgrad.cli.parsers import Parsers
from playgrad.cli.ray_options import add_ray_options


def add_sweep(parsers: Parsers) -> None:
    """Add the command ``sweep``."""
    parser = parsers.add_parser(
        "sweep",
        usage="%(prog)s EXAMPLE|FILE [--grid NAME=VALUE,VALUE ...] [--random NAME=LOW..HIGH ...] "
        "[options]",
        help="train a program with many settings, several at the same time",
        description="A setting is a name that the program gives a value at its top level, such as "
        "`lr = 0.1`, or an argument that one call is given by name, such as learning_rate.",
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="name of an example, or a .py file")
    space = parser.add_argument_group("settings")
    space.add_argument(
        "--grid", type=kinds.grid_setting, nargs="+", action="extend", metavar="NAME=VALUE,VALUE",
        help="try all combinations of these values",
    )  # fmt: skip
    space.add_argument(
        "--random", type=kinds.random_setting, nargs="+", action="extend", metavar="NAME=LOW..HIGH",
        help="draw from these ranges (LOW..HIGH:log for orders of magnitude) or values",
    )  # fmt: skip
    space.add_argument("--trials", type=kinds.count, metavar="N", help="number of trials")
    space.add_argument(
        "--seed", type=kinds.at_least(0), default=0, metavar="N",
        help="seed of what is drawn, and of each trial's weights (default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--parallel", type=kinds.count, metavar="N",
        help="trials at the same time (default: one for every two cores; with --ray, as many as "
        "the cluster holds)",
    )  # fmt: skip
    add_ray_options(parser, "trial")
    parser.add_argument(
        "--metric", metavar="NAME",
        help="the loss or metric to compare (default: val_loss where there is one, else loss)",
    )  # fmt: skip
    parser.add_argument(
        "--mode", choices=("auto", "min", "max"), default="auto",
        help="which of its values are better (default: auto, which asks the metric)",
    )  # fmt: skip
    parser.add_argument("--epochs", type=kinds.count, metavar="N", help="epochs of each trial")
    parser.add_argument(
        "--halving", type=kinds.at_least(2), nargs="?", const=3, metavar="FACTOR",
        help="end trials early that are not among the best 1/FACTOR (default: 3) after "
        "--first-epochs, FACTOR times as many, and so on",
    )  # fmt: skip
    parser.add_argument(
        "--first-epochs", type=kinds.count, metavar="N",
        help="epochs before the first comparison (default: 1)",
    )  # fmt: skip
    parser.add_argument("--batch-size", type=kinds.count, metavar="N", help="samples per batch")
    parser.add_argument(
        "--device", type=kinds.device, default="auto", help="auto, cpu, gpu or gpu:N"
    )
    parser.add_argument(
        "--folder", type=kinds.checkpoint_folder, metavar="DIR",
        help="for the record, the best weights and what each trial prints; a sweep in it is "
        "continued (default: sweep-PROGRAM)",
    )  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", help="print the result as a JSON object on the last line"
    )
    parser.set_defaults(command=commands.run_sweep)
