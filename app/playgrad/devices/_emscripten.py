"""WebAssembly modules beside Python's own, on the same memory: arrays are passed by address.

For every interpreter of a page, the processors of which have no other host.
"""

from __future__ import annotations

from typing import Any

import js
import pyodide_js
from pyodide.ffi import to_js


def can_run(module: bytes) -> bool:
    """Return whether the browser has the instructions of ``module``."""
    return bool(js.WebAssembly.validate(to_js(module)))


def instantiate(module: bytes) -> Any:
    """Return the exports of a module that imports ``host.memory``."""
    host = js.Object.fromEntries(to_js([["memory", pyodide_js._module.memory]]))
    imports = js.Object.fromEntries(to_js([["host", host]]))
    return js.WebAssembly.Instance.new(js.WebAssembly.Module.new(to_js(module)), imports).exports
