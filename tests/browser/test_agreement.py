"""The table of agreement with other libraries in docs/interchange.md agrees with this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.interchange.agreement import HEADER, rows

# Keras converts batches to torch by a protocol that NumPy 2 deprecates.
pytestmark = [
    pytest.mark.browser,
    pytest.mark.pyodide,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "interchange.md"
WRITTEN = ROOT / "var" / "agreement.md"
MOST = 1e-5


@pytest.mark.slow
def test_other_libraries_agree_as_the_documentation_says(
    chromium: Browser, server: str, tmp_path: Path
) -> None:
    """Formats, libraries and versions are as in the docs; errors differ between machines."""
    table, errors = [HEADER], {}
    for row in rows(chromium, server):
        folder = tmp_path / f"{row.format} {row.direction}"
        folder.mkdir()
        errors[f"{row.format} {row.direction}"] = error = row.error(folder)
        table.append(row.line(f"{error:.0e}" if error else "0"))
    WRITTEN.parent.mkdir(exist_ok=True)
    WRITTEN.write_text("\n".join(table) + "\n", encoding="utf-8")
    assert max(errors.values()) <= MOST, errors
    documented = DOCS.read_text(encoding="utf-8")
    for line in table:
        pattern = re.escape(line.rsplit("|", 2)[0]) + r"\| [\de.\-]+ \|$"
        found = line in documented or re.search(pattern, documented, re.MULTILINE)
        assert found, f"docs/interchange.md has not: {line}\nCopy the table from {WRITTEN}."
