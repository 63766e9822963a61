"""`playgrad train --report`: one HTML file with the numbers of the run."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from playgrad.cli.report_charts import Curve, curves_chart, histogram
from playgrad.cli.report_html import text
from playgrad.io import load
from tests.cli.running import result_of, run

INJECTION = '</pre><script>document.title = "injected"</script><img src=x onerror="alert(1)">'


def read(path: Path) -> ElementTree.Element:
    """Return the root of a report, which is well-formed XML, too."""
    return ElementTree.fromstring(path.read_text(encoding="utf-8").partition("\n")[2])


def section(root: ElementTree.Element, heading: str) -> ElementTree.Element:
    (match,) = (s for s in root.iter("section") if s.findtext("h2") == heading)
    return match


def values(element: ElementTree.Element) -> list[float]:
    return [float(each.attrib["value"]) for each in element.iter("data")]


def test_the_report_has_the_numbers_of_the_run(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path
) -> None:
    path, weights = tmp_path / "run.html", tmp_path / "w.npz"
    arguments = ("--device", "cpu", "--json", "--report", path, "--export", weights, "--doctor")
    result = result_of(run(capsys, "train", program, *arguments))
    root = read(path)
    shown = values(root.findall(".//section")[0])
    names = ("test_accuracy", "test_loss", "train_loss", "seconds", "ms_per_step")
    assert shown == [result[name] for name in names]
    settings = {
        row[0].text: "".join(row[1].itertext()) for row in section(root, "Settings").iter("tr")
    }
    assert settings["Program"] == str(program)
    assert settings["Device"] == "cpu:0 (NumPy)"
    assert (settings["Steps"], settings["Batch size"]) == ("12", "10")

    curves = section(root, "Curves")
    assert [heading.text for heading in curves.iter("h3")] == ["Loss", "Accuracy", "By epoch"]
    by_epoch, by_step = curves.iter("table")
    assert values(by_epoch)[-4:][2:] == [result["test_loss"], result["test_accuracy"]]
    assert len(by_step.findall(".//tbody/tr")) == result["steps"]
    losses = values(by_step)[::2]
    assert np.mean(losses) == pytest.approx(result["train_loss"], rel=1e-6)

    rows = section(root, "Weights").findall(".//tbody/tr")
    arrays = load(weights)
    assert [row[0].text for row in rows] == list(arrays)
    for row, array in zip(rows, arrays.values(), strict=True):
        exact = array.astype(np.float64)
        assert values(row) == [exact.mean(), exact.std(), exact.min(), exact.max()]
        bars = [title.text or "" for title in row.iter("title")]
        assert sum(int(bar.split(" ")[0].replace(",", "")) for bar in bars) == array.size

    step = section(root, "One training step")
    bars = [title.text or "" for title in step.iter("title")]
    assert any(bar.startswith("dense_1/") for bar in bars)
    assert (
        sum(values(step)) <= float(re.search(r"in ([\d.]+) ms", "".join(step.itertext()))[1]) + 0.01
    )  # type: ignore[index]
    assert "Nothing is wrong" in "".join(section(root, "Doctor").itertext())
    assert "26 parameters" in "".join(section(root, "Model").itertext())


def test_measuring_the_step_changes_no_weight(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    run(capsys, "train", program, "--device", "cpu", "--seed", 1, "--export", first)
    run(
        capsys, "train", program, "--device", "cpu", "--seed", 1, "--export", second,
        "--report", tmp_path / "run.html",
    )  # fmt: skip
    for a, b in zip(load(first).values(), load(second).values(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_program_text_is_escaped_in_the_report(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path
) -> None:
    source = program.read_text().replace("Sequential([", f"Sequential(name={INJECTION!r}, layers=[")
    program.write_text(f"# {INJECTION}\x1b\ud7ff\n{source}")
    path = tmp_path / "run.html"
    code, _, err = run(capsys, "train", program, "--device", "cpu", "--report", path)
    assert code == 0, err
    root = read(path)
    assert not list(root.iter("script")) and not list(root.iter("img"))
    shown = "".join(section(root, "Program").itertext())
    assert INJECTION in shown
    assert INJECTION in "".join(section(root, "Model").itertext())
    written = path.read_text(encoding="utf-8")
    assert "<script" not in written and "\x1b" not in written
    for mark in ("http://", "https://", "url(", "@import", "src="):
        assert mark not in written.replace(text(INJECTION), "")


@pytest.mark.gpu
def test_several_devices_show_the_step_of_their_strategy(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.html"
    arguments = ("--device", "gpu", "--parallel", "sync", "--devices", 2, "--json")
    result_of(run(capsys, "train", program, *arguments, "--report", path))
    root = read(path)
    step = section(root, "One training step")
    lanes = {label.text for label in step.iter("text")}
    assert {"gpu:0", "gpu:1"} <= lanes
    assert "sync on 2 devices" in "".join(section(root, "Settings").itertext())


def test_a_program_without_fit_cannot_be_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program, path = tmp_path / "none.py", tmp_path / "run.html"
    program.write_text("print('no model')\n")
    code, _, err = run(capsys, "train", program, "--report", path)
    assert code == 1
    assert "--report had no effect" in err
    assert not path.exists()


def test_a_missing_folder_is_refused_before_training(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path
) -> None:
    code, out, err = run(capsys, "train", program, "--report", tmp_path / "no" / "run.html")
    assert code == 2
    assert "does not exist" in err
    assert "the program is done" not in out


@pytest.mark.parametrize("count", [1, 2, 5000])
def test_curves_are_finite_whatever_the_values(count: int) -> None:
    losses = np.linspace(1, 0, count).astype(np.float32)
    losses[count // 2] = np.nan if count > 1 else 1.0
    chart = curves_chart("loss", [Curve("loss", np.arange(1, count + 1), losses)])
    numbers = [float(n) for n in re.findall(r"[ML]([\d.eE+-]+) [\d.eE+-]+", chart)]
    assert numbers and all(np.isfinite(numbers))
    assert "nan" not in " ".join(re.findall(r' d="([^"]*)"', chart))
    assert len(chart) < 60_000


def test_charts_report_that_no_value_is_finite() -> None:
    nothing = np.full(3, np.nan, np.float32)
    assert "no step has a finite value" in curves_chart(
        "loss", [Curve("loss", np.arange(3), nothing)]
    )
    assert histogram(nothing, "kernel") == ""
