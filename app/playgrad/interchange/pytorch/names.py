"""Identifiers that Python and ``torch.nn.Module`` leave free."""

from __future__ import annotations

import builtins
import keyword
import re

_ATTRIBUTES = """
    T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double
    dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter
    get_submodule half ipu load_state_dict modules mtia named_buffers named_children named_modules
    named_parameters parameters register_backward_hook register_buffer register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module
    register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_
    set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu
    zero_grad
"""
MODULE_ATTRIBUTES = frozenset(_ATTRIBUTES.split())
"""Attributes of torch.nn.Module without a leading underscore, which submodules would replace."""

_IMPORTED = {"torch", "nn", "F", "self"}
_UNNAMED = ("model", "sequential")  # names that no one chose
_RESERVED = {*keyword.kwlist, *dir(builtins), *_IMPORTED}


class Identifiers:
    """Identifiers of at most ``longest`` characters, each given once.

    Short names keep the lines of the program short.
    """

    def __init__(self, longest: int, reserved: frozenset[str] = frozenset()) -> None:
        self._longest = longest
        self._taken = _RESERVED | reserved

    def new(self, text: str) -> str:
        """Return an identifier like ``text``."""
        base = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")[: self._longest] or "layer"
        base = f"_{base}" if base[0].isdigit() else base
        name, number = f"{base}_" if base in _RESERVED else base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name


def class_name(text: str) -> str:
    """Return the name of a model in CamelCase: ``Lenet``, ``DigitReader``."""
    if text in _UNNAMED:
        return "Model"
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(word[0].upper() + word[1:] for word in words)[:40]
    if not name or name[0].isdigit() or name in _RESERVED:
        return f"Model{name}"
    return name
