"""The documentation: the site of guides and reference."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "var" / "docs"
