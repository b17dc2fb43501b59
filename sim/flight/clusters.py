"""Flights of bodies under forces: clusters of bodies that fly together.

A cluster is integrated once, from where its flight begins to the end of the drift (`launch`). Inside, each body follows the
quintic Hermite polynomial through both ends (position, velocity and acceleration; likewise the orientation), which is off by
O(h^6), less than the integrator's own error: impacts are located on it without asking for forces again. Its end is the
integrator's. Works are integrated by the same stages as the motion.
"""

from __future__ import annotations

import math

from collision.kernels.jit import far, inner, kernel, lean, remote
from collision.linalg import add, axpy, dot, load3, load4, load9, qnormalize, rotation, scale, store3, sub
from sim.equations import acceleration, angular_velocity, drive, orientation_rate
from sim.flight.composition import cluster_composed
from sim.flight.dop853 import cluster_dop853
from sim.flight.rk4 import cluster_rk4
from sim.forces.laws import EXTERNAL, POTENTIAL, USER, rates, update_potential
from sim.ledger import entries as ledger
from sim.state import DOP853, DYNAMIC, END, EXAMPLE, FLIGHT, RATE0, RATE1, RK4, SLOPE, STAGE, START

LAST = SLOPE + 2  # row of the path: what the last kick gave; free between two flights


@remote
def _launch(bodies, forces, c, t):
    """Integrate the flight of cluster c from time t, at which it starts, to the end of the drift; False: not finite."""
    path, h = forces.path, forces.clock[1] - t
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        _write(path, START, i, load3(bodies.x0, i), load4(bodies.q0, i), load3(bodies.p0, i), load3(bodies.l0, i))
        bodies.pull[i] = bodies.twist[i] = 0.0
    rates(bodies, forces, c, t, START, RATE0)
    method = forces.method[0]
    if method == RK4:
        cluster_rk4(bodies, forces, c, t, h)
    elif method == DOP853:
        cluster_dop853(bodies, forces, c, t, h)
    else:
        cluster_composed(bodies, forces, c, t, h)
    rates(bodies, forces, c, forces.clock[1], END, RATE1)
    total = 0.0
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        bodies.pull[i] *= 2.0  # seen at the stages: twice the largest bounds it in between, unless the step is far too long
        bodies.twist[i] *= 2.0
        for k in range(FLIGHT):
            total += abs(path[END, i, k]) + abs(path[RATE1, i, k])
    return math.isfinite(total)


launch = far(_launch, lambda: (EXAMPLE.bodies, EXAMPLE.forces, 0, 0.0))


@lean
def launch_all(bodies, forces, t):
    """All flights under forces, from time t of the drift; False where one is not finite."""
    fine = True
    for c in range(len(forces.potential)):
        fine = launch(bodies, forces, c, t) and fine
    return fine


@lean
def _write(path, row, i, x, q, p, l):
    for k in range(3):
        path[row, i, k] = x[k]
        path[row, i, 7 + k] = p[k]
        path[row, i, 10 + k] = l[k]
        path[row, i, 13 + k] = 0.0
    for k in range(4):
        path[row, i, 3 + k] = q[k]


@lean
def _state(path, row, i):
    y = path[row, i]
    return (y[0], y[1], y[2]), (y[3], y[4], y[5], y[6]), (y[7], y[8], y[9]), (y[10], y[11], y[12])


@lean
def _quintic(y0, d0, e0, y1, d1, e1, s):
    """Quintic Hermite polynomial through values, first and second derivatives at 0 and 1: the same three at s."""
    a, b, c = y1 - y0 - d0 - 0.5 * e0, d1 - d0 - e0, e1 - e0
    c3, c4, c5 = 10.0 * a - 4.0 * b + 0.5 * c, 7.0 * b - 15.0 * a - c, 6.0 * a - 3.0 * b + 0.5 * c
    value = y0 + s * (d0 + s * (0.5 * e0 + s * (c3 + s * (c4 + s * c5))))
    first = d0 + s * (e0 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
    return value, first, e0 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))


@lean
def _cubic(y0, d0, y1, d1, s):
    """Cubic Hermite polynomial: value and derivative."""
    a, b = y1 - y0 - d0, d1 - d0
    c2, c3 = 3.0 * a - b, b - 2.0 * a
    return y0 + s * (d0 + s * (c2 + s * c3)), d0 + s * (2.0 * c2 + s * 3.0 * c3)


@remote
def along(bodies, forces, i, t):
    """State (x, q, p, l) of body i at time t of its launched flight, and the force and torque on it."""
    path = forces.path
    if t == forces.clock[1]:
        r = path[RATE1, i]
        x, q, p, l = _state(path, END, i)
        return x, q, p, l, (r[7], r[8], r[9]), (r[10], r[11], r[12])
    h = forces.clock[1] - bodies.t0[i]
    s = (t - bodies.t0[i]) / h
    y0, y1, r0, r1 = path[START, i], path[END, i], path[RATE0, i], path[RATE1, i]
    k, m = h * bodies.inv_mass[i], bodies.mass[i] / h
    x0, v0, a0 = _quintic(y0[0], k * y0[7], h * k * r0[7], y1[0], k * y1[7], h * k * r1[7], s)
    x1, v1, a1 = _quintic(y0[1], k * y0[8], h * k * r0[8], y1[1], k * y1[8], h * k * r1[8], s)
    x2, v2, a2 = _quintic(y0[2], k * y0[9], h * k * r0[9], y1[2], k * y1[9], h * k * r1[9], s)
    l0, t0 = _cubic(y0[10], h * r0[10], y1[10], h * r1[10], s)
    l1, t1 = _cubic(y0[11], h * r0[11], y1[11], h * r1[11], s)
    l2, t2 = _cubic(y0[12], h * r0[12], y1[12], h * r1[12], s)
    d0, d1 = _bend(bodies, i, y0, r0), _bend(bodies, i, y1, r1)
    g = h * h
    w, _, _ = _quintic(y0[3], h * r0[3], g * d0[0], y1[3], h * r1[3], g * d1[0], s)
    a, _, _ = _quintic(y0[4], h * r0[4], g * d0[1], y1[4], h * r1[4], g * d1[1], s)
    b, _, _ = _quintic(y0[5], h * r0[5], g * d0[2], y1[5], h * r1[5], g * d1[2], s)
    c, _, _ = _quintic(y0[6], h * r0[6], g * d0[3], y1[6], h * r1[6], g * d1[3], s)
    force, torque = scale(m / h, (a0, a1, a2)), scale(1.0 / h, (t0, t1, t2))
    return (x0, x1, x2), qnormalize((w, a, b, c)), scale(m, (v0, v1, v2)), (l0, l1, l2), force, torque


along_far = far(along, lambda: (EXAMPLE.bodies, EXAMPLE.forces, 0, 0.0))


@lean
def _bend(bodies, i, y, r):
    """Second derivative of the orientation: (0, w') q/2 + (0, w) q'/2."""
    rot = rotation((y[3], y[4], y[5], y[6]))
    inv = load9(bodies.inv_inertia, i)
    w = angular_velocity(rot, inv, (y[10], y[11], y[12]))
    alpha = acceleration(w, rot, load9(bodies.inertia, i), inv, (r[10], r[11], r[12]))
    a = orientation_rate(alpha, (y[3], y[4], y[5], y[6]))
    b = orientation_rate(w, (r[3], r[4], r[5], r[6]))
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])


@lean
def works(bodies, forces, i, t, kind):
    """Work of one kind that was done on body i from the start of its flight to time t [J]."""
    path, h = forces.path, forces.clock[1] - bodies.t0[i]
    if h <= 0.0 or t == bodies.t0[i]:
        return 0.0
    s = (t - bodies.t0[i]) / h
    return _cubic(0.0, h * path[RATE0, i, kind], path[END, i, kind], h * path[RATE1, i, kind], s)[0]


@lean
def book_cluster(bodies, forces, books, c, t):
    """The flight of cluster c ends at time t, at which all its bodies stand.

    The kinetic energy that the works do not explain, and the work with a potential that the potential does not give, are
    the error of the integrator.
    """
    error, moved = update_potential(bodies, forces, c, t), 0.0
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        change, fall = flight_balance(bodies, i)
        given, external, user = (
            works(bodies, forces, i, t, POTENTIAL),
            works(bodies, forces, i, t, EXTERNAL),
            works(bodies, forces, i, t, USER),
        )
        error += change - external - user
        books.energy[ledger.EXTERNAL] += external
        books.energy[ledger.USER] += user
        moved += abs(fall) + abs(given) + abs(external) + abs(user)
    books.energy[ledger.INTEGRATOR] += error
    books.moved[0] += abs(error) + moved


@lean
def flight_balance(bodies, i):
    """Change of kinetic energy and of that in uniform gravity, over the flight that ends here; and gravity's work [J]."""
    if bodies.kind[i] != DYNAMIC:
        return 0.0, 0.0
    # difference of kinetic energies as (v1 - v0).(p1 + p0)/2: no cancellation of totals
    inv = load9(bodies.inv_inertia, i)
    p, p0, l, l0 = load3(bodies.p, i), load3(bodies.p0, i), load3(bodies.l, i), load3(bodies.l0, i)
    linear = 0.5 * bodies.inv_mass[i] * dot(sub(p, p0), add(p, p0))
    w0 = angular_velocity(rotation(load4(bodies.q0, i)), inv, l0)
    angular = 0.5 * (dot(load3(bodies.w, i), l) - dot(w0, l0))
    work = bodies.mass[i] * dot(load3(bodies.gravity, i), sub(load3(bodies.x, i), load3(bodies.x0, i)))
    return linear + angular - work, work


@lean
def recall_kicks(bodies, forces):
    """Keep what the last kick gave to the momenta, where the flight after it was not interrupted; in row LAST of the path."""
    for m in range(len(forces.member)):
        i = forces.member[m]
        kept = 1.0 if bodies.t0[i] == 0.0 else 0.0
        for k in range(3):
            forces.path[LAST, i, 7 + k] = kept * (bodies.p0[i, k] - bodies.p_before[i, k])
            forces.path[LAST, i, 10 + k] = kept * (bodies.l0[i, k] - bodies.l_before[i, k])


@remote
def _foresee(bodies, forces, c, given):
    """Mean force and torque of the coming flight of cluster c, for its contacts.

    What matters to a contact is the way gone in the flight, so the mean is (f(start) + 2 f(middle))/3. The momenta at the
    start are those of the last kick, given again: in lasting contact that is right, and a body at rest under drag or on a
    spring stays where it is. The middle is that of a parabola. ``given``: the velocities were set, and are means.
    """
    path, half = forces.path, 0.5 * forces.clock[1]
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        _, _, p, l = _state(path, LAST, i)
        p, l = add(load3(bodies.p, i), p), add(load3(bodies.l, i), l)
        _write(path, STAGE, i, load3(bodies.x, i), load4(bodies.q, i), p, l)
    rates(bodies, forces, c, 0.0, STAGE, SLOPE)
    if given:  # the flight begins half a step's forces before the mean
        for m in range(forces.first_member[c], forces.first_member[c + 1]):
            i = forces.member[m]
            for k in range(7, 13):
                path[STAGE, i, k] -= half * path[SLOPE, i, k]
        rates(bodies, forces, c, 0.0, STAGE, SLOPE)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        x, q, p, l = _state(path, STAGE, i)
        _, _, f, torque = _state(path, SLOPE, i)
        w = angular_velocity(load9(bodies.rot, i), load9(bodies.inv_inertia, i), l)
        x, q = drive(x, q, scale(bodies.inv_mass[i], axpy(0.5 * half, f, p)), w, half)
        store3(bodies.p0, i, p)
        store3(bodies.l0, i, l)
        p, l = axpy(half, f, p), axpy(half, torque, l)
        _write(path, STAGE, i, x, q, p, l)
        store3(bodies.dv, i, sub(scale(bodies.inv_mass[i], p), load3(bodies.v, i)))
        w = angular_velocity(rotation(q), load9(bodies.inv_inertia, i), l)
        store3(bodies.dw, i, sub(w, load3(bodies.w, i)))
    rates(bodies, forces, c, half, STAGE, SLOPE + 1)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        _, _, f0, t0 = _state(path, SLOPE, i)
        _, _, f1, t1 = _state(path, SLOPE + 1, i)
        mean = scale(1.0 / 3.0, axpy(2.0, f1, f0))
        store3(bodies.force, i, axpy(-bodies.mass[i], load3(bodies.gravity, i), mean))
        store3(bodies.torque, i, scale(1.0 / 3.0, axpy(2.0, t1, t0)))


foresee = far(_foresee, lambda: (EXAMPLE.bodies, EXAMPLE.forces, 0, False))


@lean
def foresee_all(bodies, forces, given):
    for c in range(len(forces.potential)):
        foresee(bodies, forces, c, given)


@kernel
def refresh(bodies, forces):
    """Energies of the forces for poses that were set from outside."""
    potential_change(bodies, forces, 0.0)


@inner
def potential_change(bodies, forces, t):
    """Change of the energy of all forces that have a potential since it was last asked [J]."""
    change = 0.0
    for c in range(len(forces.potential)):
        change += update_potential(bodies, forces, c, t)
    return change
