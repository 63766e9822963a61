"""What training and summaries print, in the languages of the page."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn, paths
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.phrases import PHRASES

X = np.linspace(0.0, 1.0, 20, dtype=np.float32)[:, None]


def printed(language: str) -> dict[str, str]:
    """Return the phrases that the page has in a language."""
    text = (paths.static() / "js" / "messages" / f"{language}.js").read_text(encoding="utf-8")
    table = text.partition("\n    printed: {\n")[2].partition("\n    },\n")[0]
    pairs = [line.strip().rstrip(",").partition(": ") for line in table.splitlines()]
    return {name: ast.literal_eval(phrase) for name, _, phrase in pairs}


CHINESE = printed("zh-hans")


def fields(phrase: str) -> set[str | None]:
    return {field for _, field, _, _ in string.Formatter().parse(phrase) if field is not None}


def test_the_page_has_every_phrase() -> None:
    assert printed("en") == PHRASES
    assert list(CHINESE) == list(PHRASES)
    for name, english in PHRASES.items():
        expected = {"step"} if name == "ended" else fields(english)
        assert fields(CHINESE[name]) == expected, name
        assert re.search("[\u4e00-\u9fff]", CHINESE[name]), name


def test_every_phrase_is_printed() -> None:
    sources = "".join(path.read_text() for path in Path(pg.__file__).parent.rglob("*.py"))
    assert set(re.findall(r'phrase\("(\w+)"', sources)) == PHRASES.keys()


def said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> list[str]:
    """Return what a training with many callbacks and a summary print, without numbers."""
    model = pg.Sequential([nn.Dense(1, name="only"), nn.Dropout(0.1, name="drop")])
    model.summary()
    model.compile(pg.optim.SGD(0.5), "mse", device="cpu", precision="mixed")
    callbacks: list[Any] = [
        nn.LearningRateScheduler(lambda epoch: 0.25, verbose=1),
        nn.ModelCheckpoint(tmp_path / "a.npz", monitor="loss", verbose=1),
        nn.ReduceLROnPlateau("loss", patience=1, min_delta=1e3, verbose=1),
        nn.EarlyStopping("loss", patience=2, min_delta=1e3, restore_best_weights=True, verbose=1),
    ]
    model.fit(X, X, epochs=9, callbacks=callbacks)
    model.summary()
    model.set_weights([np.ones((1, 1), np.float32), np.full(1, 3e30, np.float32)])
    model.fit(X, X, callbacks=[nn.TerminateOnNaN()])
    return capsys.readouterr().out.splitlines()


def test_a_training_prints_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    english = said(capsys, tmp_path)
    with options_set(Options(phrases=CHINESE)):
        chinese = said(capsys, tmp_path)
    assert len(english) == len(chinese)
    for name, phrase in PHRASES.items():
        for table, lines in ((phrase, english), (CHINESE[name], chinese)):
            pattern = ".+".join(map(re.escape, re.split(r"\{\w+\}", table)))
            assert any(re.search(pattern, line) for line in lines), (name, lines)
    assert re.fullmatch(r"only \(Dense\) +not built +0", english[4])
    header, row = chinese[2], chinese[4]
    where = len(header.partition("输出")[0]) + 1  # "层" takes two columns
    assert re.fullmatch(r"层 +", header[: where - 1]) and row[where:].startswith("尚未构建")
    assert not re.search(r"epoch|stopped|saved|weights|parameters|step", "".join(chinese))
