"""Operations of the user's program as data, for processors in other interpreters.

Another interpreter has the library, but not the program. So the functions of an operation travel
by value: their code, defaults, and the globals and enclosing variables that they use. Both
interpreters are the same Python. Functions and classes of installed modules travel by name.
"""

from __future__ import annotations

import base64
import builtins
import dis
import importlib
import io
import marshal
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from playgrad.errors import UnsupportedOpError
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node


def ops_to_json(nodes: Iterable[Node], device: str) -> dict[str, str]:
    """Return the operations among ``nodes`` that the user's program defines, by name.

    Raises:
        UnsupportedOpError: a function uses something that cannot be sent to ``device``.
    """
    texts: dict[str, str] = {}
    for node in nodes:
        if node.op.source is None or node.op.name in texts:
            continue
        try:
            texts[node.op.name] = _to_text(node.op)
        except Exception as problem:
            raise UnsupportedOpError(
                f"the operation {node.op.name!r} cannot run on {device}, which has another "
                f"interpreter: what it uses cannot be sent there ({problem}).",
                op=node.name,
                source=node.op.source,
                hint="Let its functions use only numbers, arrays, modules and functions, or place "
                "it on cpu:0.",
            ) from problem
    return texts


def ops_from_json(texts: dict[str, str]) -> dict[str, OpDef]:
    """Return the operations that ``ops_to_json`` wrote."""
    return {name: pickle.loads(base64.b64decode(text)) for name, text in texts.items()}


def _to_text(op: OpDef) -> str:
    """Return what a processor needs of ``op``: no gradient, kernel, or samples."""
    needed = replace(
        op, gradient=None, lower=None, samples=(), invalid=(), elementwise=None, check=None
    )
    stream = io.BytesIO()
    _Pickler(stream, protocol=5).dump(needed)
    return base64.b64encode(stream.getvalue()).decode()


class _Pickler(pickle.Pickler):
    """Pickles functions that cannot be imported by their code, and modules by their names."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            if value.__name__ == "__main__" or not _is_importable(value.__name__):
                raise pickle.PicklingError(f"the module {value.__name__!r} is the program's")
            return importlib.import_module, (value.__name__,)
        if isinstance(value, FunctionType) and not _is_found(value):
            return _reduced(value)
        if isinstance(value, type) and not _is_found(value):
            raise pickle.PicklingError(f"the class {value.__name__!r} is defined in the program")
        return NotImplemented


def _is_importable(module: str) -> bool:
    return module in sys.modules and getattr(sys.modules[module], "__spec__", None) is not None


def _is_found(value: Any) -> bool:
    """Return whether ``value`` is what its module has under its name, in any interpreter."""
    name = getattr(value, "__module__", None)
    if name is None or name == "__main__" or not _is_importable(name):
        return False
    found: Any = sys.modules[name]
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def _reduced(function: FunctionType) -> Any:
    """Return how to rebuild ``function``: first empty, as it may refer to itself, then filled."""
    names = set(_global_names(function.__code__))
    used = {name: value for name, value in function.__globals__.items() if name in names}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    state = (function.__defaults__, function.__kwdefaults__, used, cells)
    head = (marshal.dumps(function.__code__), function.__name__, len(cells))
    return _new_function, head, state, None, None, _fill


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the globals that ``code``, or a function within it, reads."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _new_function(code: bytes, name: str, cells: int) -> Callable[..., Any]:
    closure = tuple(CellType() for _ in range(cells))
    return FunctionType(marshal.loads(code), _new_globals(), name, None, closure)


def _new_globals() -> dict[str, Any]:
    return {"__name__": "<program>", "__builtins__": builtins}


def _fill(function: FunctionType, state: Any) -> None:
    function.__defaults__, function.__kwdefaults__, used, cells = state
    function.__globals__.update(used)
    for cell, content in zip(function.__closure__ or (), cells, strict=True):
        cell.cell_contents = content
