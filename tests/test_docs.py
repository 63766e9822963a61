"""The Python code in the README and the guides runs, and the files they name exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import logical
from playgrad.graph.opdef import Sample, lookup
from playgrad.ops.elementwise.elementwise_op import elementwise
from playgrad.ops.expression import expr
from playgrad.runtime.options import Options, options_set
from tools.docs import SITE

ROOT = Path(__file__).resolve().parent.parent


def blocks(name: str) -> list[str]:
    """Return the Python blocks of a document."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    """If set-up has built it without warnings, only what has changed is read again, and links are
    checked."""
    cache, read, builder = SITE.with_name("docs-cache"), tmp_path / "doctrees", "html"
    if (cache / "whole").is_file():
        shutil.copytree(cache / "doctrees", read)
        builder = "dummy"
    options = ["--quiet", "--fail-on-warning", "--builder", builder, "--doctree-dir", read]
    command = [sys.executable, "-m", "sphinx", *options, "docs", tmp_path / "site"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr


GUIDES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
)


@pytest.mark.parametrize("name", GUIDES)
def test_files_named_in_guides_exist(name: str) -> None:
    """`compiler/plan.py` is a path in the library; others are paths in the repository."""
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = re.findall(r"`([\w./-]+/(?:[\w.-]+\.(?:py|js|mjs|css|wgsl|md|toml))?)`", text)
    missing = [
        path
        for path in paths
        if not any(path.startswith(folder) for folder in ("var/", "static/vendor/", "/"))
        and not any((root / path).exists() for root in (ROOT, ROOT / "app" / "playgrad"))
    ]
    assert not missing


def test_code_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    high, low = blocks("README.md")
    with options_set(Options(steps=3, verbose=0)), pg.Graph().as_default():
        exec(high, {})
    assert sorted(pg.io.load("digits.safetensors")) == [
        "dense_1/bias",
        "dense_1/kernel",
        "dense_2/bias",
        "dense_2/kernel",
    ]
    with pg.Graph().as_default():
        exec(low, {"pg": pg})


def test_code_in_the_guide_to_layers_runs() -> None:
    block, tied = blocks("docs/layers.md")
    names: dict[str, type[nn.Layer]] = {"nn": nn}  # type: ignore[dict-item]
    exec(block, names)
    model = pg.Sequential([names["Scale"]()])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(model.predict(x), x)
    assert list(model.named_variables) == ["scale_1/factor"]
    model.close()
    with pg.Graph().as_default():
        tying = {"pg": pg, "nn": nn}
        exec(tied, tying)
    weights = list(tying["model"].named_variables)
    assert weights[:2] == ["embedding_1/embeddings", "position_embedding_1/position_embeddings"]


def test_code_in_the_guide_to_operations_runs() -> None:
    block, *_ = blocks("docs/operations.md")
    names = {"elementwise": elementwise, "e": expr, "Sample": Sample, "np": np}
    exec(block, names | {name: getattr(pg, name) for name in pg.ops.__all__})
    (sample,) = lookup("lisht").samples
    x = sample.inputs[0]
    (y,) = lookup("lisht").reference([x], {})
    np.testing.assert_allclose(y, x * np.tanh(x), rtol=1e-5)


def test_code_in_the_guide_to_graph_networks_runs(capsys: pytest.CaptureFixture[str]) -> None:
    club, files, own, several, large = blocks("docs/graph-networks.md")
    names: dict[str, Any] = {"pg": pg, "nn": nn, "np": np}
    for block in (club, files, own, several, large):
        with pg.Graph(seed=1).as_default():
            exec(block, names)
            names["model"].close()
    assert names["features"] == ["age", "member=no", "member=yes"]
    assert names["classes"] == ["chess", "go"]
    accuracies = [float(line) for line in capsys.readouterr().out.splitlines()]
    assert accuracies[0] > 0.9 and accuracies[1] > 0.9, accuracies
    x = np.array([[1.0], [3.0]], np.float32)
    inputs = [pg.constant(each) for each in (x, np.array([[0], [1]]), np.array([0.5]))]
    with pg.Session() as session:
        assert session.run(names["Flow"]()(*inputs)).tolist() == [[1.0], [2.0]]


def test_code_in_the_guide_to_custom_operations_runs(capsys: pytest.CaptureFixture[str]) -> None:
    *_, block = blocks("docs/operations.md")
    assert len(block.splitlines()) <= 20
    with pg.Graph().as_default():
        exec(block, {"pg": pg, "np": np})
    out = capsys.readouterr().out
    assert ", 0 failed" in out
    assert out.endswith("[[0.5 1.  1.5]\n [0.5 1.  1.5]]\n")


def test_code_in_the_guide_to_traces_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("docs/tracing.md")
    names: dict[str, Any] = {}
    with pg.Graph().as_default():
        exec(block, names)
    names["model"].close()
    assert "share  operation" in capsys.readouterr().out
    assert json.loads((tmp_path / "step.trace.json").read_text())["traceEvents"]


def test_code_in_the_guide_to_looking_inside_runs(capsys: pytest.CaptureFixture[str]) -> None:
    session, model = blocks("docs/looking-inside.md")
    names: dict[str, Any] = {}
    with pg.Graph().as_default():
        exec(session, names)
    x, w = names["points"].astype(np.float64), np.array([[1.0], [2.0]])
    for _ in range(20):
        w -= 0.1 * 2 * x.T @ (x @ w) / len(x)
    np.testing.assert_allclose(names["session"].run(names["w"]), w, rtol=1e-4)
    names["session"].close()
    names = {}
    with pg.Graph().as_default():
        exec(model, names)
    weights = names["model"].named_weights()
    hidden = np.tanh(names["x"] @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    np.testing.assert_allclose(names["activations"], hidden, atol=1e-4)
    assert names["maps"].shape == (len(names["windows"]), 2, 8, 8)
    assert "most probable" in capsys.readouterr().out
    for each in ("model", "writer"):
        names[each].close()


def test_code_in_the_guide_to_checkpoints_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("docs/checkpoints.md")
    names: dict[str, Any] = {}
    with pg.Graph().as_default():
        exec(block, names)
    names["model"].close()
    assert capsys.readouterr().out == "[0, 1, 2, 3, 4]\n"
    assert len(names["history"].losses) == 40


def test_code_in_the_guide_to_training_loops_runs(capsys: pytest.CaptureFixture[str]) -> None:
    block, tape, of_class, eager = blocks("docs/loops.md")
    names: dict[str, Any] = {"pg": pg, "nn": nn}
    with pg.Graph().as_default():
        exec(block, names)
        exec(tape, names)
        exec(of_class, names)
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", capsys.readouterr().out)]
    assert len(losses) == 8 and max(losses[1:6]) < losses[0] and losses[7] < losses[6]
    with pg.Graph().as_default():
        exec(eager, {"pg": pg})
    assert capsys.readouterr().out.endswith("[[0.5 1. ]\n [1.5 2. ]] 5.0\n")


@pytest.mark.parametrize("block", blocks("docs/parallel.md"))
def test_code_in_the_guide_to_several_devices_runs(
    block: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logical, "_counts", dict(logical._counts))
    with pg.Graph().as_default():
        names: dict[str, object] = {}
        exec(block, names)
    if "distributed" in names:  # the block with a handwritten training loop
        assert capsys.readouterr().out.startswith("[1. 2. 3. 4.]")
    if "model" not in names:
        return
    model = names["model"]
    assert isinstance(model, pg.Sequential)
    assert model.predict(np.zeros((2, 8), np.float32)).shape == (2, 3)
    if model.strategy is None:
        assert {weight.device for weight in model.named_variables.values()} >= {"cpu:0", "cpu:1"}
    else:
        assert model.history is not None and len(model.history.losses) == 3


def test_code_in_the_guide_to_data_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYGRAD_DATA", "")  # which the guide sets
    with pg.Graph().as_default():
        names: dict[str, object] = {}
        for block in blocks("docs/data.md"):
            exec(block, names)
