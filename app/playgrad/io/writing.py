"""Files of a program that several processes run: each is written once on each machine."""

from __future__ import annotations

from collections.abc import Callable


class Writing:
    """How this process writes files. The members of a run replace both attributes.

    Attributes:
        here: whether this process is the one of its machine that writes.
        once: calls a function where files are written, and has all processes wait for its end.
    """

    def __init__(self) -> None:
        self.here = True
        self.once: Callable[[Callable[[], None]], None] = lambda write: write()


writing = Writing()


def writes_files() -> bool:
    """Return whether this process should write the program's files.

    On several machines, all members run the whole program, but only one on each machine should
    write a file, such as a figure or a log. Elsewhere it is always true. playgrad's own files, such
    as weights, checkpoints, ``CSVLogger`` and ``pg.plot(save=...)``, need no such question.

    The members do not wait for each other: use `write_once` for files that are read again. Train
    and evaluate outside the condition, since all members take part in that::

        accuracy = model.evaluate(x, y)
        if pg.parallel.writes_files():
            Path("accuracy.txt").write_text(str(accuracy))
    """
    return writing.here


def write_once(write: Callable[[], None]) -> None:
    """Call ``write`` in one process of each machine, and return in all once it has ended.

    Args:
        write: writes files; it must not train or evaluate.

    Raises:
        Exception: the first error of ``write``, in all processes.
    """
    writing.once(write)
