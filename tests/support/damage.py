"""Damaging saved games for tests of their error messages."""

import copy

MISSING = "missing"
"""In place of a value: the key is removed."""


def damaged(saved, path, value):
    """Return a copy of a saved game with the value at a dotted path replaced or removed."""
    result = copy.deepcopy(saved)
    table = result
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        table = table[step]
    if value is MISSING:
        del table[last]
    else:
        table[last] = value
    return result
