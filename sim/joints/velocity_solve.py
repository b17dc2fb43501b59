"""Joints in the kick: targets of their rows, the look ahead where they need one, impulses and works.

Rigid coordinates have no rate in flight (constraint_forces.py), so their rows ask for u' = 0. So do stops that are reached, which
only push; others are met in flight (impact/stop_events.py). Others ask for a place at the end of the flight: a ball joint's
friction for the coordinate to stay where it is. The velocity u' that does it is
found by flying ahead: with a guess of u' the bodies are flown to the end of the drift, where the coordinate is g_end, and the
guess becomes u' - (g_end - g)/h, until that is rounding. That is remembered as ``hold``, the u' that ends where it began (-h/2 a
for small h), and starts the next kick. Where nothing needs to look, what the last flight bent is measured, and continued from the
one before it.

A spring that is too fast for the flight (flown_springs.py) acts by p = -h k (g_before + 2 g + g_after)/4 - h d (u + u')/2, the
trapezoidal rule: symmetric, stable at any stiffness. With g_before as it was at the last kick and g_after = g + h (u' - hold)
that is linear in u', a soft row.

A rotor of moment a on the coordinate (armature) acts by p = -a (u' - u), in impacts too; in flight it is a row of its own
(constraint_forces.py).
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import load3, scale
from tumble.sim.joints.constraint_system import sense_of
from tumble.sim.joints.flown_springs import at_steps, book_stored
from tumble.sim.joints.kept_rows import INSIDE_BOUND, at_stop, bounds_left, kept_row, least_push, reaches_stop, struck_from
from tumble.sim.joints.rows import (
    ANGULAR,
    AT_LOW,
    BLOCKS,
    BY_FRICTION,
    BY_MOTOR,
    DRIVE,
    LIMITS,
    MEASURED,
    NOT_KEPT,
    body_pose,
    frame_joint,
    has_block,
    kicks,
    place_joint,
    put_frame,
    row_axis,
    row_velocity,
    unwrapped,
    wrench,
)
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.work import INSIDE_DRIFT, KICK, MEAN_GIVEN, book_work, driven_work, give, halves
from tumble.sim.solvers.problem import velocity_along
from tumble.sim.state import POINT

MOST_LOOKS_AHEAD = 30  # most looks ahead
SURPRISE = 1e-9  # [m or rad] a joint that is open by more was not closed by the step before: it is taken to its place


@inner
def list_blocks(joints, links):
    """Of every block of three rows that these joints need now: its joint, which of its blocks it is, its place in ``links``."""
    most, n = BLOCKS * len(links), 0
    owner, block, place = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    for k in range(len(links)):
        for s in range(BLOCKS):
            if has_block(joints, links[k], s):
                owner[n], block[n], place[n] = links[k], s, k
                n += 1
    return owner[:n], block[:n], place[:n]


@lean
def drives(joints, j, block):
    """The block asks for more than to stay where a rigid coordinate is."""
    return block >= DRIVE or (block == ANGULAR and joints.kind[j] == POINT)


@lean
def asks(bodies, joints, j, block, elapsed):
    """The block asks the kick for more than to stay where a rigid coordinate is: of stops, one that is reached or that kept the
    coordinate. ``elapsed``: since coordinates were read."""
    if block == LIMITS:
        return joints.kept[j] >= AT_LOW or reaches_stop(bodies, joints, j, elapsed)
    return drives(joints, j, block)


@lean
def held_in_flight(bodies, joints, forces, links, elapsed):
    """These joints ask nothing of the kick: the flight has their springs and rotors, and their rigid coordinates are closed. Then
    the rows of their links are placed and measured."""
    for j in links:
        for s in range(BLOCKS):
            rotor = s == DRIVE and not kicks(joints, j)  # where nothing pushes, a rotor goes on as it is
            if has_block(joints, j, s) and asks(bodies, joints, j, s, elapsed) and not rotor:
                return False
    for j in links:
        k = forces.link_of[j]
        if k >= 0 and forces.link[k] == j:
            xi, ri = body_pose(bodies, joints.body[j, 0])
            xj, rj = body_pose(bodies, joints.body[j, 1])
            put_frame(joints, j, xi, ri, xj, rj, forces.place, k, True)
            for r in range(6):
                if joints.rigid[j, r] == 1 and abs(forces.place[k, MEASURED + r]) > SURPRISE:
                    return False
    return True


@lean
def fly_on(bodies, joints, forces, books, links, dt, mode):
    """The bodies of such joints, that nothing touches, are not kicked."""
    for j in links:
        for r in range(12):
            joints.impulse[j, r] = joints.before[j, r] = joints.after[j, r] = 0.0
        axis = joints.axis[j]
        if axis >= 0:
            value, rate = _placed_coordinate(bodies, joints, forces, j)
            value = unwrapped(joints, j, value, joints.value[j] + (0.0 if mode == MEAN_GIVEN else dt * rate))
            soft = joints.stiffness[j] > 0.0 or joints.damping[j] > 0.0 or joints.armature[j] > 0.0
            if soft and mode == KICK:
                joints.hold_before[j, axis] = shown_by_flight(joints, j, value, dt)
                joints.hold[j, axis] = math.nan
            joints.value[j] = value
            joints.pace[j], joints.kept[j] = rate, NOT_KEPT  # as a kick would leave it
            if soft:
                book_stored(joints, books, j, rate, mode == KICK)
        for side in range(2):
            i = joints.body[j, side]
            if i >= 0:
                bodies.parts[i], bodies.kicked[i], bodies.flown[i] = 1, 0.0, dt


@lean
def _placed_coordinate(bodies, joints, forces, j):
    """The free coordinate of joint j, and its rate: of its link, whose rows are placed."""
    k, axis = forces.link_of[j], joints.axis[j]
    if k < 0:
        point, frame, values = place_joint(bodies, joints, j)
        _, turns, e = row_axis(joints, j, DRIVE, 0, frame)
        return values[axis], row_velocity(bodies, joints, j, turns, e, point)
    f, n, sense = forces.place[k], 3 + axis if axis < 3 else 9 + axis, sense_of(joints, forces, k, axis)
    e = (sense * f[n], sense * f[n + 3], sense * f[n + 6])
    return sense * f[MEASURED + axis], row_velocity(bodies, joints, j, axis >= 3, e, (f[0], f[1], f[2]))


@lean
def shown_by_flight(joints, j, value, dt):
    """``hold`` of the free coordinate at the last kick: as the last look left it, or as the flight since then has shown."""
    last = joints.hold[j, joints.axis[j]]
    return last if math.isfinite(last) else joints.pace[j] - (value - joints.value[j]) / dt


@lean
def start_joints(bodies, joints, rows, t, dt, mode, here, hold):
    """Coordinates of the joints ``rows`` at time t of the drift, the free one of the last kick as seventh; and what is known of
    ``hold``, for a flight of length dt."""
    for n in range(len(rows)):
        j = rows[n]
        point, frame, values = place_joint(bodies, joints, j)
        for r in range(6):
            here[n, r] = values[r]
            hold[n, r] = joints.hold[j, r] if math.isfinite(joints.hold[j, r]) else 0.0
        axis = joints.axis[j]
        if axis >= 0:
            c = axis % 3
            u = row_velocity(bodies, joints, j, axis >= 3, (frame[c], frame[3 + c], frame[6 + c]), point)
            elapsed = 0.0 if mode == MEAN_GIVEN else (dt if mode == KICK else t)
            value = unwrapped(joints, j, values[axis], joints.value[j] + elapsed * u)
            if mode == KICK:  # what the last flight shows
                last = joints.hold[j, axis] = shown_by_flight(joints, j, value, dt)
                hold[n, axis] = 2.0 * last - joints.hold_before[j, axis] if joints.kept[j] == NOT_KEPT else 0.0
            here[n, axis], here[n, 6] = value, joints.value[j]
            if mode != INSIDE_DRIFT:
                joints.value[j] = value


@lean
def target_joints(joints, island, h, dt, mode, here, hold, laws):
    """Targets and bounds of the blocks of joints; ``here`` and ``hold`` have a row for each joint.

    What is beyond a stop goes no further; a displacement takes it back (contact/overlap_correction.py). ``h``: the length of the
    coming flight. Springs, motors and friction act at the steps alone, for the time ``dt`` between two.
    """
    c, lo, hi = laws.c, laws.lo, laws.hi
    for n in range(len(island.owner)):
        j, s, k, at = island.owner[n], island.block[n], len(island.rows) + n, island.place[n]
        axis = joints.axis[j]
        for r in range(3):
            u = joints.before[j, 3 * s + r]
            if s <= ANGULAR:
                b = 0.0
                if joints.kind[j] == POINT and s == ANGULAR:  # friction of a ball joint
                    b = hold[at, 3 + r]
                    hi[k, r] = 0.0 if mode == INSIDE_DRIFT else 0.5 * dt * joints.friction[j]
            elif s == DRIVE:
                b = hold[at, axis] + (joints.speed[j] if r == 2 else 0.0)
                lo[k, r], hi[k, r] = 0.0, 0.0
                if mode != INSIDE_DRIFT and r > 0:
                    most = joints.friction[j] if r == 1 else joints.strength[j]
                    lo[k, r], hi[k, r] = bounds_left(joints, j, BY_FRICTION if r == 1 else BY_MOTOR, most, dt)
            else:  # a stop that the coordinate is at; others are met in flight (impact/stop_events.py)
                b, lo[k, r], hi[k, r] = 0.0, 0.0, 0.0
                if r < 2 and at_stop(joints, j, r, here[at, axis]):
                    lo[k, r], hi[k, r] = least_push(joints, j, AT_LOW + r, dt) if mode == KICK else 0.0, math.inf
            c[k, r] = b if mode == MEAN_GIVEN else 0.5 * (u + b)
        if s == DRIVE:
            lo[k, 0], hi[k, 0] = _spring(joints, j, 3 * s, dt, mode, here[at, 6], here[at, axis], hold[at, axis] * (dt / h))


@lean
def _spring(joints, j, row, h, mode, last, value, hold):
    """(p at u = 0, -dp/du) of half the impulse of the spring and damper, in the solver's own velocity."""
    k, d, a, u = joints.stiffness[j], joints.damping[j], joints.armature[j], joints.before[j, row]
    past, coming = at_steps(joints, j)
    if mode == INSIDE_DRIFT or (past == 0 or mode == MEAN_GIVEN) and coming == 0:  # springs act at the steps, or in flight
        return a * u, a
    if mode == MEAN_GIVEN:  # in the middle of the kick, u, it goes back and forth alike
        return a * u - 0.5 * h * (k * (value - joints.rest[j] - 0.5 * h * (u + hold)) + d * u), 0.25 * h * h * k + a
    if past != coming:  # of the one half of this kick
        mean = value - 0.5 * h * (u + hold) if coming == 1 else 0.5 * (last + value)
        return a * u - 0.25 * h * k * (mean - joints.rest[j]), 0.25 * h * h * k * coming + 0.25 * h * d + a
    mean = 0.25 * (last + 3.0 * value - h * (u + hold))
    return a * u - 0.5 * h * k * (mean - joints.rest[j]), 0.25 * h * h * k + 0.5 * h * d + a


@lean
def wants_look(joints, island, laws, mode, p, wanted):
    """Mark the blocks whose impulses depend on where the flight takes their coordinates; whether there are any.

    Not what gives all that it can, nor a damper alone, nor a stop. A kept coordinate goes where it is to go.
    """
    any_wanted, hi = False, laws.hi
    for n in range(len(island.owner)):
        j, s, k = island.owner[n], island.block[n], len(island.rows) + n
        wanted[n] = False
        if not drives(joints, j, s) or (s >= DRIVE and joints.kept[j] != NOT_KEPT):
            continue
        if s == ANGULAR:
            most = INSIDE_BOUND * hi[k, 0]
            wanted[n] = p[k, 0] * p[k, 0] + p[k, 1] * p[k, 1] + p[k, 2] * p[k, 2] < most * most
        elif s == DRIVE:
            wanted[n] = mode == MEAN_GIVEN and joints.stiffness[j] > 0.0 and joints.sprung[j] == 0
            for r in range(1, 3):
                wanted[n] = wanted[n] or (hi[k, r] > 0.0 and abs(p[k, r]) < INSIDE_BOUND * hi[k, r])
        any_wanted = any_wanted or wanted[n]
    return any_wanted


@lean
def let_struck_go(joints, island, system, laws, v, p, missed, dt):
    """Let go of kept coordinates that a kick inside a drift, solved but for ``missed``, leaves off their pace; if there are any.

    What kept them gives nothing in such a kick, but for stops, which push. The flight after it keeps none that was struck
    (constraint_forces.py); held in looks, it would be stopped there by a blow that never comes, and contacts would be kicked
    against it.
    """
    changed = False
    for n in range(len(island.owner)):
        j, s, k = island.owner[n], island.block[n], len(island.rows) + n
        r, stop = kept_row(joints, j, s), s == LIMITS
        if r < 0:
            continue
        pace = 0.0 if stop else joints.pace[j]
        off = velocity_after(joints, j, 3 * s + r, k, r, INSIDE_DRIFT, v, system, laws) - pace
        if abs(off) > struck_from(pace, dt) + 2.0 * missed and not (stop and p[k, r] > 0.0):
            joints.kept[j] = NOT_KEPT
            changed = True
    return changed


@lean
def velocity_after(joints, j, row, k, r, mode, v, system, laws):
    """Velocity after the kick along row r of block k."""
    u = velocity_along(system, laws.u0, v, k, r)
    return u if mode == MEAN_GIVEN else 2.0 * u - joints.before[j, row]


@lean
def apply_joints(bodies, joints, books, island, hold, wanted, p, mode, share, steady):
    """Impulses of the joints to momenta, a share before the middle of the kick and the rest after it.

    ``steady``: what makes of such an impulse that of half a step. Springs and motors act for whole steps.
    """
    if mode != INSIDE_DRIFT:
        for j in island.links:
            for r in range(12):
                joints.impulse[j, r] = 0.0
            for r in range(6):
                joints.hold_before[j, r] = joints.hold[j, r] if math.isfinite(joints.hold[j, r]) else 0.0
                joints.hold[j, r] = math.nan
    for n in range(len(island.owner)):
        j, s = island.owner[n], island.block[n]
        half = load3(p, len(island.rows) + n)
        if mode != INSIDE_DRIFT:
            for r in range(3):
                joints.impulse[j, 3 * s + r] = half[r] * (1.0 if s == DRIVE else steady)
            if wanted[n] or joints.kept[j] != NOT_KEPT:
                for r in range(6):
                    joints.hold[j, r] = hold[island.place[n], r]
        give_block(bodies, joints, books, j, s, half, mode, share)


@lean
def give_block(bodies, joints, books, j, block, half, mode, share):
    """Half the impulses of a block of joint j to both of its bodies."""
    point, frame = frame_joint(bodies, joints, j)
    f, t = wrench(joints, j, block, frame, half)
    for side in range(2):
        f, t = scale(-1.0, f), scale(-1.0, t)  # first on a, then on b
        give(bodies, books, joints.body[j, side], f, t, point, mode, share)


@lean
def driven_by_block(bodies, joints, j, block, point, frame, p):
    """Work of driven bodies at joint j, as a block gives the impulses p [J]."""
    f, t = wrench(joints, j, block, frame, p)
    return driven_work(bodies, joints.body[j, 0], f, t, point) - driven_work(bodies, joints.body[j, 1], f, t, point)


@lean
def book_joints(bodies, joints, books, island, p, h, mode, share):
    """Works of the joints' impulses, once the velocities after the kick are known; energy of springs."""
    for n in range(len(island.owner)):
        j, s = island.owner[n], island.block[n]
        point, frame = frame_joint(bodies, joints, j)
        half = load3(p, len(island.rows) + n)
        for r in range(3):
            used, turns, e = row_axis(joints, j, s, r, frame)
            if used:
                _book_row(bodies, joints, books, j, s, r, turns, e, point, 2.0 * half[r], h, mode, share)
        driven = 2.0 * driven_by_block(bodies, joints, j, s, point, frame, half)
        book_work(books, ledger.EXTERNAL, share * driven, (1.0 - share) * driven, mode)
    if mode == INSIDE_DRIFT:
        return
    for j in island.links:
        axis = joints.axis[j]
        if axis >= 0 and joints.kept[j] == NOT_KEPT:
            point, frame = frame_joint(bodies, joints, j)
            _, turns, e = row_axis(joints, j, DRIVE, 0, frame)
            joints.pace[j] = row_velocity(bodies, joints, j, turns, e, point)
        book_stored(joints, books, j, 0.5 * (joints.before[j, 3 * DRIVE] + joints.after[j, 3 * DRIVE]), mode == KICK)


@lean
def _book_row(bodies, joints, books, j, s, r, turns, e, point, p, h, mode, share):
    """Works of the whole impulse p of one row, before and after the middle of the kick."""
    after = row_velocity(bodies, joints, j, turns, e, point)
    before = joints.before[j, 3 * s + r]
    if mode == MEAN_GIVEN:  # it was the mean
        before = 2.0 * before - after
    joints.before[j, 3 * s + r], joints.after[j, 3 * s + r] = before, after
    first, second = halves(before, after, share)
    if s == LIMITS:  # as the normal of a contact: what it takes is a loss, what is left belongs to the phase
        loss = max(0.0, -0.5 * p * (before + after))
        one, two = share * loss, (1.0 - share) * loss
        book_work(books, ledger.RESTITUTION, one, two, mode)
        book_work(books, ledger.CONTACT, p * first + one, p * second + two, mode)
    elif s == DRIVE and r == 0:
        past, coming = at_steps(joints, j)
        steps = 0.0 if mode == INSIDE_DRIFT else coming if mode == MEAN_GIVEN else 0.5 * (past + coming)
        drag = -0.5 * h * steps * joints.damping[j] * (before + after)
        book_work(books, ledger.FRICTION, -drag * first, -drag * second, mode)
        book_work(books, ledger.INTEGRATOR, (p - drag) * first, (p - drag) * second, mode)
    elif s == DRIVE and r == 2:
        book_work(books, ledger.EXTERNAL, p * first, p * second, mode)
    elif s == DRIVE or (s == ANGULAR and joints.kind[j] == POINT):
        book_work(books, ledger.FRICTION, -p * first, -p * second, mode)
    else:
        book_work(books, ledger.CONTACT, p * first, p * second, mode)
