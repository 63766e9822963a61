"""A layer that is put before all others of a network, in the text of the program."""

from __future__ import annotations

import ast

from playgrad.doctor.finding import Change
from playgrad.doctor.program_text import ProgramText, argument, name_of


def first_layer(program: ProgramText, layer: str) -> list[Change]:
    """Return the changes that make ``layer`` the first of the only network of the program.

    Returns:
        None of them if the program shows no list of layers, and no input with a name.
    """
    items = layers_of(program)
    return _of_input(program, layer) if items is None else [_inserted(program, items, layer)]


def layers_of(program: ProgramText) -> ast.List | None:
    """Return the list of layers of the only Sequential; None if there is none or another."""
    lists = []
    for call in program.calls("Sequential"):
        items = argument(call, 0, "layers")
        if isinstance(items, ast.List) and items.elts:
            lists.append(items)
    return lists[0] if len(lists) == 1 else None


def _inserted(program: ProgramText, items: ast.List, layer: str) -> Change:
    """Return the change that makes ``layer`` the first of a list, after an Input."""
    first = items.elts[0]
    is_input = isinstance(first, ast.Call) and name_of(first) in ("Input", "InputLayer")
    if is_input and len(items.elts) > 1:
        first = items.elts[1]
    between = f"\n{' ' * first.col_offset}" if first.lineno > items.lineno else " "
    if is_input and len(items.elts) == 1:
        return program.after(first, f",{between}{layer}")
    return program.before(first, f"{layer},{between}")


def _of_input(program: ProgramText, layer: str) -> list[Change]:
    """Return the changes that apply ``layer`` to the input of the only functional model.

    What the program makes of the input, it then makes of the result, which gets a name of its own:
    the model needs the input itself.
    """
    made = [(block, s) for block, s in program.statements() if _input_of(s) is not None]
    models = program.calls("Model")
    if len(made) != 1 or len(models) != 1:
        return []
    block, statement = made[0]
    target = _input_of(statement)
    place = block.index(statement) + 1
    if target is None or program.assigned(target.id) is None or place == len(block):
        return []
    of_model = argument(models[0], 0, "inputs")
    kept = {target} if of_model is None else {target, *ast.walk(of_model)}
    uses = [use for use in program.names(target.id) if use not in kept]
    if not uses or any(use.lineno <= (statement.end_lineno or 0) for use in uses):
        return []
    scaled = next(n for i in range(99) if not program.names(n := f"scaled{'_' * i}"))
    indent = " " * statement.col_offset
    line = program.before(block[place], f"{scaled} = {layer}({target.id})\n{indent}")
    return [line, *(program.replaced(use, scaled) for use in uses)]


def _input_of(statement: ast.stmt) -> ast.Name | None:
    """Return the name that a statement gives to an ``Input``."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    call, target = statement.value, statement.targets[0]
    is_input = isinstance(call, ast.Call) and name_of(call) == "Input"
    return target if is_input and isinstance(target, ast.Name) else None
