"""WGSL files as strict templates: ``${NAME}`` is replaced, ``#include "file.wgsl"`` is inserted.

There is nothing else to the template language. A name without a value or a value without a name is
an error, so that a kernel and its lowering stay in agreement.
"""

from __future__ import annotations

import re
from functools import cache

from playgrad import paths
from playgrad.errors import KernelError

_INCLUDE = re.compile(r'^#include "([^"]+)"[ \t]*$', re.MULTILINE)
_NAME = re.compile(r"\$\{(\w+)\}")


@cache
def _read(name: str) -> str:
    path = paths.kernels() / name
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise KernelError(f"kernel file {name!r} is not in {paths.kernels()}.") from None
    return _INCLUDE.sub(lambda match: _read(match.group(1)), text)


def substitute(text: str, values: dict[str, object], where: str) -> str:
    """Return ``text`` with each ``${NAME}`` replaced by ``values[NAME]``.

    Raises:
        KernelError: a name has no value, or a value has no name. The message calls the text
            ``where``.
    """
    names = set(_NAME.findall(text))
    missing, unused = names - values.keys(), values.keys() - names
    if missing or unused:
        raise KernelError(
            f"kernel {where}: missing {sorted(missing) or 'nothing'}, "
            f"unused {sorted(unused) or 'nothing'}."
        )
    return _NAME.sub(lambda match: _literal(values[match.group(1)]), text)


def render(name: str, **values: object) -> str:
    """Return the WGSL file ``name`` with its constants filled in.

    Raises:
        KernelError: the file is missing, or its names and ``values`` do not match exactly.
    """
    return substitute(_read(name), values, name)


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
