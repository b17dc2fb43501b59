"""What counts as an impact: approaches that are faster are located in time, slower ones are left to the kick; and how much of one
bounces."""

from __future__ import annotations

import math

from tumble.collision.geometry import SPHERE
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, load3, norm, sub
from tumble.sim.contact.ground.faces import same_facets
from tumble.sim.contact.surfaces import coefficient
from tumble.sim.contact.touching.point_accelerations import free_acceleration
from tumble.sim.sorted_lists import is_pair, pair_before
from tumble.sim.state import DYNAMIC, PIECE, POINTS, E

FALL = 0.025  # part of a step: what falls from rest for so long is as fast as the slowest impact
LEFT_OPEN = 4e-11  # sizes of the pair a step: the speed of the slowest impact where nothing falls, and of what solves leave open
# After so many bounces within a step a pair bounces no more if it moves by less than SMALL_WAY, a part of its size, in a step.
MOST_SMALL_BOUNCES, SMALL_WAY = 2, 1e-2
MOST_BOUNCES = 10  # after so many bounces a pair bounces no more if it moves by less than a tenth of SMALL_WAY in a step
SINKING = 1e-6  # overlap, as part of the pair's size, that an impact may leave to the next step
BENT_WAY = 1e-3  # a body has turned too far to be foreseen if a point is off its chord in a step by this part of the radius
# overlap, as part of the pair's size, that a crowd may be left with at a kick: it takes a fifth of it away, so that what comes at
# every step does not add up to more than five times as much
SLOW_GAP = 1e-3
UNKNOWN_SPEED = 1e-300  # [m/s] of what comes back nobody knows how fast: whatever comes is faster
FASTER = 4.0  # what comes so many times as fast as the last kick lets a contact come back is an impact


@lean
def pair_size(bodies, i, j):
    """Length scale of a pair: the smaller of the two radii that are finite [m]."""
    r = min(bodies.radius[i], bodies.radius[j])
    return r if r < math.inf else 1.0


@lean
def left_open(bodies, i, j, dt):
    """How fast two bodies may close that solves leave open [m/s]."""
    return LEFT_OPEN * pair_size(bodies, i, j) / dt


@lean
def slowest_impact(bodies, i, j, dt):
    """An approach below this [m/s] is always a micro-collision: small beside what a contact that rests comes back with."""
    return max(left_open(bodies, i, j, dt), FALL * dt * max(norm(load3(bodies.gravity, i)), norm(load3(bodies.gravity, j))))


@lean
def threshold(slowest, accel, dt):
    """Approach speed from which a contact is an impact [m/s]; accel is the relative acceleration along the normal.

    A resting contact arrives with -accel dt/2. Where the surfaces are about to part (accel > 0), as two balls that pass each
    other fast, nothing can rest.
    """
    return max(slowest, -2.0 * accel * dt)


@lean
def normal_target(bodies, contacts, row, h, dt, soft):
    """The normal velocity that a kick asks of a contact at least, for a flight of length h with the acceleration of its row.

    What bore nothing and leaves faster than what counts as an impact would come back as one, and is not held.
    Surfaces that the acceleration draws apart may close, and part again within the flight: no faster than they turn back before
    they overlap, nor touch as fast as an impact, else they would collide at once. In crowds (``soft``) nothing collides before
    the next kick.
    """
    gap, a_n = max(contacts.gap[row], 0.0), contacts.accel[row, 2]
    i, j = contacts.body[row, 0], contacts.body[row, 1]
    slowest = slowest_impact(bodies, i, j, dt)
    b_n = -gap / h if not soft and let_go(bodies, contacts, row, dt) else -0.5 * h * a_n - gap / h
    if gap < 0.5 * a_n * h * h and not soft:  # they turn back within the flight
        dip = min(a_n * SINKING * pair_size(bodies, i, j), 0.5 * slowest * slowest)
        b_n = max(b_n, -math.sqrt(2.0 * a_n * gap + dip))
    return b_n


@lean
def let_go(bodies, contacts, row, dt):
    """A contact that bore nothing leaves so fast that it would come back as an impact, and is not held."""
    if contacts.impulse[row, 2] != 0.0:
        return False
    e, slowest = contacts.law[row, E], slowest_impact(bodies, contacts.body[row, 0], contacts.body[row, 1], dt)
    return contacts.u[row, 2] > threshold(slowest, contacts.accel[row, 2], dt * (1.0 - e * e))


@lean
def least_speed(bodies, geoms, geometry, pairs, k, dt):
    """Impacts of a crowd without restitution that are slower than this [m/s] are left to the next kick; 0: none is.

    The kick of a crowd sees where its bodies are at the end of the step. What it sees overlap there, and can not keep apart by
    stopping it, comes from the side. What it has made fast may reach what it did not know to be near, or what is of no crowd. A
    body that was struck since flies another way (all of this: ``unforeseen``). Where the way of a point is bent by more than
    BENT_WAY, the end of the step tells nothing of the way; that of a ball goes straight.
    In these cases impacts are located, but for those that come so slowly that next to nothing overlaps at the end of the step.
    """
    i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
    fast = pair_size(bodies, i, j) / dt
    if not crowded(bodies, i, j) or pair_restitution(bodies, pairs, k, i, j, SMALL_WAY * fast, dt) != 0.0:
        return 0.0
    turn = max(_turn(bodies, geoms, geometry, pairs.geoms[k, 0], dt), _turn(bodies, geoms, geometry, pairs.geoms[k, 1], dt))
    known = pairs.unforeseen[k] == 0 and _looked_after(bodies, i) and _looked_after(bodies, j)
    return math.inf if known and 0.125 * turn * turn <= BENT_WAY else SLOW_GAP * fast


@lean
def _looked_after(bodies, i):
    """The kick of a crowd knows where body i goes: it is of one, or no impulse moves it."""
    return bodies.kind[i] != DYNAMIC or bodies.crowd[i] > 0


@lean
def _turn(bodies, geoms, geometry, piece, dt):
    """By how much a piece turns in a step; a ball about the centre of mass is the same however it turns."""
    shape = geoms.shape[piece]
    ball = geometry.kind[shape] == SPHERE and norm(load3(geoms.x, piece)) == 0.0
    return 0.0 if ball else norm(load3(bodies.w, geoms.body[piece])) * dt


@lean
def bounce_time(bodies, pairs, n, i, j, dt):
    """The time that stands for a step in the threshold of pair n of bodies i, j [s]: less of it for what comes flying.

    A contact that rests arrives with |a_n| dt/2, which must not be taken for an impact. One that comes flying may land as slowly,
    and bounce all the same. To take it for one that rests would cost it all of its energy, where a bounce costs the part
    1 - e^2; so it is taken for an impact the sooner, the nearer e is to 1.
    """
    e = coefficient(bodies, i, j, E)
    return dt if pairs.rests[n] == 1 else dt * (1.0 - e * e)


@lean
def mark_resting(geoms, pairs, chosen, contacts):
    """Remember which of some pairs carried load in their last kick; both tables are in the same order. Facets of a ground bear as
    one."""
    k, last = 0, contacts.count[0]
    first = 0  # row of the same piece
    for n in chosen:
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        while first < last and contacts.pair[first, 0] < a:
            first += 1
        while k < last and pair_before(contacts.pair, k, a, b):
            k += 1
        pairs.rests[n] = 0
        while k < last and is_pair(contacts.pair, k, a, b):
            if contacts.impulse[k, 2] > 0.0:
                pairs.rests[n] = 1
            k += 1
        m = first if geoms.face[b] != PIECE else last
        while m < last and contacts.pair[m, 0] == a:
            if contacts.impulse[m, 2] > 0.0 and same_facets(geoms, b, contacts.pair[m, 1]):
                pairs.rests[n] = 1
            m += 1


@lean
def free_limit(bodies, i, j, normal, dt, wait):
    """Threshold from the forces on the centres of mass alone, for a pair that is not in lasting contact (wait: bounce_time).

    What goes further than its size in a step is an impact in any case: taut joints pull light bodies so fast for a moment that
    steps tell nothing of it.
    """
    a_n = dot(sub(free_acceleration(bodies, j), free_acceleration(bodies, i)), normal)
    return min(threshold(slowest_impact(bodies, i, j, dt), a_n, wait), pair_size(bodies, i, j) / dt)


@lean
def closing_speed(speed, accel, gap):
    """Speed at which a point closes that is open by ``gap``, closes at ``speed`` and has the acceleration ``accel``."""
    if accel >= 0.0 and speed <= 0.0:
        return 0.0
    return math.sqrt(max(0.0, speed * speed - 2.0 * accel * max(gap, 0.0)))


@lean
def crowded(bodies, i, j):
    """Impacts of this pair without restitution are left to the kick."""
    return bodies.crowd[i] > 0 or bodies.crowd[j] > 0


@lean
def pair_restitution(bodies, pairs, n, i, j, speed, dt):
    """Restitution of pair n of bodies i, j for an approach at this speed.

    Small bounces that follow each other faster than the steps are not told apart: from the third of a step on they are
    plastic. A Zeno sequence ends there, and so does the rattling of a body between two others. What is elastic rattles on, unless
    it spins and sticks: then each bounce leaves less of its speed, and it comes to roll.
    """
    e, way = coefficient(bodies, i, j, E), speed * dt / min(bodies.radius[i], bodies.radius[j])
    tired = (pairs.hits[n] >= MOST_SMALL_BOUNCES and e < 1.0 and way <= SMALL_WAY) or (
        pairs.hits[n] > MOST_BOUNCES and way <= 0.1 * SMALL_WAY
    )
    return 0.0 if tired else e


@lean
def forget_arrivals(pairs, n):
    for m in range(POINTS):
        pairs.arrives[n, m] = 0.0


@lean
def foreseen(pairs, n, id):
    """Speed at which the last kick lets the point of this feature come back [m/s]; 0: it bore nothing."""
    for m in range(POINTS):
        if pairs.arrives[n, m] <= 0.0:
            break
        if pairs.bears[n, m] == id:
            return pairs.arrives[n, m]
    return 0.0


@lean
def note_arrivals(pairs, contacts, rows, followed):
    """Tell pairs how fast what bears load in these rows of a table comes back; or only which points do that, where nobody
    ``followed`` them."""
    for row in rows:
        speed = UNKNOWN_SPEED
        if followed:  # what closes still comes as it was left
            speed = -min(contacts.arrives[row], contacts.u_after[row, 2])
        if contacts.impulse[row, 2] > 0.0 and speed > 0.0:
            a, b, low, high = contacts.pair[row, 0], contacts.pair[row, 1], 0, pairs.count[0]
            while low < high:
                n = (low + high) // 2
                if pair_before(pairs.geoms, n, a, b):
                    low = n + 1
                else:
                    high = n
            if low < pairs.count[0] and is_pair(pairs.geoms, low, a, b):
                m = 0
                while m < POINTS and pairs.arrives[low, m] > 0.0 and pairs.bears[low, m] != contacts.id[row]:
                    m += 1
                if m < POINTS:
                    pairs.bears[low, m], pairs.arrives[low, m] = contacts.id[row], speed
