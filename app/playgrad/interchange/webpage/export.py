"""``page_text``: a network as one HTML file that predicts in any browser, from the disk."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from typing import Any

from playgrad import paths
from playgrad.interchange.webpage.about import Names, about, fixed_shapes
from playgrad.interchange.webpage.program import page_program
from playgrad.networks.inference import InferenceGraph

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main id="main"><noscript>This page needs JavaScript.</noscript></main>
<script type="application/json" id="about">{about}</script>
<script type="text/plain" id="network">{network}</script>
<script type="text/plain" id="weights">{weights}</script>
<script>{player}</script>
</body>
</html>
"""


def page_text(model: Any, network: InferenceGraph, names: Names | None = None) -> str:
    """Return the page of a network. It has the weights, and asks no server for anything.

    Args:
        model: the model, whose last training tells the kinds of the inputs and outputs.
        names: the names of classes and columns.

    Raises:
        ExportError: an operation cannot run in the page, or the size of an input is unknown.
    """
    shapes = fixed_shapes(model, network)
    program = page_program(network, shapes)
    player, style = (
        paths.player().joinpath(name).read_text(encoding="utf-8")
        for name in ("player.js", "player.css")
    )
    described = about(model, network, shapes, names or Names())
    if program.looks_up and any(view["kind"] != "text" for view in described["inputs"]):
        # WebAssembly checks what it looks up. Numbers of a text are those of its vocabulary.
        program.plan = None
    return _PAGE.format(
        policy=_policy(player, style),
        title=html.escape(described["title"]),
        style=style,
        about=_json(described),
        network=_packed(json.dumps(program.content).encode()),
        weights=_packed(program.weights),
        player=player,
    )


def _policy(player: str, style: str) -> str:
    """Return a policy that allows the page's own script and style, WebAssembly, and no network."""
    own = {
        name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for name, text in (("script-src", player), ("style-src", style))
    }
    rules = [f"{name} 'sha256-{digest}'" for name, digest in own.items()]
    rules[0] += " 'wasm-unsafe-eval'"  # the network is a WebAssembly module
    return "; ".join(["default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'"])


def _json(value: Any) -> str:
    """Return JSON that cannot end the element that it is in."""
    return json.dumps(value).replace("<", "\\u003c")


def _packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 6)).decode()
