"""What happens between bodies, written down: impacts, contacts that begin and end, and who enters a sensor.

Kernels write rows of ``Books.log``; a full log counts what it could not hold (LOST_EVENTS). Pairs of bodies that touch are known
by keys of their serial numbers, which stay when other bodies are removed; the keys of the last kick are in ``Books.touching``.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import ZERO, add, axpy, load3, load9, mul_t, norm, scale
from tumble.collision.narrowphase import distance_far as distance
from tumble.sim.flight.motion import geom_pose
from tumble.sim.sorted_lists import place_in
from tumble.sim.state import (
    EVENTS,
    EXAMPLE,
    IMPACT,
    LOST_EVENTS,
    SENSED,
    SENSOR_ENTERED,
    SENSOR_LEFT,
    SLEEPING,
    TOUCH_BEGINS,
    TOUCH_ENDS,
    TOUCH_PERSISTS,
    TOUCHING_PAIRS,
)


@lean
def write_event(books, kind, time, a, b, point, normal, impulse, loss, speed):
    """One row of the log: kind, time [s], serial numbers, point, normal from a to b, impulse on b, loss [J], speed [m/s]."""
    k = books.counters[EVENTS]
    if k == len(books.log):
        books.counters[LOST_EVENTS] += 1
        return
    row = books.log[k]
    row[0], row[1], row[2], row[3] = kind, time, a, b
    for r in range(3):
        row[4 + r], row[7 + r], row[10 + r] = point[r], normal[r], impulse[r]
    row[13], row[14] = loss, speed
    books.counters[EVENTS] = k + 1


@lean
def _sum_rows(table, rows, start, stop, share):
    """Of contact rows of the same two bodies: mean point and normal (by load), impulse on the second, loss, fastest approach."""
    point, normal, total, weight, loss, speed = ZERO, ZERO, ZERO, 0.0, 0.0, 0.0
    for m in range(start, stop):
        k = rows[m]
        p, e = load3(table.impulse, k), load9(table.frame, k)
        w = p[2] if p[2] > 0.0 else 1e-300
        point, normal = axpy(w, load3(table.point, k), point), axpy(w, (e[6], e[7], e[8]), normal)
        total = add(total, scale(share, mul_t(e, p)))
        weight += w
        loss += table.loss[k]
        speed = max(speed, -table.u[k, 2])
    length = norm(normal)
    return scale(1.0 / weight, point), scale(1.0 / length if length > 0.0 else 0.0, normal), total, loss, speed


@inner
def log_impacts(bodies, table, books, time):
    """The impacts of a table, one event for each two bodies."""
    m = table.count[0]
    rows = np.empty(m, dtype=np.int64)
    for k in range(m):
        i, j = table.body[k, 0], table.body[k, 1]
        count, first = 0, True
        for n in range(m):
            if table.body[n, 0] == i and table.body[n, 1] == j:
                first = first and n >= k
                if table.impulse[n, 2] > 0.0:
                    rows[count] = n
                    count += 1
        if first and count > 0:
            point, normal, impulse, loss, speed = _sum_rows(table, rows, 0, count, 1.0)
            write_event(books, IMPACT, time, bodies.serial[i], bodies.serial[j], point, normal, impulse, loss, speed)


@lean
def _insert(keys, rows, n, key, row):
    """Insert into a sorted list, behind equal keys; most come in order."""
    k = n
    while k > 0 and keys[k - 1] > key:
        keys[k], rows[k] = keys[k - 1], rows[k - 1]
        k -= 1
    keys[k], rows[k] = key, row


@lean
def _key(bodies, i, j):
    return (bodies.serial[i] << 31) | bodies.serial[j]


@lean
def _ended(books, kind, time, known, slot, keys, n):
    """Log the known pairs that are not among the sorted keys; these become the known ones. All are unique."""
    k = 0
    for m in range(books.counters[slot]):
        while k < n and keys[k] < known[m]:
            k += 1
        if k == n or keys[k] != known[m]:
            write_event(books, kind, time, known[m] >> 31, known[m] & 0x7FFFFFFF, ZERO, ZERO, ZERO, 0.0, 0.0)
    for k in range(n):
        known[k] = keys[k]
    books.counters[slot] = n


@lean
def _sleeps(bodies, serial):
    """The body of a serial number sleeps; the rows are in the order of the numbers."""
    i = place_in(bodies.serial, len(bodies.serial), serial)
    return i >= 0 and bodies.kind[i] == SLEEPING


@kernel(**FOR_KERNELS)
def _log_contacts(bodies, contacts, books, time):
    """Pairs of bodies that touch in this kick, against those of the last one."""
    m = contacts.count[0]
    most = m + books.counters[TOUCHING_PAIRS]
    if most == 0:
        return
    keys, rows = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    n = 0
    for k in range(m):
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        touching = 1e-10 * min(bodies.radius[i], bodies.radius[j])
        if contacts.impulse[k, 2] > 0.0 or contacts.gap[k] <= touching:
            _insert(keys, rows, n, _key(bodies, i, j), k)
            n += 1
    touched = books.counters[TOUCHING_PAIRS] if (bodies.kind == SLEEPING).any() else 0
    for k in range(touched):  # contacts of sleeping bodies go on
        if _sleeps(bodies, books.touching[k] >> 31) or _sleeps(bodies, books.touching[k] & 0x7FFFFFFF):
            _insert(keys, rows, n, books.touching[k], -1)
            n += 1
    unique, start, at, last = 0, 0, 0, books.counters[TOUCHING_PAIRS]
    found = np.empty(n, dtype=np.int64)
    while start < n:
        stop = start + 1
        while stop < n and keys[stop] == keys[start]:
            stop += 1
        while at < last and books.touching[at] < keys[start]:
            at += 1
        known = at < last and books.touching[at] == keys[start]
        if not known or (books.watch[0] != 0 and rows[start] >= 0):
            point, normal, impulse, loss, speed = _sum_rows(contacts, rows, start, stop, 2.0)
            a, b = keys[start] >> 31, keys[start] & 0x7FFFFFFF
            write_event(books, TOUCH_PERSISTS if known else TOUCH_BEGINS, time, a, b, point, normal, impulse, loss, speed)
        found[unique] = keys[start]
        unique += 1
        start = stop
    _ended(books, TOUCH_ENDS, time, books.touching, TOUCHING_PAIRS, found, unique)


@kernel(**FOR_KERNELS)
def _log_sensors(bodies, geoms, pairs, geometry, books, time):
    """Bodies in sensors at this instant, against those of the last."""
    m = pairs.count[1]
    if m + books.counters[SENSED] == 0:
        return
    keys, rows = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    n = 0
    for k in range(m):
        a, b = pairs.sensors[k, 0], pairs.sensors[k, 1]
        i, j = geoms.body[a], geoms.body[b]
        xa, ra = geom_pose(bodies, geoms, a)
        xb, rb = geom_pose(bodies, geoms, b)
        _, gap, lower, _, _, _, _, _ = distance(geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, 0.0, ZERO)
        if lower <= 0.0 and gap <= 0.0:
            _insert(keys, rows, n, _key(bodies, i, j), k)
            n += 1
    unique = 0
    for k in range(n):
        if unique == 0 or keys[unique - 1] != keys[k]:
            keys[unique] = keys[k]
            unique += 1
    for k in range(unique):
        if place_in(books.sensed, books.counters[SENSED], keys[k]) < 0:
            write_event(books, SENSOR_ENTERED, time, keys[k] >> 31, keys[k] & 0x7FFFFFFF, ZERO, ZERO, ZERO, 0.0, 0.0)
    _ended(books, SENSOR_LEFT, time, books.sensed, SENSED, keys, unique)


log_contacts = far(_log_contacts, lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.books, 0.0), returns=None)
log_sensors = far(
    _log_sensors, lambda: (EXAMPLE.bodies, EXAMPLE.geoms, EXAMPLE.pairs, empty_geometry(), EXAMPLE.books, 0.0), returns=None
)
