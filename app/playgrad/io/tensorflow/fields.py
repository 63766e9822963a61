"""The fields of messages in the encoding of Protocol Buffers."""

from __future__ import annotations

from playgrad.errors import CheckpointError

Field = int | bytes
Fields = dict[int, list[Field]]
_MOST_FIELDS = 1 << 20


def varint(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, and the place after it.

    Raises:
        CheckpointError: the data end, or the number has more than 64 bits.
    """
    value = 0
    for index in range(10):
        if place + index >= len(data):
            break
        byte = data[place + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80 and value < 1 << 64:
            return value, place + index + 1
    raise CheckpointError("the TensorFlow file is damaged: a number is truncated.")


def fields(data: bytes) -> Fields:
    """Return the values of a message by the numbers of their fields.

    Raises:
        CheckpointError: the message is damaged.
    """
    found: Fields = {}
    place = count = 0
    while place < len(data):
        key, place = varint(data, place)
        kind, value, end = key & 7, 0, place
        if kind == 0:
            value, end = varint(data, place)
        elif kind == 2:
            size, place = varint(data, place)
            end = place + size
        else:
            end = place + {1: 8, 5: 4}.get(kind, len(data))
        count += 1
        if end > len(data) or count > _MOST_FIELDS:
            raise CheckpointError("the TensorFlow file is damaged: a message is truncated.")
        if kind == 0:
            found.setdefault(key >> 3, []).append(value)
        elif kind == 2:
            found.setdefault(key >> 3, []).append(data[place:end])
        else:
            found.setdefault(key >> 3, []).append(int.from_bytes(data[place:end], "little"))
        place = end
    return found


def number(message: Fields, field: int) -> int:
    """Return a number of a message, 0 without it."""
    value = message.get(field, [0])[-1]
    if not isinstance(value, int):
        raise CheckpointError("the TensorFlow file is damaged: a number is missing.")
    return value


def parts(message: Fields, field: int) -> list[bytes]:
    """Return the messages or texts of a field.

    Raises:
        CheckpointError: it has numbers.
    """
    values = message.get(field, [])
    if not all(isinstance(value, bytes) for value in values):
        raise CheckpointError("the TensorFlow file is damaged: a message is missing.")
    return [value for value in values if isinstance(value, bytes)]
