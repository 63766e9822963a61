"""The header: sizes, scales, and the declaration of the function."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from playgrad.compression.integer_program import IntegerProgram, IntegerTensor

_TYPES = {"int8": "int8_t", "int32": "int32_t"}


def parameters(names: Sequence[str], role: str) -> list[str]:
    """Return the names of the parameters for the inputs or outputs of a program."""
    return [role] if len(names) == 1 else [f"{role}_{number}" for number in range(len(names))]


def prototype(program: IntegerProgram, name: str) -> str:
    """Return the declaration of the function, without a semicolon."""
    takes = [
        f"const {_TYPES[program.tensors[tensor].dtype]} *{parameter}"
        for tensor, parameter in zip(
            program.inputs, parameters(program.inputs, "input"), strict=True
        )
    ]
    gives = [f"int8_t *{parameter}" for parameter in parameters(program.outputs, "output")]
    return f"void {name}_run({', '.join([*takes, *gives])})"


def header_text(program: IntegerProgram, name: str, title: str, arena_size: int) -> str:
    """Return the header.

    Args:
        program: without floating-point numbers.
        name: an identifier that the names of the header begin with.
        title: the name of the network.
    """
    macro = name.upper()
    sections = [
        _macros(program.tensors[tensor], f"{macro}_{parameter.upper()}", tensor)
        for role, tensors in (("input", program.inputs), ("output", program.outputs))
        for tensor, parameter in zip(tensors, parameters(tensors, role), strict=True)
    ]
    return f"""/* {_comment(title)}: a quantized neural network, written by playgrad.
 *
 * A value q of an input or output stands for the real number SCALE * (q - ZERO_POINT).
 * The function is not reentrant: it uses one arena. Inputs and outputs must not overlap.
 */
#ifndef {macro}_H
#define {macro}_H

#include <stdint.h>

{"".join(sections)}/* Bytes of working memory, beside a few hundred on the stack. */
#define {macro}_ARENA_SIZE {arena_size}

{prototype(program, name)};

/* The nearest value of an input, halves to even: inverse_scale is 1 / SCALE. */
static inline int8_t {name}_quantize(float real, float inverse_scale, int32_t zero_point)
{{
    float scaled = real * inverse_scale, rest;
    int32_t nearest;
    if (scaled != scaled) {{
        return (int8_t)zero_point;
    }}
    scaled = scaled < -512.0f ? -512.0f : scaled > 512.0f ? 512.0f : scaled;
    nearest = (int32_t)scaled;
    rest = scaled - (float)nearest;
    if (rest > 0.5f || (rest == 0.5f && nearest % 2)) {{
        nearest++;
    }} else if (rest < -0.5f || (rest == -0.5f && nearest % 2)) {{
        nearest--;
    }}
    nearest += zero_point;
    return (int8_t)(nearest < -128 ? -128 : nearest > 127 ? 127 : nearest);
}}

static inline float {name}_dequantize(int8_t q, float scale, int32_t zero_point)
{{
    return scale * (float)(q - zero_point);
}}

#endif
"""


def _macros(tensor: IntegerTensor, prefix: str, name: str) -> str:
    lines = [
        f"/* {_comment(name)} */",
        f"#define {prefix}_SHAPE {{{', '.join(map(str, tensor.shape)) or '1'}}}",
        f"#define {prefix}_SIZE {math.prod(tensor.shape)}",
    ]
    if tensor.dtype == "int8":
        scale = np.float32(tensor.scale)
        lines += [
            f"#define {prefix}_SCALE {_float(scale)}",
            f"#define {prefix}_INVERSE_SCALE {_float(np.float32(1) / scale)}",
            f"#define {prefix}_ZERO_POINT ({tensor.zero_point})",
        ]
    return "\n".join(lines) + "\n\n"


def _float(value: np.float32) -> str:
    """Return a literal that is read back as the same float32."""
    return f"{float(value):.9e}f"


def _comment(text: str) -> str:
    """Return a text that neither ends a comment nor begins one."""
    plain = "".join(letter for letter in text if letter.isprintable())
    return plain.replace("*/", "* /").replace("/*", "/ *")
