"""``fingerprint``: FarmHash's Fingerprint64 (Pike 2014), by which Keras hashes texts."""

from __future__ import annotations

import struct

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_MASK = 0xFFFFFFFFFFFFFFFF
_MOST = 64


def fingerprint(text: str) -> int:
    """Return 64 bits that depend on ``text`` alone.

    They are Keras' for texts of up to 64 bytes; longer ones are hashed in pieces.
    """
    data = text.encode("utf-8")
    if len(data) <= 16:
        return _up_to_16(data)
    if len(data) <= 32:
        return _up_to_32(data)
    if len(data) <= _MOST:
        return _up_to_64(data)
    pieces = [data[i : i + _MOST] for i in range(0, len(data), _MOST)]
    result = len(data)
    for piece in pieces:
        result = _joined(result, fingerprint(piece.decode("latin-1")), _K2)
    return result


def _fetch(data: bytes, at: int, form: str = "<Q") -> int:
    number: int = struct.unpack_from(form, data, at)[0]
    return number


def _rotated(value: int, by: int) -> int:
    return ((value >> by) | (value << (64 - by))) & _MASK


def _mixed(value: int) -> int:
    return value ^ (value >> 47)


def _joined(u: int, v: int, factor: int) -> int:
    a = _mixed(((u ^ v) * factor) & _MASK)
    b = _mixed(((v ^ a) * factor) & _MASK)
    return (b * factor) & _MASK


def _up_to_16(data: bytes) -> int:
    n = len(data)
    factor = _K2 + n * 2
    if n >= 8:
        a, b = (_fetch(data, 0) + _K2) & _MASK, _fetch(data, n - 8)
        c = (_rotated(b, 37) * factor + a) & _MASK
        d = ((_rotated(a, 25) + b) * factor) & _MASK
        return _joined(c, d, factor)
    if n >= 4:
        return _joined(n + (_fetch(data, 0, "<I") << 3), _fetch(data, n - 4, "<I"), factor)
    if n:
        y, z = data[0] + (data[n >> 1] << 8), n + (data[n - 1] << 2)
        return (_mixed((y * _K2 & _MASK) ^ (z * _K0 & _MASK)) * _K2) & _MASK
    return _K2


def _halves(data: bytes, first: int) -> tuple[int, int, int, int]:
    n = len(data)
    factor = _K2 + n * 2
    a, b = (_fetch(data, 0) * first) & _MASK, _fetch(data, 8)
    c, d = (_fetch(data, n - 8) * factor) & _MASK, (_fetch(data, n - 16) * _K2) & _MASK
    y = (_rotated((a + b) & _MASK, 43) + _rotated(c, 30) + d) & _MASK
    z = (a + _rotated((b + _K2) & _MASK, 18) + c) & _MASK
    return a, factor, y, z


def _up_to_32(data: bytes) -> int:
    _, factor, y, z = _halves(data, _K1)
    return _joined(y, z, factor)


def _up_to_64(data: bytes) -> int:
    n = len(data)
    a, factor, y, rest = _halves(data, _K2)
    z = _joined(y, rest, factor)
    e, f = (_fetch(data, 16) * factor) & _MASK, _fetch(data, 24)
    g = ((y + _fetch(data, n - 32)) * factor) & _MASK
    h = ((z + _fetch(data, n - 24)) * factor) & _MASK
    left = (_rotated((e + f) & _MASK, 43) + _rotated(g, 30) + h) & _MASK
    right = (e + _rotated((f + a) & _MASK, 18) + g) & _MASK
    return _joined(left, right, factor)
