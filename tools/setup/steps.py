"""A step of set-up, and the stamp that records that it is done."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from graphlib import TopologicalSorter
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
        after: the names of steps that must be done before, as far as they are run at all.
    """

    name: str
    inputs: Sequence[str | Path]
    outputs: Sequence[Path]
    make: Callable[[], None]
    after: Sequence[str] = ()

    @property
    def stamp(self) -> Path:
        """The file with the digest of the inputs for which the step was done."""
        return _STAMPS / self.name

    def digest(self) -> str:
        """SHA-256 over the inputs, in hexadecimal."""
        total = hashlib.sha256()
        for item in self.inputs:
            content = item.read_bytes() if isinstance(item, Path) else item.encode()
            total.update(hashlib.sha256(content).digest())
        return total.hexdigest()

    def is_current(self) -> bool:
        """Return whether the step was done for these inputs, and its outputs are still there."""
        if not (self.stamp.is_file() and all(path.exists() for path in self.outputs)):
            return False
        return self.stamp.read_text() == self.digest()


def run_steps(steps: Sequence[Step]) -> None:
    """Run the steps that are not current, side by side where the order allows it.

    Raises:
        SetupError: of the first step that fails; running steps are finished.
    """
    by_name = {step.name: step for step in steps}
    order = TopologicalSorter(
        {step.name: [name for name in step.after if name in by_name] for step in steps}
    )
    order.prepare()
    running: dict[Future[bool], str] = {}
    with ThreadPoolExecutor(len(steps)) as pool:
        while order.is_active():
            for name in order.get_ready():
                running[pool.submit(run_step, by_name[name])] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                future.result()
                order.done(running.pop(future))


def run_step(step: Step) -> bool:
    """Run ``step`` unless it is current, and return whether it ran."""
    if step.is_current():
        return False
    step.stamp.unlink(missing_ok=True)
    digest = step.digest()
    start = time.monotonic()
    step.make()
    missing = [str(path.relative_to(ROOT)) for path in step.outputs if not path.exists()]
    if missing:
        raise SetupError(f"the step '{step.name}' did not make {', '.join(missing)}")
    step.stamp.parent.mkdir(parents=True, exist_ok=True)
    step.stamp.write_text(digest)
    print(f"set-up: {step.name} ({time.monotonic() - start:.1f} s)", flush=True)
    return True


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    """Run a command in the checkout, silently. Raises SetupError, with its output, if it fails."""
    texts = [str(part) for part in command]
    done = subprocess.run(
        texts,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise SetupError(f"exit {done.returncode} from: {' '.join(texts)}\n{done.stdout}")
