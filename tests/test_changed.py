"""Tests of a change: which test files use a file, and which of them fit into a time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.changed.reach import NODE_RUNNER, NODE_TEST, READ_WHOLE, Reach, is_test
from tools.changed.repository import Repository, git
from tools.changed.selection import SMOKE, Times, select


@pytest.fixture(scope="module")
def repository() -> Repository:
    return Repository()


@pytest.fixture(scope="module")
def reach(repository: Repository) -> Reach:
    return Reach(repository)


@pytest.mark.parametrize(
    ("file", "test", "farthest"),
    [
        ("tests/graph/test_graph.py", "tests/graph/test_graph.py", 0),
        ("app/playgrad/graph/autodiff.py", "tests/graph/test_autodiff.py", 1),
        # By names that packages export.
        ("app/playgrad/nn/gru.py", "tests/nn/test_recurrent.py", 1),
        ("app/playgrad/training/strategies/pipeline.py", "tests/parallel/test_strategies.py", 1),
        ("app/playgrad/ops/products/matmul.py", "tests/nn/test_layers.py", 2),
        # By the name of a file, of which a part is computed.
        ("kernels/matmul_quads.wgsl", "tests/kernels/test_products.py", 3),
        ("kernels/common/softmax.wgsl", "tests/ops/test_half.py", 3),
        ("static/examples/spiral.py", "tests/test_examples.py", 1),
        # By programs: in a string, in a script, and started by their names.
        ("app/playgrad/server/serve.py", "tests/browser/test_steps.py", 3),
        ("app/playgrad/page/controller.py", "tests/browser/test_steps.py", 2),
        ("bench/measure.py", "tests/test_bench_smoke.py", 3),
        # By fixtures, which begin with others.
        ("tests/browser/engine_harness.js", "tests/browser/test_steps.py", 2),
        ("tests/browser/playground.py", "tests/browser/test_page_nodes.py", 1),
        ("tests/conftest.py", "tests/nn/test_fit.py", 1),
        # By scripts: of Node, of the page, and with an element that a test looks for.
        (
            "static/js/state/frame-scheduler.js",
            f"{NODE_RUNNER}::{NODE_TEST}[frame-scheduler.test.mjs]",
            1,
        ),
        ("static/js/panels/graph/node-tabs.js", "tests/browser/test_page_nodes.py", 1),
        ("static/js/language/asking.js", "tests/browser/test_editor_language.py", 5),
        ("docs/layers.md", "tests/test_docs.py", 1),
    ],
)
def test_a_file_is_used_by_a_test(reach: Reach, file: str, test: str, farthest: int) -> None:
    assert reach.tests([file])[test] <= farthest


def test_the_test_that_runs_scripts_exists(repository: Repository) -> None:
    assert f"\ndef {NODE_TEST}(" in repository.text(NODE_RUNNER)


def test_no_test_uses_what_only_others_do(reach: Reach) -> None:
    """Imports of a package whose names are exported are not imports of all of it."""
    near = reach.tests(["app/playgrad/page/controller.py"])
    assert "tests/page/test_stops.py" in near
    assert "tests/nn/test_fit.py" not in near
    assert "tests/data/test_png.py" not in reach.tests(["app/playgrad/nn/gru.py"])


def test_every_file_of_the_library_and_of_the_page_is_used_by_a_test(
    reach: Reach, repository: Repository
) -> None:
    scripts = repository.under("app/playgrad/", "static/js/", "static/engine/", "kernels/")
    unused = [path for path in scripts if not reach.tests([path]).keys() - _readers(path)]
    assert unused == []


def _readers(path: str) -> set[str]:
    return {
        test for folder, tests in READ_WHOLE.items() if path.startswith(folder) for test in tests
    }


def test_tests_named_in_tables_exist(repository: Repository) -> None:
    named = {*SMOKE, NODE_RUNNER, *(test for tests in READ_WHOLE.values() for test in tests)}
    assert named <= repository.files and all(map(is_test, named))


def test_tests_named_after_a_file_come_first(reach: Reach) -> None:
    order = reach.nearest_first(["app/playgrad/graph/autodiff.py"])
    assert order[0] == ("tests/graph/test_autodiff.py", 1)
    assert [distance for _, distance in order] == sorted(distance for _, distance in order)


def test_the_nearest_tests_fit_into_the_time(reach: Reach, repository: Repository) -> None:
    times = Times(repository)
    changed = ["app/playgrad/graph/graph.py", "tests/browser/test_loading.py"]
    some, all_ = (select(changed, reach, times, seconds) for seconds in (100, 100_000))
    assert all_.left_out == []
    assert {*some.run, *some.left_out} == {*all_.run} >= reach.tests(changed).keys()
    assert {changed[1], *SMOKE} <= {*some.run}, "they run however long they take"
    rest = [test for test in some.run if test not in (changed[1], *SMOKE)]
    assert times.of(some.run) <= max(100, times.of({changed[1], *SMOKE}))
    assert all(times.of([test]) <= 100 for test in rest)


def test_changes_since_a_commit(tmp_path: Path) -> None:
    git("init", "--quiet", "--initial-branch=main", root=tmp_path)
    for name in ("kept", "edited", "deleted", "moved"):
        (tmp_path / name).write_text(f"{name}\n" * 9)
    commit = ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m")
    git("add", ".", root=tmp_path)
    git(*commit, "all", root=tmp_path)
    git("switch", "--quiet", "-c", "branch", root=tmp_path)
    git("mv", "moved", "here", root=tmp_path)
    git(*commit, "move", root=tmp_path)
    (tmp_path / "edited").write_text("otherwise\n")
    (tmp_path / "deleted").unlink()
    (tmp_path / "new é.py").write_text("")
    repository = Repository(tmp_path)
    assert repository.files == {"kept", "edited", "here", "new é.py"}
    changed = {"edited", "deleted", "moved", "here", "new é.py"}
    assert repository.changed_since(repository.fork()) == sorted(changed)
    assert repository.changed_since("HEAD") == sorted(changed - {"moved", "here"})


def test_an_unknown_commit_is_an_error(repository: Repository) -> None:
    with pytest.raises(subprocess.CalledProcessError, match="nonsense"):
        repository.changed_since("nonsense")
