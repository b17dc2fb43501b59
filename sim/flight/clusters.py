"""Flights of bodies under forces: clusters of bodies that fly together.

A cluster is integrated once, from where its flight begins to the end of the drift (`launch`). Inside, each body follows the
quintic Hermite polynomial through both ends (position, velocity and acceleration; likewise the orientation), which is off by
O(h^6), less than the integrator's own error: impacts are located on it without asking for forces again. Its end is the
integrator's. Works are integrated by the same stages as the motion.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, inner, kernel, lean, remote
from tumble.collision.linalg import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    load9,
    norm,
    qnormalize,
    rotation,
    scale,
    store3,
    sub,
)
from tumble.sim.equations import acceleration, angular_velocity, drive, orientation_rate
from tumble.sim.flight.flight_check import balance_momenta, energy_lost, note_energies
from tumble.sim.flight.methods.composition import cluster_composed
from tumble.sim.flight.methods.dop853 import cluster_dop853
from tumble.sim.flight.methods.explicit import blend, copy_row, normalize_row
from tumble.sim.flight.methods.rk4 import cluster_rk4
from tumble.sim.flight.methods.rk6 import cluster_rk6
from tumble.sim.flight.rates import rates
from tumble.sim.flight.stations import keep_station, piece
from tumble.sim.forces.laws import DAMPER_WORK, EXTERNAL_WORK, OTHERS, POTENTIAL_WORK, USER_WORK, update_potential
from tumble.sim.forces.path_rows import arm_of, place_origin, read_state, read_wrench, write_state
from tumble.sim.joints.constraint_forces import close, note_loads
from tumble.sim.joints.constraint_system import mark_acting
from tumble.sim.joints.driven_rows import mark_driven, note_rotors, rotor_gain, set_goals
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.work import add_energy, add_to_reservoir
from tumble.sim.solvers.lanes import LANES, every, lanes_at, put_lanes, size
from tumble.sim.state import DOP853, DYNAMIC, END, EXAMPLE, FLIGHT, MIDDLE, MIDRATE, RATE0, RATE1, RK4, SLOPE, STAGE, START

LAST = SLOPE + 2  # row of Forces.path that holds what the last kick gave; it is free between two flights
# Most error of a flight: the opening of a joint, in sizes of its body or rad, and the change of energy, of all that there is.
DRIFT = 1e-9
ONCE = np.ones(1)
MOST_FLIGHT_STEPS = 1000  # most steps of the integrator in a flight
VAIN = 2  # flights in a row that more steps made no better, where they should divide the error by three: no more are tried


@remote
def _fly(bodies, forces, joints, c, t, end, guessed):
    """Integrate the flight of cluster c from time t of the drift, at which it starts, to the time ``end``; False: not finite.

    Where there are joints, in so many steps that the integrator is off by no more than DRIFT. ``guessed``: the kick before it is
    in the midst of its solve.
    """
    path, h = forces.path, end - t
    forces.ends[c] = end
    place_origin(bodies, forces, c)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        write_state(forces, START, i, load3(bodies.x0, i), load4(bodies.q0, i), load3(bodies.p0, i), load3(bodies.l0, i))
    set_goals(bodies, forces, joints, c, t, h, guessed)
    rates(bodies, forces, joints, c, t, START, RATE0, h)
    note_rotors(bodies, forces, joints, c, t)
    if forces.first_link[c + 1] > forces.first_link[c]:
        note_energies(bodies, forces, c)
    parts, opened, last, vain = 1, _integrate(bodies, forces, joints, c, t, h, 1), math.inf, 0
    while parts < MOST_FLIGHT_STEPS and vain < VAIN and not opened <= DRIFT:  # of order six in their number
        vain = vain + 1 if abs(opened - last) < 0.1 * opened else 0  # what does not change is not theirs: the kick left it
        last = opened
        grown = math.ceil(parts * (opened / DRIFT) ** (1.0 / 6.0)) if math.isfinite(opened) else MOST_FLIGHT_STEPS
        parts = min(MOST_FLIGHT_STEPS, max(parts + 1, 5 * parts // 4, min(4 * parts, grown)))
        opened = _integrate(bodies, forces, joints, c, t, h, parts)
    if not math.isfinite(opened):  # nothing can hold them in so few steps: they come open, and the world says so
        parts = 1
        _bound_by_start(bodies, forces, c)
        copy_row(forces, c, RATE0, SLOPE)
        blend(forces, c, START, h, ONCE, 1, END)
        normalize_row(forces, c, END)
        rates(bodies, forces, joints, c, end, END, RATE1, h)
    forces.steps[c] = parts
    if forces.first_link[c + 1] > forces.first_link[c] and forces.anchored[c] == 0:
        balance_momenta(bodies, forces, c)
    total = every(0.0)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        bodies.pull[i] *= 2.0  # seen at the stages: twice the largest bounds it in between, unless the step is far too long
        bodies.twist[i] *= 2.0
        for k in range(0, FLIGHT, LANES):
            total = total + size(lanes_at(path[END], i, k)) + size(lanes_at(path[RATE1], i, k))
    put_lanes(forces.sums, 0, 0, total)
    return math.isfinite(forces.sums[0, 0] + forces.sums[0, 1] + forces.sums[0, 2] + forces.sums[0, 3])


fly = far(_fly, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0, 0.0, False), returns=False)


@lean
def launch(bodies, forces, joints, c, t, guessed=False):
    """Integrate the flight of cluster c from time t, at which it starts, to the end of the drift; False: not finite."""
    return fly(bodies, forces, joints, c, t, forces.clock[1], guessed)


@lean
def cut_short(bodies, forces, joints, c, t):
    """The flight of cluster c ends at time t. What lies inside a flight is interpolated, and joints may be open there: where it
    is to begin anew it is integrated to that time."""
    start = bodies.t0[forces.member[forces.first_member[c]]]
    if forces.first_link[c + 1] > forces.first_link[c] and start < t < forces.ends[c]:
        fly(bodies, forces, joints, c, start, t, False)


@lean
def _bound_by_start(bodies, forces, c):
    """Bounds on what pulls and turns the bodies of cluster c, as at the start of its flight; `rates` adds what it sees later.

    Each time that the flight is tried: where one in too few steps runs away, what it saw bounds nothing.
    """
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        force, torque = read_wrench(forces, START, RATE0, i)
        bodies.pull[i] = norm(axpy(-1.0, load3(bodies.gravity, i), scale(bodies.inv_mass[i], force)))
        bodies.twist[i] = norm(torque)


@lean
def _integrate(bodies, forces, joints, c, t, h, parts):
    """Integrate to row END of the path, in ``parts`` steps, and the rates there to row RATE1. Returns by how much the flight is
    off where there are joints, else 0.

    That is the larger of two errors: how far joints were open before they were closed, as part of a body's size or in rad; and
    the energy that was lost, as part of all. Compositions are made of free flights, which jointed bodies do not have: the
    method of order 6 takes their place.
    """
    method, part, linked = forces.method[0], h / parts, forces.first_link[c + 1] > forces.first_link[c]
    _bound_by_start(bodies, forces, c)
    for n in range(parts):
        start, rate, now = START, RATE0, t + n * part
        if n > 0:
            start, rate = MIDDLE, MIDRATE
            copy_row(forces, c, END, MIDDLE)
            rates(bodies, forces, joints, c, now, MIDDLE, MIDRATE, part)
            keep_station(forces, c, n, parts)
        if method == DOP853:
            cluster_dop853(bodies, forces, joints, c, now, part, start, rate)
        elif linked:
            cluster_rk6(bodies, forces, joints, c, now, part, start, rate)
        elif method == RK4:
            cluster_rk4(bodies, forces, joints, c, now, part, start, rate)
        else:
            cluster_composed(bodies, forces, joints, c, now, part, start)
    opened = close(bodies, forces, joints, c, t + h) if linked else 0.0
    rates(bodies, forces, joints, c, t + h, END, RATE1, h)
    return max(opened, energy_lost(bodies, forces, c, rotor_gain(bodies, forces, joints, c, t + h))) if linked else 0.0


@lean
def launch_all(bodies, forces, joints, t):
    """All flights under forces, from time t of the drift; False where one is not finite."""
    fine = True
    for c in range(len(forces.potential)):
        fine = launch(bodies, forces, joints, c, t) and fine
    return fine


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
    path, end = forces.path, forces.ends[forces.cluster[i]]
    if t == end:
        x, q, p, l = read_state(forces, END, i)
        force, torque = read_wrench(forces, END, RATE1, i)
        return x, q, p, l, force, torque
    first, rate0, last, rate1, t0, h = piece(forces, forces.cluster[i], bodies.t0[i], t)
    s = (t - t0) / h
    y0, y1, r0, r1 = path[first, i], path[last, i], path[rate0, i], path[rate1, i]
    k, m = h * bodies.inv_mass[i], bodies.mass[i] / h
    x0, v0, a0 = _quintic(y0[0], k * y0[7], h * k * r0[7], y1[0], k * y1[7], h * k * r1[7], s)
    x1, v1, a1 = _quintic(y0[1], k * y0[8], h * k * r0[8], y1[1], k * y1[8], h * k * r1[8], s)
    x2, v2, a2 = _quintic(y0[2], k * y0[9], h * k * r0[9], y1[2], k * y1[9], h * k * r1[9], s)
    l0, m0 = _cubic(y0[10], h * r0[10], y1[10], h * r1[10], s)
    l1, m1 = _cubic(y0[11], h * r0[11], y1[11], h * r1[11], s)
    l2, m2 = _cubic(y0[12], h * r0[12], y1[12], h * r1[12], s)
    d0, d1 = _bend(bodies, forces, i, first, rate0), _bend(bodies, forces, i, last, rate1)
    g = h * h
    w, _, _ = _quintic(y0[3], h * r0[3], g * d0[0], y1[3], h * r1[3], g * d1[0], s)
    a, _, _ = _quintic(y0[4], h * r0[4], g * d0[1], y1[4], h * r1[4], g * d1[1], s)
    b, _, _ = _quintic(y0[5], h * r0[5], g * d0[2], y1[5], h * r1[5], g * d1[2], s)
    c, _, _ = _quintic(y0[6], h * r0[6], g * d0[3], y1[6], h * r1[6], g * d1[3], s)
    force, p, arm = scale(m / h, (a0, a1, a2)), scale(m, (v0, v1, v2)), arm_of(forces, i, (x0, x1, x2))
    torque = sub(scale(1.0 / h, (m0, m1, m2)), cross(arm, force))
    return (x0, x1, x2), qnormalize((w, a, b, c)), p, sub((l0, l1, l2), cross(arm, p)), force, torque


along_far = far(
    along,
    lambda: (EXAMPLE.bodies, EXAMPLE.forces, 0, 0.0),
    returns=((0.0,) * 3, (0.0,) * 4, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3),
)


@lean
def _bend(bodies, forces, i, state, rate):
    """Second derivative of the orientation: (0, w') q/2 + (0, w) q'/2."""
    _, q, _, l = read_state(forces, state, i)
    rot, inv, r = rotation(q), load9(bodies.inv_inertia, i), forces.path[rate, i]
    w = angular_velocity(rot, inv, l)
    _, torque = read_wrench(forces, state, rate, i)
    alpha = acceleration(w, rot, load9(bodies.inertia, i), inv, torque)
    a = orientation_rate(alpha, q)
    b = orientation_rate(w, (r[3], r[4], r[5], r[6]))
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])


@lean
def works(bodies, forces, i, t, kind):
    """Work of one kind that was done on body i from the start of its flight to time t [J]."""
    path, h = forces.path, forces.ends[forces.cluster[i]] - bodies.t0[i]
    if h <= 0.0 or t == bodies.t0[i]:
        return 0.0
    s = (t - bodies.t0[i]) / h
    return _cubic(0.0, h * path[RATE0, i, kind], path[END, i, kind], h * path[RATE1, i, kind], s)[0]


@lean
def _book_cluster(bodies, forces, joints, books, c, t):
    """The flight of cluster c ends at time t, at which all its bodies stand.

    The kinetic energy that the works do not explain, and the work with a potential that the potential does not give, are
    the error of the integrator. Springs and rotors of joints are booked once their coordinates are read (flown_springs.py).
    """
    error, moved, force, moment = update_potential(bodies, forces, c, t), 0.0, ZERO, ZERO
    note_loads(forces, joints, c)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        change, fall = flight_balance(bodies, i)
        given, external, user, damped = (
            works(bodies, forces, i, t, POTENTIAL_WORK),
            works(bodies, forces, i, t, EXTERNAL_WORK),
            works(bodies, forces, i, t, USER_WORK),
            works(bodies, forces, i, t, DAMPER_WORK),
        )
        error += change - external - user - damped
        add_energy(books, ledger.EXTERNAL, external)
        add_energy(books, ledger.USER, user)
        add_energy(books, ledger.FRICTION, -damped)
        moved += abs(fall) + abs(given) + abs(external) + abs(user) + abs(damped)
        if forces.anchored[c] == 1:
            linear, turning = _given_by_joints(bodies, forces, i, t)
            force, moment = add(force, linear), add(moment, turning)
    if forces.anchored[c] == 1:  # what joints of immovable bodies gave
        add_to_reservoir(books, scale(-1.0, force), scale(-1.0, moment))
    add_energy(books, ledger.INTEGRATOR, error)
    books.moved[0] += abs(error) + moved


book_cluster = far(_book_cluster, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, EXAMPLE.books, 0, 0.0), returns=None)


@lean
def _given_by_joints(bodies, forces, i, t):
    """Momentum and angular momentum that joints gave to body i in the flight that ends at t: the rest of the change, once all
    others are known. Between two bodies they leave the sum alone."""
    x, p, l = load3(bodies.x, i), load3(bodies.p, i), load3(bodies.l, i)
    x0, p0, l0 = load3(bodies.x0, i), load3(bodies.p0, i), load3(bodies.l0, i)
    f = (works(bodies, forces, i, t, OTHERS), works(bodies, forces, i, t, OTHERS + 1), works(bodies, forces, i, t, OTHERS + 2))
    moment = (
        works(bodies, forces, i, t, OTHERS + 3), works(bodies, forces, i, t, OTHERS + 4), works(bodies, forces, i, t, OTHERS + 5)
    )  # fmt: skip
    whole, whole0 = add(l, cross(x, p)), add(l0, cross(x0, p0))
    moment = add(moment, cross(load3(forces.origin, forces.cluster[i]), f))
    return sub(sub(p, p0), f), sub(sub(whole, whole0), moment)


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
def recall_kicks(bodies, forces, joints):
    """Keep in row LAST of the path what the last kick gave to the momenta; nothing where the flight was interrupted since."""
    for m in range(len(forces.member)):
        i = forces.member[m]
        kept = 1.0 if bodies.t0[i] == 0.0 else 0.0
        for k in range(3):
            forces.path[LAST, i, 7 + k] = kept * (bodies.p0[i, k] - bodies.p_before[i, k])
            forces.path[LAST, i, 10 + k] = kept * (bodies.l0[i, k] - bodies.l_before[i, k])
    for j in range(len(joints.kind)):  # nor does what a flight bends show in parts of it
        for side in range(2):
            i = joints.body[j, side]
            if i >= 0 and bodies.kind[i] == DYNAMIC and bodies.t0[i] > 0.0:
                for r in range(6):
                    if not math.isfinite(joints.hold[j, r]):
                        joints.hold[j, r] = joints.hold_before[j, r]


@remote
def _foresee(bodies, forces, joints, c, given):
    """Mean force and torque of the coming flight of cluster c, for its contacts.

    What matters to a contact is the way gone in the flight, so the mean is (f(start) + 2 f(middle))/3. The momenta at the
    start are those of the last kick, given again: in lasting contact that is right, and a body at rest under drag or on a
    spring stays where it is. The middle is that of a parabola. ``given``: the velocities were set, and are means.
    """
    path, h, half = forces.path, forces.clock[1], 0.5 * forces.clock[1]
    place_origin(bodies, forces, c)
    mark_driven(forces, joints, c)
    mark_acting(forces, joints, c)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        y = path[LAST, i]
        p, l = add(load3(bodies.p, i), (y[7], y[8], y[9])), add(load3(bodies.l, i), (y[10], y[11], y[12]))
        write_state(forces, STAGE, i, load3(bodies.x, i), load4(bodies.q, i), p, l)
    rates(bodies, forces, joints, c, 0.0, STAGE, SLOPE, h)
    if given:  # the flight begins half a step's forces before the mean
        for m in range(forces.first_member[c], forces.first_member[c + 1]):
            i = forces.member[m]
            for k in range(7, 13):
                path[STAGE, i, k] -= half * path[SLOPE, i, k]
        rates(bodies, forces, joints, c, 0.0, STAGE, SLOPE, h)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        x, q, p, l = read_state(forces, STAGE, i)
        f, torque = read_wrench(forces, STAGE, SLOPE, i)
        store3(bodies.force, i, f)
        store3(bodies.torque, i, torque)
        w = angular_velocity(load9(bodies.rot, i), load9(bodies.inv_inertia, i), l)
        x, q = drive(x, q, scale(bodies.inv_mass[i], axpy(0.5 * half, f, p)), w, half)
        store3(bodies.p0, i, p)
        store3(bodies.l0, i, l)
        p, l = axpy(half, f, p), axpy(half, torque, l)
        write_state(forces, STAGE, i, x, q, p, l)
        store3(bodies.dv, i, sub(scale(bodies.inv_mass[i], p), load3(bodies.v, i)))
        w = angular_velocity(rotation(q), load9(bodies.inv_inertia, i), l)
        store3(bodies.dw, i, sub(w, load3(bodies.w, i)))
    rates(bodies, forces, joints, c, half, STAGE, SLOPE + 1, h)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        f, torque = read_wrench(forces, STAGE, SLOPE + 1, i)
        mean = scale(1.0 / 3.0, axpy(2.0, f, load3(bodies.force, i)))
        store3(bodies.force, i, axpy(-bodies.mass[i], load3(bodies.gravity, i), mean))
        store3(bodies.torque, i, scale(1.0 / 3.0, axpy(2.0, torque, load3(bodies.torque, i))))


foresee = far(_foresee, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, False), returns=None)


@inner
def foresee_all(bodies, forces, joints, geoms, pairs, given):
    """Mean forces of the coming flights, for contacts: of clusters of which a body may touch something."""
    meets = np.zeros(len(forces.potential), dtype=np.bool_)
    for n in range(pairs.count[0]):
        for side in range(2):
            c = forces.cluster[geoms.body[pairs.geoms[n, side]]]
            if c >= 0:
                meets[c] = True
    for c in range(len(forces.potential)):
        if meets[c] or given:
            foresee(bodies, forces, joints, c, given)
        if given:
            note_loads(forces, joints, c)


@kernel
def refresh(bodies, forces):
    """Energies of the forces for poses that were set from outside."""
    potential_change(bodies, forces)


@inner
def potential_change(bodies, forces):
    """Change of the energy of all forces that have a potential since it was last asked, at the start of a drift [J]."""
    change = 0.0
    for c in range(len(forces.potential)):
        change += update_potential(bodies, forces, c, 0.0)
    return change
