"""Trials of faults: which of them linters and tests find."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

_LINTERS = {
    # A `pass` in place of a statement is how a fault is written, and no fault by itself.
    ".py": (("ruff", "check", "--extend-ignore=PIE790"), ("mypy", "app/playgrad")),
    ".js": (("eslint",), ("tsc", "-p", "tsconfig.json")),
    ".wgsl": (),
}
_OF_A_FILE = ("ruff", "eslint")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_REACH = """
import json, sys
from tools.changed.reach import Reach
from tools.changed.repository import Repository
near = Reach(Repository()).nearest_first
print(json.dumps({file: [test for test, _ in near([file])] for file in sys.argv[1:]}))
"""
_PATIENCE = 3600
"""Seconds after which tests that hang count as failed."""


@dataclass(frozen=True)
class Fault:
    """A patch; ``file`` is the file that it changes."""

    patch: Path

    @property
    def name(self) -> str:
        return self.patch.stem

    @property
    def file(self) -> str:
        match = re.search(r"^\+\+\+ b/(.*)$", self.patch.read_text(encoding="utf-8"), re.MULTILINE)
        assert match, f"{self.patch} is not a patch"
        return match[1]


def _rows(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


class Trials:
    """The faults of ``folder``, tried in ``checkout``. Several processes can share a folder, each
    with a checkout of its own.

    ``results.jsonl`` in the folder has a line for each trial: the fault, what found it (empty if
    nothing did), and the test files that ran. ``others`` are such results of another checkout.
    """

    def __init__(self, folder: Path, checkout: Path, others: Path | None = None) -> None:
        self.folder = folder
        self.checkout = checkout
        self.faults = [Fault(patch) for patch in sorted(folder.glob("*.patch"))]
        self.others = {row["fault"]: row["found_by"] for row in _rows(others)} if others else {}

    @property
    def _results(self) -> Path:
        return self.folder / "results.jsonl"

    def one_by_one(self, seconds: float) -> None:
        """Try each fault with the nearest test files, which take about ``seconds`` in all."""
        for file in {Path(fault.file).suffix: fault.file for fault in self.faults}.values():
            complaining = self._linters(file)
            assert not complaining, f"{complaining} complain without a fault"
        for fault in self.faults:
            claim = fault.patch.with_suffix(".claim")
            try:
                claim.touch(exist_ok=False)
            except FileExistsError:
                continue
            self._note(fault, *self._trial(fault, seconds))

    def together(self) -> None:
        """Apply the faults that nothing has found, all at once; run every test that reaches one,
        and find for each failure which of the faults it takes.

        One run of many tests in place of one for each fault.
        """
        missed = {row["fault"] for row in _rows(self._results) if not row["found_by"]}
        faults = [fault for fault in self.faults if fault.name in missed]
        files = list(dict.fromkeys(file for fault in faults for file in self._reaching[fault.file]))
        while faults:
            failed = self._failures(
                faults, files, "-n", "2", "--dist", "loadfile", "--maxfail", "40"
            )
            if not failed:
                break
            culprits = self._culprits(faults, failed)
            if not culprits:
                print(f"nothing fails by itself of {failed}", flush=True)
                break
            for fault, test in culprits.items():
                self._note(fault, [test], files)
                faults.remove(fault)
        for fault in faults:
            self._note(fault, [], files)

    def _trial(self, fault: Fault, seconds: float) -> tuple[list[str], list[str]]:
        problem = self._apply([fault])
        try:
            if problem:
                return [f"does not apply: {problem}"], []
            complaining = self._linters(fault.file)
            if complaining:
                return complaining, []
            known = [test for test in self.others.get(fault.name, ()) if test.startswith("tests/")]
            if found := self._tests(known, "-x"):
                return found, known
            files = self._affordable(self._reaching[fault.file], seconds)
            return self._tests(files, "-x"), files
        finally:
            self._restore()

    def _linters(self, file: str) -> list[str]:
        """Run the linters of a file; return the first one that complains, if one does."""
        # mypy can hold a restored file for the changed one, if both have the same size.
        shutil.rmtree(self.checkout / ".mypy_cache", ignore_errors=True)
        for name, *arguments in _LINTERS[Path(file).suffix]:
            folder = ".venv/bin" if name in ("ruff", "mypy") else "node_modules/.bin"
            files = [file] if name in _OF_A_FILE else []
            if self._run([f"{folder}/{name}", *arguments, *files])[0]:
                return [name]
        return []

    def _failures(self, faults: Sequence[Fault], tests: Sequence[str], *options: str) -> list[str]:
        try:
            problem = self._apply(faults)
            assert not problem, problem
            return self._tests(tests, *options)
        finally:
            self._restore()

    def _culprits(self, faults: Sequence[Fault], tests: Sequence[str]) -> dict[Fault, str]:
        """Return the faults with which one of ``tests`` fails, each with such a test.

        Halves the faults until one is left.
        """
        if len(faults) == 1:
            return {faults[0]: tests[0]}
        culprits: dict[Fault, str] = {}
        for half in (faults[: len(faults) // 2], faults[len(faults) // 2 :]):
            failed = self._failures(half, tests)
            if failed:
                culprits |= self._culprits(half, failed)
        return culprits

    def _tests(self, tests: Sequence[str], *options: str) -> list[str]:
        """Run tests; return the names of the failed ones."""
        if not tests:
            return []
        command = [".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE"]
        status, output = self._run([*command, *options, *tests])
        if status in (0, 5) or "ERROR: not found" in output:  # all passed, or there is none
            return []
        return _FAILED.findall(output) or [f"exit {status}: {output[-300:]}"]

    def _run(self, command: Sequence[str]) -> tuple[int, str]:
        with subprocess.Popen(
            command,
            cwd=self.checkout,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": f"{self.checkout}/app"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
        return process.returncode, output

    def _apply(self, faults: Sequence[Fault]) -> str:
        for fault in faults:
            status, output = self._run(["git", "apply", "--3way", str(fault.patch.resolve())])
            if status:
                return output.strip()
        return ""

    def _restore(self) -> None:
        self._run(["git", "checkout", "--force", "HEAD", "--", "app", "static", "kernels"])

    @cached_property
    def _reaching(self) -> dict[str, list[str]]:
        """The tests whose imports reach each file with a fault, nearest first."""
        files = {fault.file for fault in self.faults}
        status, output = self._run([".venv/bin/python", "-c", _REACH, *sorted(files)])
        assert status == 0, output
        return json.loads(output)

    def _affordable(self, files: Sequence[str], seconds: float) -> list[str]:
        """Return the files that fit in ``seconds`` together, in their order; at least one."""
        table = json.loads((self.checkout / "tests" / "seconds.json").read_text(encoding="utf-8"))
        chosen: list[str] = []
        for file in files:
            cost = table["files"].get(file, 5)
            if cost <= seconds or not chosen:
                chosen.append(file)
                seconds -= cost
        return chosen

    def _note(self, fault: Fault, found_by: Sequence[str], files: Sequence[str]) -> None:
        row = {"fault": fault.name, "file": fault.file, "found_by": list(found_by)}
        print(json.dumps(row), flush=True)
        with self._results.open("a", encoding="utf-8") as results:
            results.write(json.dumps({**row, "ran": len(files)}) + "\n")
