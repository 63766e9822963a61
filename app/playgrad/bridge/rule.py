"""A row of the bridge's table."""

from __future__ import annotations

from typing import TypedDict


class Rule(TypedDict, total=False):
    """A name of another library, and its equivalent in playgrad.

    - ``to``: the name here. ``args`` are the parameters there, in order: ``-name`` is dropped,
      ``name>other`` is called differently, ``name>one+two`` is a tuple there, others stay. ``set``
      is added to the arguments; with ``list``, arguments by position become a list.
    - ``call``: an expression in place of a call, ``value`` in place of a name that is not called.
      ``params`` are the parameters there. ``{name}`` is an argument, ``{name|text}`` has a default,
      ``{self}`` what the method is called on, ``{model}`` the model of the program, ``{*}`` all
      arguments, ``{*:shape}`` the same with positional ones as one shape. ``@name`` is a name of
      playgrad, ``np.`` NumPy.
      Filters say how an argument is written: ``{*:sizes}`` is the shape alone, ``{*:numbers}`` all
      arguments by position, ``{*:bounds}`` the bounds of a random whole number,
      ``{shuffle:shuffled}`` a call of ``shuffle`` if the argument is true, ``{train:part}`` 0 if it
      is and 1 if not, ``{shape:normal}`` random numbers of this shape, ``{file:weights}`` the name
      of a file.
    - ``no``: a sentence: there is nothing of this kind, and the nearest way.
    - ``drop``: the statement is not needed, because of ``no``.
    """

    to: str
    args: str
    set: str
    list: bool
    call: str
    params: str
    value: str
    no: str
    drop: bool
