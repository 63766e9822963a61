"""Runs the steps of a scope that are not current, side by side where they are independent.

Scopes: ``run`` installs what the page and the command line need; ``docs`` adds the packages that
build the documentation; ``background`` builds it, and fetches what a program may ask for later;
``test`` installs what the tests need, ``nightly`` what the slow ones need besides.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from tools.lock import locked
from tools.setup import assets, docs, node, onnx_messages, python, system
from tools.setup.steps import VAR, SetupError, Step, run_steps

SCOPES = ("run", "docs", "background", "test", "nightly")


def steps(scope: str) -> list[Step]:
    """Return the steps of ``scope``."""
    page = [*node.steps(), *python.steps(), assets.step(), onnx_messages.step()]
    documentation = [python.extra_step("docs"), docs.build_step()]
    tests = [
        *page,
        assets.packages_step(),
        *documentation,
        python.extra_step("test"),
        node.test_step(),
        system.test_step(),
    ]
    return {
        "run": page,
        "docs": [*page, documentation[0]],
        # Without the page's steps, which would replace the environment under the running server.
        "background": [*documentation, assets.later_step()],
        "test": tests,
        "nightly": [
            *tests,
            python.extra_step("ray-serve"),
            python.extra_step("ray"),
            python.mpich_step(),
            system.night_step(),
        ],
    }[scope]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in SCOPES:
        print(f"usage: python -m tools.setup {'|'.join(SCOPES)}", file=sys.stderr)
        return 2
    (scope,) = arguments
    if scope == "background":
        os.nice(10)  # the page comes first
        threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        if all(step.is_current() for step in steps(scope)):
            return 0  # without waiting for a set-up in another terminal
        with locked(VAR / ".setup.lock", "set-up: waiting for the set-up in another terminal"):
            run_steps(steps(scope))
    except SetupError as error:
        print(f"\nset-up failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _end_with_input() -> None:
    """End this process and its children once standard input ends, as it does with the server."""
    while os.read(0, 1):
        pass
    os.killpg(os.getpgrp(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
