"""Where the server's image of Python's memory does not come, a page makes its own for later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.bad_network import BadNetwork
from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.slow]

IMAGE = "/image/python.bin"
SCRIPTS = [f"/static/engine/image{part}.js" for part in ("-worker", "-making", "")]
MADE_OF = """async (scripts) => {
  const keys = await (await caches.open("playgrad-1")).keys();
  const { url } = keys.find(({ url }) => new URL(url).pathname === "/image/made.bin");
  const { files } = await (await fetch("/version.json")).json();
  const there = scripts.filter((path) => path in files);
  return there.length > 0 && there.every((path) => url.includes(files[path].slice(0, 16)));
}"""
DAMAGE = """async () => {
  const cache = await caches.open("playgrad-1");
  const key = (await cache.keys()).find(({ url }) => new URL(url).pathname === "/image/made.bin");
  const response = await cache.match(key);
  const bytes = new Uint8Array(await response.arrayBuffer());
  for (let at = bytes.length - 20e6; at < bytes.length - 19e6; at += 7) bytes[at] ^= 255;
  await cache.put(key, new Response(bytes, { headers: response.headers }));
}"""
KEPT = """async () => {
  const keys = await (await caches.open("playgrad-1")).keys();
  const made = keys.filter(({ url }) => new URL(url).pathname === "/image/made.bin");
  return [made.length, Boolean(await caches.match("/kept/current"))];
}"""
PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(32, 2)
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(1)])
model.compile(pg.optim.SGD(0.1), loss=nn.MeanSquaredError())
model.fit(x, x.sum(1, keepdims=True), batch_size=8, epochs=2, verbose=0)
print("computed", np.linalg.det(np.eye(3)), np.random.random())
"""


@pytest.fixture
def network(server: str) -> Iterator[BadNetwork]:
    network = BadNetwork(server)
    yield network
    network.close()


def test_a_second_visit_starts_from_an_image_that_the_first_has_made(
    chromium: Browser, network: BadNetwork
) -> None:
    network.break_("missing", IMAGE)
    visitor = Playground(chromium, network.address, service_workers="allow")
    said: list[str] = []
    visitor.context.on("console", lambda message: said.append(message.text))
    visitor.expect_status("ready")
    assert IMAGE in network.asked
    drawn = visitor.finish(PROGRAM)
    assert "computed 1.0 0." in drawn
    visitor.wait(lambda: visitor.page.evaluate(KEPT) == [1, True])
    assert visitor.page.evaluate(MADE_OF, SCRIPTS), "other scripts make another image"

    # Without the server, too: nothing is fetched, and nothing drawn twice.
    with network.broken("reset", lambda path: True):
        said.clear()
        network.asked.clear()
        visitor.page.reload(wait_until="commit")
        visitor.page.wait_for_selector("[data-testid=status]")
        visitor.expect_status("ready", "done")
        again = visitor.finish(PROGRAM)
        assert "computed 1.0 0." in again and again not in drawn
        assert not any("without an image" in text for text in said), said
    assert IMAGE not in network.asked, "17 MB, for what is there"

    # One that the browser has damaged does not run: it would end the tab.
    visitor.page.evaluate(DAMAGE)
    visitor.page.reload(wait_until="commit")
    visitor.page.wait_for_selector("[data-testid=status]")
    visitor.expect_status("ready", "done")
    assert any("made.bin arrived damaged" in text for text in said), said
    visitor.forgive("Failed to load resource")
    visitor.close()
