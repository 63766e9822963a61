"""Options that constructors of several layers have in common, listed once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypedDict


class KernelOptions(TypedDict, total=False):
    """Options of a layer with a kernel and a bias, in the order of Keras."""

    kernel_initializer: Any
    bias_initializer: Any
    kernel_regularizer: Any
    bias_regularizer: Any
    activity_regularizer: Any
    kernel_constraint: Any
    bias_constraint: Any
    name: str | None


class ScaleOptions(TypedDict, total=False):
    """Options of a normalization, in the order of Keras."""

    beta_initializer: Any
    gamma_initializer: Any
    beta_regularizer: Any
    gamma_regularizer: Any
    beta_constraint: Any
    gamma_constraint: Any
    name: str | None


def spread_options(cls: type, defaults: Mapping[str, Any]) -> None:
    """Have ``__init__`` of a class take ``**options: Unpack[Options]`` as parameters of their own.

    They follow the parameters of ``__init__``, in the order of the type. Parameters behind a ``*``
    come next, and ``name`` is the last. Each can be passed by position and is shown by
    `inspect.signature`; ``__init__`` always gets it by name.

    Args:
        cls: a class with or without such an ``__init__``.
        defaults: values by name; an option that is not among them is None.
    """
    init: Any = cls.__dict__.get("__init__")
    if init is None:
        return
    *own, last = signature(init).parameters.values()
    if not str(last.annotation).startswith("Unpack["):
        return
    options: Any = getattr(sys.modules[cls.__module__], last.annotation[len("Unpack[") : -1])
    spread = [
        Parameter(
            name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=defaults.get(name),
            annotation=hint.__forward_arg__,
        )
        for name, hint in options.__annotations__.items()
    ]
    behind = [
        each.replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
        for each in own
        if each.kind is each.KEYWORD_ONLY
    ]
    listed = own[: len(own) - len(behind)]
    after = signature(init).replace(parameters=[*listed, *spread[:-1], *behind, spread[-1]])
    names = list(after.parameters)
    values = {each.name: each.default for each in spread}
    least = sum(each.default is each.empty for each in listed)
    too_many = f"takes from {least} to {len(names)} positional arguments but %s were given"

    @wraps(init)
    def with_options(*args: Any, **named: Any) -> None:
        if len(args) > len(listed) or not named.keys() <= {*names}:
            try:
                after.bind(*args, **named)
            except TypeError as error:  # in the words of a call
                message = str(error).replace("multiple", "got multiple")
                message = message.replace("too many positional arguments", too_many % len(args))
                raise TypeError(f"{init.__qualname__}() {message}") from None
        by_position = dict(zip(names, args, strict=False))
        more = {name: by_position[name] for name in names[len(listed) : len(args)]}
        init(*args[: len(listed)], **{**values, **more, **named})

    vars(with_options)["__signature__"] = after
    cls.__init__ = with_options  # type: ignore[misc]
