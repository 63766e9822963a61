"""Runs every example on every host: the seconds that each takes, and the last line of its output.

python -m bench.examples                          all of them: an hour or two on two cores
python -m bench.examples --only lenet --hosts desktop-cpu page-webgpu
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

from bench.browser import Tab, opened_tab
from bench.paths import ROOT
from playgrad import paths

HOSTS = {
    "desktop-cpu": "cpu",
    "desktop-wgpu": "gpu",
    "page-cpu": "cpu",
    "page-webgpu": "gpu",
}
"""The device that each host uses."""

# The program's own output is kept, so that its last line can be shown.
_TIMED = """
import contextlib, io, json, time
_kept, _began = io.StringIO(), time.time()
with contextlib.redirect_stdout(_kept):
    exec(compile({source!r}, {name!r}, "exec"), {{"__name__": "__main__"}})
_lines = _kept.getvalue().strip().splitlines() or [""]
print("RESULT" + json.dumps({{"seconds": time.time() - _began, "last": _lines[-1]}}))
"""

Outcome = dict[str, Any]


def examples() -> list[str]:
    return sorted(path.stem for path in (paths.static() / "examples").glob("*.py"))


def on_desktop(name: str, device: str, seconds: float) -> Outcome:
    """Run an example with `playgrad train`; its time includes the start of Python."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "app")])}
    command = [sys.executable, "-m", "playgrad.cli", "train", name, "--device", device]
    began = time.monotonic()
    try:
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return _late(seconds)
    lines = (ran.stdout if ran.returncode == 0 else ran.stderr).strip().splitlines() or [""]
    if ran.returncode != 0:
        return {"error": lines[-1]}
    return {"seconds": time.monotonic() - began, "last": lines[-1]}


def in_page(tab: Tab, name: str, device: str) -> Outcome:
    """Run an example in the page's workers; its time is that from Run to the end."""
    source = (paths.static() / "examples" / f"{name}.py").read_text(encoding="utf-8")
    ran = tab.run_playgrad(_TIMED.format(source=source, name=f"{name}.py"), device)
    if "error" in ran:
        is_late = "come to an end" in str(ran["error"])
        return _late(tab.milliseconds / 1000) if is_late else {"error": _short(ran["error"])}
    outcome: Outcome = ran["results"][0]
    return outcome


def _late(seconds: float) -> Outcome:
    return {"more_than": seconds}


def _short(error: Any) -> str:
    """Return what is wrong without the traceback, from the page's message."""
    try:
        described = json.loads(str(error))
    except ValueError:
        return str(error)
    return f"{described['type']}: {described['message']}"


def _cell(outcome: Outcome) -> str:
    if "error" in outcome:
        return str(outcome["error"])
    return (
        f"> {outcome['more_than']:.0f}" if "more_than" in outcome else f"{outcome['seconds']:.0f}"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench.examples", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", default=examples(), choices=examples(), metavar="NAME")
    parser.add_argument("--hosts", nargs="+", default=list(HOSTS), choices=HOSTS)
    parser.add_argument("--patience", type=float, default=180, help="seconds for each run")
    parser.add_argument("--hardware", action="store_true", help="use the machine's GPU")
    options = parser.parse_args(arguments)
    failed = False
    rows: dict[str, list[str]] = {}
    with opened_tab(options.patience, options.hardware) as tab:
        for name in options.only:
            for host in options.hosts:
                device = HOSTS[host]
                if host.startswith("page"):
                    outcome = in_page(tab, name, device)
                else:
                    outcome = on_desktop(name, device, options.patience)
                failed |= "error" in outcome
                rows.setdefault(name, []).append(_cell(outcome))
                print(f"{name}, {host}: {json.dumps(outcome)}", file=sys.stderr, flush=True)
    print(f"| example | {' | '.join(options.hosts)} |\n|---|{'---:|' * len(options.hosts)}")
    for name, texts in rows.items():
        print(f"| `{name}` | {' | '.join(texts)} |")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
