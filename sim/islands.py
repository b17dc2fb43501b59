"""Groups of bodies that touch: no impulse of the kick passes from one to another."""

from __future__ import annotations

import numpy as np

from collision.jit import inner
from sim.state import DYNAMIC


@inner
def find_root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner
def label_islands(bodies, contacts):
    """Label bodies and contacts by island and sort the contacts by it; the number of islands that have contacts.

    ``bodies.island`` becomes the smallest index of a body in the island; ``contacts.order`` lists the rows island by
    island, in the order of the table within each.
    """
    parent = bodies.island
    for i in range(len(parent)):
        parent[i] = i
    n = contacts.count[0]
    for k in range(n):
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        if bodies.kind[i] == DYNAMIC and bodies.kind[j] == DYNAMIC:
            a, b = find_root(parent, i), find_root(parent, j)
            parent[max(a, b)] = min(a, b)
    for i in range(len(parent)):
        parent[i] = find_root(parent, i)
    # counting sort by label
    starts = np.zeros(len(parent) + 1, dtype=np.int64)
    for k in range(n):
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        contacts.island[k] = parent[i] if bodies.kind[i] == DYNAMIC else parent[j]
        starts[contacts.island[k] + 1] += 1
    islands = 0
    for i in range(len(parent)):
        if starts[i + 1] > 0:
            islands += 1
        starts[i + 1] += starts[i]
    for k in range(n):
        i = contacts.island[k]
        contacts.order[starts[i]] = k
        starts[i] += 1
    return islands
