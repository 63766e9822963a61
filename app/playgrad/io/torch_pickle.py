"""The pickles of PyTorch's files, read without executing anything.

A pickle is a program for a stack machine that may call any function of Python. This machine knows
dictionaries, lists, tuples, numbers, texts, tensors and their storages; it imports nothing.
"""

from __future__ import annotations

import pickletools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from playgrad.errors import CheckpointError
from playgrad.io.tensor_entry import BFLOAT16, count_text

DTYPES = {
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
    "BFloat16Storage": BFLOAT16,
}
"""Codes for `TensorEntry.of_code` by the names of PyTorch's storages."""
_OTHERS = ("torch ComplexFloatStorage", "torch ComplexDoubleStorage")
LARGEST_PICKLE = 1 << 24
"""Maximum number of bytes; the values of tensors are not among them."""
_MOST_STEPS = 1 << 20
"""Maximum number of instructions, each of which may make an object; a tensor takes about 35."""
_TENSOR, _PARAMETER = "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter"
_ORDERED = "collections OrderedDict"


class Name(NamedTuple):
    """A function or class that a pickle names, with its module."""

    text: str


class TorchStorage(NamedTuple):
    """Values in a record of the file."""

    code: str
    key: str
    length: int


class StoredTensor(NamedTuple):
    """A view of a storage. Its numbers are as in the file, and not checked."""

    storage: TorchStorage
    offset: Any
    shape: Any
    strides: Any


class _Mark:
    """The place on the stack where the items of a list, tuple or dictionary begin."""


_MARK = _Mark()
_CONSTANTS = {"MARK": _MARK, "NEWTRUE": True, "NEWFALSE": False, "NONE": None}
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
_ARGUMENTS = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "GLOBAL")
_VALUES = {*_CONSTANTS, *_EMPTY, *_ARGUMENTS}
"""Instructions that push a value, in pickles of protocol 2, which PyTorch writes."""


def read_pickle(content: bytes) -> Any:
    """Return the object that a pickle describes.

    Raises:
        CheckpointError: the pickle is damaged, or needs something other than tensors, dictionaries,
            lists, numbers and texts.
    """
    if len(content) > LARGEST_PICKLE:
        raise CheckpointError(
            f"the description of the tensors has {count_text(len(content))} bytes, but at most "
            f"{LARGEST_PICKLE:,} are allowed."
        )
    machine = _Machine()
    try:
        with warnings.catch_warnings():
            # Of escapes in texts of old pickles, which the machine refuses.
            warnings.simplefilter("ignore", DeprecationWarning)
            for step, (opcode, argument, _) in enumerate(pickletools.genops(content)):
                if step == _MOST_STEPS:
                    raise CheckpointError(
                        "the description of the tensors has more than "
                        f"{_MOST_STEPS:,} instructions."
                    )
                machine.step(opcode.name, argument)
        (result,) = machine.stack
    except CheckpointError:
        raise
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError) as error:
        raise CheckpointError(
            f"the description of the tensors is damaged: {type(error).__name__}."
        ) from None
    return result


class _Machine:
    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        """Execute one instruction, or refuse it."""
        if name in _VALUES:
            self.stack.append(_value(name, argument))
        elif name in ("BINPUT", "LONG_BINPUT"):
            self._memo[argument] = self.stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self.stack.append(self._memo[argument])
        elif name in _ACTIONS:
            _ACTIONS[name](self)
        elif name not in ("PROTO", "STOP"):
            raise _refused(f"the instruction {name}")

    def marked(self) -> list[Any]:
        """Take what lies above the last mark, and the mark."""
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:  # IndexError below the first: there is no mark
            at -= 1
        items = self.stack[at + 1 :]
        del self.stack[at:]
        return items

    def tuple_of_marked(self) -> None:
        self.stack.append(tuple(self.marked()))

    def tuple_of(self, count: int) -> None:
        items = tuple(self.stack[-count:])
        del self.stack[-count:]
        self.stack.append(items)

    def append(self, items: list[Any]) -> None:
        _of_type(self.stack[-1], list).extend(items)

    def set(self, items: list[Any]) -> None:
        target = _of_type(self.stack[-1], dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, (str, int)):
                raise _refused(f"a key of type {type(key).__name__}")
            target[key] = value

    def take(self, count: int) -> list[Any]:
        return [self.stack.pop() for _ in range(count)][::-1]

    def build(self) -> None:
        """Drop the attributes of a dictionary: PyTorch notes versions of its layers there."""
        _of_type(self.stack[-2], dict)
        self.stack.pop()

    def persistent(self) -> None:
        kind, of, key, _, count = self.stack.pop()
        module, _, storage = of.text.partition(" ")
        if kind == "storage" and of.text in _OTHERS:
            raise CheckpointError(
                f"the PyTorch file has values of '{of.text}', which are not read.",
                hint="Save their real and imaginary parts as two tensors.",
            )
        if kind != "storage" or module != "torch" or storage not in DTYPES:
            raise _refused(f"'{of.text[:80]}' as the type of values")
        self.stack.append(TorchStorage(DTYPES[storage], _of_type(key, str), _of_type(count, int)))

    def call(self) -> None:
        name, arguments = self.take(2)
        if name.text == _ORDERED and arguments == ():
            self.stack.append({})
        elif name.text == _TENSOR:
            storage, offset, shape, strides = arguments[:4]
            if any(arguments[6:]):  # such as "neg", for values whose signs are to be changed
                raise CheckpointError(
                    "the PyTorch file has a tensor whose values are conjugated or negated when "
                    "they are read, which is not supported.",
                    hint="Save the values themselves: tensor.resolve_conj().resolve_neg().",
                )
            self.stack.append(StoredTensor(_of_type(storage, TorchStorage), offset, shape, strides))
        elif name.text == _PARAMETER:
            self.stack.append(_of_type(arguments[0], StoredTensor))
        else:
            raise _refused(f"a call of '{name.text[:80]}'")


_ACTIONS: dict[str, Callable[[_Machine], None]] = {
    "TUPLE": _Machine.tuple_of_marked,
    "TUPLE1": lambda machine: machine.tuple_of(1),
    "TUPLE2": lambda machine: machine.tuple_of(2),
    "TUPLE3": lambda machine: machine.tuple_of(3),
    "APPEND": lambda machine: machine.append(machine.take(1)),
    "APPENDS": lambda machine: machine.append(machine.marked()),
    "SETITEM": lambda machine: machine.set(machine.take(2)),
    "SETITEMS": lambda machine: machine.set(machine.marked()),
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.persistent,
    "REDUCE": _Machine.call,
}


def _value(name: str, argument: Any) -> Any:
    if name == "GLOBAL":
        if argument not in (_ORDERED, _TENSOR, _PARAMETER) and not argument.startswith("torch "):
            raise _refused(f"'{argument[:80]}'")
        return Name(argument)
    if name in _EMPTY:
        return _EMPTY[name]()
    return _CONSTANTS.get(name, argument)


def _of_type(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value


def _refused(what: str) -> CheckpointError:
    return CheckpointError(
        f"the PyTorch file contains {what}, which is refused: only tensors and dictionaries are "
        "read, nothing is executed.",
        hint="Save the weights alone: torch.save(model.state_dict(), file).",
    )
