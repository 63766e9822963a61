"""CRC-32C (Castagnoli), the checksum of TensorFlow's files, computed in many lanes at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
_POLYNOMIAL = 0x82F63B78
_MOST_LANES = 4096
_SHORTEST_LANE = 256


def _table() -> Words:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table.astype(np.uint32)


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """Return the checksum of ``data``.

    The register of a checksum is linear: the data are divided into lanes of equal length, whose
    registers are computed side by side and then joined.
    """
    lanes = max(1, min(_MOST_LANES, len(data) // _SHORTEST_LANE))
    length = len(data) // lanes
    columns = np.frombuffer(data, np.uint8, lanes * length).reshape(lanes, length).T
    registers = np.zeros(lanes, np.uint32)
    registers[0] = 0xFFFFFFFF
    for column in columns:
        registers = _TABLE[(registers ^ column) & 0xFF] ^ (registers >> 8)
    shifted = _after_zeros(length) if lanes > 1 else []
    result = int(registers[0])
    for register in registers[1:].tolist():
        result = register ^ _combined(shifted, result)
    rest = [int(word) for word in _TABLE]
    for byte in data[lanes * length :]:
        result = rest[(result ^ byte) & 0xFF] ^ (result >> 8)
    return result ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """Return the checksum as it is stored: rotated by 15 bits, plus a constant."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _after_zeros(length: int) -> list[int]:
    """Return what each bit of a register becomes after ``length`` bytes of 0."""
    registers = np.uint32(1) << np.arange(32, dtype=np.uint32)
    for _ in range(length):
        registers = _TABLE[registers & 0xFF] ^ (registers >> 8)
    return [int(register) for register in registers]


def _combined(shifted: list[int], register: int) -> int:
    result = 0
    for bit, word in enumerate(shifted):
        if register >> bit & 1:
            result ^= word
    return result
