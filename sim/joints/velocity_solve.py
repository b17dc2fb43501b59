"""Joints in the kick: targets of their rows, the look ahead that makes them exact, impulses and works.

Between two kicks bodies fly freely; a rigid coordinate g must be zero again where they arrive. So the velocity u' that its
row asks for is found by flying ahead: with a guess of u' the bodies are flown to the end of the drift, where g is
g_end, and the guess becomes u' - g_end/h, until that is rounding. This is the discrete Euler-Lagrange equation of the action
of free flight under constraints at the steps (SHAKE, RATTLE: Leimkuhler, Skeel, J. Comput. Phys. 112 (1994) 117), symmetric
and symplectic: the error of energy is of order dt^2 and does not grow. It also needs no accelerations: Coriolis terms
and forces of every kind are in the flight. The look ahead is remembered as ``hold``, the u' that ends where it began (-h/2 a
for small h), and starts the next kick.

A spring acts by p = -h k (g_before + 2 g + g_after)/4 - h d (u + u')/2, the trapezoidal rule: symmetric, stable at
any stiffness. With g_before as it was at the last kick and g_after = g + h (u' - hold) that is linear in u', a soft row.

A rotor of moment a on the coordinate (armature) acts by p = -a ((u' - hold) - (g - g_before)/h), the change of its mean rate
from the last flight to the coming one: what the action a g'^2/2 gives in the same discrete equation. Impacts between steps do
not feel it.
"""

from __future__ import annotations

import math

import numpy as np

from collision.kernels.jit import far, inner, lean, remote
from collision.linalg import add, cross, dot, load3, matmul, scale, sub
from sim.flight.end_pose import Ends, end_pose
from sim.joints.rows import (
    ANGULAR,
    BLOCKS,
    DRIVE,
    LIMITS,
    anchor_pose,
    body_pose,
    has_block,
    measure_frames,
    place_joint,
    row_axis,
    row_velocity,
    unwrapped,
    wrench,
)
from sim.ledger import entries as ledger
from sim.ledger.work import AGAIN, KICK, START, book_work, give, halves
from sim.state import DYNAMIC, EXAMPLE, POINT

LOOKS = 30  # most looks ahead
SURPRISE = 1e-9  # [m or rad] a joint that is open by more was not closed by the step before: it is taken to its place


@inner
def list_blocks(joints, rows):
    """Joint and block number of every block of three rows that these joints need now."""
    owner, block = np.empty(BLOCKS * len(rows), dtype=np.int64), np.empty(BLOCKS * len(rows), dtype=np.int64)
    n = 0
    for j in rows:
        for s in range(BLOCKS):
            if has_block(joints, j, s):
                owner[n], block[n] = j, s
                n += 1
    return owner[:n], block[:n]


@lean
def start_joints(bodies, joints, rows, t, dt, mode, here, hold):
    """Coordinates of the joints ``rows`` at time t of the drift, the free one of the last kick as seventh; and what is known of
    ``hold``, for a flight of length dt."""
    for n in range(len(rows)):
        j = rows[n]
        point, frame, values = place_joint(bodies, joints, j)
        for r in range(6):
            here[n, r] = values[r]
            hold[n, r] = joints.hold[j, r]
        axis = joints.axis[j]
        if axis >= 0:
            c = axis % 3
            u = row_velocity(bodies, joints, j, axis >= 3, (frame[c], frame[3 + c], frame[6 + c]), point)
            elapsed = 0.0 if mode == START else (dt if mode == KICK else t)
            value = unwrapped(joints, j, values[axis], joints.value[j] + elapsed * u)
            here[n, axis], here[n, 6] = value, joints.value[j]
            if mode != AGAIN:
                joints.value[j] = value


@lean
def joint_targets(joints, owner, block, place, first, h, dt, mode, tolerance, correction, here, hold, c, lo, hi):
    """Targets and bounds of the solver's blocks from ``first`` on; ``place`` is the row of ``here`` and ``hold`` of each.

    ``h``: the length of the coming flight. Springs, motors and friction act at the steps alone, for the time ``dt`` between two.
    ``tolerance``: of the solver [m/s].
    """
    for n in range(len(owner)):
        j, s, k, at = owner[n], block[n], first + n, place[n]
        axis = joints.axis[j]
        for r in range(3):
            u = joints.before[j, 3 * s + r]
            if s <= ANGULAR:
                open_by = here[at, 3 * s + r] if joints.rigid[j, 3 * s + r] == 1 else 0.0
                b = hold[at, 3 * s + r] - _closing(open_by, h, dt, mode, tolerance)
                if joints.kind[j] == POINT and s == ANGULAR:  # friction of a ball joint
                    b = hold[at, 3 + r]
                    hi[k, r] = 0.0 if mode == AGAIN else 0.5 * dt * joints.friction[j]
            elif s == DRIVE:
                b = hold[at, axis] + (joints.speed[j] if r == 2 else 0.0)
                most = 0.0 if mode == AGAIN else 0.5 * dt * (joints.friction[j] if r == 1 else joints.strength[j])
                lo[k, r], hi[k, r] = -most, most
            else:
                gap = here[at, axis] - joints.limit[j, 0] if r == 0 else joints.limit[j, 1] - here[at, axis]
                b = (hold[at, axis] if r == 0 else -hold[at, axis]) - (gap / h if gap > 0.0 else correction * gap / dt)
                if not math.isfinite(b):
                    b = 0.0
            c[k, r] = b if mode == START else 0.5 * (u + b)
        if s == DRIVE:
            lo[k, 0], hi[k, 0] = _spring(joints, j, 3 * s, dt, mode, here[at, 6], here[at, axis], hold[at, axis] * (dt / h))


@lean
def _closing(open_by, h, dt, mode, tolerance):
    """Velocity at which a rigid coordinate that is open closes."""
    if mode == AGAIN:  # a flight may be so short that rounding is a velocity: what the solver leaves in a step is no gap
        return math.copysign(max(0.0, abs(open_by) - tolerance * dt), open_by) / h
    return open_by / h if abs(open_by) <= SURPRISE else 0.0  # what could not be closed by displacement is left to the next one


@lean
def _spring(joints, j, row, h, mode, last, value, hold):
    """(p at u = 0, -dp/du) of half the impulse of the spring and damper, in the solver's own velocity."""
    k, d, a, u = joints.stiffness[j], joints.damping[j], joints.armature[j], joints.before[j, row]
    if mode == AGAIN:  # forces act at the steps
        return 0.0, 0.0
    if mode == START:  # in the middle of the kick, u, it goes back and forth alike
        return -0.5 * h * (k * (value - joints.rest[j] - 0.5 * h * (u + hold)) + d * u) + a * (u + hold), 0.25 * h * h * k + a
    mean = 0.25 * (last + 3.0 * value - h * (u + hold))
    rotor = 0.5 * a * (u + hold + (value - last) / h)
    return rotor - 0.5 * h * k * (mean - joints.rest[j]), 0.25 * h * h * k + 0.5 * h * d + a


@lean
def look_ahead(
    bodies, joints, forces, owner, block, place, first, local, ends, v, a, b, ja, jb, u0, t, h, mode, here, hold,
):  # fmt: skip
    """Correct ``hold`` by what the joints are open by where the bodies end; the largest change, against rounding."""
    worst = 0.0
    for n in range(len(owner)):
        worst = max(
            worst,
            _correct_hold(
                bodies, joints, forces, owner[n], block[n], place[n], first + n, local, ends, v, a, b, ja, jb, u0, t, h, mode,
                here, hold,
            ),
        )  # fmt: skip
    return worst


@remote
def _correct_hold(
    bodies, joints, forces, j, s, at, k, local, ends, v, a, b, ja, jb, u0, t, h, mode, here, hold
):  # fmt: skip
    """The part of :func:`look_ahead` for block s of joint j, block k of the solver."""
    xi, ri = end_pose(bodies, forces, joints.body[j, 0], local, ends, t, t + h)
    xj, rj = end_pose(bodies, forces, joints.body[j, 1], local, ends, t, t + h)
    xa, fa = anchor_pose(joints, j, 0, xi, ri)
    xb, fb = anchor_pose(joints, j, 1, xj, rj)
    values = measure_frames(joints, j, xa, fa, xb, fb)
    if s == ANGULAR and joints.kind[j] == POINT:
        values = _turn_since(bodies, joints, j, fa, fb)
    rounding = 2e-15 * (1.0 + abs(xa[0]) + abs(xa[1]) + abs(xa[2])) / h
    worst = 0.0
    for r in range(3):
        if s >= DRIVE and (r == 2 or (s == LIMITS and not math.isfinite(joints.limit[j, r]))):
            continue
        u = u0[k, r]
        for d in range(6):
            if a[k] >= 0:
                u += ja[k, r, d] * v[a[k], d]
            if b[k] >= 0:
                u += jb[k, r, d] * v[b[k], d]
        if mode != START:
            u = 2.0 * u - joints.before[j, 3 * s + r]
        axis = 3 * s + r
        end = values[axis % 6]
        if s >= DRIVE:
            axis = joints.axis[j]
            if s == LIMITS and r == 1:
                u = -u
            end = unwrapped(joints, j, values[axis], here[at, axis] + h * u)
        elif joints.rigid[j, axis] == 0 and not (s == ANGULAR and joints.kind[j] == POINT):
            continue
        new = u - (end - here[at, axis]) / h
        worst = max(worst, abs(new - hold[at, axis]) - rounding)
        hold[at, axis] = new
    return worst


def _hold_example():
    m, t3, whole = EXAMPLE, np.zeros((0, 3)), np.zeros(0, np.int64)
    t6, t36, ends = np.zeros((0, 6)), np.zeros((0, 3, 6)), Ends(t3, np.zeros((0, 3, 3)), t3, t3)
    return (m.bodies, m.joints, m.forces, 0, 0, 0, 0, whole, ends, t6, whole, whole, t36, t36, t3, 0.0, 0.0, 0, t6, t6)


_correct_hold = far(_correct_hold, _hold_example)


@lean
def _turn_since(bodies, joints, j, fa, fb):
    """By how much b will have turned against a, in the frame of a, once their frames are these; small turns."""
    xi, ri = body_pose(bodies, joints.body[j, 0])
    xj, rj = body_pose(bodies, joints.body[j, 1])
    _, fa0 = anchor_pose(joints, j, 0, xi, ri)
    _, fb0 = anchor_pose(joints, j, 1, xj, rj)
    now, before = matmul(_transposed(fa), fb), matmul(_transposed(fa0), fb0)
    d = matmul(now, _transposed(before))
    return (0.0, 0.0, 0.0, 0.5 * (d[7] - d[5]), 0.5 * (d[2] - d[6]), 0.5 * (d[3] - d[1]))


@lean
def _transposed(m):
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@lean
def apply_joints(bodies, joints, books, rows, owner, block, place, first, hold, p, mode, share, steady):
    """Impulses of the joints to momenta, a share before the middle of the kick and the rest after it.

    ``steady``: what makes of such an impulse that of half a step. Springs and motors act for whole steps.
    """
    if mode != AGAIN:
        for n in range(len(rows)):
            for r in range(12):
                joints.impulse[rows[n], r] = 0.0
    for n in range(len(owner)):
        j, s = owner[n], block[n]
        half = load3(p, first + n)
        if mode != AGAIN:
            for r in range(3):
                joints.impulse[j, 3 * s + r] = half[r] * (1.0 if s == DRIVE else steady)
            for r in range(6):
                joints.hold[j, r] = hold[place[n], r]
        point, frame, _ = place_joint(bodies, joints, j)
        f, t = wrench(joints, j, s, frame, half)
        for side in range(2):
            f, t = scale(-1.0, f), scale(-1.0, t)  # first on a, then on b
            give(bodies, books, joints.body[j, side], f, t, point, mode, share)


@lean
def book_joints(bodies, joints, books, rows, owner, block, place, first, here, p, h, mode, share):
    """Works of the joints' impulses, once the velocities after the kick are known; energy of springs."""
    for n in range(len(owner)):
        j, s = owner[n], block[n]
        point, frame, _ = place_joint(bodies, joints, j)
        half = load3(p, first + n)
        for r in range(3):
            used, turns, e = row_axis(joints, j, s, r, frame)
            if used:
                landed = s == LIMITS and mode != START and abs(here[place[n], 6] - joints.limit[j, r]) > SURPRISE
                _book_row(bodies, joints, books, j, s, r, turns, e, point, 2.0 * half[r], landed, h, mode, share)
        f, t = wrench(joints, j, s, frame, half)
        driven = 0.0
        for side in range(2):
            i = joints.body[j, side]
            if i >= 0 and bodies.kind[i] != DYNAMIC:
                w = load3(bodies.w, i)
                v = add(load3(bodies.v, i), cross(w, sub(point, load3(bodies.x, i))))
                driven += (1.0 if side == 0 else -1.0) * (dot(f, v) + dot(t, w))
        if driven != 0.0:
            book_work(books, ledger.EXTERNAL, 2.0 * share * driven, 2.0 * (1.0 - share) * driven, mode)
    if mode == AGAIN:
        return
    for n in range(len(rows)):
        j = rows[n]
        if joints.stiffness[j] > 0.0 or joints.armature[j] > 0.0:
            stretch, rate = joints.value[j] - joints.rest[j], 0.5 * (joints.before[j, 3 * DRIVE] + joints.after[j, 3 * DRIVE])
            now = 0.5 * (joints.stiffness[j] * stretch * stretch + joints.armature[j] * rate * rate)
            if mode == KICK:
                books.energy[ledger.INTEGRATOR] += now - joints.potential[j]
                books.moved[0] += abs(now - joints.potential[j])
            joints.potential[j] = now


@lean
def _book_row(bodies, joints, books, j, s, r, turns, e, point, p, landed, h, mode, share):
    """Works of the whole impulse p of one row, before and after the middle of the kick."""
    after = row_velocity(bodies, joints, j, turns, e, point)
    before = joints.before[j, 3 * s + r]
    if mode == START:  # it was the mean
        before = 2.0 * before - after
    joints.before[j, 3 * s + r], joints.after[j, 3 * s + r] = before, after
    first, second = halves(before, after, share)
    if s == LIMITS:  # as the normal of a contact: what is lost on arrival is a loss, what is left belongs to the phase
        loss = max(0.0, -0.5 * p * (before + after)) if landed else 0.0
        one, two = share * loss, (1.0 - share) * loss
        book_work(books, ledger.RESTITUTION, one, two, mode)
        book_work(books, ledger.CONTACT, p * first + one, p * second + two, mode)
    elif s == DRIVE and r == 0:
        drag = -0.5 * h * joints.damping[j] * (before + after) if mode != AGAIN else 0.0
        book_work(books, ledger.FRICTION, -drag * first, -drag * second, mode)
        book_work(books, ledger.INTEGRATOR, (p - drag) * first, (p - drag) * second, mode)
    elif s == DRIVE and r == 2:
        book_work(books, ledger.EXTERNAL, p * first, p * second, mode)
    elif s == DRIVE or (s == ANGULAR and joints.kind[j] == POINT):
        book_work(books, ledger.FRICTION, -p * first, -p * second, mode)
    else:
        book_work(books, ledger.CONTACT, p * first, p * second, mode)
