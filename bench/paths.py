"""Paths of the benchmark's files."""

from __future__ import annotations

from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
WEB = BENCH / "web"
VAR = ROOT / "var" / "bench"
DATA = VAR / "data"
NPM = VAR / "node_modules"
PYTHON = VAR / "python"
DAWN = PYTHON / "pydawn" / "lib" / "libwebgpu_dawn.so"
