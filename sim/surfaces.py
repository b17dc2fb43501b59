"""How two surfaces act on each other: their coefficients, combined by a rule or given for the pair."""

from __future__ import annotations

import math

from collision.jit import lean

GEOMETRIC, LEAST, MOST, AVERAGE, PRODUCT = range(5)


@lean
def combined(rule, a, b):
    """The coefficient of a pair from those of its two surfaces."""
    if rule == GEOMETRIC:
        return math.sqrt(a * b)
    if rule == LEAST:
        return min(a, b)
    if rule == MOST:
        return max(a, b)
    return 0.5 * (a + b) if rule == AVERAGE else a * b


@lean
def coefficient(bodies, i, j, column):
    """A coefficient of the contact of bodies i and j: the pair's own where it has one, else by the rule."""
    own = bodies.exceptions[bodies.surface[i], bodies.surface[j], column]
    if not math.isnan(own):
        return own
    return combined(bodies.rules[column], bodies.material[i, column], bodies.material[j, column])
