"""The linear system of joints in flight, (1) of constraint_forces.py: its rows at one instant, its matrix, its solution.

A row belongs to a coordinate of a joint along which a force acts. ``Forces.g`` holds G and ``Forces.w`` M^-1 G^T, six rows for
each side of a joint; what a row still asks for is in ``Forces.lacks``. The matrix is factored once for an instant, along a
skyline (solvers/skyline.py), and asked as often as refinement needs it.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import far, lean, tight
from tumble.collision.linalg import ZERO, clear_table, load9, qnormalize, rotation, scale, store3, sub, symmetric_product
from tumble.sim.equations import angular_velocity
from tumble.sim.forces.path_rows import read_state
from tumble.sim.forces.prescribed_motion import arc
from tumble.sim.joints.rows import NO_FRAME, SPRUNG, along_rows, parting, put_frame
from tumble.sim.solvers.lanes import LANES, every, lanes_at, put_lanes
from tumble.sim.solvers.link_recursion import ACTS, put_turns
from tumble.sim.solvers.skyline import entry_at, factor_skyline, solve_skyline
from tumble.sim.state import DYNAMIC, EXAMPLE, GENERAL

SOFT = 1e-12  # the part of itself by which the diagonal of (1) is made larger, so that it can be factored
FORCE_ROUNDS = 10  # most solutions of (1): each leaves about SOFT of what was left, where rows are not redundant


@lean
def stand(bodies, forces, c, at):
    """Read the poses, velocities and inertias of the members of cluster c from a row of the path."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i, y = forces.member[m], forces.path[at, forces.member[m]]
        rot = rotation(qnormalize((y[3], y[4], y[5], y[6])))
        store3(forces.stand, m, y)
        for k in range(9):
            forces.stand[m, 3 + k] = rot[k]
        if forces.tree[c] == 0:
            mobility = symmetric_product(rot, load9(bodies.inv_inertia, i))
            for k in range(9):
                forces.mobility[m, k] = mobility[k]
    read_velocities(bodies, forces, c, at)


@lean
def read_velocities(bodies, forces, c, at):
    """The same for members whose poses are read."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i, s = forces.member[m], forces.stand[m]
        _, _, p, spin = read_state(forces, at, i)
        rot = (s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
        v, w = scale(bodies.inv_mass[i], p), angular_velocity(rot, load9(bodies.inv_inertia, i), spin)
        for k in range(3):
            forces.motion[m, k], forces.motion[m, 3 + k], forces.motion[m, 6 + k] = v[k], w[k], spin[k]


@tight
def link_pose(bodies, forces, i, t):
    """Pose and velocities of body i at time t of the drift; -1: the world."""
    if i < 0:
        return NO_FRAME[0], NO_FRAME[1], ZERO, ZERO
    if bodies.kind[i] != DYNAMIC:
        x, q, v, w = arc(bodies, i, t)
        return x, rotation(q), v, w
    s, u = forces.stand[forces.seat[i]], forces.motion[forces.seat[i]]
    rot = (s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
    return (s[0], s[1], s[2]), rot, (u[0], u[1], u[2]), (u[3], u[4], u[5])


@lean
def link_rates(bodies, forces, joints, k, t):
    """Rates of the six coordinates of link k, whose rows are placed."""
    j, f = forces.link[k], forces.place[k]
    xi, _, vi, wi = link_pose(bodies, forces, joints.body[j, 0], t)
    xj, _, vj, wj = link_pose(bodies, forces, joints.body[j, 1], t)
    return along_rows(f, parting((f[0], f[1], f[2]), xi, vi, wi, xj, vj, wj), sub(wj, wi))


@lean
def mark_acting(forces, joints, c):
    """Mark in Forces.place what acts in the coming flight of cluster c: the rows along which forces do, as they are rigid, go on
    at their pace or move a rotor; and the links with springs or dampers."""
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        place, sprung = forces.place[k], False
        for r in range(6):
            d = forces.driver[k, r]
            sprung = sprung or (d >= 0 and joints.sprung[d] == 1)
            acts = joints.rigid[forces.link[k], r] == 1 or forces.held[k, r] == 1 or forces.slack[k, r] > 0.0
            place[ACTS + r] = 1.0 if acts else 0.0
        place[SPRUNG] = 1.0 if sprung else 0.0


@lean
def sense_of(joints, forces, k, r):
    """1 or -1: which way the coordinate of the joint that drives row r of link k counts."""
    j, d = forces.link[k], forces.driver[k, r]
    return 1.0 if d == j else joints.length[d] * joints.length[j]


@lean
def place_rows(bodies, forces, joints, k, t, measured):
    """The common point of link k, which is returned, and the directions of its rows; ``measured``: and its coordinates."""
    j = forces.link[k]
    xi, ri, _, _ = link_pose(bodies, forces, joints.body[j, 0], t)
    xj, rj, _, _ = link_pose(bodies, forces, joints.body[j, 1], t)
    point = put_frame(joints, j, xi, ri, xj, rj, forces.place, k, measured)
    put_turns(forces.place[k], joints.kind[j] == GENERAL)
    return point


@lean
def load_rows(bodies, forces, joints, c, t):
    """G of the rigid rows of cluster c, M^-1 G^T, and the factors of the matrix of (1)."""
    first, last = forces.first_link[c], forces.first_link[c + 1]
    columns, starts, table, _ = _system(forces, c)
    clear_table(table[starts[0] : starts[len(columns)]])
    for k in range(first, last):
        point = place_rows(bodies, forces, joints, k, t, forces.place[k, SPRUNG] == 1.0)
        for side in range(2):
            if forces.seats[k, side] >= 0:
                s = forces.stand[forces.seats[k, side]]
                _load_side(bodies, forces, k, side, sub(point, (s[0], s[1], s[2])))
    for n in range(forces.first_meet[c], forces.first_meet[c + 1]):
        _add_product(forces, n, table)
    for k in range(first, last):
        for r in range(6):
            i = forces.equation[k, r]
            if i >= 0:
                n, lane = entry_at(columns, starts, i, i)
                table[n, lane] = table[n, lane] * (1.0 + SOFT) + forces.slack[k, r] if forces.place[k, ACTS + r] == 1.0 else 1.0
    factor_skyline(columns, starts, table)


@lean
def _load_side(bodies, forces, k, side, arm):
    """The part of G and M^-1 G^T of joint k that belongs to one of its bodies, the rows side by side; ``arm``: from its centre to
    the common point. Rows along which nothing acts are zero."""
    m, place, sign = forces.seats[k, side], forces.place, every(-1.0 if side == 0 else 1.0)
    first, light, zero = _columns(k, side), every(bodies.inv_mass[forces.member[m]]), every(0.0)
    x, y, z = every(arm[0]), every(arm[1]), every(arm[2])
    on = lanes_at(place, k, ACTS)  # of the travels, and one lane that is written over below
    f = (on * (sign * lanes_at(place, k, 3)), on * (sign * lanes_at(place, k, 6)), on * (sign * lanes_at(place, k, 9)))
    _put_side(forces, m, first, 0, f, (y * f[2] - z * f[1], z * f[0] - x * f[2], x * f[1] - y * f[0]), light)
    on = lanes_at(place, k, ACTS + 3)  # of the turns
    e = (on * (sign * lanes_at(place, k, 12)), on * (sign * lanes_at(place, k, 15)), on * (sign * lanes_at(place, k, 18)))
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
    left = asked = largest_lack(forces, c)
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
        before, left = left, largest_lack(forces, c)
        if left > 0.5 * before:
            break


give = far(_give_forces, lambda: (EXAMPLE.forces, 0, 0.0), returns=None)


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
    take_away(forces, c, forces.reply)


@lean
def take_away(forces, c, motion):
    """What the rows lack, less what they have by these velocities or accelerations of the members."""
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        for side in range(2):
            if forces.seats[k, side] >= 0:
                u, n = motion[forces.seats[k, side]], _columns(k, side)
                for at in (0, LANES):
                    put_lanes(forces.lacks, k, at, lanes_at(forces.lacks, k, at) - _weighted(forces.g, n, at, u))


@lean
def largest_lack(forces, c):
    """The most that a row lacks."""
    most = 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        for r in range(6):
            most = max(most, abs(forces.lacks[k, r]))
    return most
