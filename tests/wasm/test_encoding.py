"""Encodings that the specification of WebAssembly gives, and types that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad.wasm.encoding import F32, I32, V128, signed, unsigned
from playgrad.wasm.module import Module
from playgrad.wasm.values import integer, zeros
from tests.wasm.wasmtime_host import WasmtimeHost


def test_numbers_are_encoded_in_leb128() -> None:
    assert unsigned(624485) == b"\xe5\x8e\x26"
    assert signed(-123456) == b"\xc0\xbb\x78"
    assert [signed(n) for n in (63, 64, -64, -65)] == [b"\x3f", b"\xc0\x00", b"\x40", b"\xbf\x7f"]


def test_integers_of_any_size_survive() -> None:
    numbers = [0, 63, 64, -64, -65, 8191, 8192, 2**31 - 1, -(2**31)]
    module = Module()
    f = module.procedure([I32], "store")
    for place, number in enumerate(numbers):
        f.store(f.arguments[0], integer(number), 4 * place)
    host = WasmtimeHost(module.encode(), 1 << 16)
    host.function("store")(256)
    np.testing.assert_array_equal(host.view(256, (len(numbers),), np.int32), numbers)


def test_types_that_do_not_fit_are_refused() -> None:
    module = Module()
    f = module.procedure([I32])
    with pytest.raises(TypeError, match="expected v128, got i32"):
        zeros() + integer(1)
    with pytest.raises(TypeError, match="expected f32, got v128"):
        f.set(f.local(F32), zeros())
    with pytest.raises(TypeError, match="expected i32, got v128"):
        zeros().load(V128)
    with pytest.raises(TypeError, match="expected i32, got v128"):
        f.call(f, zeros())
