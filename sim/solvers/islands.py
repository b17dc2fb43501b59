"""Groups of bodies that touch or are jointed: no impulse of the kick passes from one to another."""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import inner
from tumble.sim.state import DYNAMIC


@inner
def find_root(parent, i):
    """The body that stands for the group of body i. The way to it becomes shorter for who asks next."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner
def label_islands(bodies, contacts, joints, most):
    """Label bodies, contacts and joints by island and sort contacts and joints by it.

    ``bodies.island`` becomes the smallest index of a body in the island; ``contacts.order`` lists the rows island by
    island, in the order of the table within each, ``joints.order`` the joints. An island is a crowd if one of its bodies was of
    one, or was kicked again too often, and if it has more than ``most`` of them.
    """
    parent = bodies.island
    for i in range(len(parent)):
        parent[i] = i
    n = contacts.count[0]
    for k in range(n):
        unite(bodies, parent, contacts.body[k, 0], contacts.body[k, 1])
    for k in range(len(joints.kind)):
        unite(bodies, parent, joints.body[k, 0], joints.body[k, 1])
    for i in range(len(parent)):
        parent[i] = find_root(parent, i)
    size = np.zeros(len(parent), dtype=np.int64)
    for i in range(len(parent)):
        bodies.crowd[parent[i]] = max(bodies.crowd[parent[i]], bodies.crowd[i])
        size[parent[i]] += 1
    for i in range(len(parent) - 1, -1, -1):  # a root comes before its members
        bodies.crowd[i] = bodies.crowd[parent[i]] if size[parent[i]] > most else 0
    for k in range(n):
        contacts.island[k] = _label(bodies, contacts.body[k, 0], contacts.body[k, 1])
    for k in range(len(joints.kind)):
        joints.island[k] = _label(bodies, joints.body[k, 0], joints.body[k, 1])
    _sort(contacts.island, n, len(parent), contacts.order)
    _sort(joints.island, len(joints.kind), len(parent), joints.order)


@inner
def unite(bodies, parent, i, j):
    """Put two bodies into one group; static and driven bodies, and the world (-1), belong to none."""
    if i >= 0 and j >= 0 and bodies.kind[i] == DYNAMIC and bodies.kind[j] == DYNAMIC:
        merge(parent, i, j)


@inner
def merge(parent, i, j):
    """Make the groups of i and j one; the smaller of their roots stands for it."""
    a, b = find_root(parent, i), find_root(parent, j)
    parent[max(a, b)] = min(a, b)


@inner
def _label(bodies, i, j):
    """The island of a contact or a joint: that of a dynamic body of the two."""
    return bodies.island[i] if i >= 0 and bodies.kind[i] == DYNAMIC else bodies.island[j]


@inner
def _sort(labels, n, most, order):
    """Rows 0 .. n - 1 in the order of their labels (counting sort)."""
    if n == 0:
        return
    starts = np.zeros(most + 1, dtype=np.int64)
    for k in range(n):
        starts[labels[k] + 1] += 1
    for i in range(most):
        starts[i + 1] += starts[i]
    for k in range(n):
        i = labels[k]
        order[starts[i]] = k
        starts[i] += 1
