"""Points of a pair that comes again and again, which do not touch yet and come down before the step ends.

The nearest point of two bodies that lie along each other runs from one end of them to the other as soon as they turn a little:
two capsules off by three degrees at a kilometre a second. Stopped where it is, it closes beside that at once, thousands of times
on its way. Where the island is kicked again the kick looks at all of the step. Where that is not done any more, in crowds and
where a step has spent what it may, the impact itself looks, from the third one of a pair in the step on, if nothing bounces. Its
bodies are flown to the end of the step as if they had not met. What overlaps there becomes a row of the impact: the two
material points that meet, carried back to where they are now. It may close, but no faster than takes it to the surface at the
end of the step, as in a kick: u' >= -gap / (time left), and it is pressed on only with equality. So it makes no energy.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import ZERO, add, axpy, dot, load3, load9, mul, mul_t, orthonormal, scale, sub
from tumble.collision.narrowphase import manifold_far as manifold
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.contact.touching.contact_table import told, write_row
from tumble.sim.contact.touching.impact_threshold import MOST_SMALL_BOUNCES, pair_restitution
from tumble.sim.flight.motion import frame_pose, motion_at, point_velocity
from tumble.sim.state import FUTILE, POINTS, ROWS, E


@lean
def tired(bodies, geoms, pairs, k, dt):
    """Pair k has bounced in this step, and bounces no more."""
    i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
    often = pairs.hits[k] >= MOST_SMALL_BOUNCES and pairs.search[k] != FUTILE
    return often and pair_restitution(bodies, pairs, k, i, j, pairs.speed[k], dt) == 0.0


@inner
def coming_rows(bodies, forces, geoms, pairs, geometry, group, table, dt):
    """Add to the spare table of an impact what comes down later in the step, of the tired pairs of a group; the number of rows
    then. All bodies of the group stand at the instant of the impact."""
    rows, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    count = table.count[0]
    for n in group:
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        i, j = geoms.body[a], geoms.body[b]
        if not tired(bodies, geoms, pairs, n, dt) or forces.cluster[i] >= 0 or forces.cluster[j] >= 0:
            continue
        xi, ri, _, _ = motion_at(bodies, forces, i, dt)
        xj, rj, _, _ = motion_at(bodies, forces, j, dt)
        xa, ra = frame_pose(xi, ri, load3(geoms.x, a), load9(geoms.rot, a))
        xb, rb = frame_pose(xj, rj, load3(geoms.x, b), load9(geoms.rot, b))
        points, normal, _ = manifold(
            geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, 0.0, load3(pairs.axis, n), rows, ids
        )
        s, t = orthonormal(normal)
        for k in range(points):
            if rows[k, 3] >= 0.0 or count == len(table.gap):
                continue
            point, rows[k, 3] = _carried_back(bodies, i, xi, ri, j, xj, rj, rows[k], normal)
            if told(bodies, geoms, geometry, table, count, a, b, i, j, point, normal):
                continue
            for r in range(3):
                rows[k, r] = point[r]
            u = sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))
            u = add(u, surface_slip(bodies, i, j, point, normal))
            write_row(bodies, table, count, a, b, i, j, ids[k], rows[k], s, t, normal, u, ZERO)
            table.law[count, E] = 0.0
            count += 1
    table.count[0] = count
    return count


@lean
def _carried_back(bodies, i, xi, ri, j, xj, rj, row, normal):
    """Where the two material points are now that meet in a contact point when bodies i and j are at (xi, ri) and (xj, rj): (the
    middle between them, their gap, no less than none)."""
    point = (row[0], row[1], row[2])
    one = _now(bodies, i, xi, ri, axpy(-0.5 * row[3], normal, point))
    two = _now(bodies, j, xj, rj, axpy(0.5 * row[3], normal, point))
    return scale(0.5, add(one, two)), max(0.0, dot(normal, sub(two, one)))


@lean
def _now(bodies, i, x, rot, point):
    """Where a material point of body i is now that is at ``point`` when the body is at (x, rot)."""
    return add(load3(bodies.x, i), mul(load9(bodies.rot, i), mul_t(rot, sub(point, x))))


@lean
def ask_of_coming(table, touching, left, c):
    """The normal velocities, targets of a problem, of the rows behind those that touch; ``left``: what is left of the step."""
    for k in range(touching, table.count[0]):
        c[k, 2] = -table.gap[k] / left
