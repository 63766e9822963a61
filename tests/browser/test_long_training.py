"""Half an hour of compiled training leaves memory as it was, in the page without a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import long_training
from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

MINUTES = 30
PROGRAM = """
import json
import pyodide_js
print("measured" + json.dumps(long_training(SECONDS, lambda: pyodide_js._module.HEAPU8.length)))
"""


@pytest.mark.slow
def test_half_an_hour_of_training_takes_no_more_memory(playground: Playground) -> None:
    source = Path(long_training.__file__).read_text(encoding="utf-8")
    source = source.replace("from __future__ import annotations\n", "")
    program = f"SECONDS = {60 * MINUTES}\n{source}{PROGRAM}"
    playground.choose_device("cpu")
    playground.start(program)
    playground.expect_status("running")
    playground.expect_status("done", seconds=60 * MINUTES + 300)
    line = next(x for x in playground.text("console").splitlines() if x.startswith("measured"))
    # The heap grows by a fifth when it must, which may come late.
    long_training.check_flat(json.loads(line.removeprefix("measured")), 32_000_000)
