"""Running exported C: a driver that reads inputs and writes outputs of many programs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.compression.integer_program import IntegerProgram
from playgrad.interchange.c.core import integer_core
from playgrad.interchange.c.export import c_files

Array = np.ndarray[Any, Any]

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiled(folder: Path, sources: Sequence[str], *options: str) -> Path:
    """Compile sources of a folder, and return the program."""
    program = folder / "program"
    command = ["gcc", *STRICT, *options, *sources, "-o", program.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:5000]
    return program


def run_programs(
    folder: Path,
    programs: Sequence[IntegerProgram],
    feeds: Sequence[Mapping[str, Array]],
    *options: str,
) -> list[list[Array]]:
    """Return the outputs of programs of integers, computed by C, one compilation for all."""
    sources, includes, runs = [], [], []
    for number, program in enumerate(programs):
        files = c_files(program, f"p{number}.c", f"program {number}")
        for name, content in files.items():
            (folder / name).write_bytes(content)
        sources.append(f"p{number}.c")
        includes.append(f'#include "p{number}.h"')
        runs.append(_run(number, integer_core(program), len(next(iter(feeds[number].values())))))
    text = "\n".join(
        ["#include <stdio.h>", *includes, "int main(void)", "{", *runs, "return 0;", "}"]
    )
    (folder / "driver.c").write_text(text)
    driver = compiled(folder, [*sources, "driver.c"], *options)
    given = b"".join(
        np.ascontiguousarray(feed[name][case]).tobytes()
        for feed, program in zip(feeds, programs, strict=True)
        for case in range(len(next(iter(feed.values()))))
        for name in program.inputs
    )
    done = subprocess.run([driver], input=given, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[:5000]
    return _outputs(done.stdout, programs, feeds)


def _outputs(
    content: bytes, programs: Sequence[IntegerProgram], feeds: Sequence[Mapping[str, Array]]
) -> list[list[Array]]:
    values, at = np.frombuffer(content, np.int8), 0
    results = []
    for program, feed in zip(programs, feeds, strict=True):
        shapes = [program.tensors[name].shape for name in program.outputs]
        cases = len(next(iter(feed.values())))
        width = sum(int(np.prod(shape)) for shape in shapes)
        part = values[at : at + cases * width].reshape(cases, width)
        at += cases * width
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
        split = np.split(part, ends, axis=1)
        results.append([p.reshape(cases, *s) for p, s in zip(split, shapes, strict=True)])
    assert at == len(values)
    return results


def _run(number: int, program: IntegerProgram, cases: int) -> str:
    lines, arguments, reads, writes = [], [], [], []
    for role, names in (("in", program.inputs), ("out", program.outputs)):
        for position, name in enumerate(names):
            tensor, variable = program.tensors[name], f"{role}{position}"
            size = int(np.prod(tensor.shape))
            lines.append(f"static {tensor.dtype}_t {variable}[{size}];")
            arguments.append(variable)
            call = "fread" if role == "in" else "fwrite"
            stream = "stdin" if role == "in" else "stdout"
            (reads if role == "in" else writes).append(
                f"if ({call}({variable}, sizeof *{variable}, {size}, {stream}) != {size}) return 1;"
            )
    body = [*reads, f"p{number}_run({', '.join(arguments)});", *writes]
    loop = [f"for (i = 0; i < {cases}; i++) {{", *body, "}"]
    return "\n".join(["{", *lines, "int i;", *loop, "}"])
