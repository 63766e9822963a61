"""TensorFlow.js in Chromium: opens exported networks and predicts."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Route

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[2]
LAYERS = ROOT / "node_modules" / "@tensorflow" / "tfjs-layers" / "package.json"
VERSION = f"tfjs-layers {json.loads(LAYERS.read_text(encoding='utf-8'))['version']}"
ORIGIN = "http://model.test"
ENTRY = """
export { setBackend, tensor } from "@tensorflow/tfjs-core";
export { loadLayersModel } from "@tensorflow/tfjs-layers";
import "@tensorflow/tfjs-backend-cpu";
"""
BUNDLE = """import {{ build }} from "rolldown";
await build({{
  input: "entry",
  plugins: [{{
    name: "entry",
    resolveId: (id) => (id === "entry" ? id : null),
    load: (id) => (id === "entry" ? {entry} : null),
  }}],
  logLevel: "warn",
  output: {{ file: {script}, format: "iife", name: "tf" }},
}});
"""
PREDICT = """async ([url, inputs]) => {
  await tf.setBackend("cpu");
  const model = await tf.loadLayersModel(url);
  const xs = inputs.map(({ data, shape, dtype }) => tf.tensor(data, shape, dtype));
  const results = [model.predict(xs.length > 1 ? xs : xs[0])].flat();
  return [model.layers.map(({ name }) => name),
          results.map((y) => ({ shape: y.shape, data: [...y.dataSync()] }))];
}"""

Predict = Callable[[Path, list[Array]], tuple[list[str], list[Array]]]


def _script(folder: Path) -> Path:
    """Return TensorFlow.js as one script."""
    script = folder / "tf.js"
    program = BUNDLE.format(entry=json.dumps(ENTRY), script=json.dumps(str(script)))
    subprocess.run(["node", "--input-type=module", "-e", program], cwd=ROOT, check=True)
    return script


@contextmanager
def tensorflow_js(browser: Browser, folder: Path) -> Iterator[Predict]:
    """Within the block, a function opens files: names of layers, and predictions."""
    page = browser.new_page()
    files: dict[str, bytes] = {"/": b"<!doctype html><title>model</title>"}

    def answer(route: Route) -> None:
        route.fulfill(body=files[route.request.url.removeprefix(ORIGIN)])

    page.route(f"{ORIGIN}/**", answer)
    page.goto(f"{ORIGIN}/")
    page.add_script_tag(path=_script(folder))

    def opened(path: Path, xs: list[Array]) -> tuple[list[str], list[Array]]:
        with zipfile.ZipFile(path) as archive:
            assert archive.namelist() == ["model.json", "weights.bin"]
            files.update({f"/{name}": archive.read(name) for name in archive.namelist()})
        inputs = [{"data": x.ravel().tolist(), "shape": x.shape, "dtype": x.dtype.name} for x in xs]
        names, results = page.evaluate(PREDICT, [f"{ORIGIN}/model.json", inputs])
        return names, [np.array(y["data"], np.float32).reshape(y["shape"]) for y in results]

    yield opened
    page.close()
