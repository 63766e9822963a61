"""The page has a Chinese name for every kind of error that playgrad raises."""

from __future__ import annotations

import inspect
import re

import playgrad.errors
from playgrad import paths


def test_every_typed_error_has_a_chinese_name() -> None:
    text = (paths.static() / "js/messages/zh-hans-engine.js").read_text(encoding="utf-8")
    found = re.search(r"const ERRORS = \{(.*?)\};", text, re.DOTALL)
    assert found
    named = dict(re.findall(r"(\w+): \"(.*?)\"", found[1]))
    raised = {
        name
        for name, each in inspect.getmembers(playgrad.errors, inspect.isclass)
        if issubclass(each, playgrad.errors.PlaygradError)
    } - {"PlaygradError"}
    assert raised and raised <= named.keys()
    assert all(re.search(r"[\u4e00-\u9fff]", name) for name in named.values())
