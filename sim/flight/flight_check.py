"""What a flight of jointed bodies must keep: its energy tells how far the integrator is off, its momenta are put right.

Joints that come open show the error across the ways on which bodies may move (joints/constraint_forces.py). Along them, as of a
body that spins fast on a pin, the energy shows it: that of motion changes by the works of all forces, and joints do none.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, load3, norm, sub
from tumble.sim.forces.laws import DAMPER_WORK, EXTERNAL_WORK, OTHERS, POTENTIAL_WORK, USER_WORK
from tumble.sim.state import END, START

BEGUN = 9  # column of Forces.motion: energy of motion where the flight begins


@lean
def note_energies(bodies, forces, c):
    """Keep the energies of motion of the members of cluster c, where they stand."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        forces.motion[m, BEGUN] = _energy_of_motion(bodies, forces, m)


@lean
def _energy_of_motion(bodies, forces, m):
    """Energy of motion of member m with the velocities that were read last [J]."""
    u = forces.motion[m]
    v, w, spin = (u[0], u[1], u[2]), (u[3], u[4], u[5]), (u[6], u[7], u[8])
    return 0.5 * (bodies.mass[forces.member[m]] * dot(v, v) + dot(w, spin))


@lean
def energy_lost(bodies, forces, c, rotors):
    """Energy that appears or is lost in the flight of cluster c from row START to row END, where its members stand: the change of
    the energy of motion less the works of gravity and of all forces.

    It is relative: to the energy of motion, plus these works, plus what a fall through the bodies' size would give. ``rotors``:
    change of the energy of rotors [J].
    """
    error, scale = rotors, abs(rotors)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        g, x, y = load3(bodies.gravity, i), forces.path[START, i], forces.path[END, i]
        before, after = forces.motion[m, BEGUN], _energy_of_motion(bodies, forces, m)
        fall = bodies.mass[i] * dot(g, sub((y[0], y[1], y[2]), (x[0], x[1], x[2])))
        work = fall + y[POTENTIAL_WORK] + y[EXTERNAL_WORK] + y[USER_WORK] + y[DAMPER_WORK]
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
