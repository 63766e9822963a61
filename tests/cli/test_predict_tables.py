"""`playgrad predict` gives a network the features of a table on which it was trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data import user_data
from tests.cli.running import result_of, run

Array = np.ndarray[Any, Any]
HEADER = "petal,colour,kind\n"
ROWS = [f"{row % 7 + 0.5},{('red', 'white')[row % 2]},{row % 3 / 2}\n" for row in range(30)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(user_data.FOLDER, raising=False)
    return tmp_path


def trained(x: Array, y: Array, ending: str) -> tuple[Path, pg.Model]:
    model = pg.Sequential([nn.Dense(4, activation="tanh"), nn.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y, epochs=1, verbose=0)
    path = Path(f"net.{ending}")
    model.save(path)
    return path, model


def outputs(capsys: pytest.CaptureFixture[str], model: Path, table: str) -> list[float]:
    Path("rows.csv").write_text(table)
    rows = result_of(run(capsys, "predict", model, "rows.csv", "--format", "json"))
    return [row["output"][0] for row in rows]


@pytest.mark.parametrize("ending", ["safetensors", "playgrad"])
def test_features_are_taken_by_name_with_their_categories(
    capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    Path("flowers.csv").write_text(HEADER + "".join(ROWS))
    (x, y), _ = pg.data.load("flowers")
    path, model = trained(x, y, ending)
    right = model.predict(np.array([[2, 1, 0], [3, 0, 1]], np.float32))[:, 0]
    for table in ("petal,colour\n2,red\n3,white\n", "size,colour,petal\n9,red,2\n9,white,3\n"):
        assert outputs(capsys, path, table) == pytest.approx(right, rel=1e-5)
    for table, words in (
        ("petal,size\n2,3\n", "no column 'colour', which the model takes; it has petal, size"),
        ("petal,colour\n2,red\n3,green\n", "line 3, column 'colour': the model was not trained"),
        ("petal,colour\n2,red\n3,\n", "line 3, column 'colour': the cell is empty"),
    ):
        Path("rows.csv").write_text(table)
        code, out, err = run(capsys, "predict", path, "rows.csv")
        assert (code, out) == (1, "")
        assert words in err


@pytest.mark.parametrize("ending", ["safetensors", "keras"])
@pytest.mark.parametrize("some", [slice(None), slice(0, 20)], ids=["all", "some rows"])
def test_features_are_normalized_as_in_the_training(
    capsys: pytest.CaptureFixture[str], ending: str, some: slice
) -> None:
    random = np.random.default_rng(2)
    x, y = random.normal(size=(40, 2)).astype(np.float32), random.normal(size=40)
    mean, deviation = np.float32([100, -3]), np.float32([20, 0.5])
    names = np.array(["weight", "height"])
    facts = {"column_names": names, "feature_mean": mean, "feature_deviation": deviation}
    np.savez("bodies.npz", x_train=x, y_train=y, x_test=x[:5], y_test=y[:5], **facts)
    (x_train, y_train), _ = pg.data.load("bodies")
    path, model = trained(x_train[some], y_train[some], ending)
    right = model.predict(np.array([[1, -2]], np.float32))[:, 0]
    assert outputs(capsys, path, "height,weight\n-4,120\n") == pytest.approx(right, rel=1e-5)
    assert outputs(capsys, path, "120,-4\n") == pytest.approx(right, rel=1e-5)
    model.export("net.html")
    assert '"mean": [100.0, -3.0], "deviation": [20.0, 0.5]' in Path("net.html").read_text()


def test_views_of_rows_and_data_sets_keep_the_names_of_features() -> None:
    Path("flowers.csv").write_text(HEADER + "".join(ROWS))
    (x, y), _ = pg.data.load("flowers")
    slices = pg.data.Dataset.from_tensor_slices((x, y))
    batches = slices.filter(lambda x, y: x[0] > 1).shuffle(20, seed=1).repeat(2).batch(4)
    for some, labels in ((x[::-1], y[::-1]), (x[::2], y[::2]), (batches.prefetch(1), None)):
        _, model = trained(some, labels, "safetensors")
        assert model.input_description is not None
        assert model.input_description.columns == ("petal", "colour=red", "colour=white")
    for others in (slices.map(lambda x, y: (x[::-1], y)).batch(4), slices.batch(4).enumerate()):
        assert others.table_facts() is None


def test_columns_of_a_model_without_names_are_taken_in_order_with_a_remark(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, model = trained(np.eye(2, dtype=np.float32), np.ones(2), "safetensors")
    remark = "rows.csv: The model does not know names of columns; they are taken in order.\n"
    for table, words in (("b,a\n1,2\n", f"playgrad: {remark}"), ("1,2\n", "")):
        Path("rows.csv").write_text(table)
        code, out, err = run(capsys, "predict", path, "rows.csv", "--format", "json")
        assert (code, err) == (0, words)
        right = model.predict(np.array([[1, 2]], np.float32))[0, 0]
        assert json.loads(out)[0]["output"] == pytest.approx([right], rel=1e-5)


def test_arrays_other_than_the_files_are_not_described() -> None:
    Path("flowers.csv").write_text(HEADER + "".join(ROWS))
    (x, y), _ = pg.data.load("flowers")
    doubled = pg.data.load("flowers")[0][0]
    doubled *= 2
    for other in (x[:, ::-1], x[:, :2], 2 * x, x.copy(), doubled):
        _, model = trained(other, y, "safetensors")
        assert model.input_description is not None
        assert model.input_description.columns == ()
