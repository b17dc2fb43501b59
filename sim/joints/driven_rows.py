"""Free coordinates of joints in flight that are rows all the same: those kept at their pace, and those that move a rotor.

A motor that is strong enough, friction that holds and a stop that is pressed on keep their coordinate at its pace
(kept_rows.py). Such a coordinate is a row of (1) in constraint_forces.py for as long as it is kept. A rotor turns with its
coordinate, which so has a row whose own part is the inertia of the rotor.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import far, lean, remote
from tumble.sim.joints.constraint_system import link_rates, mark_acting, place_rows, sense_of, stand
from tumble.sim.joints.kept_rows import AT_STOP, struck_from
from tumble.sim.joints.rows import AT_LOW, MEASURED, NOT_KEPT
from tumble.sim.state import EXAMPLE, START


@lean
def behind(forces, k, r, value):
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
def rotor_gain(bodies, forces, joints, c, t):
    """Change of the energy of the rotors of cluster c in the flight that ends where its rows are placed [J]."""
    gain = 0.0
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        if _moves_rotor(forces, k):
            rates = link_rates(bodies, forces, joints, k, t)
            for r in range(6):
                if forces.slack[k, r] > 0.0:
                    before, after = forces.goal[k, r], rates[r]
                    gain += 0.5 * joints.armature[forces.driver[k, r]] * (after - before) * (after + before)
    return gain


@lean
def note_rotors(bodies, forces, joints, c, t):
    """Rates of the rotors of cluster c where its flight begins, whose rows are placed."""
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        if _moves_rotor(forces, k):
            rates = link_rates(bodies, forces, joints, k, t)
            for r in range(6):
                if forces.slack[k, r] > 0.0:
                    forces.goal[k, r] = rates[r]


@lean
def keeps_pace(forces, k):
    """A free coordinate of link k is kept at its pace."""
    kept = False
    for r in range(6):
        kept = kept or forces.held[k, r] == 1
    return kept


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


@lean
def _keep_at_stop(forces, joints, k, r, d, sense, value):
    """The coordinate stays at its stop, or where it is, if that is beyond: a displacement takes it back."""
    side = joints.kept[d] - AT_LOW
    forces.goal[k, r] = sense * joints.limit[d, side]
    short = sense * behind(forces, k, r, value)
    if (short if side == 0 else -short) > AT_STOP:
        forces.goal[k, r] = value


@remote
def _set_goals(bodies, forces, joints, c, t, h, guessed):
    """Where the kept coordinates of cluster c go in a flight of length h that begins in row START of the path.

    One that is not at its pace any more was struck: it is free for the rest of the drift. Not so where the kick before the flight
    is ``guessed``, in the midst of its solve: then it is off its pace by what that still leaves, and nothing has struck it.
    """
    if mark_driven(forces, joints, c):
        stand(bodies, forces, c, START)
    for k in range(forces.first_link[c], forces.first_link[c + 1]):
        if not keeps_pace(forces, k):
            continue
        place_rows(bodies, forces, joints, k, t, True)
        rates, values = link_rates(bodies, forces, joints, k, t), forces.place[k, MEASURED : MEASURED + 6]
        for r in range(6):
            d = forces.driver[k, r]
            if forces.held[k, r] == 1:
                sense = sense_of(joints, forces, k, r)
                pace = sense * joints.pace[d]
                if not guessed and abs(rates[r] - pace) > struck_from(pace, forces.clock[1]):
                    forces.held[k, r], forces.slack[k, r] = 0, _rotor(joints, d)
                forces.goal[k, r] = values[r] + h * pace
                if forces.held[k, r] == 1 and joints.kept[d] >= AT_LOW:
                    _keep_at_stop(forces, joints, k, r, d, sense, values[r])
    mark_acting(forces, joints, c)


set_goals = far(_set_goals, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0, 0.0, 0.0, False), returns=None)
