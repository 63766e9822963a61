"""Compares strategies on several devices with one device, in the page and on the desktop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from bench.browser import Tab
from bench.paths import BENCH, ROOT
from bench.strategies import STRATEGIES

Row = dict[str, Any]
NETWORKS = ("mlp", "cnn")
EQUAL = ("synchronous", "gpipe", "1f1b", "interleaved", "bidirectional")
"""Strategies that must give the result of one device."""
TOLERANCE = 1e-4
"""Largest relative difference of their losses: sums are computed in a different order."""
_HEAD = (
    "strategy | devices | steps/s | against one | losses differ by | bubble: measured, formula "
    "| bytes per step | moving tensors |"
)


def measure(tab: Tab, quick: bool, seconds: float) -> dict[str, list[Row]]:
    """Return rows by title: each network on desktop processors and on GPU workers of the page.

    Args:
        quick: one network, two strategies, two devices, few steps.
        seconds: for each table; rows that would start later are left out.
    """
    settings: dict[str, Any] = {
        "steps": 8 if quick else 50,
        "timed": 4 if quick else 20,
        "devices": [2] if quick else [2, 4],
        "strategies": ["synchronous", "1f1b"] if quick else list(STRATEGIES),
        "seconds": seconds,
    }
    tables: dict[str, list[Row]] = {}
    for network in NETWORKS[:1] if quick else NETWORKS:
        tables[f"{network}, desktop, cpu"] = _on_desktop(network, settings)
        tables[f"{network}, page, gpu"] = _in_page(tab, network, settings)
    return tables


def problems(tables: Mapping[str, Iterable[Row]]) -> list[str]:
    """Return a message for each row that wrongly differs from one device."""
    return [
        f"{title}: {row['strategy']} on {row['devices']} devices differs by {row['error']:.1e}"
        for title, rows in tables.items()
        for row in rows
        if row["strategy"] in EQUAL and not row["error"] < TOLERANCE
    ]


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    one = rows[0]["steps_per_second"]
    lines = [f"| {_HEAD}", "|---" * 8 + "|"]
    for row in rows:
        speed = row["steps_per_second"]
        cells = [row["strategy"], row["devices"], f"{speed:.3g}", f"{speed / one:.2f} ×"]
        if row["devices"] == 1:
            cells += ["–"] * 4
        else:
            bubble = "–"
            if row["bubble"] is not None:
                bubble = f"{row['bubble']:.0%}, {row['formula']:.0%}"
            error = f"{row['error']:.1e}"
            shown = error if row["strategy"] in EQUAL else f"({error})"
            cells += [shown, bubble, f"{row['bytes']:,}", f"{row['communication']:.0%}"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _on_desktop(network: str, settings: dict[str, Any]) -> list[Row]:
    path = os.pathsep.join([str(ROOT), str(ROOT / "app")])
    command = [sys.executable, "-m", "bench.strategies", network, "cpu", json.dumps(settings)]
    environment = os.environ | {"PYTHONPATH": path}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"bench: {ran.stderr}")
    rows: list[Row] = json.loads(ran.stdout.rpartition("RESULT")[2])
    return rows


def _in_page(tab: Tab, network: str, settings: dict[str, Any]) -> list[Row]:
    text = (BENCH / "strategies.py").read_text(encoding="utf-8")
    text = text.replace("from __future__ import annotations\n", "").partition("\nif __name__")[0]
    call = f"measure({network!r}, 'gpu', {settings!r})"
    ran = tab.run_playgrad(f"{text}\nprint('RESULT' + json.dumps({call}))\n", "gpu")
    if "error" in ran:
        raise SystemExit(f"bench: {ran['error']}")
    rows: list[Row] = ran["results"][0]
    return rows
