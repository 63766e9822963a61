"""The page's model: its Protocols name what views use, and all three kinds of models have it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playgrad.page import shown_model
from playgrad.page.built_model import built_model
from playgrad.page.shown_model import LiveModel, ShownModel
from tests.page.python_side import python_side

PROGRAM = """
import numpy as np, playgrad as pg
from playgrad import nn
model = pg.Sequential([nn.Dense(3), nn.Dense(2)])
model.compile(pg.optim.SGD(0.1), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(np.zeros((8, 4), "f4"), np.zeros(8, "i4"), verbose=0)
"""
PAGE = Path(shown_model.__file__).parent


def members(protocol: Any) -> set[str]:
    own = {name for name in vars(protocol) if not name.startswith("_")}
    return own.union(*(members(base) for base in protocol.__bases__ if base in (ShownModel,)))


def test_every_kind_of_model_has_what_views_use() -> None:
    with python_side() as side:
        assert side.run(PROGRAM) == "done"
        controller, content = side.module.controller, side.checkpoint
        of_program = (controller.model, built_model(controller.namespace))
        for name in members(LiveModel):
            assert all(hasattr(model, name) for model in of_program), name
        side.ask("restore", payload=content)
        for name in members(ShownModel):
            assert hasattr(controller.restored, name), name


def test_views_use_every_member() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in PAGE.rglob("*.py")
        if path.name not in ("shown_model.py", "restored_model.py")
    )
    used = set(re.findall(r"\b(?:model|network|asked|found)\.(\w+)", source))
    assert members(LiveModel) - used == set()
