"""Examples run to the end and print the expected results."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from playgrad import paths
from playgrad.devices import registry
from playgrad.parallel.schedules import SCHEDULES
from tests.example_runs import few_digits, number, output


@pytest.fixture(autouse=True)
def reset_devices() -> Iterator[None]:
    yield
    registry.set_logical_devices(cpu=1)


def test_branching_two_devices_reaches_its_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "branching-two-devices")
    operations = re.search(r"(\d+) operations are on the second device", out)
    accuracy = re.search(r"accuracy ([\d.]+)%", out)
    assert operations and int(operations[1]) > 10
    assert accuracy and float(accuracy[1]) > 65


def test_character_gru_writes_its_rhyme(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "character-gru", "--device", "cpu")
    assert number(out, r"^accuracy ([\d.]+)%") > 90
    assert "One, two, buckle my shoe;\nthree, four, knock at the" in out


def test_character_transformer_writes_its_rhyme(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "character-transformer", "--device", "cpu")
    assert number(out, r"^accuracy ([\d.]+)%") > 90
    assert "This is the maiden all forlorn,\nthat milked the cow" in out


def test_citation_graph_gains_from_citations(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "citation-graph", "--device", "cpu")
    alone = number(out, r"^accuracy without citations ([\d.]+)%")
    assert number(out, r"^accuracy with citations ([\d.]+)%") > max(95, alone + 10), out


def test_custom_operation_passes_its_checks_and_learns(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "custom-operation")
    assert "squared_distances: 10 checks passed, 0 failed" in out
    accuracy = re.search(r"^accuracy ([\d.]+)%", out, re.MULTILINE)
    assert accuracy and float(accuracy[1]) > 97


def test_denoising_autoencoder_removes_noise(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 2000, 200)
    out = output(capsys, "denoising-autoencoder", "--device", "cpu")
    assert number(out, r": (\d+)% left$") < 55


def test_digits_row_by_row_learns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 3000, 200)
    out = output(capsys, "digits-row-by-row", "--device", "cpu", "--steps", "40")
    assert number(out, r"test accuracy ([\d.]+)%") > 45


def test_dilated_convolutions_predict_the_signal(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "dilated-convolutions", "--device", "cpu")
    assert number(out, r"^error ([\d.]+)% of the power") < 2
    assert number(out, r"repeating the last sample ([\d.]+)%$") > 15


def test_pipeline_schedules_give_the_same_loss(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "pipeline-schedules", "--epochs", "1")
    rows = re.findall(r"^(\S+) +(\d+)% +(\d+)% +[\d.]+ +([\d.]+)$", out, re.MULTILINE)
    losses = {schedule: loss for schedule, _, _, loss in rows}
    assert list(losses) == list(SCHEDULES)
    # A schedule changes the order, not the result, except for PipeDream, which does not flush.
    stale = losses.pop("pipedream")
    assert len(set(losses.values())) == 1
    assert stale not in losses.values()
    assert [formula for _, _, formula, _ in rows] == ["11", "11", "6", "0", "4", "0", "11"]
    # The passes take about equally long, so that the measured bubble is the schedule's:
    # about a fifth, and less or more on a busy machine.
    for _, measured, _, _ in rows:
        assert 0 <= int(measured) < 90


def test_control_dependencies_order_the_updates(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "control-dependencies")
    assert "before it is increased: 2, after: 3" in out
    assert re.findall(r"average is (\d)", out) == ["4", "6", "7"]


def test_fine_tuning_improves_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "fine-tuning", "--device", "cpu")
    fresh = number(out, r"^from nothing: (\d+)%")
    assert number(out, r"^with layers from elsewhere: (\d+)%") > max(65, fresh + 5), out


def test_first_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    output(capsys, "first-program", "--device", "cpu")


def test_noise_before_a_classifier_is_removed(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "noise-before-a-classifier", "--device", "cpu")
    alone = number(out, r"^accuracy on noisy digits: (\d+)%")
    behind = number(out, r"^behind the cleaner: (\d+)%")
    assert alone + 20 < behind < number(out, r"^trained together: (\d+)%"), out


def test_a_falling_rate_wins_the_race_of_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "schedules-raced", "--device", "cpu")
    constant, *falling = [float(n) for n in re.findall(r"test accuracy ([\d.]+)%", out)]
    assert len(falling) == 3
    assert constant < max(falling), out


def test_two_graphs_agree(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "two-graphs")
    assert "step 24: slopes 3.000 and 3.000, 0.000 apart" in out


def test_spiral_reaches_its_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "spiral", "--device", "cpu")
    assert number(out, r"^accuracy on new points ([\d.]+)%") > 95


def test_sync_against_async_counts_the_updates(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "sync-against-async", "--epochs", "2")
    assert re.search(r"^synchronous: 16 steps", out, re.MULTILINE)
    free, bound = (
        [int(n) for n in re.findall(r"'cpu:\d': (\d+)", line)]
        for line in out.splitlines()
        if line.startswith("  updates")
    )
    assert sum(free) == sum(bound) == 16
    assert free[0] > free[1]
    assert abs(bound[0] - bound[1]) <= 2


def test_used_car_prices_are_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "used-car-prices", "--device", "cpu")
    assert number(out, r"^mean error (\d+) euros") < 700
    assert number(out, r"; (\d+) if all prices were the mean$") > 6000


def test_segmentation_finds_the_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "segmentation", "--device", "cpu")
    for shape in ("disc", "square"):
        assert number(out, rf"^{shape}: the overlap is (\d+)% of the union$") > 85


MOST_CODE_LINES = 60
"""Of an example: lines of code, without blank lines, comments and docstrings."""


def test_examples_are_short() -> None:
    examples = sorted((paths.static() / "examples").glob("*.py"))
    lengths = {path.stem: code_lines(path.read_text(encoding="utf-8")) for path in examples}
    assert len(lengths) > 30
    assert {name: n for name, n in lengths.items() if n > MOST_CODE_LINES} == {}


def test_code_lines_skip_comments_docstrings_and_blanks() -> None:
    text = ['"""Two', "", 'lines."""', "", "# Why.", 'x = """a', "", 'b"""', "", "def f():"]
    text += ['    """One."""', "    return (", "        x  # y", "    )"]
    assert code_lines("\n".join(text)) == 7


def code_lines(source: str) -> int:
    """Return how many lines have code; blank lines, comments and docstrings do not count."""
    places = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, places) and ast.get_docstring(node)
        for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    silent = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines = {
        number
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in silent and token.string
        for number in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - docstrings)
