"""What an impact does: the points that touch, the law of one or of several, the books.

One point alone obeys Mirtich's law (collision_law.py). Several at once: the plastic problem with Coulomb friction is solved
jointly (p_c), the normal impulses become (1 + e) p_cn, friction is solved again in the cone of the total, and restitution is
shortened until it gives back no more than e^2 of what compression took. No impact raises the energy; that is measured at each.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, hypot, inner, kernel, lean
from tumble.collision.linalg import (
    ZERO,
    add,
    clear_table,
    copy_table,
    cross,
    dot,
    load3,
    load9,
    matadd,
    mul,
    mul_t,
    norm,
    orthonormal,
    store3,
    sub,
)
from tumble.collision.narrowphase import manifold_far as manifold
from tumble.sim.contact.prepare import prepare
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.contact.touching.contact_table import told, write_row
from tumble.sim.contact.touching.impact_threshold import left_open, pair_restitution, pair_size
from tumble.sim.flight.motion import geom_pose, point_velocity, strike, world_inverse_inertia
from tumble.sim.impact.collision_law import impact_far as impact
from tumble.sim.impact.crowds.coming_points import ask_of_coming
from tumble.sim.impact.joint_impulses import constrain, leave_rigid_rows, linked_mass, rest_rotors, settle_joints
from tumble.sim.impact.time_of_impact import TOUCH
from tumble.sim.ledger.work import INSIDE_DRIFT, NO_WORKS, book_works, contact_driven_work
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.solvers.problem import add_impulses, blocks_of, inverse_effective_mass, relative_velocity
from tumble.sim.state import BETA, EXAMPLE, GAIN, MU, MU_STATIC, POINTS, ROWS, E

NOT_SOLVED = 1e-9  # what a problem misses, as part of the approach, from which on it is not solved
VELOCITY_ROUNDING = 1e-15  # rounding of a relative velocity, as part of the two that it is the difference of


@inner
def touching_rows(bodies, geoms, pairs, geometry, group, table, dt, whole):
    """Fill the spare table with the points of a group of pairs that touch now; their number.

    ``whole``: look at whole faces. Where bodies overlap, a corner that comes through the surface next to their deepest point
    is not among the points of a manifold that looks no further than the touch.
    """
    rows, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    count = 0
    for n in group:
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        i, j = geoms.body[a], geoms.body[b]
        xa, ra = geom_pose(bodies, geoms, a)
        xb, rb = geom_pose(bodies, geoms, b)
        size = pair_size(bodies, i, j)
        touch = 10.0 * TOUCH * size
        margin = size if whole else touch
        points, normal, _ = manifold(
            geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, load3(pairs.axis, n), rows, ids
        )
        s, t = orthonormal(normal)
        for k in range(points):
            if count == len(table.gap):
                break
            if rows[k, 3] > touch and whole:
                continue
            point = (rows[k, 0], rows[k, 1], rows[k, 2])
            if told(bodies, geoms, geometry, table, count, a, b, i, j, point, normal):
                continue
            u = sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))
            u = add(u, surface_slip(bodies, i, j, point, normal))
            write_row(bodies, table, count, a, b, i, j, ids[k], rows[k], s, t, normal, u, ZERO)
            table.law[count, E] = pair_restitution(bodies, pairs, n, i, j, -dot(u, normal), dt)
            count += 1
    table.count[0] = count
    return count


@lean
def fastest_approach(table, count):
    """The speed at which the fastest of the points of the table closes [m/s]; 0: none does."""
    least = 0.0
    for k in range(count):
        least = min(least, table.u[k, 2])
    return -least


@lean
def approach_left(bodies, table, count):
    """The same for the velocities that bodies have after the impact."""
    least = 0.0
    for k in range(count):
        i, j, point = table.body[k, 0], table.body[k, 1], load3(table.point, k)
        normal = (table.frame[k, 2, 0], table.frame[k, 2, 1], table.frame[k, 2, 2])
        least = min(least, dot(normal, sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))))
    return -least


@lean
def inverse_mass(bodies, i, point):
    """(1/m) 1 - [r]x J^-1 [r]x of body i at a point of the world; zero where impulses do not move it."""
    w = world_inverse_inertia(bodies, i)
    x, y, z = sub(point, load3(bodies.x, i))
    # columns of J^-1 [r]x, then -[r]x times them
    c0 = mul(w, (0.0, z, -y))
    c1 = mul(w, (-z, 0.0, x))
    c2 = mul(w, (y, -x, 0.0))
    d0, d1, d2 = cross((x, y, z), c0), cross((x, y, z), c1), cross((x, y, z), c2)
    m = bodies.inv_mass[i]
    return (m - d0[0], -d1[0], -d2[0], -d0[1], m - d1[1], -d2[1], -d0[2], -d1[2], m - d2[2])


@inner
def single_impact(bodies, table, joints, books, settings, links):
    """One point: Mirtich's law."""
    i, j = table.body[0, 0], table.body[0, 1]
    point = load3(table.point, 0)
    e = load9(table.frame, 0)
    k = matadd(inverse_mass(bodies, i, point), inverse_mass(bodies, j, point))
    a, b, c = mul(k, (e[0], e[1], e[2])), mul(k, (e[3], e[4], e[5])), mul(k, (e[6], e[7], e[8]))
    ka, kb, kc = mul(e, a), mul(e, b), mul(e, c)
    frame_k = (ka[0], kb[0], kc[0], ka[1], kb[1], kc[1], ka[2], kb[2], kc[2])
    if len(links) > 0:
        frame_k = linked_mass(bodies, table, joints, links)
    mu, mu_static, restitution, beta = table.law[0, MU], table.law[0, MU_STATIC], table.law[0, E], table.law[0, BETA]
    p, _, work, _, _ = impact(frame_k, load3(table.u, 0), mu, mu_static, restitution, beta, settings.restitution)
    store3(table.impulse, 0, p)
    _apply_impacts(bodies, table, joints, books, links, work, settings.dt)


@kernel
def _joint_impact(bodies, table, joints, books, links, touching, left, dt):
    """Several points at once, by the stages of a kick: the plastic problem first, then what restitution adds to its solution.

    Rows behind the first ``touching`` ones are of points that come down in the time ``left`` of the step, by
    crowds/coming_points.py. False where such a problem was not solved, as where a body is wedged in: then nothing is done.
    """
    m = table.count[0]
    rows = np.arange(m)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, vstar, v, p = prepare(bodies, table, joints, rows, links, rows[:0], local)
    leave_rigid_rows(joints, island, laws)
    rest_rotors(island, system, laws, laws.u0, vstar)
    points = blocks_of(system, 0, m)
    ask_of_coming(table, touching, left, laws.c)
    p[:] = 0.0
    speed = 0.0
    for k in range(m):
        speed = max(speed, abs(table.u[k, 2]))
    tolerance = 1e-14 * speed
    tried = np.zeros(m, dtype=np.bool_)
    off = 0.0
    for round in range(4):
        off, _ = newton(system, laws, vstar, tolerance, 100, p, v)
        if round == 3 or not _revise(table, points, laws, p, v, tried):
            break
    if touching < m and off > NOT_SOLVED * speed:
        return False
    extra = _restitution(table, island, system, points, laws, p, v)
    f = _passive(table, island, system, points, laws, p, extra, v)
    for k in range(m):
        store3(table.impulse, k, (f * (p[k, 0] + extra[k, 0]), f * (p[k, 1] + extra[k, 1]), f * (p[k, 2] + extra[k, 2])))
    _apply_impacts(bodies, table, joints, books, links, math.nan, dt)
    return True


@inner
def _revise(table, points, laws, p, v, tried):
    """Static friction where the slip comes to an end, kinetic friction where that does not hold; True where any changed."""
    changed, mu = False, laws.mu
    u = np.empty((0, 3))
    for k in range(len(points.a)):
        low, high = table.law[k, MU], table.law[k, MU_STATIC]
        if high == low or hypot(p[k, 0], p[k, 1]) < mu[k] * p[k, 2] * (1.0 - 1e-9):
            continue
        if len(u) == 0:
            u = np.empty((len(points.a), 3))
            relative_velocity(points, laws.u0, v, u)
        slip, speed = hypot(u[k, 0], u[k, 1]), norm(load3(table.u, k))
        if mu[k] == high:
            if slip > 1e-9 * speed:
                mu[k] = low
                changed = True
        elif not tried[k] and table.u[k, 0] * u[k, 0] + table.u[k, 1] * u[k, 1] <= 1e-9 * speed * slip:
            mu[k], tried[k] = high, True
            changed = True
    return changed


@inner
def _passive(table, island, system, points, laws, p, extra, d):
    """The part of the impulses p + extra that may act: all, unless they would raise the energy; then the part at which it stays.

    Their work is f p.u + f^2/2 p.W p. Only a plastic problem that was not solved to the end can need this. ``d`` is
    scratch.
    """
    m = len(extra)
    total, du = np.empty((m, 3)), np.empty((m, 3))
    linear, quadratic = 0.0, 0.0
    for k in range(m):
        for r in range(3):
            total[k, r] = p[k, r] + extra[k, r]
            linear += total[k, r] * table.u[k, r]
    _respond(island, system, laws, points, total, np.zeros((len(p) - m, 3)), d, du)
    for k in range(m):
        for r in range(3):
            quadratic += 0.5 * total[k, r] * du[k, r]
    if linear >= 0.0:
        return 0.0
    return min(1.0, -linear / quadratic) if linear + quadratic > 1e-13 * quadratic else 1.0


@inner
def _respond(island, system, laws, points, impulses, through, d, du):
    """By how much these impulses (m, 3) change the points' relative velocities, ``du``, and the bodies', ``d`` (n, 6).
    ``through``: a guess of the joints' impulses."""
    none = np.zeros((len(impulses) + len(through), 3))
    clear_table(d)
    rest_rotors(island, system, laws, none, d)
    add_impulses(points, impulses, d)
    constrain(island, system, laws, none, through, d)
    relative_velocity(points, none, d, du)


@inner
def _restitution(table, island, system, points, laws, p, v):
    """Impulses to add to the plastic ones p, after which the bodies have velocities v.

    Normal parts e p_n; friction by projection onto the disc of the total's cone, swept until it stands, towards no slip, or
    towards -beta times the slip before where the plastic impulses stop it; all shortened by one factor so that restitution's
    work is at most e^2 of compression's and beta^2 of what friction took there.
    """
    m, mu = table.count[0], laws.mu
    through = np.zeros((len(p) - m, 3))  # impulses of the joints
    goal = np.zeros((m, 2))
    extra, d, u = np.zeros((m, 3)), np.zeros_like(v), np.empty((m, 3))
    gain = np.zeros(m)
    for k in range(m):
        extra[k, 2] = table.law[k, E] * p[k, 2]
        for r in range(2):  # a bound on the largest tangential K: its trace
            gain[k] += inverse_effective_mass(system, k, r)
    uc = np.empty((m, 3))
    relative_velocity(points, laws.u0, v, uc)
    for k in range(m):
        beta = table.law[k, BETA]
        if beta >= -1.0 and hypot(uc[k, 0], uc[k, 1]) <= 1e-9 * norm(load3(table.u, k)):
            goal[k, 0], goal[k, 1] = -beta * table.u[k, 0], -beta * table.u[k, 1]
    rest_rotors(island, system, laws, laws.u0, v)
    for _sweep in range(200):
        moved = 0.0
        copy_table(v, d)
        add_impulses(points, extra, d)
        constrain(island, system, laws, laws.u0, through, d)
        relative_velocity(points, laws.u0, d, u)
        for k in range(m):
            if gain[k] == 0.0:
                continue
            q0 = p[k, 0] + extra[k, 0] - (u[k, 0] - goal[k, 0]) / (m * gain[k])
            q1 = p[k, 1] + extra[k, 1] - (u[k, 1] - goal[k, 1]) / (m * gain[k])
            radius, length = mu[k] * (p[k, 2] + extra[k, 2]), hypot(q0, q1)
            f = radius / length if length > radius else 1.0
            e0, e1 = f * q0 - p[k, 0], f * q1 - p[k, 1]
            moved = max(moved, abs(e0 - extra[k, 0]) + abs(e1 - extra[k, 1]) - 1e-15 * radius)
            extra[k, 0], extra[k, 1] = e0, e1
        if moved <= 0.0:
            break
    du = np.empty((m, 3))
    _respond(island, system, laws, points, extra, through, d, du)
    # restitution scaled by f does the work f linear + f^2 quadratic; of all parts, friction included, it may give back at most
    # what e^2 of compression allows
    allowed, linear, quadratic = 0.0, 0.0, 0.0
    for k in range(m):
        e = table.law[k, E]
        allowed -= e * e * p[k, 2] * 0.5 * (table.u[k, 2] + uc[k, 2])
        if goal[k, 0] != 0.0 or goal[k, 1] != 0.0:
            beta = table.law[k, BETA]
            slip = p[k, 0] * (table.u[k, 0] + uc[k, 0]) + p[k, 1] * (table.u[k, 1] + uc[k, 1])
            allowed += beta * beta * max(0.0, -0.5 * slip)
        for r in range(3):
            linear += extra[k, r] * uc[k, r]
            quadratic += 0.5 * extra[k, r] * du[k, r]
    if quadratic > 0.0 and linear + quadratic > allowed * (1.0 + 1e-14):
        f = (math.sqrt(linear * linear + 4.0 * quadratic * max(allowed, 0.0)) - linear) / (2.0 * quadratic)
        f = min(1.0, max(0.0, f))
        for k in range(m):
            for r in range(3):
                extra[k, r] *= f
    return extra


@inner
def _apply_impacts(bodies, table, joints, books, links, normal_work, dt):
    """Impulses of the table (whole ones) to the bodies, works to the books, energy checked.

    ``normal_work``: of the path that the slip took, where the law followed it (one point), or nan. ``dt``: of a step.
    """
    m = table.count[0]
    for k in range(m):
        e = load9(table.frame, k)
        p = load3(table.impulse, k)
        strike(bodies, books, table.body[k, 0], table.body[k, 1], mul_t(e, p), load3(table.point, k))
    if len(links) > 0:
        settle_joints(bodies, table, joints, books, links, True)
    change, size, noise = 0.0, 0.0, 0.0
    for k in range(m):
        e = load9(table.frame, k)
        i, j = table.body[k, 0], table.body[k, 1]
        point = load3(table.point, k)
        vi, vj = point_velocity(bodies, i, point), point_velocity(bodies, j, point)
        belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
        after = mul(e, add(sub(vj, vi), belt))
        before, p = load3(table.u, k), load3(table.impulse, k)
        normal = 0.5 * p[2] * (before[2] + after[2])
        slip = 0.5 * (p[0] * (before[0] + after[0]) + p[1] * (before[1] + after[1]))
        if not math.isnan(normal_work):
            normal, slip = normal_work, normal + slip - normal_work
        driven = contact_driven_work(bodies, i, j, mul_t(e, p), point, belt)
        book_works(books, bodies, i, j, (0.0, -normal, -slip, driven), NO_WORKS, INSIDE_DRIFT)
        table.loss[k] = -(normal + slip)
        change += normal + slip
        if before[2] < -left_open(bodies, i, j, dt):  # slower than that a gain means nothing
            size += abs(p[2] * before[2])
        noise += norm(p) * (norm(vi) + norm(vj))
    # against what rounding of the velocities is worth: an impact slower than that gains nothing that means anything
    if size > 0.0:
        books.worst[GAIN] = max(books.worst[GAIN], (change - VELOCITY_ROUNDING * noise) / size)


joint_impact = far(
    _joint_impact,
    lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, np.zeros(0, np.int64), 0, 0.0, 0.0),
    returns=False,
)
