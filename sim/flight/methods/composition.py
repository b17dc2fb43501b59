"""Free flight and forces in turn: kicks at fixed poses between flights that are known exactly (or split further).

Strang's composition S(h), kick h/2, flight h, kick h/2, is symmetric and of order 2. Five of them, S(g h) S(g h) S((1 - 4 g) h)
S(g h) S(g h) with g = 1/(4 - 4^(1/3)), are of order 4 (Suzuki, Phys. Lett. A 146 (1990) 319). Without forces but uniform
gravity nothing is split. A kick under forces that depend on the velocity is
taken by the classical Runge-Kutta method, at fixed poses.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, cross, load3, load4, scale
from tumble.sim.flight.methods.exact import turn_exact
from tumble.sim.flight.methods.explicit import copy_row
from tumble.sim.flight.methods.splitting import turn_splitting
from tumble.sim.flight.rates import rates
from tumble.sim.forces.laws import OTHERS
from tumble.sim.forces.path_rows import arm_of, read_state
from tumble.sim.state import END, EXACT, SLOPE, STAGE

GAMMA = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))


@lean
def cluster_composed(bodies, forces, joints, c, t, h, start):
    """One step of a cluster from row ``start`` to row END of the path: order 4 for the exact rotation, 2 for the split one."""
    copy_row(forces, c, start, END)
    if forces.method[0] != EXACT:
        _kick(bodies, forces, joints, c, t, 0.5 * h)
        _fly(bodies, forces, c, h)
        _kick(bodies, forces, joints, c, t + h, 0.5 * h)
        return
    before = 0.0
    for n in range(5):
        part = (1.0 - 4.0 * GAMMA) * h if n == 2 else GAMMA * h
        _kick(bodies, forces, joints, c, t, 0.5 * (before + part))
        _fly(bodies, forces, c, part)
        t += part
        before = part
    _kick(bodies, forces, joints, c, t, 0.5 * before)


@lean
def _kick(bodies, forces, joints, c, t, h):
    """Change the momenta of row END by the forces at its poses, for a time h."""
    rates(bodies, forces, joints, c, t, END, SLOPE, h)
    _try(bodies, forces, c, 0.5 * h, SLOPE)
    rates(bodies, forces, joints, c, t, STAGE, SLOPE + 1, h)
    if _steady(forces, c):  # the power at the middle is then the mean power, exactly
        _push(bodies, forces, c, h, SLOPE + 1)
        return
    _try(bodies, forces, c, 0.5 * h, SLOPE + 1)
    rates(bodies, forces, joints, c, t, STAGE, SLOPE + 2, h)
    _try(bodies, forces, c, h, SLOPE + 2)
    rates(bodies, forces, joints, c, t, STAGE, SLOPE + 3, h)
    _push(bodies, forces, c, h / 6.0, SLOPE)
    _push(bodies, forces, c, h / 3.0, SLOPE + 1)
    _push(bodies, forces, c, h / 3.0, SLOPE + 2)
    _push(bodies, forces, c, h / 6.0, SLOPE + 3)


@lean
def _steady(forces, c):
    """Both first slopes have the same forces: they do not depend on the momenta."""
    same, path = True, forces.path
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        for k in range(7, 13):
            same = same and path[SLOPE, forces.member[m], k] == path[SLOPE + 1, forces.member[m], k]
    return same


@lean
def _try(bodies, forces, c, h, slope):
    """Row STAGE: row END with momenta after a time h at this slope."""
    copy_row(forces, c, END, STAGE)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        falls = _gravity(bodies, forces, i)
        for k in range(7, 13):
            forces.path[STAGE, i, k] += h * (forces.path[slope, i, k] - falls[k - 7])


@lean
def _push(bodies, forces, c, h, slope):
    """Momenta and works of row END after a time h at this slope."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        falls = _gravity(bodies, forces, i)
        for k in range(7, 13):
            forces.path[END, i, k] += h * (forces.path[slope, i, k] - falls[k - 7])
        for k in range(13, OTHERS):
            forces.path[END, i, k] += h * forces.path[slope, i, k]
        for k in range(OTHERS, OTHERS + 6):
            forces.path[END, i, k] += h * (forces.path[slope, i, k] - falls[k - OTHERS])


@lean
def _gravity(bodies, forces, i):
    """What uniform gravity gives to the momenta of body i in row END: it belongs to the flight."""
    y = forces.path[END, i]
    f = scale(bodies.mass[i], load3(bodies.gravity, i))
    return f + cross(arm_of(forces, i, (y[0], y[1], y[2])), f)


@lean
def _fly(bodies, forces, c, h):
    """Flight of row END in uniform gravity for a time h."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        y = forces.path[END, i]
        _, q, _, l = read_state(forces, END, i)
        before = (y[10], y[11], y[12])
        for k in range(3):
            y[k] += h * (bodies.inv_mass[i] * y[7 + k] + 0.5 * h * bodies.gravity[i, k])
            y[7 + k] += h * bodies.mass[i] * bodies.gravity[i, k]
            y[OTHERS + k] += h * bodies.mass[i] * bodies.gravity[i, k]
        whole = add(l, cross(arm_of(forces, i, (y[0], y[1], y[2])), (y[7], y[8], y[9])))
        for k in range(3):
            y[10 + k] = whole[k]
            y[OTHERS + 3 + k] += whole[k] - before[k]
        if forces.method[0] == EXACT:
            q = turn_exact(q, l, h, load3(bodies.moments, i), load4(bodies.axes, i))
        else:
            q = turn_splitting(q, l, h, load3(bodies.moments, i), load4(bodies.axes, i))
        y[3], y[4], y[5], y[6] = q
