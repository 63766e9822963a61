"""Nested lists, tuples and dictionaries of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.tensor import Node


def flatten(nested: Any) -> list[Any]:
    """Return the leaves of ``nested``, depth first. None and nodes are not leaves."""
    if isinstance(nested, (list, tuple)):
        return [leaf for part in nested for leaf in flatten(part)]
    if isinstance(nested, dict):
        return [leaf for part in nested.values() for leaf in flatten(part)]
    return [] if nested is None or isinstance(nested, Node) else [nested]


def rebuild(like: Any, leaves: Sequence[Any]) -> Any:
    """Return ``leaves`` in the structure of ``like``."""
    return _rebuilt(like, iter(leaves))


def _rebuilt(like: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(like, dict):
        return {key: _rebuilt(part, leaves) for key, part in like.items()}
    if isinstance(like, (list, tuple)):
        parts = [_rebuilt(part, leaves) for part in like]
        if isinstance(like, list):
            return parts
        return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
    return None if like is None or isinstance(like, Node) else next(leaves)


def same_structure(value: Any, expected: Any, what: str) -> None:
    """Check that ``value`` is nested as ``expected`` is.

    Raises:
        GraphError: it is not; the message calls it ``what``.
    """
    if _form(value) != _form(expected):
        raise GraphError(
            f"{what} must have the structure {_text(_form(expected))}, but it has "
            f"{_text(_form(value))}."
        )


def _form(nested: Any) -> Any:
    if isinstance(nested, (list, tuple)):
        return [_form(part) for part in nested]
    if isinstance(nested, dict):
        return {key: _form(part) for key, part in nested.items()}
    return None if nested is None or isinstance(nested, Node) else "tensor"


def _text(form: Any) -> str:
    return str(form).replace("'tensor'", "tensor")
