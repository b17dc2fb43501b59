"""What forces do in a step: the rates of a cluster of bodies at one instant, and the potential energy of its forces.

Each law gives the force and torque on a body; they are added to its rates, and their power to that of their kind of work.
Where two dynamic bodies act on each other, the same force goes to both with opposite signs.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import far, lean
from tumble.collision.linalg import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load3,
    load9,
    matmul,
    mul,
    mul_t,
    neg,
    norm,
    qnormalize,
    rotation,
    scale,
    sub,
    symmetric_product,
)
from tumble.sim.forces.functions import call_function
from tumble.sim.forces.path_rows import path_motion
from tumble.sim.forces.prescribed_motion import arc, knot_before
from tumble.sim.state import CENTRAL, CONSTANT, DRAG, DYNAMIC, EXAMPLE, MEDIUM, MUTUAL, SPRING, TABLE

POTENTIAL_WORK, EXTERNAL_WORK, USER_WORK = 13, 14, 15  # works in a row of Forces.path
OTHERS = 16  # what all but joints give to momentum, then to angular momentum about the origin
DAMPER_WORK = 22  # of the dampers of joints


@lean
def _add(path, to, i, work, force, torque, v, w):
    """A force and torque on body i, which moves at v, w: to its rates; their power to that kind of work."""
    for k in range(3):
        path[to, i, 7 + k] += force[k]
        path[to, i, 10 + k] += torque[k]
    path[to, i, work] += dot(force, v) + dot(torque, w)


@lean
def act(bodies, forces, row, t, at, to):
    """One row of the table of forces."""
    path, kind, i = forces.path, forces.kind[row], forces.body[row, 0]
    f = forces.number[row]
    x, rot, v, w, _ = path_motion(bodies, forces, at, i)
    if kind == CENTRAL:
        force, torque = central(f, x, rot, bodies.mass[i], load9(bodies.inertia, i))
        _add(path, to, i, POTENTIAL_WORK, force, torque, v, w)
    elif kind == MUTUAL:
        j = forces.body[row, 1]
        y, _, vj, wj, _ = path_motion(bodies, forces, at, j)
        d = sub(y, x)
        r = math.sqrt(dot(d, d) + f[1] * f[1])
        force = scale(f[0] * bodies.mass[i] * bodies.mass[j] / (r * r * r), d) if r > 0.0 else ZERO
        _add(path, to, i, POTENTIAL_WORK, force, ZERO, v, w)
        _add(path, to, j, POTENTIAL_WORK, neg(force), ZERO, vj, wj)
    elif kind == DRAG:
        u = sub(v, (f[4], f[5], f[6]))
        force, torque = scale(-(f[0] + f[1] * norm(u)), u), scale(-(f[2] + f[3] * norm(w)), w)
        _add(path, to, i, EXTERNAL_WORK, force, torque, v, w)
    elif kind == MEDIUM:
        force, torque = medium(f, rot, v, w)
        _add(path, to, i, EXTERNAL_WORK, force, torque, v, w)
    elif kind == SPRING:
        _spring(bodies, forces, row, t, at, to, x, rot, v, w)
    elif kind in (CONSTANT, TABLE):
        force, torque = (f[0], f[1], f[2]), (f[3], f[4], f[5])
        if kind == TABLE:
            force, torque = _tabulated(forces.knots, forces.address[row], int(f[10]), forces.clock[0] + t)
        if f[6] != 0.0:
            force, torque = mul(rot, force), mul(rot, torque)
        torque = add(torque, cross(mul(rot, (f[7], f[8], f[9])), force))
        _add(path, to, i, USER_WORK if f[11] != 0.0 else EXTERNAL_WORK, force, torque, v, w)
    else:
        force, torque = _asked(forces, row, forces.clock[0] + t, x, path[at, i], v, w)
        _add(path, to, i, USER_WORK, force, torque, v, w)


@lean
def central(f, x, rot, mass, inertia):
    """Attraction by a centre f[:3] with GM = f[3]; with f[4] also what the extent of the body adds (MacCullagh).

    V = -GM m/r - GM/(2 r^3) (tr J - 3 r.J r/r^2); force -dV/dx, torque 3 GM/r^5 r x J r.
    """
    d = sub(x, (f[0], f[1], f[2]))
    r2 = dot(d, d)
    if r2 == 0.0:
        return ZERO, ZERO
    s = f[3] / (r2 * math.sqrt(r2))
    force = scale(-s * mass, d)
    if f[4] == 0.0:
        return force, ZERO
    j = symmetric_product(rot, inertia)
    jd = mul(j, d)
    trace, djd = j[0] + j[4] + j[8], dot(d, jd)
    s = 3.0 * s / r2
    force = axpy(-0.5 * s * (trace - 5.0 * djd / r2), d, axpy(-s, jd, force))
    return force, scale(s, cross(d, jd))


@lean
def medium(f, rot, v, w):
    """Resistance along and about the axes of a body's box: f[0], f[1] by speed and rate, f[2:5], f[5:8] by their squares.

    f[8:12]: the quaternion of these axes in the body; f[12:15]: the velocity of the medium.
    """
    axes = matmul(rot, rotation((f[8], f[9], f[10], f[11])))
    u, s = mul_t(axes, sub(v, (f[12], f[13], f[14]))), mul_t(axes, w)
    force = (
        -(f[0] + f[2] * abs(u[0])) * u[0],
        -(f[0] + f[3] * abs(u[1])) * u[1],
        -(f[0] + f[4] * abs(u[2])) * u[2],
    )  # fmt: skip
    torque = (
        -(f[1] + f[5] * abs(s[0])) * s[0],
        -(f[1] + f[6] * abs(s[1])) * s[1],
        -(f[1] + f[7] * abs(s[2])) * s[2],
    )  # fmt: skip
    return mul(axes, force), mul(axes, torque)


@lean
def _ends(f, x, rot, y, turn):
    """Arms of a spring about both centres of mass, and the vector from its first end to its second."""
    a, b = mul(rot, (f[3], f[4], f[5])), mul(turn, (f[6], f[7], f[8]))
    return a, b, sub(add(y, b), add(x, a))


@lean
def _spring(bodies, forces, row, t, at, to, x, rot, v, w):
    """f: stiffness, damping, length, the two anchors from the centres of mass, slack; body -1: the world."""
    i, j, f = forces.body[row, 0], forces.body[row, 1], forces.number[row]
    y, turn, vj, wj = ZERO, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), ZERO, ZERO
    if j >= 0:
        if bodies.kind[j] == DYNAMIC:
            y, turn, vj, wj, _ = path_motion(bodies, forces, at, j)
        else:
            y, q, vj, wj = arc(bodies, j, t)
            turn = rotation(q)
    a, b, d = _ends(f, x, rot, y, turn)
    length = norm(d)
    if f[9] != 0.0 and length <= f[2]:
        return
    n = scale(1.0 / length, d) if length > 0.0 else ZERO
    pull = scale(f[0], d) if f[2] == 0.0 else scale(f[0] * (length - f[2]), n)
    change = sub(add(vj, cross(wj, b)), add(v, cross(w, a)))
    damp = scale(f[1] * dot(change, n), n)
    path = forces.path
    _add(path, to, i, POTENTIAL_WORK, pull, cross(a, pull), v, w)
    _add(path, to, i, EXTERNAL_WORK, damp, cross(a, damp), v, w)
    if j < 0:
        return
    pull, damp = neg(pull), neg(damp)
    if bodies.kind[j] == DYNAMIC:
        _add(path, to, j, POTENTIAL_WORK, pull, cross(b, pull), vj, wj)
        _add(path, to, j, EXTERNAL_WORK, damp, cross(b, damp), vj, wj)
    else:  # the potential falls by this power too, and whoever drives the body supplies it
        power = dot(pull, vj) + dot(cross(b, pull), wj)
        path[to, i, POTENTIAL_WORK] += power
        path[to, i, EXTERNAL_WORK] -= power


@lean
def _tabulated(knots, first, count, t):
    """Force and torque of a table at time t, linear in between, zero outside."""
    if not knots[first, 0] <= t <= knots[first + count - 1, 0]:
        return ZERO, ZERO
    low = knot_before(knots, first, first + count, t)
    s = (t - knots[low, 0]) / (knots[low + 1, 0] - knots[low, 0])
    a, b = knots[low], knots[low + 1]
    force = (a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]), a[3] + s * (b[3] - a[3]))
    return force, (a[4] + s * (b[4] - a[4]), a[5] + s * (b[5] - a[5]), a[6] + s * (b[6] - a[6]))


@lean
def _asked(forces, row, t, x, y, v, w):
    """Force and torque of a user's function; nan where it gave none."""
    given, out = forces.call[0], forces.call[1]
    q = qnormalize((y[3], y[4], y[5], y[6]))
    given[0] = t
    for k in range(3):
        given[1 + k] = x[k]
        given[8 + k] = v[k]
        given[11 + k] = w[k]
        out[k] = out[3 + k] = math.nan
    for k in range(4):
        given[4 + k] = q[k]
    call_function(forces.address[row], given, out)
    return (out[0], out[1], out[2]), (out[3], out[4], out[5])


@lean
def row_potential(bodies, forces, row, t):
    """Potential energy of one row of the table of forces at time t of the drift, at which its dynamic bodies stand [J]."""
    kind, i, j = forces.kind[row], forces.body[row, 0], forces.body[row, 1]
    f, x, rot = forces.number[row], load3(bodies.x, i), load9(bodies.rot, i)
    if kind == CENTRAL:
        d = sub(x, (f[0], f[1], f[2]))
        r = norm(d)
        if r == 0.0:
            return 0.0
        energy = -f[3] * bodies.mass[i] / r
        if f[4] != 0.0:
            inertia = symmetric_product(rot, load9(bodies.inertia, i))
            trace = inertia[0] + inertia[4] + inertia[8]
            energy -= 0.5 * f[3] / (r * r * r) * (trace - 3.0 * dot(d, mul(inertia, d)) / (r * r))
        return energy
    if kind == MUTUAL:
        d = sub(load3(bodies.x, j), x)
        r = math.sqrt(dot(d, d) + f[1] * f[1])
        return -f[0] * bodies.mass[i] * bodies.mass[j] / r if r > 0.0 else 0.0
    if kind == SPRING:
        y, turn = ZERO, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        if j >= 0 and bodies.kind[j] == DYNAMIC:
            y, turn = load3(bodies.x, j), load9(bodies.rot, j)
        elif j >= 0:
            y, q, _, _ = arc(bodies, j, t)
            turn = rotation(q)
        _, _, d = _ends(f, x, rot, y, turn)
        stretch = norm(d) - f[2]
        return 0.5 * f[0] * stretch * stretch if stretch > 0.0 or f[9] == 0.0 else 0.0
    return 0.0


@lean
def _update_potential(bodies, forces, c, t):
    """Energy of the forces on cluster c at time t of the drift, at which it stands: its change since last asked [J]."""
    energy = 0.0
    for row in range(forces.first_row[c], forces.first_row[c + 1]):
        energy += row_potential(bodies, forces, row, t)
    change = energy - forces.potential[c]
    forces.potential[c] = energy
    return change


update_potential = far(_update_potential, lambda: (EXAMPLE.bodies, EXAMPLE.forces, 0, 0.0), returns=0.0)
