"""The page's prompt: code that the visitor types, executed with the names of the program.

While the program trains, a prompt is executed between two steps. It may read and change whatever
the program has. What happens behind its back, to the random numbers that the training draws next,
is undone: inspecting values does not change how a network learns.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.networks.shared_session import shared_session
from playgrad.ops.state import RANDOM_STEP
from playgrad.page.faults import describe

LONGEST_VALUE = 20_000
"""Characters of a value that is printed. Of a longer one, the first and the last part are."""
_FILE = "<prompt>"
_NO_TRAINING = (
    "training cannot be started from the prompt while the program trains. Wait for its end, or "
    "write the fit into the program and press Run."
)

Namespace = dict[str, Any]
Outcome = Literal["done", "error", "interrupted"]
Print = Callable[[str], None]


class Prompt:
    """Executes code in the namespace of the program.

    Args:
        out: prints text to the output.
        problem: prints errors to the output.

    Attributes:
        busy: whether code is being executed.
        training: whether a program trains meanwhile.
    """

    def __init__(self, out: Print, problem: Print) -> None:
        self.busy = False
        self.training = False
        self._out = out
        self._problem = problem

    def execute(self, code: str, namespace: Namespace, trained: Graph | None) -> Outcome:
        """Execute ``code``, and print the value of its last expression.

        Errors are printed, and so is KeyboardInterrupt: they do not end the program.

        Args:
            trained: the graph of the model that the program is training; None after its end.

        Returns:
            "done", "error" or "interrupted".
        """
        if self.busy:
            raise GraphError("the prompt is executing other code.")
        self.busy, self.training = True, trained is not None
        try:
            with contextlib.ExitStack() as kept:
                if trained is not None:
                    kept.enter_context(_randomness_kept(trained))
                self._execute(code, namespace)
            return "done"
        except KeyboardInterrupt:
            self._problem("KeyboardInterrupt\n")
            return "interrupted"
        except SystemExit:
            self._problem("There is nothing to quit here. Stop ends a run.\n")
            return "error"
        except BaseException as error:
            description = describe(error)
            self._problem(f"{description['type']}: {description['message']}{_place(error, code)}\n")
            return "error"
        finally:
            self.busy = self.training = False

    def _execute(self, code: str, namespace: Namespace) -> None:
        linecache.cache[_FILE] = (len(code), None, code.splitlines(keepends=True), _FILE)
        tree = ast.parse(code, _FILE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, _FILE, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), _FILE, "eval"), namespace)
            if value is not None:
                self._out(f"{shortened(repr(value))}\n")

    def check_training(self) -> None:
        """Check that a training may begin.

        Raises:
            GraphError: the prompt would begin one within that of the program.
        """
        if self.busy and self.training:
            raise GraphError(_NO_TRAINING)


def shortened(text: str) -> str:
    """Return ``text`` without its middle if it is long."""
    if len(text) <= LONGEST_VALUE:
        return text
    half = LONGEST_VALUE // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… {left_out:,} characters left out …\n{text[-half:]}"


def _place(error: BaseException, code: str) -> str:
    """Return the line of an error in code of several lines, as the end of a sentence."""
    if "\n" not in code.strip():
        return ""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f" (line {line})"


@contextlib.contextmanager
def _randomness_kept(trained: Graph) -> Iterator[None]:
    """Put the states of Python's, NumPy's and the graphs' random numbers back afterwards."""
    python, numpy = random.getstate(), np.random.get_state()
    with contextlib.ExitStack() as kept:
        for graph in {trained, get_default_graph()}:
            kept.enter_context(_draws_kept(graph))
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)


@contextlib.contextmanager
def _draws_kept(graph: Graph) -> Iterator[None]:
    """Put back the number of random operations of a graph, and of the steps that have drawn."""
    operations = graph.random_ops
    session = shared_session(graph).session
    step = graph.tensor(RANDOM_STEP) if RANDOM_STEP in graph else None
    drawn = None if session is None or step is None else session.value(step)
    try:
        yield
    finally:
        graph.random_ops = operations
        if session is not None and step is not None and session.value(step) != drawn:
            session.assign({step: drawn})
