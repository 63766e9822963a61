"""Compiled operations in Chromium and in wasmtime: the same bits for the samples of the contract.

Firefox and WebKit are compared in `test_other_browsers.py`.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from tests.wasm.all_samples import IN_PAGE, all_samples

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("relaxed", [False, True], ids=["simd", "relaxed"])
def test_samples_have_the_bits_of_wasmtime(blank_page: Page, relaxed: bool) -> None:
    samples = all_samples(relaxed)
    assert len(samples.cases) > 700
    script = f"async (samples) => {{ {IN_PAGE} }}"
    memory = base64.b64decode(blank_page.evaluate(script, samples.for_a_page))
    samples.check_done(memory)
    differing = samples.differing(samples.in_wasmtime(), memory)
    if relaxed:  # each host may keep or round the digits of a product
        assert max(differing.values(), default=0.0) < 4e-6
    else:
        assert differing == {}
