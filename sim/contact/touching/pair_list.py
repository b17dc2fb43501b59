"""The list of candidate pairs: those whose boxes meet, and that may meet; with what is known of each."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import store3
from tumble.sim.contact.ground.faces import face_to_face
from tumble.sim.contact.touching.impact_threshold import forget_arrivals
from tumble.sim.joints.pairs import banned, listed, pair_key
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
            same = same and kept < pairs.count[0] and pairs.geoms[kept, 0] == i and pairs.geoms[kept, 1] == j
            pairs.met[kept, 0], pairs.met[kept, 1] = i, j
            kept += 1
    pairs.count[1] = sensors
    return kept, same


@inner
def _known_pairs(pairs):
    """What is known of the pairs, before others are listed."""
    old = pairs.count[0]
    return (
        pairs.geoms[:old].copy(), pairs.axis[:old].copy(), pairs.clear[:old].copy(), pairs.search[:old].copy(),
        pairs.event[:old].copy(), pairs.speed[:old].copy(), pairs.hits[:old].copy(), pairs.struck[:old].copy(),
        pairs.rests[:old].copy(), pairs.unforeseen[:old].copy(), pairs.slot[:old].copy(), pairs.bears[:old].copy(),
        pairs.arrives[:old].copy(),
    )  # fmt: skip


@inner
def _relist(geoms, pairs, kept):
    """The pairs are the first of pairs.met."""
    known = _known_pairs(pairs)
    keys, axes, clear, searches, events, speeds, hits, struck, rests, unforeseen, slots, bears, arrives = known
    old, taken, free, k = len(keys), np.zeros(len(pairs.slot), dtype=np.bool_), 0, 0
    for n in range(kept):
        i, j = pairs.met[n, 0], pairs.met[n, 1]
        pairs.geoms[n, 0], pairs.geoms[n, 1] = i, j
        while k < old and (keys[k, 0] < i or (keys[k, 0] == i and keys[k, 1] < j)):
            k += 1
        if k < old and keys[k, 0] == i and keys[k, 1] == j:
            store3(pairs.axis, n, (axes[k, 0], axes[k, 1], axes[k, 2]))
            pairs.search[n], pairs.event[n], pairs.speed[n] = searches[k], events[k], speeds[k]
            pairs.hits[n], pairs.struck[n], pairs.rests[n], pairs.unforeseen[n] = hits[k], struck[k], rests[k], unforeseen[k]
            pairs.clear[n, 0], pairs.clear[n, 1] = clear[k, 0], clear[k, 1]
            for m in range(POINTS):
                pairs.bears[n, m], pairs.arrives[n, m] = bears[k, m], arrives[k, m]
            pairs.slot[n] = slots[k]
            taken[slots[k]] = True
        else:
            pairs.slot[n] = -1
            store3(pairs.axis, n, (0.0, 0.0, 0.0))
            pairs.search[n], pairs.event[n], pairs.speed[n] = WANTED, math.inf, 0.0
            pairs.hits[n], pairs.struck[n], pairs.rests[n], pairs.unforeseen[n] = 0, -math.inf, 0, 1
            pairs.clear[n, 0], pairs.clear[n, 1] = -math.inf, 0.0
            forget_arrivals(pairs, n)
            if geoms.face[j] != PIECE:
                _inherit(geoms, pairs, n, known, k)
    for n in range(kept):
        if pairs.slot[n] < 0:
            while taken[free]:
                free += 1
            pairs.slot[n] = free
            pairs.seen[free, 12] = 0.0
            free += 1
    pairs.count[0] = kept


@lean
def _inherit(geoms, pairs, n, known, k):
    """A new pair of a piece and a facet has what is known of that piece and the facets of this ground that it met before.

    ``k``: where the pair would stand among the known ones.
    """
    keys, _, _, _, _, _, hits, struck, rests, _, _, bears, arrives = known
    i, ground, count = pairs.geoms[n, 0], geoms.body[pairs.geoms[n, 1]], 0
    first = k
    while first > 0 and keys[first - 1, 0] == i:
        first -= 1
    while first < len(keys) and keys[first, 0] == i:
        if geoms.body[keys[first, 1]] == ground:
            pairs.hits[n], pairs.rests[n] = max(pairs.hits[n], hits[first]), max(pairs.rests[n], rests[first])
            pairs.struck[n] = max(pairs.struck[n], struck[first])
            for m in range(POINTS):
                if arrives[first, m] > 0.0 and count < POINTS:
                    pairs.bears[n, count], pairs.arrives[n, count] = bears[first, m], arrives[first, m]
                    count += 1
        first += 1
