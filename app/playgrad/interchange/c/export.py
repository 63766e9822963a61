"""`c_files`: quantized networks as C99, without allocation and dependencies."""

from __future__ import annotations

from pathlib import PurePath

from playgrad.compression.integer_program import IntegerProgram
from playgrad.errors import ExportError
from playgrad.interchange.c.check import check_text
from playgrad.interchange.c.core import integer_core
from playgrad.interchange.c.functions import functions
from playgrad.interchange.c.header import header_text, parameters, prototype
from playgrad.interchange.c.placement import placed
from playgrad.interchange.c.source import CSource, identifier
from playgrad.interchange.c.steps import WRITERS, StepCall


def c_files(program: IntegerProgram, file: str, title: str) -> dict[str, bytes]:
    """Return the content of the source file and of its header, by their names.

    All names that the linker sees begin with that of the file. Compiled with ``-DNAME_TEST``, the
    source is a program that checks the function with made-up inputs.

    Args:
        file: the name of the source file.
        title: the name of the network.

    Raises:
        ExportError: a step is not of integers, or a sum could leave the range of int32.
    """
    stem = PurePath(file).stem
    name = identifier(stem)
    if not stem.isprintable() or set('"\\') & set(stem):  # which #include cannot name
        stem = name
    program = integer_core(program)
    takes, gives = parameters(program.inputs, "input"), parameters(program.outputs, "output")
    placement = placed(program, takes, gives)
    source = CSource()
    for number, step in enumerate(program.steps):
        if step.op not in WRITERS:
            raise ExportError(f"C files have no equivalent of '{step.op}' in '{step.name}'.")
        WRITERS[step.op](
            StepCall(
                source,
                step,
                source.unique(step.name),
                [placement.pointers[each] for each in step.inputs],
                placement.pointers[step.output],
                placement.patches.get(number, "0"),
                [program.tensors[each].shape for each in step.inputs],
                program.tensors[step.output].shape,
            )
        )
    for tensor, parameter in placement.copies:
        size = f"{name.upper()}_{parameter.upper()}_SIZE"
        source.call("copy_rows", 1, size, size, placement.pointers[tensor], parameter)
    used = {name for step in program.steps for name in step.inputs} | set(program.outputs)
    for tensor, parameter in zip(program.inputs, takes, strict=True):
        if tensor not in used:
            source.calls.append(f"(void){parameter};")
    header = header_text(program, name, title, placement.arena_size)
    return {
        file: _source_text(source, program, name, stem, placement.arena_size).encode(),
        f"{stem}.h": header.encode(),
    }


def _source_text(
    source: CSource, program: IntegerProgram, name: str, stem: str, arena_size: int
) -> str:
    arena = f"\nstatic int8_t arena[{name.upper()}_ARENA_SIZE];\n" if arena_size else ""
    constants = "\n\n".join(source.declarations)
    calls = "\n    ".join(source.calls)
    return f"""/* Written by playgrad. To check the arithmetic of this machine:
 * cc -std=c99 -D{name.upper()}_TEST {stem}.c -o {stem}_test && ./{stem}_test
 */
#include "{stem}.h"
{functions(source.called)}
{constants}
{arena}
{prototype(program, name)}
{{
    {calls}
}}
{check_text(program, name)}"""
