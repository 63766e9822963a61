"""Seconds of tests: measured, kept, explained; the order of the files; seeds of random tests."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import seconds
from tests.files import expected
from tests.seconds import COMMITTED, DOCUMENT, MOST_LONG, MOST_NEW, ROOT, Seconds, file_of, reasons
from tests.sweeps import SEED, dice

CONFTEST = """
import json, os
from pathlib import Path
import pytest
from tests import files, seconds

clock = [0.0]
seconds.time.perf_counter = lambda: clock[0]
seconds.MEASURED = Path(__file__).with_name("measured.json")

def pytest_configure(config):
    config.pluginmanager.register(seconds.Stopwatch(config, {}))

def pytest_collection_modifyitems(config, items):
    others = [item for item in items if item.get_closest_marker("rotates")]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]
    known = {"test_a.py": 1.0, "test_b.py": 100.0, "test_c.py": 50.0}
    items.sort(key=files.in_turn(items, known))
    Path(__file__).with_name("order.json").write_text(json.dumps([i.path.stem for i in items]))

@pytest.fixture(scope="session")
def shared():
    clock[0] += 1000

@pytest.fixture
def own():
    clock[0] += 10
"""
FILES = {
    "test_a.py": "def test_1(shared): pass\ndef test_2(own): pass\n",
    "test_b.py": "def test_3(own): assert False\n",
    "test_c.py": "import pytest\n@pytest.mark.browser\ndef test_4(): pass\n",
    "test_d.py": "\n".join(f"def test_{n}(): pass" for n in range(9)),
    "test_e.py": "import pytest\n@pytest.mark.rotates\ndef test_5(): pass\ndef test_6(): pass\n",
}


def test_a_run_is_measured_and_begins_with_long_files(tmp_path: Path) -> None:
    for name, text in {"conftest.py": CONFTEST, **FILES}.items():
        (tmp_path / name).write_text(text)
    options = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "-W", "ignore"]
    options += ["-c", os.devnull, "--rootdir", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 1 and "1 failed" in ran.stdout, ran.stdout + ran.stderr
    order = json.loads((tmp_path / "order.json").read_text())
    assert list(dict.fromkeys(order)) == ["test_c", "test_d", "test_b", "test_e", "test_a"]
    measured = Seconds.read(tmp_path / "measured.json")
    assert measured.files.keys() == FILES.keys() - {"test_e.py"}, "a test of it had no turn"
    assert measured.fixtures == {"shared (a plugin)": 1000.0, "own (a plugin)": 20.0}
    assert measured.tests == {}, "the fixture of the session is part of the first test"
    assert "tests in 5 files" in ran.stdout


def test_files_without_a_number_count_by_their_tests() -> None:
    found = expected({"a": 2, "b": 4, "new": 3}, {"a": 4.0, "b": 40.0, "gone": 9.0})
    assert found == pytest.approx({"a": 4, "b": 40, "new": 18}, abs=0.1)


def test_a_measurement_replaces_the_numbers_of_its_files() -> None:
    old = Seconds(
        {"tests/files.py": 1.0, "tests/sweeps.py": 2.0, "tests/gone.py": 3.0},
        {"server": 4.0},
        {"tests/files.py::a": 5.0, "tests/sweeps.py::b": 6.0, "tests/gone.py::c": 7.0},
    )
    new = Seconds({"tests/sweeps.py": 8.0}, {"chromium": 9.0}, {"tests/sweeps.py::d": 10.0})
    assert old.merge(new) == Seconds(
        {"tests/files.py": 1.0, "tests/sweeps.py": 8.0},
        {"server": 4.0, "chromium": 9.0},
        {"tests/files.py::a": 5.0, "tests/sweeps.py::d": 10.0},
    )


def test_new_files_get_seconds_at_the_pace_of_the_others() -> None:
    """A run of a part, on a machine that is half as fast, adds the new files and changes none."""
    known = Seconds({"old": 10.0, "other": 20.0, "rests": 90.0}, {"server": 4.0}, {"old::a": 6.0})
    run = Seconds(
        {"old": 20.0, "other": 40.0, "new": 14.0},
        {"server": 9.0},
        {"old::a": 12.0, "new::b": 12.0, "new::c": 3.0},
    )
    assert run.new_beside(known) == Seconds({"new": 7.0}, {}, {"new::b": 6.0})


def test_most_files_have_seconds() -> None:
    """A file that is not measured runs every time, whatever it costs."""
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    new = sorted(files - Seconds.read(COMMITTED).files.keys())
    advice = "`make test`, then `python -m tests.seconds`, measures"
    assert len(new) <= MOST_NEW, f"{advice} {len(new)} files: {', '.join(new[:20])}"


def test_a_long_test_needs_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(seconds, "LONG_TESTS", tmp_path / "long.toml")
    (tmp_path / "long.toml").write_text('"a::one[x]" = "why"\n"a::all" = "why"\n')
    spent = {"a::one[x]": 9.0, "a::one[y]": 8.0, "a::all[x]": 7.0, "a::short": 4.9, "a::new": 60.0}
    assert seconds.unexplained(spent) == ["a::new", "a::one[y]"]


def test_reasons_belong_to_tests_that_exist() -> None:
    assert len(reasons()) <= MOST_LONG
    for test, reason in reasons().items():
        names = test.partition("[")[0].split("::")[1:]
        tree: ast.AST = ast.parse((ROOT / file_of(test)).read_text(encoding="utf-8"))
        for name in names:
            inner = ast.iter_child_nodes(tree)
            tree = next(n for n in inner if getattr(n, "name", None) == name)
        assert reason


def test_the_tables_match_the_committed_numbers() -> None:
    """`python -m tests.seconds` writes both."""
    document = DOCUMENT.read_text(encoding="utf-8")
    assert document == seconds.written_into(document, Seconds.read(COMMITTED))


def test_random_numbers_depend_on_the_seed_and_the_key() -> None:
    assert dice("a", 1).random() == dice("a", 1).random() != dice("a", 2).random()
    program = "from tests.sweeps import *; print(dice('a').random(), budget(2, night=30))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True,
            env={**os.environ, "PLAYGRAD_SEED": str(seed), "PLAYGRAD_NIGHT": night},
        ).stdout.split()
        for seed, night in ((SEED, ""), (SEED + 1, "1"))
    ]  # fmt: skip
    assert float(runs[0][0]) == dice("a").random() != float(runs[1][0])
    assert [cases for _, cases in runs] == ["2", "30"]
