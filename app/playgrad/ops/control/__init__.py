"""Control flow: ``cond``, ``while_loop`` and ``scan``.

Functions that build a branch or a body are called once, and what they add to the graph is recorded
(`recording`), to be instantiated as often as needed.
"""
