"""A step of set-up, and the stamp that records that it is done."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var"
_STAMPS = VAR / "stamps"


class SetupError(Exception):
    """Set-up cannot continue; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Step:
    """A step, skipped while its inputs are unchanged and its outputs exist.

    Attributes:
        inputs: texts, and files whose content determines the result.
        outputs: files or folders that ``make`` creates.
    """

    name: str
    inputs: Sequence[str | Path]
    outputs: Sequence[Path]
    make: Callable[[], None]

    def digest(self) -> str:
        """SHA-256 over the inputs, in hexadecimal."""
        total = hashlib.sha256()
        for item in self.inputs:
            content = item.read_bytes() if isinstance(item, Path) else item.encode()
            total.update(hashlib.sha256(content).digest())
        return total.hexdigest()


def run_step(step: Step) -> bool:
    """Run ``step`` unless it is up to date, and return whether it ran."""
    stamp = _STAMPS / step.name
    digest = step.digest()
    is_current = stamp.is_file() and stamp.read_text() == digest
    if is_current and all(path.exists() for path in step.outputs):
        return False
    stamp.unlink(missing_ok=True)
    print(f"set-up: {step.name} ...", flush=True)
    start = time.monotonic()
    step.make()
    missing = [str(path.relative_to(ROOT)) for path in step.outputs if not path.exists()]
    if missing:
        raise SetupError(f"the step '{step.name}' did not make {', '.join(missing)}")
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(digest)
    print(f"set-up: {step.name} done in {time.monotonic() - start:.1f} s", flush=True)
    return True


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    """Run a command in the checkout. Raises CalledProcessError if it fails."""
    sys.stdout.flush()
    subprocess.run(
        [str(part) for part in command], cwd=ROOT, check=True, env={**os.environ, **(env or {})}
    )
