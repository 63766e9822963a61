"""Python with gigabytes in memory: addresses above 2^31, which JavaScript gets as negative numbers.

Whatever crosses between Python and JavaScript is the same as in a small memory, bit for bit.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
import safetensors.numpy
from playwright.sync_api import Error as PlaywrightError

from playgrad.io import decode
from tests.browser.conftest import Engine
from tests.sweeps import dice, slow

pytestmark = [
    pytest.mark.browser,
    pytest.mark.pyodide,
    pytest.mark.gpu,
    pytest.mark.survival("Python with gigabytes in memory"),
]

SIZES = [2.2, *slow(2.6, 3.0, 3.5)]
BOUNDARY = 1 << 31

# Fill gaps of every size below as well, so that everything allocated later lies above.
HOLD = f"""
import numpy as np
held = [np.ones(100 << 20, np.uint8) for _ in range(BLOCKS)]
for size in (1 << 22, 1 << 18, 1 << 14, 1 << 12, 2000, 1000, *range(560, 0, -16)):
    above = 0
    while above < 50:
        held.append(bytes(size))
        above = above + 1 if id(held[-1]) >= {BOUNDARY} else 0
"""

PROGRAM = """
import hashlib, zlib
import numpy as np
import playgrad as pg
from playgrad import nn

def sha(array):
    return hashlib.sha256(array).hexdigest()

(x, y), (x_test, y_test) = pg.data.mnist()
print("data", *(zlib.crc32(array) for array in (x, y, x_test, y_test)))
model = pg.Sequential([
    nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(300, activation="relu"), nn.Dense(10),
])
model.compile(
    pg.optim.Adam(0.001), nn.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"],
    device="DEVICE", strategy=STRATEGY,
)
history = model.fit(
    x[:1000], y[:1000], batch_size=100, epochs=2, verbose=0,
    validation_data=(x_test[:200], y_test[:200]),
)
print("losses", history.losses.tobytes().hex())
for name, array in model.named_weights().items():
    print("weights", name, array.shape, sha(array))
print("predicted", sha(model.predict(x_test[:50])))
print("a long text of the program, in one byte a character", "abc" * 5000)
print("of two bytes", "жуж" * 3000, "and of four", "😀" * 3000)
model.save_weights("/tmp/weights.npz")
with open("/tmp/weights.npz", "rb") as file:
    print("file", hashlib.sha256(file.read()).hexdigest())
"""

# Asks as the page does; bytes come back as base64.
ASK = """async ([question, payload]) => {
  const code = (character) => character.charCodeAt(0);
  const bytes = payload === null ? undefined : Uint8Array.from(atob(payload), code);
  const answer = await engine.client.ask(question, bytes);
  if (!answer.bytes) return answer;
  let text = "";
  for (const byte of answer.bytes) text += String.fromCharCode(byte);
  return { ...answer, bytes: btoa(text) };
}"""


class Results(dict[str, Any]):
    """All that a program's run and the questions after it gave."""


def ask(engine: Engine, question: dict[str, Any], payload: bytes | None = None) -> Any:
    encoded = None if payload is None else base64.b64encode(payload).decode()
    return engine.page.evaluate(ASK, [question, encoded])


def source(device: str, strategy: str, hold: str) -> str:
    """The program; what it holds is one line, so that the graph's lines stay the same."""
    program = PROGRAM.replace("DEVICE", device).replace("STRATEGY", strategy)
    return f"exec({json.dumps(hold)}){program}"


def everything(engine: Engine, device: str, hold: str = "", strategy: str = "None") -> Results:
    """Run the program, then ask what the page asks; return all outcomes."""
    results = Results()
    before = len(engine.events("progress"))
    run = engine.run(source(device, strategy, hold), devices=2)
    assert run["state"] == "done", run
    results["stdout"] = run["stdout"]
    results["graph event"] = engine.events("graph")[-1]
    # How many points an event has depends on time.
    events = engine.events("progress")[before:]
    results["progress"] = [point for event in events for point in event["points"]]
    for name in ("safetensors", "npz"):
        answer = ask(engine, {"kind": "export", "format": name})
        content = base64.b64decode(answer.pop("bytes"))
        assert answer["sha256"] == hashlib.sha256(content).hexdigest()
        results[name] = content
    check_weights(results)
    pixels = [(i * 7 % 100) / 100 for i in range(784)]
    results["predict"] = ask(engine, {"kind": "predict", "pixels": pixels})
    results["graph"] = ask(engine, {"kind": "graph"})
    placement = ask(engine, {"kind": "placement"})
    results["placement"] = sorted(placement)  # its values are measured times
    doubled = {name: array * 2 for name, array in decode(results["safetensors"]).items()}
    imported = safetensors.numpy.save(doubled)
    results["import"] = ask(engine, {"kind": "import", "name": "w.safetensors"}, imported)
    results["doubled"] = ask(engine, {"kind": "predict", "pixels": pixels})
    return results


def check_weights(results: Results) -> None:
    """The exported files contain the weights that the program printed."""
    lines = [line for line in results["stdout"].splitlines() if line.startswith("weights ")]
    for content in (results["safetensors"], results["npz"]):
        found = [
            f"weights {name} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
            for name, array in decode(content).items()
        ]
        assert found == lines


def hold(gigabytes: float) -> str:
    return HOLD.replace("BLOCKS", str(round(gigabytes * 10)))


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str], Results]:
    """Results in a small memory, by device and strategy, once there are any."""
    return {}


_PAIR = "pg.parallel.DataParallel(['{0}:0', '{0}:1'])"


@pytest.mark.parametrize(
    ("device", "strategy"),
    [
        ("gpu:0", "None"),
        ("cpu:0", "None"),
        ("gpu:0", _PAIR.format("gpu")),
        ("cpu:0", _PAIR.format("cpu")),
    ],
    ids=["gpu", "cpu", "gpus", "cpus"],
)
@pytest.mark.parametrize("gigabytes", SIZES)
@pytest.mark.slow
def test_results_do_not_depend_on_addresses(
    engine: Engine,
    expected: dict[tuple[str, str], Results],
    gigabytes: float,
    device: str,
    strategy: str,
) -> None:
    """Training, texts, weights, files, predictions, graphs and data are as with a small memory,
    also in a second run."""
    case = (device, strategy)
    if case not in expected:
        expected[case] = everything(engine, device, strategy=strategy)
    for number in range(2 if gigabytes > 2.5 else 1):
        results = everything(engine, device, hold(gigabytes), strategy)
        for name, value in expected[case].items():
            assert results[name] == value, (name, number)


# Takes all memory, down to pieces of a size.
FILL = """
held = []
size = 256 << 20
while size >= LEAST:
    try:
        held.append(np.empty(size, np.uint8))
    except MemoryError:
        size //= 2
"""
PLACES = {
    "before the data": ("(x, y), (x_test, y_test)", "MemoryError"),
    "before the model": ("model = pg.Sequential", None),
    "before training": ("history = model.fit", None),
    "after training": ('print("predicted"', None),
    "at the end": ('print("of two bytes"', None),
}
"""The place where the program fills memory, and the error that follows for certain."""


@pytest.mark.parametrize(
    ("least", "places"),
    [
        pytest.param(1 << 16, [dice("memory").choice(("before training", "at the end"))], id="one"),
        *(
            pytest.param(least, list(PLACES), id=str(least), marks=pytest.mark.slow)
            for least in (1 << 22, 1 << 16, 1 << 8)
        ),
    ],
)
def test_the_page_survives_a_program_that_takes_all_memory(
    engine: Engine,
    least: int,
    places: list[str],
    record_property: Callable[[str, object], None],
) -> None:
    """It ends with a readable error or as if it had not; nothing wrong is exported; the page works
    on."""
    assert engine.run(source("gpu:0", "None", ""))["state"] == "done"
    expected = ask(engine, {"kind": "export", "format": "safetensors"})["bytes"]
    fill = FILL.replace("LEAST", str(least))
    for place in places:
        line, error = PLACES[place]
        program = source("gpu:0", "None", "").replace(line, fill + line)
        run = engine.run(program)
        assert run["state"] in ("done", "error"), (place, run)
        if run["state"] == "error":
            assert run["error"]["type"] in ("MemoryError", "OutOfMemoryError"), (place, run)
            assert len(run["error"]["message"]) > 40, (place, run)
        else:
            assert error is None, place
        trained = "weights dense_1/kernel" in run["stdout"]
        assert trained or place not in ("after training", "at the end"), (place, run)
        try:
            exported = ask(engine, {"kind": "export", "format": "safetensors"})["bytes"]
        except PlaywrightError as failure:
            assert not trained, (place, failure)
            assert "crash" not in str(failure), (place, failure)
        else:
            assert exported == expected or not trained, place
        after = engine.run("print('the page works on')")
        assert (after["state"], after["stdout"]) == ("done", "the page works on\n"), (place, after)
    record_property("tried", len(places))
