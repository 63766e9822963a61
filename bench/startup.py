"""Measures the phases from opening the page to the first training step of the MNIST example.

The example's program runs in the page's workers, on a blank page. The cost of the page's modules is
measured separately, as the time until the real page shows that it is ready.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from bench.browser import Tab
from playgrad import paths
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache

# Times the parts of the library, with the same clock as the page.
_PRELUDE = """
import json, time
import playgrad as _pg
from playgrad.compiler import compile as _compile
from playgrad.devices import webgpu as _webgpu
from playgrad.training import training_data as _training_data
from playgrad.runtime import programs as _programs
from playgrad.runtime import session as _session
_spent, _began, _inside, _originals = {}, time.time(), [0.0], []

def _timed(owner, name, label):
    original = getattr(owner, name)
    _originals.append((owner, name, original))
    def wrapper(*arguments, **named):
        started = time.perf_counter()
        _inside.append(0.0)
        try:
            return original(*arguments, **named)
        finally:
            whole = time.perf_counter() - started
            # Calls measured inside this one count there.
            _spent[label] = _spent.get(label, 0.0) + whole - _inside.pop()
            _inside[-1] += whole
    setattr(owner, name, wrapper)

class _FirstStep(Exception):
    pass

_timed(_pg.data, "mnist", "MNIST: download and unpack")
_timed(_training_data, "build_train_step", "building the graph")
_timed(_session.Session, "assign_data", "MNIST: to the device")
_timed(_programs.Programs, "initialize", "initial values")
_timed(_programs, "compile_program", "graph to segments")
_timed(_compile.Compiled, "plan", "segments to Plan")
_timed(_webgpu.WebGpuDevice, "load", "pipelines and buffers")
_timed(_session.Session, "__init__", "opening the device")
_timed(_session.Session, "repeat", "first step")

_repeat_timed = _session.Session.repeat

def _repeat(self, *arguments, **named):
    _repeat_timed(self, *arguments, **named)
    _spent["all"] = time.time() - _began
    raise _FirstStep

_session.Session.repeat = _repeat
"""
_RUN = """
try:
    exec(compile(EXAMPLE, "mnist-mlp.py", "exec"), {"__name__": "__main__"})
except _FirstStep:
    print("RESULT" + json.dumps({"began": _began, "spent": _spent}))
finally:
    for _owner, _name, _original in reversed(_originals):
        setattr(_owner, _name, _original)
"""

READY = """(milliseconds) => new Promise((resolve, reject) => {
  setTimeout(reject, milliseconds, new Error("the page did not become ready"));
  const look = () => {
    const status = document.querySelector("[data-testid=status]");
    if (status?.textContent === "ready") resolve(performance.now());
    else setTimeout(look, 5);
  };
  look();
})"""


def measure(tab: Tab, repeats: int) -> list[dict[str, float]]:
    """Return the milliseconds of each phase, one record per repeat."""
    example = (paths.static() / "examples" / "mnist-mlp.py").read_text(encoding="utf-8")
    source = f"{_PRELUDE}\nEXAMPLE = {example!r}\n{_RUN}"
    ImageCache(BundleCache()).make()
    records = []
    for _ in range(repeats):
        ran = tab.run_playgrad(source, "gpu", runs=2)
        if "error" in ran:
            raise RuntimeError(ran["error"])
        records.append(_phases(ran) | {"the real page until it is ready": _page(tab)})
    return records


def _phases(ran: dict[str, Any]) -> dict[str, float]:
    marks, (result, again) = ran["marks"], ran["results"]
    timings, spent = marks["timings"], result["spent"]
    began = 1000 * result["began"] - ran["origin"]
    inside = {name: 1000 * seconds for name, seconds in spent.items() if name != "all"}
    everything = 1000 * spent["all"]
    second = 1000 * (again["began"] + again["spent"]["all"]) - ran["origin"] - ran["begun"][1]
    parts = {f"of which {name}": 1000 * again["spent"].get(name, 0.0) for name in inside}
    return {
        "navigation until the workers start": marks["client"],
        "Python, NumPy and library": timings["python"],
        "joining the page": timings["library"] - timings["python"],
        "until the program runs": began - marks["client"] - timings["library"],
        **inside,
        "everything else until then": everything - sum(inside.values()),
        "navigation until the first step has ended": began + everything,
        "second Run until its first step has ended": second,
        **parts,
        "of which everything else": second - sum(parts.values()),
    }


def _page(tab: Tab) -> float:
    """Return the milliseconds from navigation until the page's status reads "ready"."""
    with tab.page() as page:
        page.goto(f"{tab.playgrad}/")
        ready: float = page.evaluate(READY, tab.milliseconds)
    return ready


def table(records: list[dict[str, float]]) -> str:
    """Return a table of median, minimum and maximum of each phase."""
    lines = ["| | ms | min–max |", "|---|---|---|"]
    for name in records[0]:
        values = [record[name] for record in records]
        lines.append(f"| {name} | {median(values):.0f} | {min(values):.0f}–{max(values):.0f} |")
    return "\n".join(lines)
