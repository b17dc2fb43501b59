"""Joints in flight: the forces that keep the rigid coordinates of a cluster's joints at rest, at one instant.

With G the rates of the rigid coordinates by the velocities u of the bodies, G u = 0 on the way, so G u' + G' u = 0. The bodies
would move with the accelerations a; forces f along the rows change them by M^-1 G^T f, so

    G M^-1 G^T f = -(G a + G' u)                                                                            (1)

G' u is how the rates would change if the velocities did not (row_bends.py).

Springs and dampers that act in flight (flown_springs.py) are among the forces that a comes from.

A rotor of moment a on a free coordinate (armature) is a row as well: its torque is f = -a g'', so that f/a joins the left side. A
free coordinate that is kept at its pace (kept_rows.py) is one for as long as it is kept.

(1) is solved directly: chains and trees cost O(joints) (solvers/skyline.py). Redundant rows make it singular. So the diagonal is
larger by a part SOFT of itself. What that leaves of the right-hand side is solved for again, until it is rounding. Many forces
may do the same where rows are redundant: in this way the smallest of them come out, and no row has to be chosen.

At the end of a flight the integrator has left the rigid coordinates open by its local error. They are closed by the smallest
displacement in the metric of the masses, and their rates are taken away by impulses. Both momenta of the whole stay as they are:
the impulses act on both bodies at one point, and the displacement leaves what the rows of states hold (forces/path_rows.py).
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import far, lean, remote, tight
from tumble.collision.linalg import (
    ZERO,
    add,
    clear_table,
    cross,
    dot,
    load3,
    load9,
    rotation,
    scale,
    sub,
    symmetric_product,
)
from tumble.sim.equations import acceleration, drive
from tumble.sim.forces.laws import DAMPER_WORK, EXTERNAL_WORK, POTENTIAL_WORK
from tumble.sim.forces.path_rows import path_motion
from tumble.sim.forces.prescribed_motion import arc, arc_acceleration
from tumble.sim.joints.kept_rows import STRUCK
from tumble.sim.joints.row_bends import row_bends
from tumble.sim.joints.rows import AT_LOW, NO_FRAME, NOT_KEPT, place_at, put_frame, unwrapped
from tumble.sim.solvers.lanes import LANES, every, lanes_at, put_lanes
from tumble.sim.solvers.skyline import entry_at, factor_skyline, solve_skyline
from tumble.sim.state import DYNAMIC, END, EXAMPLE, START

SOFT = 1e-12  # by which a row's own part in (1) is larger
FORCE_ROUNDS = 10  # of (1): each leaves about SOFT of what was left, where rows are not redundant
ENOUGH = 1e-15  # of what was to be given ...
ON_THE_WAY = 1e-11  # ... and at a stage: what rows lack there opens joints by h^2 times that, and gives no energy
ACTS = 24  # columns of Forces.place: 1 for rows along which forces act, else 0
LATE = 2  # closings with the rows of the last stage
CLOSINGS = 6  # displacements at the end of a flight: each leaves the square of what was open
STATE_ROUNDING = 4e-16  # of positions [m], and of speeds
BEND_TIME = 1.0 / 64.0  # of a flight, for the difference that gives the angular acceleration of a driven body


@lean
def stand(bodies, forces, c, at):
    """Read the poses, velocities and inertias of the members of cluster c from a row of the path."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        x, rot, v, w = path_motion(bodies, forces, at, i)
        mobility = symmetric_product(rot, load9(bodies.inv_inertia, i))
        for k in range(3):
            forces.stand[m, k] = x[k]
            forces.motion[m, k], forces.motion[m, 3 + k] = v[k], w[k]
        for k in range(9):
            forces.stand[m, 3 + k], forces.mobility[m, k] = rot[k], mobility[k]


@tight
def _pose(bodies, forces, i, t):
    """Pose and velocities of body i at time t of the drift; -1: the world."""
    if i < 0:
        return NO_FRAME[0], NO_FRAME[1], ZERO, ZERO
    if bodies.kind[i] != DYNAMIC:
        x, q, v, w = arc(bodies, i, t)
        return x, rotation(q), v, w
    s, u = forces.stand[forces.seat[i]], forces.motion[forces.seat[i]]
    rot = (s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
    return (s[0], s[1], s[2]), rot, (u[0], u[1], u[2]), (u[3], u[4], u[5])


@remote
def _row_rates(bodies, forces, joints, j, t):
    """Rates of the six coordinates of joint j, and the coordinates."""
    xi, ri, vi, wi = _pose(bodies, forces, joints.body[j, 0], t)
    xj, rj, vj, wj = _pose(bodies, forces, joints.body[j, 1], t)
    point, f, values = place_at(joints, j, xi, ri, xj, rj)
    v = sub(add(vj, cross(wj, sub(point, xj))), add(vi, cross(wi, sub(point, xi))))
    w = sub(wj, wi)
    return (
        f[0] * v[0] + f[3] * v[1] + f[6] * v[2], f[1] * v[0] + f[4] * v[1] + f[7] * v[2], f[2] * v[0] + f[5] * v[1] + f[8] * v[2],
        f[9] * w[0] + f[12] * w[1] + f[15] * w[2], f[10] * w[0] + f[13] * w[1] + f[16] * w[2],
        f[11] * w[0] + f[14] * w[1] + f[17] * w[2],
    ), values  # fmt: skip


_row_rates = far(_row_rates, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0), returns=((0.0,) * 6,) * 2)


@lean
def _acts(forces, joints, k, r):
    """A force acts along coordinate r of link k: it is rigid, goes on at its pace, or moves a rotor."""
    return joints.rigid[forces.link[k], r] == 1 or forces.held[k, r] == 1 or forces.slack[k, r] > 0.0


@lean
def _sense(joints, forces, k, r):
    """1 or -1: which way the coordinate of the joint that drives row r of link k counts."""
    j, d = forces.link[k], forces.driver[k, r]
    return 1.0 if d == j else joints.length[d] * joints.length[j]


@lean
def _load_rows(bodies, forces, joints, c, t):
    """G of the rigid rows of cluster c, M^-1 G^T, and the factors of the matrix of (1)."""
    first, last = forces.first_link[c], forces.first_link[c + 1]
    columns, starts, table, _ = _system(forces, c)
    clear_table(table[starts[0] : starts[len(columns)]])
    for k in range(first, last):
        j = forces.link[k]
        xi, ri, _, _ = _pose(bodies, forces, joints.body[j, 0], t)
        xj, rj, _, _ = _pose(bodies, forces, joints.body[j, 1], t)
        point = put_frame(joints, j, xi, ri, xj, rj, forces.place, k)
        for r in range(6):
            forces.place[k, ACTS + r] = 1.0 if _acts(forces, joints, k, r) else 0.0
        for side in range(2):
            if forces.seats[k, side] >= 0:
                _load_side(bodies, forces, k, side, sub(point, xi if side == 0 else xj))
    for n in range(forces.first_meet[c], forces.first_meet[c + 1]):
        _add_product(forces, n, table)
    for k in range(first, last):
        for r in range(6):
            i = forces.equation[k, r]
            if i >= 0:
                n, lane = entry_at(columns, starts, i, i)
                table[n, lane] = table[n, lane] * (1.0 + SOFT) + forces.slack[k, r] if _acts(forces, joints, k, r) else 1.0
    factor_skyline(columns, starts, table)


@lean
def _load_side(bodies, forces, k, side, arm):
    """The part of G and M^-1 G^T of joint k that belongs to one of its bodies, the rows side by side; ``arm``: from its centre to
    the common point. Rows along which nothing acts are zero."""
    m, place, sign = forces.seats[k, side], forces.place, every(-1.0 if side == 0 else 1.0)
    first, light, zero = _columns(k, side), every(bodies.inv_mass[forces.member[forces.seats[k, side]]]), every(0.0)
    x, y, z = every(arm[0]), every(arm[1]), every(arm[2])
    acts = lanes_at(place, k, ACTS)  # of the travels, and one lane that is written over below
    f = (acts * (sign * lanes_at(place, k, 3)), acts * (sign * lanes_at(place, k, 6)), acts * (sign * lanes_at(place, k, 9)))
    _put_side(forces, m, first, 0, f, (y * f[2] - z * f[1], z * f[0] - x * f[2], x * f[1] - y * f[0]), light)
    acts = lanes_at(place, k, ACTS + 3)  # of the turns
    e = (acts * (sign * lanes_at(place, k, 12)), acts * (sign * lanes_at(place, k, 15)), acts * (sign * lanes_at(place, k, 18)))
    _put_side(forces, m, first, 3, (zero, zero, zero), e, light)


@lean
def _put_side(forces, m, first, at, f, torque, light):
    """Rows with these forces and torques on member m: into four columns of ``g`` and ``w`` from ``at`` on."""
    g, w, i = forces.g, forces.w, forces.mobility[m]
    for d in range(3):
        put_lanes(g, first + d, at, f[d])
        put_lanes(g, first + 3 + d, at, torque[d])
        put_lanes(w, first + d, at, light * f[d])
        turned = every(i[3 * d]) * torque[0] + every(i[3 * d + 1]) * torque[1] + every(i[3 * d + 2]) * torque[2]
        put_lanes(w, first + 3 + d, at, turned)


@lean
def _columns(k, side):
    """The first of the six rows of the tables ``g`` and ``w`` for this side of joint k, one for each velocity of its body."""
    return 6 * (2 * k + side)


@lean
def _weighted(table, n, at, f):
    """The sum of six rows of a table from n on, each times its number of f: four columns from ``at`` on."""
    return (
        every(f[0]) * lanes_at(table, n, at) + every(f[1]) * lanes_at(table, n + 1, at) + every(f[2]) * lanes_at(table, n + 2, at)
        + every(f[3]) * lanes_at(table, n + 3, at) + every(f[4]) * lanes_at(table, n + 4, at)
        + every(f[5]) * lanes_at(table, n + 5, at)
    )  # fmt: skip


@lean
def _add_product(forces, n, table):
    """Add what two joints do to each other, G_i M^-1 G_j^T, by a body that both hold."""
    i, g, sums = forces.meet[n, 0], _columns(forces.meet[n, 0], forces.meet[n, 2]), forces.sums
    w = _columns(forces.meet[n, 1], forces.meet[n, 3])
    for r in range(6):
        if forces.equation[i, r] < 0:
            continue
        f = (forces.g[g, r], forces.g[g + 1, r], forces.g[g + 2, r], forces.g[g + 3, r], forces.g[g + 4, r], forces.g[g + 5, r])
        put_lanes(sums, 0, 0, _weighted(forces.w, w, 0, f))
        put_lanes(sums, 0, LANES, _weighted(forces.w, w, LANES, f))
        for s in range(6):
            at = forces.slot[n, r, s]
            if at >= 0:
                table[at >> 2, at & 3] += sums[0, s]


@lean
def _system(forces, c):
    """First panels of columns, where panels start, the table and the right-hand side of the linear system of cluster c."""
    first, last = forces.first_panel[c], forces.first_panel[c + 1]
    return forces.first_column[first:last], forces.first_value[first : last + 1], forces.table, forces.right[first:last]


@lean
def _give_forces(forces, c, enough):
    """Solve (1) for what the rows lack, which becomes what is left; the forces go to ``load``, what they do to ``gain``."""
    first, last = forces.first_link[c], forces.first_link[c + 1]
    columns, starts, table, right = _system(forces, c)
    clear_table(forces.gain[forces.first_member[c] : forces.first_member[c + 1]])
    clear_table(forces.load[first:last])
    left = asked = _largest(forces, c)
    for _ in range(FORCE_ROUNDS):
        if left <= enough * asked:
            break
        clear_table(right)  # lanes without a row too: what once was no number would stay
        for k in range(first, last):
            for r in range(6):
                i = forces.equation[k, r]
                if i >= 0:
                    right[i // LANES, i % LANES] = forces.lacks[k, r]
        solve_skyline(columns, starts, table, right)
        for k in range(first, last):
            for r in range(6):
                i = forces.equation[k, r]
                forces.step[k, r] = right[i // LANES, i % LANES] if i >= 0 else 0.0
        _answer(forces, c)
        before, left = left, _largest(forces, c)
        if left > 0.5 * before:
            break


_give = far(_give_forces, lambda: (EXAMPLE.forces, 0, 0.0), returns=None)


@lean
def _answer(forces, c):
    """What the forces ``step`` do to the bodies, and what the rows lack then."""
    first, last = forces.first_link[c], forces.first_link[c + 1]
    clear_table(forces.reply[forces.first_member[c] : forces.first_member[c + 1]])
    for k in range(first, last):
        p = forces.step[k]
        for r in range(6):
            forces.load[k, r] += p[r]
            forces.lacks[k, r] -= forces.slack[k, r] * p[r]
        for side in range(2):
            m, n = forces.seats[k, side], _columns(k, side)
            if m >= 0:
                for d in range(6):
                    w, u = forces.w[n + d], forces.reply[m, d]
                    u = u + w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + w[3] * p[3] + w[4] * p[4] + w[5] * p[5]
                    forces.reply[m, d] = u
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        for d in range(6):
            forces.gain[m, d] += forces.reply[m, d]
    _take(forces, c, forces.reply)


@lean
def _take(forces, c, motion):
    """What the rows lack, less what they have by these velocities or accelerations of the members."""
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        for side in range(2):
            if forces.seats[k, side] >= 0:
                u, n = motion[forces.seats[k, side]], _columns(k, side)
                for at in (0, LANES):
                    put_lanes(forces.lacks, k, at, lanes_at(forces.lacks, k, at) - _weighted(forces.g, n, at, u))


@lean
def _largest(forces, c):
    """The most that a row lacks."""
    most = 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        for r in range(6):
            most = max(most, abs(forces.lacks[k, r]))
    return most


@remote
def _hold(bodies, forces, joints, c, t, at, to, h):
    """Forces of the joints of cluster c in the state ``at``, in which its members stand, at time t of the drift: added to the
    rates ``to``, which have all other forces. ``h``: the length of the flight."""
    _load_rows(bodies, forces, joints, c, t)
    _hold_there(bodies, forces, joints, c, t, to, h, ON_THE_WAY)


hold = far(_hold, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0, 0, 0, 0.0), returns=None)


@lean
def _hold_there(bodies, forces, joints, c, t, to, h, enough):
    """The same where members stand and rows are loaded."""
    first, last = forces.first_link[c], forces.first_link[c + 1]
    for k in range(first, last):
        _give_springs(bodies, forces, joints, k, t, to)
        bends = _bends(bodies, forces, joints, k, t, BEND_TIME * h)
        for r in range(6):
            forces.lacks[k, r] = -bends[r] if _acts(forces, joints, k, r) else 0.0
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        rate, s, u = forces.path[to, i], forces.stand[m], forces.motion[m]
        rot = (s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
        torque = (rate[10], rate[11], rate[12])
        alpha = acceleration((u[3], u[4], u[5]), rot, load9(bodies.inertia, i), load9(bodies.inv_inertia, i), torque)
        for d in range(3):
            forces.reply[m, d] = bodies.inv_mass[i] * rate[7 + d] + bodies.gravity[i, d]
            forces.reply[m, 3 + d] = alpha[d]
    _take(forces, c, forces.reply)
    _give(forces, c, enough)
    for k in range(first, last):
        j = forces.link[k]
        point, f, torque = _wrench(forces, k)
        _give_wrench(bodies, forces, joints, k, t, to, point, f, torque)
        i = joints.body[j, 1] if forces.seats[k, 1] >= 0 else joints.body[j, 0]
        for r in range(6):
            if forces.held[k, r] == 1:  # the motor's work
                pace = _sense(joints, forces, k, r) * joints.pace[forces.driver[k, r]]
                forces.path[to, i, EXTERNAL_WORK] += forces.load[k, r] * pace


@lean
def _give_wrench(bodies, forces, joints, k, t, to, point, f, torque):
    """Force and torque of joint k on b, and against them on a, at a point: to the rates ``to``."""
    j = forces.link[k]
    for side in range(2):
        f, torque = scale(-1.0, f), scale(-1.0, torque)  # first on a, then on b
        i = joints.body[j, side]
        if forces.seats[k, side] >= 0:
            s, rate = forces.stand[forces.seats[k, side]], forces.path[to, i]
            moment = add(torque, cross(sub(point, (s[0], s[1], s[2])), f))
            for d in range(3):
                rate[7 + d] += f[d]
                rate[10 + d] += moment[d]
        elif i >= 0:  # whoever drives the body supplies what its force does to the other one
            x, _, v, w = _pose(bodies, forces, i, t)
            power = dot(f, add(v, cross(w, sub(point, x)))) + dot(torque, w)
            forces.path[to, joints.body[j, 1 - side], EXTERNAL_WORK] -= power


@lean
def _give_springs(bodies, forces, joints, k, t, to):
    """Forces of springs and dampers along the free coordinates of link k, and their works: to the rates ``to``."""
    any_spring = False
    for r in range(6):
        d = forces.driver[k, r]
        any_spring = any_spring or (d >= 0 and joints.sprung[d] == 1)
    if not any_spring:
        return
    rates, values = _row_rates(bodies, forces, joints, forces.link[k], t)
    i = joints.body[forces.link[k], 1] if forces.seats[k, 1] >= 0 else joints.body[forces.link[k], 0]
    e, f, torque = forces.place[k], ZERO, ZERO
    for r in range(6):
        d = forces.driver[k, r]
        if d < 0 or joints.sprung[d] == 0:
            continue
        sense = _sense(joints, forces, k, r)
        value = unwrapped(joints, d, sense * values[r], joints.value[d])
        pull, drag = sense * joints.stiffness[d] * (joints.rest[d] - value), -joints.damping[d] * rates[r]
        n = 3 + r if r < 3 else 9 + r
        along = scale(pull + drag, (e[n], e[n + 3], e[n + 6]))
        if r < 3:
            f = add(f, along)
        else:
            torque = add(torque, along)
        forces.path[to, i, POTENTIAL_WORK] += pull * rates[r]
        forces.path[to, i, DAMPER_WORK] += drag * rates[r]
    _give_wrench(bodies, forces, joints, k, t, to, (e[0], e[1], e[2]), f, torque)


@lean
def _bends(bodies, forces, joints, k, t, e):
    """G' u of link k, and what the rates gain by the accelerations of a driven body."""
    j, p = forces.link[k], forces.place[k]
    point, f = (p[0], p[1], p[2]), (
        p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16], p[17], p[18], p[19], p[20]
    )  # fmt: skip
    xi, ri, vi, wi = _pose(bodies, forces, joints.body[j, 0], t)
    xj, rj, vj, wj = _pose(bodies, forces, joints.body[j, 1], t)
    bends = row_bends(joints, j, point, f, xi, ri, vi, wi, xj, rj, vj, wj)
    for side in range(2):
        i = joints.body[j, side]
        if i >= 0 and bodies.kind[i] != DYNAMIC:
            sign = -1.0 if side == 0 else 1.0
            a, turns = arc_acceleration(bodies, i, t, e)
            a = add(a, cross(turns, sub(point, xi if side == 0 else xj)))
            a, turns = scale(sign, a), scale(sign, turns)
            bends = (
                bends[0] + f[0] * a[0] + f[3] * a[1] + f[6] * a[2],
                bends[1] + f[1] * a[0] + f[4] * a[1] + f[7] * a[2],
                bends[2] + f[2] * a[0] + f[5] * a[1] + f[8] * a[2],
                bends[3] + f[9] * turns[0] + f[12] * turns[1] + f[15] * turns[2],
                bends[4] + f[10] * turns[0] + f[13] * turns[1] + f[16] * turns[2],
                bends[5] + f[11] * turns[0] + f[14] * turns[1] + f[17] * turns[2],
            )
    return bends


@lean
def _wrench(forces, k):
    """The common point of joint k, and force and torque of its loads on b there."""
    e, p = forces.place[k], forces.load[k]
    f = (
        e[3] * p[0] + e[4] * p[1] + e[5] * p[2], e[6] * p[0] + e[7] * p[1] + e[8] * p[2],
        e[9] * p[0] + e[10] * p[1] + e[11] * p[2],
    )  # fmt: skip
    torque = (
        e[12] * p[3] + e[13] * p[4] + e[14] * p[5], e[15] * p[3] + e[16] * p[4] + e[17] * p[5],
        e[18] * p[3] + e[19] * p[4] + e[20] * p[5],
    )  # fmt: skip
    return (e[0], e[1], e[2]), f, torque


@remote
def _close(bodies, forces, joints, c, t):
    """Close the rigid coordinates of cluster c in row END of the path; by how much they were open, of a body's size or rad, and
    the energy that its rotors gained in the flight [J].

    The rows are loaded for the last stage of the integrator, which is at the same time and off by no more than its error: what
    that leaves open is the product of both.
    """
    opened = before = 0.0
    for turn in range(CLOSINGS):
        stand(bodies, forces, c, END)
        rounding = _ask(bodies, forces, joints, c, t, True)
        most = _largest(forces, c)
        if turn == 0:
            opened = _opening(bodies, forces, c)
        if most <= rounding or (turn > 0 and most > 0.5 * before):
            break
        before = most
        if turn == LATE:
            _load_rows(bodies, forces, joints, c, t)
        _give(forces, c, ENOUGH)
        for m in range(forces.first_member[c], forces.first_member[c + 1]):
            y, d = forces.path[END, forces.member[m]], forces.gain[m]
            x, q = drive((y[0], y[1], y[2]), (y[3], y[4], y[5], y[6]), (d[0], d[1], d[2]), (d[3], d[4], d[5]), 1.0)
            y[0], y[1], y[2] = x
            y[3], y[4], y[5], y[6] = q
    return opened, _rotor_gain(bodies, forces, joints, c, t)


close = far(_close, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0), returns=(0.0,) * 2)


@remote
def _settle(bodies, forces, joints, c, t, to, h):
    """Take the rates of the rigid coordinates away in row END of the path, then as :func:`_hold` for that row."""
    _load_rows(bodies, forces, joints, c, t)
    rounding = _ask(bodies, forces, joints, c, t, False)
    if _largest(forces, c) > rounding:
        _give(forces, c, ENOUGH)
        for k in range(forces.first_link[c], forces.first_link[c + 1]):
            point, f, torque = _wrench(forces, k)
            for side in range(2):
                f, torque = scale(-1.0, f), scale(-1.0, torque)
                if forces.seats[k, side] >= 0:
                    i = joints.body[forces.link[k], side]
                    y, moment = forces.path[END, i], add(torque, cross(sub(point, load3(forces.origin, c)), f))
                    for d in range(3):
                        y[7 + d] += f[d]
                        y[10 + d] += moment[d]
        stand(bodies, forces, c, END)
    _hold_there(bodies, forces, joints, c, t, to, h, ENOUGH)


settle = far(_settle, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0, 0, 0.0), returns=None)


@lean
def _ask(bodies, forces, joints, c, t, ways):
    """Ask the rows to take away the rigid coordinates (``ways``), or else their rates. Returns how much of these is rounding."""
    size, speed = 0.0, 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        j = forces.link[k]
        rates, values = _row_rates(bodies, forces, joints, j, t)
        for r in range(6):
            forces.lacks[k, r] = 0.0
            if joints.rigid[j, r] == 1:
                forces.lacks[k, r] = -(values[r] if ways else rates[r])
            elif forces.held[k, r] == 1:
                pace = _sense(joints, forces, k, r) * joints.pace[forces.driver[k, r]]
                forces.lacks[k, r] = _behind(forces, k, r, values[r]) if ways else pace - rates[r]
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        s, u = forces.stand[m], forces.motion[m]
        size = max(size, abs(s[0]) + abs(s[1]) + abs(s[2]))
        speed = max(speed, abs(u[0]) + abs(u[1]) + abs(u[2]))
    return STATE_ROUNDING * (1.0 + size) if ways else STATE_ROUNDING * speed


@lean
def _behind(forces, k, r, value):
    """How far the kept coordinate r of link k is from where it is to end. Whole turns do not count."""
    d = forces.goal[k, r] - value
    return d - 2.0 * math.pi * round(d / (2.0 * math.pi)) if r >= 3 else d


@lean
def _moves_rotor(forces, k):
    """A free coordinate of link k moves a rotor."""
    found = False
    for r in range(6):
        found = found or forces.slack[k, r] > 0.0
    return found


@lean
def _rotor_gain(bodies, forces, joints, c, t):
    """Change of the energy of the rotors of cluster c between rows START and END of the path [J]."""
    gain = 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        if _moves_rotor(forces, k):
            rates, _ = _row_rates(bodies, forces, joints, forces.link[k], t)
            for r in range(6):
                if forces.slack[k, r] > 0.0:
                    before, after = forces.goal[k, r], rates[r]
                    gain += 0.5 * joints.armature[forces.driver[k, r]] * (after - before) * (after + before)
    return gain


@lean
def _rotor(joints, j):
    """Acceleration of the rotor of joint j by a unit of torque; 0: none."""
    return 1.0 / joints.armature[j] if joints.armature[j] > 0.0 else 0.0


@lean
def mark_driven(forces, joints, c):
    """Which free coordinates of cluster c are kept at their pace, and which move rotors; whether there are any."""
    found = False
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        for r in range(6):
            d = forces.driver[k, r]
            forces.held[k, r], forces.slack[k, r] = 0, 0.0
            if d < 0 or forces.equation[k, r] < 0:
                continue
            if joints.kept[d] != NOT_KEPT:
                forces.held[k, r] = 1
            else:
                forces.slack[k, r] = _rotor(joints, d)
            found = found or forces.held[k, r] == 1 or forces.slack[k, r] > 0.0
    return found


@remote
def _set_goals(bodies, forces, joints, c, t, h, guessed):
    """Where the kept coordinates of cluster c go in a flight of length h that begins in row START of the path; rates of rotors.

    One that is not at its pace any more was struck: it is free for the rest of the drift. Not so where the kick before the flight
    is ``guessed``, in the midst of its solve: then it is off its pace by what that still leaves, and nothing has struck it.
    """
    if not mark_driven(forces, joints, c):
        return
    stand(bodies, forces, c, START)
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        driven = _moves_rotor(forces, k)
        for r in range(6):
            driven = driven or forces.held[k, r] == 1
        if not driven:
            continue
        rates, values = _row_rates(bodies, forces, joints, forces.link[k], t)
        for r in range(6):
            d = forces.driver[k, r]
            if forces.held[k, r] == 1:
                sense = _sense(joints, forces, k, r)
                pace = sense * joints.pace[d]
                if not guessed and abs(rates[r] - pace) > STRUCK * (1.0 + abs(pace)):
                    forces.held[k, r], forces.slack[k, r] = 0, _rotor(joints, d)
                forces.goal[k, r] = values[r] + h * pace if forces.held[k, r] == 1 else rates[r]
                if forces.held[k, r] == 1 and joints.kept[d] >= AT_LOW:
                    forces.goal[k, r] = sense * joints.limit[d, joints.kept[d] - AT_LOW]
            elif forces.slack[k, r] > 0.0:
                forces.goal[k, r] = rates[r]


set_goals = far(_set_goals, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0, 0.0, False), returns=None)


@lean
def _opening(bodies, forces, c):
    """The largest of what rows lack, of the size of the smaller body, or rad; infinite where that is no number."""
    most = 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        size = math.inf
        for side in range(2):
            if forces.seats[k, side] >= 0:
                size = min(size, bodies.radius[forces.member[forces.seats[k, side]]])
        for r in range(6):
            lacks = abs(forces.lacks[k, r]) / (size if r < 3 and size > 0.0 else 1.0)
            most = max(most, lacks) if lacks < math.inf else math.inf
    return most


@lean
def note_loads(forces, joints, c):
    """Keep the forces that were asked for last, for what the world reports: of a drive, along its coordinate alone."""
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        j = forces.link[k]
        for r in range(6):
            d = forces.driver[k, r]
            other = d >= 0 and d != j
            joints.load[j, r] = 0.0 if other else forces.load[k, r]
            if other:
                joints.load[d, r] = _sense(joints, forces, k, r) * forces.load[k, r]
