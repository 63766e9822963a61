"""Paint the pictures of the gallery: ``python -m tools.gallery``, or with names of examples.

Each example is trained in full on the processor, in a process of its own, and its picture shows
what came out; all of them take a quarter of an hour. Look at the pictures in ``static/gallery``
before you commit them.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import os
import subprocess
import sys

from playwright.sync_api import Page

from bench.browser import chromium
from bench.examples import examples
from bench.paths import ROOT
from playgrad import paths
from tools.gallery import boards, images, planes, structures
from tools.gallery.drawing import Picture
from tools.gallery.trained import PAINTERS, train

__all__ = ["boards", "images", "planes", "structures"]  # they register painters

FOLDER = paths.static() / "gallery"
MAX_BYTES = 8000
SCALES = (1.5, 1)
"""Pixels for each unit of a picture, sharper ones first."""
QUALITIES = (100, 92, 86, 80, 74, 68, 62, 56, 50, 44)
"""In percent; 100 is without loss, which takes less room where there is little in a picture."""

_WEBP = """async ([svg, scale, quality]) => {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * scale;
  canvas.height = image.height * scale;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""


def main(arguments: list[str]) -> None:
    """Paint the pictures of some examples, or of all."""
    parser = argparse.ArgumentParser(
        prog="tools.gallery", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--svg", metavar="NAME", help="print one picture as SVG")
    options = parser.parse_args(arguments)
    if options.svg:
        print(paint(options.svg))
        return
    failed = []
    with chromium() as browser:
        page = browser.new_page()
        for name in options.names or examples():
            try:
                content = _webp(page, _in_process(name))
            except (subprocess.CalledProcessError, ValueError) as problem:
                print(f"{name}: {problem}", flush=True)
                failed.append(name)
                continue
            (FOLDER / f"{name}.webp").write_bytes(content)
            print(f"{name}: {len(content)} bytes", flush=True)
    if failed:
        raise SystemExit(f"without a picture: {', '.join(failed)}")


def paint(name: str) -> str:
    """Train an example and return its picture as SVG."""
    picture = Picture()
    trained = train(name)
    with contextlib.redirect_stdout(sys.stderr):  # a painter may call what the example defines
        PAINTERS[name](picture, trained)
    return picture.svg()


def _in_process(name: str) -> str:
    command = [sys.executable, "-m", "tools.gallery", "--svg", name]
    environment = os.environ | {"PLAYGRAD_DEVICE": "cpu"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def _webp(page: Page, svg: str) -> bytes:
    """Return the sharpest picture of at most `MAX_BYTES`."""
    for scale in SCALES:
        for percent in QUALITIES:
            content = base64.b64decode(page.evaluate(_WEBP, [svg, scale, percent / 100]))
            if len(content) <= MAX_BYTES:
                return content
    raise ValueError(f"the picture has more than {MAX_BYTES} bytes: draw less")


if __name__ == "__main__":
    main(sys.argv[1:])
