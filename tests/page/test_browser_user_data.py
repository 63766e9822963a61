"""Data sets that the browser keeps, as Python in the page reads them."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tests.page.python_side import python_side


def test_the_browser_is_asked_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the names are remembered: the visitor may add data while a program waits."""
    content = io.BytesIO()
    np.savez(content, x=np.ones((4, 3)), y=np.arange(4), class_names=np.array(["a", "b"]))
    files = {"/data/yours/": b"[]", "/data/yours/my%20own": content.getvalue()}
    with python_side() as side:
        from playgrad.page import browser_user_data

        host = browser_user_data.host
        monkeypatch.setattr(host, "fetch_data", lambda path: memoryview(files[path]))
        program = "import playgrad as pg\nprint(pg.data.load('my own')[0][0].shape)\n"
        assert side.run(program) == "error"
        assert 'Press "Your data"' in side.of("error")[-1]["message"]
        files["/data/yours/"] = b'["my own"]'
        assert side.run(f"{program}print(pg.data.class_names('my own'))") == "done"
        assert "(3, 3)" in side.output
        assert "['a', 'b']" in side.output
