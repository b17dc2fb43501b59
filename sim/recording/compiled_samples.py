"""The strip: samples of a run that the compiled step takes by itself, in an array with one row for each. compiled_recording.py
computes from them what a recording holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import filled, group, real, whole
from tumble.collision.kernels.jit import far, inner, kernel
from tumble.collision.linalg import add, load3, load4, scale, store3, store4
from tumble.sim.ledger.entries import ENTRIES
from tumble.sim.state import DYNAMIC, EXAMPLE, STEPS


@group
class Strip(NamedTuple):
    """Room for samples of a world of n bodies and j joints: row k of ``step`` and the like, rows k n to (k + 1) n of ``x``."""

    every: np.ndarray = whole(1)  # a sample each so many steps; 0: none
    count: np.ndarray = whole(1)  # samples so far
    step: np.ndarray = whole("s")
    x: np.ndarray = real("s n", 3)
    q: np.ndarray = real("s n", 4)
    p: np.ndarray = real("s n", 3)  # in the middle of the kick; of driven bodies the velocity
    l: np.ndarray = real("s n", 3)
    turn: np.ndarray = real("s j")  # Joints.value
    energy: np.ndarray = real("s", ENTRIES)  # of Books.energy
    moved: np.ndarray = real("s")
    reservoir: np.ndarray = real("2 s", 3)
    depth: np.ndarray = real("s")  # of the deepest contact


NO_STRIP = filled(Strip)


@inner
def sample(model, strip):
    """Take a sample where one is due, and there is room."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    every = strip.every[0]
    if every > 0 and books.counters[STEPS] % every == 0 and strip.count[0] < len(strip.step):
        take_sample_far(bodies, books, contacts, joints, strip)


@kernel
def take_sample(bodies, books, contacts, joints, strip):
    """Take a sample."""
    k = strip.count[0]
    strip.count[0] = k + 1
    strip.step[k] = books.counters[STEPS]
    n = len(bodies.kind)
    for i in range(n):
        row = k * n + i
        p, l = load3(bodies.p, i), load3(bodies.l, i)
        if bodies.kind[i] == DYNAMIC:
            p = scale(0.5, add(p, load3(bodies.p_before, i)))
            l = scale(0.5, add(l, load3(bodies.l_before, i)))
        store3(strip.x, row, load3(bodies.x, i))
        store3(strip.p, row, p)
        store3(strip.l, row, l)
        store4(strip.q, row, load4(bodies.q, i))
    for j in range(len(joints.value)):
        strip.turn[k * len(joints.value) + j] = joints.value[j]
    for e in range(ENTRIES):
        strip.energy[k, e] = books.energy[e]
    strip.moved[k] = books.moved[0]
    store3(strip.reservoir, 2 * k, load3(books.reservoir, 0))
    store3(strip.reservoir, 2 * k + 1, load3(books.reservoir, 1))
    deepest = 0.0
    for c in range(contacts.count[0]):
        deepest = max(deepest, -contacts.gap[c])
    strip.depth[k] = deepest


take_sample_far = far(
    take_sample, lambda: (EXAMPLE.bodies, EXAMPLE.books, EXAMPLE.contacts, EXAMPLE.joints, NO_STRIP), returns=None
)
