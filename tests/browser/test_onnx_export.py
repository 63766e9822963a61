"""ONNX files leave the page: from its menu, and from programs; their part is loaded when needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from playwright.sync_api import Browser, expect

from playgrad.interchange.onnx.messages import NAME
from tests.browser.playground import GOOD, Playground
from tests.interchange.networks import randoms

pytestmark = pytest.mark.browser

URL = f"/static/vendor/{NAME}"

ROUND_TRIP = """
import numpy as np
import playgrad as pg
from playgrad import nn

model = pg.Sequential([pg.Input((6, 6, 2)), nn.Conv2D(3, 3), nn.Flatten(), nn.Dense(4)])
model.export("net.onnx")
again = pg.load_model("net.onnx")
x = np.random.default_rng(0).normal(size=(5, 6, 6, 2)).astype(np.float32)
print("difference", float(np.abs(model.predict(x) - again.predict(x)).max()))
"""


@pytest.fixture(scope="module")
def visitor(chromium: Browser, server: str) -> Iterator[Playground]:
    """A page that has not needed ONNX when its first test begins."""
    opened = Playground(chromium, server)
    opened.expect_status("ready")
    yield opened
    opened.close()


def round_trip(visitor: Playground) -> None:
    """Let a program write a file and read it."""
    output = visitor.finish(ROUND_TRIP)
    difference = re.search(r"difference (\S+)", output)
    assert difference, output
    assert float(difference[1]) < 1e-5


def test_a_missing_onnx_archive_is_named_and_a_retry_succeeds(visitor: Playground) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.context.route(f"**{URL}", lambda route: route.fulfill(status=404, body="gone"))
    visitor.finish(GOOD)
    assert not any(URL in url for url in asked)  # loaded only on demand
    visitor.at("export").click()
    visitor.at("export-menu-onnx").click()
    note = visitor.page.locator(".status-sentence")
    reason = (
        "The weights were not saved: The part of playgrad for ONNX files cannot be loaded: "
        "onnx-messages.zip: the server answers gone."
    )
    expect(note).to_contain_text(reason)
    visitor.page.keyboard.press("Escape")
    visitor.finish(ROUND_TRIP, "error")
    error = visitor.at("error")
    expect(error).to_contain_text("ExportError")
    expect(error).to_contain_text("cannot be loaded")
    expect(error).to_contain_text("line 6")
    visitor.context.unroute_all()
    visitor.forgive("404")
    round_trip(visitor)


def test_a_file_of_the_menu_predicts_the_same_in_onnxruntime(
    visitor: Playground, tmp_path: Path
) -> None:
    visitor.finish(GOOD)
    visitor.at("export").click()
    path = visitor.download("export-menu-onnx", tmp_path)
    assert path.name == "model.onnx"
    visitor.page.keyboard.press("Escape")
    onnx.checker.check_model(str(path), full_check=True)
    assert onnx.load(path).opset_import[0].version == 13
    weights, x = visitor.weights(), randoms(5, 4)
    hidden = np.tanh(x @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    expected = hidden @ weights["dense_2/kernel"] + weights["dense_2/bias"]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
