"""What a flight of jointed bodies must keep: its energy tells how far the integrator is off, its momenta are put right.

Joints that come open show the error across the ways on which bodies may move (joints/constraint_forces.py). Along them, as of a
body that spins fast on a pin, the energy shows it: that of motion changes by the works of all forces, and joints do none.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, load3, load9, norm, qnormalize, rotation, sub
from tumble.sim.equations import angular_velocity
from tumble.sim.forces.laws import DAMPER_WORK, EXTERNAL_WORK, OTHERS, POTENTIAL_WORK, USER_WORK
from tumble.sim.forces.path_rows import read_state
from tumble.sim.state import END, START


@lean
def energy_lost(bodies, forces, c, rotors):
    """Energy that appears or is lost in the flight of cluster c from row START to row END: the change of the energy of motion
    less the works of gravity and of all forces.

    It is relative: to the energy of motion, plus these works, plus what a fall through the bodies' size would give. ``rotors``:
    change of the energy of rotors [J].
    """
    error, scale = rotors, abs(rotors)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        inv, g, y = load9(bodies.inv_inertia, i), load3(bodies.gravity, i), forces.path[END, i]
        x0, q0, p0, l0 = read_state(forces, START, i)
        x1, q1, p1, l1 = read_state(forces, END, i)
        w0, w1 = angular_velocity(rotation(q0), inv, l0), angular_velocity(rotation(qnormalize(q1)), inv, l1)
        before = 0.5 * (bodies.inv_mass[i] * dot(p0, p0) + dot(w0, l0))
        after = 0.5 * (bodies.inv_mass[i] * dot(p1, p1) + dot(w1, l1))
        work = bodies.mass[i] * dot(g, sub(x1, x0)) + y[POTENTIAL_WORK] + y[EXTERNAL_WORK] + y[USER_WORK] + y[DAMPER_WORK]
        error += after - before - work
        scale += max(before, after) + abs(work) + bodies.mass[i] * norm(g) * bodies.radius[i]
    return abs(error) / scale if scale > 0.0 else 0.0


@lean
def balance_momenta(bodies, forces, c):
    """Take from row END of cluster c, which joints hold to nothing else, what its momenta are off by: rounding of large forces
    between light bodies. The heaviest body bears it."""
    heaviest = forces.member[forces.first_member[c]]
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        if bodies.mass[forces.member[m]] > bodies.mass[heaviest]:
            heaviest = forces.member[m]
    for k in range(7, 13):
        off = 0.0
        for m in range(forces.first_member[c], forces.first_member[c + 1]):
            i = forces.member[m]
            off += forces.path[END, i, k] - forces.path[START, i, k] - forces.path[END, i, OTHERS + k - 7]
        forces.path[END, heaviest, k] -= off
