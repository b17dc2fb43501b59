"""Springs and dampers of joints in flight, where they act as all smooth forces do, or at the steps.

In flight they are evaluated at the stages of the integrator, of order 6. That serves as long as it follows them: with the
mobility m of the coordinate, the oscillation turns by h sqrt(k m) in a step of length h, the decay goes by h d m, and one step is
off by about the seventh power of that over 7!: 1e-8 at RESOLVED, which the flight mends by a second step. The mobility that
counts is the largest that the masses allow: joints make a coordinate only heavier.

Others act at the steps by the trapezoidal rule, which is stable at any stiffness (velocity_solve.py). So do all springs of what
stands on something: there contacts bear the load of a spring, and as kicks both balance each other. A spring in flight would
move the limbs between two of these kicks, and back. For a spring that acts in one of two flights and at the steps around the
other the kick between them gives the half step of that other one.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, load3, load9, mul
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.work import book_at_once
from tumble.sim.state import DYNAMIC, HINGE

RESOLVED = 0.25  # [rad or e-folds] of a spring or damper in a step, to which it is followed in flight


@lean
def let_go_of_springs(joints):
    """Before a kick it is open whether springs and dampers act in the coming flight."""
    for j in range(len(joints.kind)):
        joints.sprung_before[j], joints.sprung[j] = joints.sprung[j], 0


@lean
def take_springs(bodies, joints, forces, links, dt):
    """Choose for these joints, whose bodies nothing touches, whether their springs and dampers act in the coming flight."""
    for j in links:
        k, d = joints.stiffness[j], joints.damping[j]
        if joints.axis[j] < 0 or forces.link_of[j] < 0 or (k == 0.0 and d == 0.0) or pushes(joints, j):
            continue
        m = _most_mobility(bodies, joints, j)
        if dt * dt * k * m <= RESOLVED * RESOLVED and dt * d * m <= RESOLVED:
            joints.sprung[j] = 1


@lean
def at_steps(joints, j):
    """(1 or 0, 1 or 0): spring and damper of joint j act at the steps, in the half step before a kick and in that after it."""
    return 1 - joints.sprung_before[j], 1 - joints.sprung[j]


@lean
def pushes(joints, j):
    """Friction or a motor of joint j acts at the steps."""
    return joints.friction[j] > 0.0 or joints.strength[j] > 0.0


@lean
def _most_mobility(bodies, joints, j):
    """A bound of the acceleration of the free coordinate of joint j by a unit of force along it, rotor included.

    Of each body as if nothing else held it: what holds it only makes it move less (Gauss). About the axis of a hinge, which is
    fixed in both bodies, that is one number for ever, so a hinge's spring acts in flight in all steps or in none; of other joints
    all directions are asked.
    """
    total = 0.0
    for side in range(2):
        i = joints.body[j, side]
        if i < 0 or bodies.kind[i] != DYNAMIC:
            continue
        if joints.kind[j] == HINGE:
            k = joints.axis[j] % 3
            along = (joints.frame[j, side, 0, k], joints.frame[j, side, 1, k], joints.frame[j, side, 2, k])
            total += dot(along, mul(load9(bodies.inv_inertia, i), along))
            continue
        turning, y = 0.0, bodies.inv_inertia[i]
        for r in range(3):  # no eigenvalue is above the largest sum of a row
            turning = max(turning, abs(y[r, 0]) + abs(y[r, 1]) + abs(y[r, 2]))
        if joints.axis[j] >= 3:
            total += turning
        else:
            arm = load3(joints.anchor[j], side)
            total += bodies.inv_mass[i] + dot(arm, arm) * turning
    return total / (1.0 + joints.armature[j] * total) if math.isfinite(total) else total


@lean
def book_stored(joints, books, j, rate, booked):
    """The energy in the spring of joint j, and in its rotor at this rate, from now on; ``booked``: its change is an error of the
    integrator, with what it took from the bodies [J]."""
    if joints.stiffness[j] > 0.0 or joints.armature[j] > 0.0:
        stretch = joints.value[j] - joints.rest[j]
        now = 0.5 * (joints.stiffness[j] * stretch * stretch + joints.armature[j] * rate * rate)
        if booked:
            book_at_once(books, ledger.INTEGRATOR, now - joints.potential[j])
        joints.potential[j] = now
