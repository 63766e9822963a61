"""The options of strategies on the command line, as their descriptors define them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from playgrad.cli import kinds
from playgrad.training.strategies.base import StrategyOption
from playgrad.training.strategies.registry import STRATEGIES, options_by_name, users_of


def add_strategy_options(group: argparse._ArgumentGroup) -> None:
    """Add ``--parallel`` and the options of all strategies."""
    names = tuple(STRATEGIES)
    group.add_argument("--parallel", choices=names, metavar="STRATEGY", help=", ".join(names))
    for options in options_by_name().values():
        _add_option(group, options)


def _add_option(group: argparse._ArgumentGroup, options: Sequence[StrategyOption]) -> None:
    """Add one option, which may have another meaning with each strategy."""
    flag = _flag(options[0].name)
    text = "; ".join(option.help for option in options)
    if options[0].choices:
        group.add_argument(flag, choices=[c.name for c in options[0].choices], help=text)
    else:
        least = min(option.least for option in options)
        group.add_argument(flag, type=kinds.at_least(least), metavar="N", help=text)


def passed_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the strategies' options that were passed, by name; ``devices`` is not one of them."""
    values = {name: getattr(options, name, None) for name in options_by_name()}
    return {name: v for name, v in values.items() if v is not None and name != "devices"}


def refuse_unused(names: Sequence[str], strategy: str, parser: argparse.ArgumentParser) -> None:
    """End with a usage error if an option has no effect with ``strategy``."""
    for name in names:
        users = users_of(name)
        if strategy not in users:
            parser.error(
                f"{_flag(name)} has no effect with --parallel {strategy}, only with "
                f"{' or '.join(users)}"
            )


def refuse_without_strategy(names: Sequence[str], parser: argparse.ArgumentParser) -> None:
    """End with a usage error if any option was passed."""
    if names:
        parser.error(f"{_flag(names[0])} has no effect without --parallel")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
