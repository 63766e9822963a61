"""Options that constructors of several layers have in common, listed once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypedDict


class BiasOptions(TypedDict, total=False):
    """Options of a layer with a bias."""

    bias_initializer: Any
    bias_regularizer: Any
    bias_constraint: Any
    activity_regularizer: Any
    name: str | None


class KernelOptions(BiasOptions, total=False):
    """Options of a layer with a kernel and a bias."""

    kernel_initializer: Any
    kernel_regularizer: Any
    kernel_constraint: Any


class ScaleOptions(TypedDict, total=False):
    """Options of a normalization."""

    beta_initializer: Any
    gamma_initializer: Any
    beta_regularizer: Any
    gamma_regularizer: Any
    beta_constraint: Any
    gamma_constraint: Any
    name: str | None


_PARTS = ("_initializer", "_regularizer", "_constraint")


def spread_options(cls: type, defaults: Mapping[str, Any]) -> None:
    """Have ``__init__`` of a class take ``**options: Unpack[Options]`` as parameters of their own.

    They come after the parameters of ``__init__``, in the order of Keras: all initializers as in
    ``defaults``, all regularizers, all constraints. Parameters behind a ``*`` follow, and ``name``
    is the last. Each can be passed by position and is shown by `inspect.signature`; ``__init__``
    always gets it by name.

    Args:
        cls: a class with or without such an ``__init__``.
        defaults: values by name; an option that is not among them is None.
    """
    init: Callable[..., None] | None = cls.__dict__.get("__init__")
    if init is None:
        return
    *own, last = signature(init).parameters.values()
    if last.kind is not last.VAR_KEYWORD or not str(last.annotation).startswith("Unpack["):
        return
    options: Any = getattr(sys.modules[cls.__module__], last.annotation[len("Unpack[") : -1])
    spread = [
        Parameter(
            name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=defaults.get(name),
            annotation=getattr(hint, "__forward_arg__", hint),
        )
        for name, hint in sorted(
            options.__annotations__.items(), key=lambda item: _order(item[0], list(defaults))
        )
    ]
    listed = [each for each in own if each.kind is not each.KEYWORD_ONLY]
    behind = [
        each.replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
        for each in own
        if each.kind is each.KEYWORD_ONLY
    ]
    parameters = [*listed, *spread[:-1], *behind, spread[-1]]
    names = [each.name for each in parameters[1:]]
    values = {each.name: each.default for each in spread}
    count = len(listed) - 1
    least = sum(each.default is each.empty for each in listed)

    @wraps(init)
    def with_options(self: Any, *args: Any, **named: Any) -> None:
        by_position = dict(zip(names[count:], args[count:], strict=False))
        _check(init.__qualname__, names, least, len(args), by_position, named)
        init(self, *args[:count], **{**values, **by_position, **named})

    vars(with_options)["__signature__"] = signature(init).replace(parameters=parameters)
    cls.__init__ = with_options  # type: ignore[misc]


def _check(
    function: str,
    names: list[str],
    least: int,
    count: int,
    passed: Mapping[str, Any],
    named: Mapping[str, Any],
) -> None:
    """Raise TypeError, in Python's words, for arguments that are unknown or passed twice."""
    if count > len(names):
        raise TypeError(
            f"{function}() takes from {least} to {len(names) + 1} positional arguments but "
            f"{count + 1} were given"
        )
    for name in named:
        if name not in names:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
        if name in passed:
            raise TypeError(f"{function}() got multiple values for argument {name!r}")


def _order(name: str, known: list[str]) -> tuple[int, int]:
    """Return what options are sorted by: the name is the last."""
    part = next((i for i, ending in enumerate(_PARTS) if name.endswith(ending)), len(_PARTS))
    if name == "activity_regularizer":
        return 1, len(known)
    first = name.removesuffix(_PARTS[part] if part < len(_PARTS) else "") + _PARTS[0]
    return part, known.index(first) if first in known else -1
