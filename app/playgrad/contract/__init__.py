"""The op contract: the rules that every operation keeps, checked with its samples on every host.

The tests apply it to all registered operations, ``pg.check_op`` to one of the user's program.
"""
