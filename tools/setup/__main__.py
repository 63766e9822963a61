"""Runs the set-up steps of a scope in order, skipping those that are up to date.

Scopes: ``run`` installs what the page and the command line need; ``test`` adds what the tests need.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys

from tools.setup import assets, docs, node, onnx_messages, python, system
from tools.setup.steps import VAR, SetupError, Step, run_step


def steps(scope: str) -> list[Step]:
    """Return the steps of ``scope``, each after those it depends on."""
    common = [
        python.step(),
        node.packages_step(),
        node.vendor_step(),
        assets.step(),
        onnx_messages.step(),
        system.vulkan_step(),
        python.step("docs"),
        docs.build_step(),
    ]
    if scope == "run":
        return common
    return [*common, python.step("test"), system.test_step()]


def main(arguments: list[str]) -> int:
    if arguments not in (["run"], ["test"]):
        print("usage: python -m tools.setup run|test", file=sys.stderr)
        return 2
    VAR.mkdir(exist_ok=True)
    with open(VAR / ".setup.lock", "w") as lock:
        # `make run` and `make test` in two terminals take turns.
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            for step in steps(arguments[0]):
                run_step(step)
        except SetupError as error:
            print(f"\nset-up failed: {error}", file=sys.stderr)
            return 1
        except subprocess.CalledProcessError as error:
            command = " ".join(map(str, error.cmd))
            print(f"\nset-up failed: exit {error.returncode} from: {command}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
