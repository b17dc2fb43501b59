"""States of bodies that fly together, as rows of Forces.path: position, orientation, momentum, angular momentum.

The angular momentum in a row is that about the ``origin`` of the cluster, x x p and the spin together. Forces between two bodies
act along one line, or at one common point, so they leave the sum of these alone; and what is linear in the state every
Runge-Kutta method keeps exactly (Hairer, Lubich, Wanner, Geometric Numerical Integration, IV.1). The sum of spins and x x p, with
the spins in the rows, would be quadratic in them, and off by the error of the method. A body that flies alone keeps its spin: its
rows hold that.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, axpy, cross, load3, load9, qnormalize, rotation, scale, store3, sub
from tumble.sim.equations import angular_velocity


@lean
def arm_of(forces, i, x):
    """From the point about which the angular momentum of body i counts to its centre of mass at x."""
    c = forces.cluster[i]
    return sub(x, load3(forces.origin, c)) if forces.coupled[c] == 1 else ZERO


@lean
def write_state(forces, row, i, x, q, p, l):
    """State of body i, ``l`` its spin, to a row of the path; the integrals begin at zero."""
    path = forces.path
    whole = add(l, cross(arm_of(forces, i, x), p))
    for k in range(3):
        path[row, i, k] = x[k]
        path[row, i, 7 + k] = p[k]
        path[row, i, 10 + k] = whole[k]
    for k in range(4):
        path[row, i, 3 + k] = q[k]
    for k in range(13, path.shape[2]):
        path[row, i, k] = 0.0


@lean
def read_state(forces, row, i):
    """(x, q, p, spin) of body i in a row of the path."""
    y = forces.path[row, i]
    x, p = (y[0], y[1], y[2]), (y[7], y[8], y[9])
    return x, (y[3], y[4], y[5], y[6]), p, sub((y[10], y[11], y[12]), cross(arm_of(forces, i, x), p))


@lean
def read_wrench(forces, state, rate, i):
    """Force on body i and torque about its centre of mass, of a row of rates, in the state of another row."""
    y, r = forces.path[state, i], forces.path[rate, i]
    force = (r[7], r[8], r[9])
    return force, sub((r[10], r[11], r[12]), cross(arm_of(forces, i, (y[0], y[1], y[2])), force))


@lean
def path_motion(bodies, forces, row, i):
    """Position, rotation, velocity, angular velocity and spin of a dynamic body in a row of the path."""
    x, q, p, l = read_state(forces, row, i)
    rot = rotation(qnormalize(q))
    return x, rot, scale(bodies.inv_mass[i], p), angular_velocity(rot, load9(bodies.inv_inertia, i), l), l


@lean
def place_origin(bodies, forces, c):
    """The origin of cluster c: the middle of its bodies where their flights begin."""
    first, last = forces.first_member[c], forces.first_member[c + 1]
    middle = ZERO
    for m in range(first, last):
        middle = axpy(1.0 / (last - first), load3(bodies.x0, forces.member[m]), middle)
    store3(forces.origin, c, middle)
