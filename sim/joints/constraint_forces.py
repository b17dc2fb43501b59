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
may do the same where rows are redundant: in this way the smallest of them come out, and no row has to be chosen. Where joints
make trees, rows are not redundant, and a recursion takes the place of all this (solvers/link_recursion.py).

At the end of a flight the integrator has left the rigid coordinates open by its local error. They are closed by the smallest
displacement in the metric of the masses, and their rates are taken away by impulses. Both momenta of the whole stay as they are:
the impulses act on both bodies at one point, and the displacement leaves what the rows of states hold (forces/path_rows.py).
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import far, lean, remote
from tumble.collision.linalg import ZERO, add, cross, dot, load3, load9, mul, scale, sub
from tumble.sim.equations import acceleration, drive
from tumble.sim.forces.laws import DAMPER_WORK, EXTERNAL_WORK, POTENTIAL_WORK
from tumble.sim.forces.prescribed_motion import arc_acceleration
from tumble.sim.joints.constraint_system import (
    give,
    largest_lack,
    link_pose,
    link_rates,
    load_rows,
    place_rows,
    read_velocities,
    sense_of,
    stand,
    take_away,
)
from tumble.sim.joints.driven_rows import behind, keeps_pace
from tumble.sim.joints.row_bends import row_bends
from tumble.sim.joints.rows import MEASURED, SPRUNG, along_rows, measure_at, unwrapped
from tumble.sim.solvers.link_recursion import ACTS, hold_tree, load_tree, move_tree
from tumble.sim.state import DYNAMIC, END, EXAMPLE, GENERAL

ENOUGH = 1e-15  # part of what the rows asked for that may be left at the end of a flight
# The same at a stage on the way: what is left there opens joints by h^2 times that, and gives no energy.
ON_THE_WAY = 1e-11
LATE = 2  # the closing from which on rows are loaded anew; the first ones use those of the last stage
CLOSINGS = 6  # most displacements at the end of a flight: each leaves the square of what was open, in sizes of a body or rad
CLOSED_AT_ONCE = math.sqrt(2.0**-53)  # [sizes or rad] the square of what is open by less is rounding: one displacement closes it
STATE_ROUNDING = 4e-16  # rounding of positions [m] of a metre, and of speeds, as a part of them
NO_RATES = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
BEND_TIME = 1.0 / 64.0  # part of a flight across which the angular acceleration of a driven body is a difference


@remote
def _hold(bodies, forces, joints, c, t, to, h, ends):
    """Add the forces of the joints of cluster c, where its members stand at time t of the drift, to the rates ``to``, which have
    all other forces. ``h``: the length of the flight. Where it ``ends``, in row END of the path, the rates of the rigid
    coordinates are taken away before."""
    _load(bodies, forces, joints, c, t)
    if ends:
        _settle(bodies, forces, joints, c, t)
    _ask_accelerations(bodies, forces, joints, c, t, to, h)
    if forces.tree[c] == 1:
        hold_tree(bodies, forces, c, to)
    else:
        _solve_rows(bodies, forces, c, to, ENOUGH if ends else ON_THE_WAY)
    _give_loads(bodies, forces, joints, c, t, to)


hold = far(_hold, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0, 0, 0.0, False), returns=None)


@lean
def _load(bodies, forces, joints, c, t):
    """Have what solutions for cluster c need where its members stand."""
    if forces.tree[c] == 1:
        for k in range(forces.first_link[c], forces.first_link[c + 1]):
            place_rows(bodies, forces, joints, k, t, forces.place[k, SPRUNG] == 1.0)
        load_tree(bodies, forces, c)
    else:
        load_rows(bodies, forces, joints, c, t)


@lean
def _move(forces, c):
    """Impulses or displacements of the rows of cluster c that give them what they lack, and what these change."""
    if forces.tree[c] == 1:
        move_tree(forces, c)
    else:
        give(forces, c, ENOUGH)


@lean
def _solve_rows(bodies, forces, c, to, enough):
    """Forces of the rows of cluster c, to ``load``, that give them the accelerations that they lack."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        rate, s, u = forces.path[to, i], forces.stand[m], forces.motion[m]
        rot = (s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
        torque = (rate[10], rate[11], rate[12])
        alpha = acceleration((u[3], u[4], u[5]), rot, load9(bodies.inertia, i), load9(bodies.inv_inertia, i), torque)
        for d in range(3):
            forces.reply[m, d] = bodies.inv_mass[i] * rate[7 + d] + bodies.gravity[i, d]
            forces.reply[m, 3 + d] = alpha[d]
    take_away(forces, c, forces.reply)
    give(forces, c, enough)


@lean
def _ask_accelerations(bodies, forces, joints, c, t, to, h):
    """Forces of springs, to the rates ``to``, and the accelerations that the rows lack but for what the bodies have."""
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        rates = NO_RATES
        if forces.place[k, SPRUNG] == 1.0 or joints.kind[forces.link[k]] == GENERAL:
            rates = link_rates(bodies, forces, joints, k, t)
        if forces.place[k, SPRUNG] == 1.0:
            _give_springs(bodies, forces, joints, k, t, to, rates)
        bends = _bends(bodies, forces, joints, k, t, BEND_TIME * h, rates)
        for r in range(6):
            forces.lacks[k, r] = -bends[r] if forces.place[k, ACTS + r] == 1.0 else 0.0


@lean
def _give_loads(bodies, forces, joints, c, t, to):
    """What the rows bear, to the rates ``to``."""
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        j = forces.link[k]
        point, f, torque = _wrench(forces, k)
        _give_wrench(bodies, forces, joints, k, t, to, point, f, torque)
        i = joints.body[j, 1] if forces.seats[k, 1] >= 0 else joints.body[j, 0]
        for r in range(6):
            if forces.held[k, r] == 1:  # the motor's work
                pace = sense_of(joints, forces, k, r) * joints.pace[forces.driver[k, r]]
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
            x, _, v, w = link_pose(bodies, forces, i, t)
            power = dot(f, add(v, cross(w, sub(point, x)))) + dot(torque, w)
            forces.path[to, joints.body[j, 1 - side], EXTERNAL_WORK] -= power


@lean
def _give_springs(bodies, forces, joints, k, t, to, rates):
    """Forces of springs and dampers along the free coordinates of link k, which change at ``rates``, and their works: to the
    rates ``to`` of the bodies."""
    j, e, f, torque = forces.link[k], forces.place[k], ZERO, ZERO
    i = joints.body[j, 1] if forces.seats[k, 1] >= 0 else joints.body[j, 0]
    for r in range(6):
        d = forces.driver[k, r]
        if d < 0 or joints.sprung[d] == 0:
            continue
        sense, n = sense_of(joints, forces, k, r), 3 + r if r < 3 else 9 + r
        value = unwrapped(joints, d, sense * e[MEASURED + r], joints.value[d])
        pull, drag = sense * joints.stiffness[d] * (joints.rest[d] - value), -joints.damping[d] * rates[r]
        along = scale(pull + drag, (e[n], e[n + 3], e[n + 6]))
        if r < 3:
            f = add(f, along)
        else:
            torque = add(torque, along)
        forces.path[to, i, POTENTIAL_WORK] += pull * rates[r]
        forces.path[to, i, DAMPER_WORK] += drag * rates[r]
    _give_wrench(bodies, forces, joints, k, t, to, (e[0], e[1], e[2]), f, torque)


@lean
def _bends(bodies, forces, joints, k, t, e, rates):
    """G' u of link k, whose coordinates have these ``rates``, and what they gain by the accelerations of a driven body."""
    j, f = forces.link[k], forces.place[k]
    point = (f[0], f[1], f[2])
    xi, ri, vi, wi = link_pose(bodies, forces, joints.body[j, 0], t)
    xj, rj, vj, wj = link_pose(bodies, forces, joints.body[j, 1], t)
    bends = row_bends(joints, j, f, rates, xi, ri, vi, wi, xj, rj, vj, wj)
    for side in range(2):
        i = joints.body[j, side]
        if i >= 0 and bodies.kind[i] != DYNAMIC:
            sign = -1.0 if side == 0 else 1.0
            a, turns = arc_acceleration(bodies, i, t, e)
            a = add(a, cross(turns, sub(point, xi if side == 0 else xj)))
            a, turns = scale(sign, a), scale(sign, turns)
            gains = along_rows(f, a, turns)
            bends = (
                bends[0] + gains[0], bends[1] + gains[1], bends[2] + gains[2],
                bends[3] + gains[3], bends[4] + gains[4], bends[5] + gains[5],
            )  # fmt: skip
    return bends


@lean
def _wrench(forces, k):
    """The common point of joint k, and force and torque of its loads on b there."""
    e, p = forces.place[k], forces.load[k]
    f = mul((e[3], e[4], e[5], e[6], e[7], e[8], e[9], e[10], e[11]), (p[0], p[1], p[2]))
    torque = mul((e[12], e[13], e[14], e[15], e[16], e[17], e[18], e[19], e[20]), (p[3], p[4], p[5]))
    return (e[0], e[1], e[2]), f, torque


@remote
def _close(bodies, forces, joints, c, t):
    """Close the rigid coordinates of cluster c in row END of the path; by how much they were open, of a body's size or rad.

    The rows are loaded for the last stage of the integrator, which is at the same time and off by no more than its error: what
    that leaves open is the product of both.
    """
    opened = before = 0.0
    for turn in range(CLOSINGS):
        if turn > 0 and opened < CLOSED_AT_ONCE:
            break
        stand(bodies, forces, c, END)
        rounding = _ask_ways(bodies, forces, joints, c, t)
        most = largest_lack(forces, c)
        if turn == 0:
            opened = _opening(bodies, forces, c)
        if most <= rounding or (turn > 0 and most > 0.5 * before):
            break
        before = most
        if turn == LATE:
            _load(bodies, forces, joints, c, t)
        _move(forces, c)
        for m in range(forces.first_member[c], forces.first_member[c + 1]):
            y, d = forces.path[END, forces.member[m]], forces.gain[m]
            x, q = drive((y[0], y[1], y[2]), (y[3], y[4], y[5], y[6]), (d[0], d[1], d[2]), (d[3], d[4], d[5]), 1.0)
            y[0], y[1], y[2] = x
            y[3], y[4], y[5], y[6] = q
    return opened


close = far(_close, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0), returns=0.0)


@lean
def _settle(bodies, forces, joints, c, t):
    """Take the rates of the rigid coordinates of cluster c, whose rows are loaded, away in row END of the path."""
    rounding = _ask_rates(bodies, forces, joints, c, t)
    if largest_lack(forces, c) <= rounding:
        return
    _move(forces, c)
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
    read_velocities(bodies, forces, c, END)


@lean
def _ask_ways(bodies, forces, joints, c, t):
    """Ask the rows to take away the rigid coordinates. Returns how much of these is rounding [m]."""
    size = 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        j = forces.link[k]
        xi, ri, _, _ = link_pose(bodies, forces, joints.body[j, 0], t)
        xj, rj, _, _ = link_pose(bodies, forces, joints.body[j, 1], t)
        values = measure_at(joints, j, xi, ri, xj, rj, keeps_pace(forces, k))
        for r in range(6):
            goes = joints.rigid[j, r] == 0 and forces.held[k, r] == 1
            forces.lacks[k, r] = -values[r] if joints.rigid[j, r] == 1 else behind(forces, k, r, values[r]) if goes else 0.0
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        s = forces.stand[m]
        size = max(size, abs(s[0]) + abs(s[1]) + abs(s[2]))
    return STATE_ROUNDING * (1.0 + size)


@lean
def _ask_rates(bodies, forces, joints, c, t):
    """Ask the rows, which are placed, to take away the rates of the rigid coordinates. Returns how much of these is rounding
    [m/s]."""
    speed = 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        j, rates = forces.link[k], link_rates(bodies, forces, joints, k, t)
        for r in range(6):
            pace = sense_of(joints, forces, k, r) * joints.pace[forces.driver[k, r]] if forces.held[k, r] == 1 else 0.0
            forces.lacks[k, r] = pace - rates[r] if joints.rigid[j, r] == 1 or forces.held[k, r] == 1 else 0.0
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        u = forces.motion[m]
        speed = max(speed, abs(u[0]) + abs(u[1]) + abs(u[2]))
    return STATE_ROUNDING * speed


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
                joints.load[d, r] = sense_of(joints, forces, k, r) * forces.load[k, r]
