"""Rates of a cluster of bodies at one instant: what forces do, what its joints add to that, and uniform gravity."""

from __future__ import annotations

from tumble.collision.kernels.jit import far, remote
from tumble.collision.linalg import cross, norm
from tumble.sim.equations import orientation_rate
from tumble.sim.forces.laws import OTHERS, act
from tumble.sim.forces.path_rows import arm_of, path_motion
from tumble.sim.joints.constraint_forces import hold
from tumble.sim.joints.constraint_system import stand
from tumble.sim.state import END, EXAMPLE, FLIGHT


@remote
def _rates(bodies, forces, joints, c, t, at, to, h):
    """Rates of cluster c in the state ``at`` of the path, at time t of the drift; into row ``to`` of the path.

    ``h``: length of the flight.
    """
    path, linked = forces.path, forces.first_link[c + 1] > forces.first_link[c]
    if linked:
        stand(bodies, forces, c, at)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        q = (path[at, i, 3], path[at, i, 4], path[at, i, 5], path[at, i, 6])
        if linked:
            u = forces.motion[m]
            v, w = (u[0], u[1], u[2]), (u[3], u[4], u[5])
        else:
            _, _, v, w, _ = path_motion(bodies, forces, at, i)
        rate = orientation_rate(w, q)
        for k in range(3):
            path[to, i, k] = v[k]
        for k in range(4):
            path[to, i, 3 + k] = rate[k]
        for k in range(7, FLIGHT):
            path[to, i, k] = 0.0
    for row in range(forces.first_row[c], forces.first_row[c + 1]):
        act(bodies, forces, row, t, at, to)
    if linked:
        for m in range(forces.first_member[c], forces.first_member[c + 1]):
            r = path[to, forces.member[m]]
            for k in range(6):
                r[OTHERS + k] = r[7 + k]
        hold(bodies, forces, joints, c, t, to, h, at == END)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        r = path[to, i]
        bodies.pull[i] = max(bodies.pull[i], bodies.inv_mass[i] * norm((r[7], r[8], r[9])))
        bodies.twist[i] = max(bodies.twist[i], norm((r[10], r[11], r[12])))
        for k in range(3):
            r[7 + k] += bodies.mass[i] * bodies.gravity[i, k]
        arm = arm_of(forces, i, (path[at, i, 0], path[at, i, 1], path[at, i, 2]))
        moment = cross(arm, (r[7], r[8], r[9]))
        for k in range(3):
            r[10 + k] += moment[k]
        if linked:
            for k in range(3):
                r[OTHERS + k] += bodies.mass[i] * bodies.gravity[i, k]
            moment = cross(arm, (r[OTHERS], r[OTHERS + 1], r[OTHERS + 2]))
            for k in range(3):
                r[OTHERS + 3 + k] += moment[k]


rates = far(_rates, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0, 0, 0, 0.0), returns=None)
