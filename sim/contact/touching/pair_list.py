"""The list of candidate pairs: those whose boxes meet, and that may meet; with what is known of each."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.sim.contact.ground.faces import face_to_face
from tumble.sim.joints.pairs import banned, listed, pair_key
from tumble.sim.sorted_lists import is_pair, pair_before
from tumble.sim.state import OK, PAIRS_FULL, PIECE, POINTS, WANTED


@lean
def meet(geoms, joints, i, j):
    """Groups and masks, joints and lists of pairs let two pieces meet; sensors feel what can move against them.

    Sleeping pieces meet those that can wake them."""
    if (geoms.groups[i] & geoms.mask[j]) == 0 or (geoms.groups[j] & geoms.mask[i]) == 0:
        return False
    sensors = geoms.sensor[i] + geoms.sensor[j]
    sleepers = geoms.asleep[i] + geoms.asleep[j]
    if sleepers == 2 or (sleepers == 1 and sensors == 0 and geoms.moves[i] + geoms.moves[j] == 1):
        return False
    if sensors == 2 or (sensors == 1 and geoms.moves[i] + geoms.moves[j] == 0):
        return False
    a, b = geoms.body[i], geoms.body[j]
    return face_to_face(geoms, i, j) and not banned(joints, a, b) and not listed(geoms.apart, pair_key(a, b))


@inner
def renew_pairs(geoms, pairs, joints, found):
    """Candidate pairs are the ``found`` ones of pairs.met, but for bodies that must not meet; what was known of a pair stays with
    it.

    Pairs with a sensor are listed apart.
    OK or PAIRS_FULL, then nothing changed.
    """
    if found > len(pairs.met):
        return PAIRS_FULL
    kept, same = _sift(geoms, pairs, joints, found)
    if not (same and kept == pairs.count[0]):
        _relist(geoms, pairs, kept)
        forget_manifolds(pairs)
    return OK


@lean
def forget_manifolds(pairs):
    """No manifold is known of any pair."""
    for n in range(pairs.count[0]):
        pairs.fresh[n], pairs.points[n] = False, 0


@lean
def _sift(geoms, pairs, joints, found):
    """Leave those in pairs.met that may meet, and list those with a sensor: (how many, whether they begin the known list)."""
    kept, sensors, same = 0, 0, True
    for n in range(found):
        i, j = pairs.met[n, 0], pairs.met[n, 1]
        if not meet(geoms, joints, i, j):
            continue
        if geoms.sensor[i] + geoms.sensor[j] > 0:
            pairs.sensors[sensors, 0], pairs.sensors[sensors, 1] = i, j
            sensors += 1
        else:
            same = same and kept < pairs.count[0] and is_pair(pairs.geoms, kept, i, j)
            pairs.met[kept, 0], pairs.met[kept, 1] = i, j
            kept += 1
    pairs.count[1] = sensors
    return kept, same


@inner
def _take(column, old, source, new):
    """Put the entries of a column where their pairs are now: pair n was ``source[n]`` of ``old`` ones, or is new (< 0) and gets
    the entry ``new``. The entries as they were."""
    was = column[:old].copy()
    for n in range(len(source)):
        column[n] = was[source[n]] if source[n] >= 0 else new
    return was


@inner
def _take_rows(table, old, source):
    """The same for the rows of a table; those of new pairs are zero."""
    was = table[:old].copy()
    for n in range(len(source)):
        for m in range(table.shape[1]):
            table[n, m] = was[source[n], m] if source[n] >= 0 else 0
    return was


@inner
def _relist(geoms, pairs, kept):
    """The pairs are the first of pairs.met. What else is known of a pair goes along in a line of its own."""
    old, source = pairs.count[0], np.empty(kept, np.int64)
    known = pairs.geoms[:old].copy()
    _find_again(pairs, known, source)
    _take(pairs.search, old, source, WANTED)
    _take(pairs.event, old, source, math.inf)
    _take(pairs.speed, old, source, 0.0)
    _take(pairs.unforeseen, old, source, 1)
    _take_rows(pairs.axis, old, source)
    _take_rows(pairs.clear, old, source)
    slots, hits = _take(pairs.slot, old, source, -1), _take(pairs.hits, old, source, 0)
    struck, rests = _take(pairs.struck, old, source, -math.inf), _take(pairs.rests, old, source, 0)
    bears, arrives = _take_rows(pairs.bears, old, source), _take_rows(pairs.arrives, old, source)
    for n in range(kept):
        if source[n] < 0:
            pairs.clear[n, 0] = -math.inf
            if geoms.face[pairs.geoms[n, 1]] != PIECE:
                _inherit(geoms, pairs, n, known, -1 - source[n], hits, struck, rests, bears, arrives)
    _give_slots(pairs, slots, source)
    pairs.count[0] = kept


@lean
def _find_again(pairs, known, source):
    """The first of pairs.met become the pairs; ``source`` tells which of the ``known`` ones each was: -1 - k for one that was not
    there and would have stood before number k."""
    k = 0
    for n in range(len(source)):
        i, j = pairs.met[n, 0], pairs.met[n, 1]
        pairs.geoms[n, 0], pairs.geoms[n, 1] = i, j
        while k < len(known) and pair_before(known, k, i, j):
            k += 1
        source[n] = k if k < len(known) and is_pair(known, k, i, j) else -1 - k


@inner
def _give_slots(pairs, slots, source):
    """New pairs get the places of manifolds that no known one has kept."""
    taken, free = np.zeros(len(pairs.slot), dtype=np.bool_), 0
    for n in range(len(source)):
        if source[n] >= 0:
            taken[slots[source[n]]] = True
    for n in range(len(source)):
        if source[n] < 0:
            while taken[free]:
                free += 1
            pairs.slot[n] = free
            pairs.seen[free, 12] = 0.0
            free += 1


@lean
def _inherit(geoms, pairs, n, known, k, hits, struck, rests, bears, arrives):
    """A new pair of a piece and a facet has what is known of that piece and the facets of this ground that it met before.

    ``k``: where the pair would stand among the ``known`` ones.
    """
    i, ground, count = pairs.geoms[n, 0], geoms.body[pairs.geoms[n, 1]], 0
    first = k
    while first > 0 and known[first - 1, 0] == i:
        first -= 1
    while first < len(known) and known[first, 0] == i:
        if geoms.body[known[first, 1]] == ground:
            pairs.hits[n], pairs.rests[n] = max(pairs.hits[n], hits[first]), max(pairs.rests[n], rests[first])
            pairs.struck[n] = max(pairs.struck[n], struck[first])
            for m in range(POINTS):
                if arrives[first, m] > 0.0 and count < POINTS:
                    pairs.bears[n, count], pairs.arrives[n, count] = bears[first, m], arrives[first, m]
                    count += 1
        first += 1
