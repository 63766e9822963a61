"""Seconds of each test file, and of the expensive fixtures and tests: ``tests/seconds.json``.

Workers divide the files by these numbers (`tests.files`). A run with ``--measure`` says how far its
own are from those, and writes those of the files that it ran whole to ``var/seconds.json``.
``python -m tests.seconds`` merges them into ``tests/seconds.json`` and the tables of
``docs/testing.md``: all of them after `make test PART=all`, and else those of new files, at the
pace of the machine that measured the others.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = ROOT / "tests" / "seconds.json"
MEASURED = ROOT / "var" / "seconds.json"
LONG_TESTS = ROOT / "tests" / "long.toml"
DOCUMENT = ROOT / "docs" / "testing.md"

LONG = 5.0
"""Seconds: a longer test is `slow`, or `LONG_TESTS` says why it is not."""
MOST_LONG = 60
_NOTED = 2.0  # seconds of the tests, and of the fixtures, that are listed
MOST_NEW = 60
"""Files without seconds, which no run can leave out. `make test`, then `python -m tests.seconds`,
gives them some."""
_CORRECTION = "`make test PART=all`, then `python -m tests.seconds`,"
_KEY = "fixture seconds"


@dataclass
class Seconds:
    """A measurement.

    Attributes:
        files: set-up, calls and tear-down of a file's tests, without fixtures of the session.
        fixtures: "fixture (file that defines it)", all its set-ups together; the expensive ones.
        tests: by id, set-up and tear-down included; the long ones.
    """

    files: dict[str, float] = field(default_factory=dict)
    fixtures: dict[str, float] = field(default_factory=dict)
    tests: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Seconds:
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path) -> None:
        rounded = {
            kind: {name: round(seconds, 1) for name, seconds in sorted(numbers.items())}
            for kind, numbers in vars(self).items()
        }
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")

    def new_beside(self, known: Seconds) -> Seconds:
        """Return the files, and their tests, that ``known`` has not, at the pace of ``known``."""
        pace = pace_of(self.files, known.files)
        files = {f: s / pace for f, s in self.files.items() if f not in known.files}
        tests = {t: s / pace for t, s in self.tests.items() if file_of(t) in files}
        return Seconds(files, {}, {test: s for test, s in tests.items() if s > _NOTED})

    def merge(self, newer: Seconds) -> Seconds:
        """Return these numbers with the files of ``newer`` replaced; deleted files are dropped."""
        files = {p: s for p, s in (self.files | newer.files).items() if (ROOT / p).exists()}
        tests = {t: s for t, s in self.tests.items() if file_of(t) in files.keys() - newer.files}
        return Seconds(files, self.fixtures | newer.fixtures, tests | newer.tests)


def file_of(test: str) -> str:
    """Return the file of a test's id."""
    return test.partition("::")[0]


def reasons() -> dict[str, str]:
    """Return why tests may be long, by id, or by the id of all tests of a function."""
    return tomllib.loads(LONG_TESTS.read_text(encoding="utf-8"))


def unexplained(tests: Mapping[str, float]) -> list[str]:
    """Return the long tests without a reason, the longest first."""
    known = reasons()
    return sorted(
        (t for t, s in tests.items() if s > LONG and not {t, t.partition("[")[0]} & known.keys()),
        key=lambda test: -tests[test],
    )


class Stopwatch:
    """A plugin that measures a run, in the process that reports and in its workers.

    Args:
        known: the seconds that files are expected to take.
    """

    def __init__(self, config: pytest.Config, known: Mapping[str, float]) -> None:
        self.config = config
        self.known = known
        self.in_part: set[str] = set()
        """Files some of whose tests have their turn in other commits."""
        self.spent: Counter[str] = Counter()
        self.fixtures: Counter[str] = Counter()
        self.shared: Counter[str] = Counter()
        """Seconds of fixtures of the session, by the test that was the first to use them."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.spent[report.nodeid] += report.duration

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            seconds = time.perf_counter() - began
            place = fixturedef.baseid or "a plugin"
            self.fixtures[f"{fixturedef.argname} ({place})"] += seconds
            if fixturedef.scope == "session":
                self.shared[request._pyfuncitem.nodeid] += seconds

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.in_part |= {file_of(i.nodeid) for i in items if i.get_closest_marker("rotates")}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput[_KEY] = [
                dict(self.fixtures),
                dict(self.shared),
                sorted(self.in_part),
            ]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if _KEY in getattr(node, "workeroutput", {}):  # a worker that crashed has none
            fixtures, shared, in_part = node.workeroutput[_KEY]
            self.fixtures.update(fixtures)
            self.shared.update(shared)
            self.in_part.update(in_part)

    def measured(self) -> Seconds:
        tests = self.spent - self.shared
        files: Counter[str] = Counter()
        for test in self.spent:
            files[file_of(test)] += tests[test]
        return Seconds(
            dict(files),
            {name: s for name, s in self.fixtures.items() if s > _NOTED},
            {test: s for test, s in tests.items() if s > _NOTED},
        )

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        measured = self.measured()
        whole = {f: s for f, s in measured.files.items() if f not in self.in_part}
        tests = {t: s for t, s in measured.tests.items() if file_of(t) in whole}
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):  # it came to its end
            Seconds(whole, measured.fixtures, tests).write(MEASURED)
        terminalreporter.section("Seconds")
        for line in summary(measured, self.known):
            terminalreporter.write_line(line)


def pace_of(measured: Mapping[str, float], known: Mapping[str, float]) -> float:
    """Return how many times the ``known`` seconds the same files took."""
    both = measured.keys() & known.keys()
    return statistics.median([measured[f] / known[f] for f in both if known[f] > 1] or [1.0])


def summary(measured: Seconds, known: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines that a run prints about its seconds, beside the ``known`` ones of files."""
    yield f"{sum(measured.files.values()):,.0f} s of tests in {len(measured.files)} files"
    missing = unexplained(measured.tests)
    if missing:
        yield f"{len(missing)} tests took over {LONG:.0f} s and are not in tests/long.toml:"
        yield from (f"  {measured.tests[test]:.1f} s {test}" for test in missing[:20])
    pace = pace_of(measured.files, known)
    off = {f: measured.files[f] - pace * known.get(f, 0.0) for f in measured.files}
    far = sorted((f for f in off if abs(off[f]) > 5), key=lambda f: -abs(off[f]))
    yield f"This machine took {pace:.2f} times the seconds of tests/seconds.json."
    if far:
        yield f"{len(far)} files are more than 5 s off; {_CORRECTION} corrects them:"
        yield from (f"  {off[file]:+.0f} s {file}" for file in far[:10])


def table(seconds: Seconds) -> str:
    """Return the tables of `DOCUMENT`."""
    folders: dict[str, float] = defaultdict(float)
    for file, spent in seconds.files.items():
        folder = file.rpartition("/")[0]
        folders[f"`{folder}/`"] += spent
    slowest = sorted(seconds.tests, key=lambda test: -seconds.tests[test])[:10]
    parts = (
        ("folder", folders),
        ("test", {f"`{test.removeprefix('tests/')}`": seconds.tests[test] for test in slowest}),
        ("fixture, all set-ups", {f"`{name}`": s for name, s in seconds.fixtures.items()}),
    )
    blocks = []
    for title, numbers in parts:
        rows = sorted(numbers.items(), key=lambda row: -row[1])
        lines = (f"| {name} | {spent:.1f} |" for name, spent in rows)
        blocks.append("\n".join([f"| {title} | seconds |", "|---|---:|", *lines]))
    total = f"All files: {sum(seconds.files.values()) / 60:.0f} minutes of tests."
    return "\n\n".join([total, *blocks])


def written_into(document: str, seconds: Seconds) -> str:
    """Return a document with other tables between its marks."""
    before, mark, rest = document.partition("<!-- seconds -->")
    end = rest.index("<!-- end of seconds -->")
    return f"{before}{mark}\n\n{table(seconds)}\n\n{rest[end:]}"


def main() -> int:
    """Take over the last measurement, unless tests are long without a reason."""
    committed, measured = Seconds.read(COMMITTED), Seconds.read(MEASURED)
    if any((ROOT / file).exists() for file in committed.files.keys() - measured.files.keys()):
        measured = measured.new_beside(committed)
    merged = committed.merge(measured)
    long = [test for test, seconds in merged.tests.items() if seconds > LONG]
    missing = unexplained(merged.tests)
    for test in missing:
        print(f"{merged.tests[test]:6.1f} s {test}", file=sys.stderr)
    if missing or len(long) > MOST_LONG:
        print(
            f"{len(long)} tests take over {LONG:.0f} s ({MOST_LONG} may), {len(missing)} of them "
            "without a reason in tests/long.toml. Speed them up, or mark them slow.",
            file=sys.stderr,
        )
        return 1
    merged.write(COMMITTED)
    document = written_into(DOCUMENT.read_text(encoding="utf-8"), Seconds.read(COMMITTED))
    DOCUMENT.write_text(document, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
