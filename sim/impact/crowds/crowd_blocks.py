"""In which order the contacts of a large crowd are swept, such that threads can share it: nested dissection.

The bodies of an island are halved in space, and the halves again. Contacts within a part that is not halved any more are a
*block*: no other part has a body of it. Contacts between the two halves of a part are a block as well, which comes after all
blocks of both. So a sweep has stages: the smallest parts first, then what joins two of these, then what joins two of those. The
blocks of a stage share no body that moves: whoever sweeps them, and in whichever order, the bits are the same. The order depends
on the island alone, not on the number of threads.

George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10 (1973) 345.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.halving import halve_once
from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import inner, lean
from tumble.sim.solvers.lanes import close_groups, group_contacts, list_groups, sweep_lanes

MOST_HALVINGS = 3
TOLD = 16  # numbers in a row of Blocks.told, two lines of the cache: no two threads write into one
LEAST_CONTACTS = 1024  # of a part: in fewer, chains of contacts that wait for each other leave lanes free (solvers/lanes.py)


@owning_group
class Blocks(NamedTuple):
    """Blocks of contacts, island by island and stage by stage."""

    contact: np.ndarray  # (b + 1,) int64 first contact of each block
    group: np.ndarray  # (b + 1,) int64 first group of contacts of each block (solvers/lanes.py)
    stage: np.ndarray  # (s + 1,) int64 first block of each stage
    island: np.ndarray  # (i + 1,) int64 first stage of each island
    told: np.ndarray  # (b + 2, TOLD) what sweeps of each block told, and of what came behind all; the last row: what is asked


@inner
def blocks_of(bodies, contacts, members, local, rows, start):
    """Put the rows of each island, ``start`` (i + 1,) the first of each, in the order of its blocks, and members in that of their
    parts, so that no two threads write side by side; the blocks."""
    islands, most = len(start) - 1, 2 << MOST_HALVINGS
    contact, stage = np.zeros(most * islands + 1, np.int64), np.zeros(most * islands + 1, np.int64)
    island = np.zeros(islands + 1, np.int64)
    blocks, stages, part = 0, 0, np.full(len(members), -1, np.int64)
    order, count = np.empty(len(members), np.int64), 0
    for s in range(islands):
        island[s] = stages
        halvings = _halvings(start[s + 1] - start[s])
        listed = _list_bodies(contacts, local, rows, start[s], start[s + 1], part, order, count)
        if halvings > 0:
            _divide(bodies, members, order[count:listed], halvings, part)
            _sort(contacts, local, part, rows, start[s], start[s + 1], halvings, contact[blocks:])
        else:
            contact[blocks] = start[s]
        count = listed
        for level in range(halvings + 1):
            stage[stages] = blocks
            stages += 1
            blocks += 1 << (halvings - level)
    island[islands], stage[stages], contact[blocks] = stages, blocks, start[islands]
    for i in range(len(members)):  # those that touch nothing
        if part[i] < 0:
            order[count] = i
            count += 1
    for n in range(count):
        order[n] = members[order[n]]
    for n in range(count):
        members[n], local[order[n]] = order[n], n
    return Blocks(
        contact[: blocks + 1].copy(),
        np.zeros(blocks + 1, np.int64),
        stage[: stages + 1].copy(),
        island,
        np.zeros((blocks + 2, TOLD)),
    )


@lean
def _halvings(count):
    """How often an island of so many contacts is halved."""
    halvings = 0
    while halvings < MOST_HALVINGS and count >= LEAST_CONTACTS << (halvings + 1):
        halvings += 1
    return halvings


@lean
def _list_bodies(contacts, local, rows, first, last, part, order, count):
    """List the members that rows[first:last] concern in ``order`` from ``count`` on, as one part; where the list ends."""
    for k in range(first, last):
        for side in range(2):
            i = local[contacts.body[rows[k], side]]
            if i >= 0 and part[i] < 0:
                part[i], order[count] = 0, i
                count += 1
    return count


@inner
def _divide(bodies, members, order, halvings, part):
    """Halve the members that are listed in ``order`` so often, and put them in that order; ``part``: in which part each is."""
    count, parts = len(order), 1
    center, bounds = np.empty((count, 3)), np.zeros((1 << halvings) + 1, np.int64)
    for n in range(count):
        for c in range(3):
            center[n, c] = bodies.x[members[order[n]], c]
    bounds[1] = count
    for _ in range(halvings):
        for k in range(parts - 1, -1, -1):  # from the last one, so that bounds can be moved
            low, high = bounds[k], bounds[k + 1]
            bounds[2 * k + 2], bounds[2 * k] = high, low
            bounds[2 * k + 1] = halve_once(center, order, low, high)
        parts *= 2
    for k in range(parts):
        for n in range(bounds[k], bounds[k + 1]):
            part[order[n]] = k


@inner
def _sort(contacts, local, part, rows, first, last, halvings, begin):
    """Sort rows[first:last] by their blocks, in which they keep their order (counting sort); ``begin``: where each begins."""
    count, source = 2 << halvings, rows[first:last].copy()
    place = np.zeros(count + 1, np.int64)
    for k in range(len(source)):
        place[_block_of(contacts, local, part, source[k], halvings) + 1] += 1
    for n in range(count):
        place[n + 1] += place[n]
        begin[n] = first + place[n]
    for k in range(len(source)):
        n = _block_of(contacts, local, part, source[k], halvings)
        rows[first + place[n]] = source[k]
        place[n] += 1


@lean
def _block_of(contacts, local, part, row, halvings):
    """The block of a contact: of the smallest part of halved ones in which both of its bodies are."""
    i, j = local[contacts.body[row, 0]], local[contacts.body[row, 1]]
    a, b = part[i if i >= 0 else j], part[j if j >= 0 else i]
    block, parts = 0, 1 << halvings
    while a != b:
        a, b, block, parts = a // 2, b // 2, block + parts, parts // 2
    return block + a


@lean
def group_blocks(crowd, blocks):
    """Give the contacts of each block their lanes."""
    count = len(blocks.group) - 1
    for k in range(count):
        blocks.group[k] = close_groups(crowd.groups)
        group_contacts(crowd.groups, crowd.a, crowd.b, blocks.contact[k], blocks.contact[k + 1])
    blocks.group[count] = close_groups(crowd.groups)
    list_groups(crowd.groups)


@lean
def sweep_block(crowd, blocks, k):
    """Sweep block k; the one behind the last is what was grouped behind all. What is asked stands in the last row of
    ``blocks.told``, what came of it in row k."""
    asked, last = len(blocks.told) - 1, len(blocks.group) - 1
    end = blocks.group[k + 1] if k < last else crowd.groups.count[0]
    ask = blocks.told[asked]
    sweep_lanes(
        crowd.groups, crowd.c, crowd.stick, crowd.fast, crowd.v, blocks.group[k], end,
        ask[0], ask[1] > 0.0, ask[2] > 0.0, ask[3] > 0.0, blocks.told, k,
    )  # fmt: skip


_NONE = np.zeros(1, np.int64)
NO_BLOCKS = Blocks(_NONE, _NONE, _NONE, _NONE, np.zeros((2, TOLD)))
