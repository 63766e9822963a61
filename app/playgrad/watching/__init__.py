"""Watching a training from another process or machine: its events as server-sent events.

The events are those that training sends to the page (`playgrad.page.events`), and two more:
``watched``, which describes the training, and ``link``, the state of the connection to it
(`docs/watching.md`). Only the command line imports this package.
"""
