"""The crew: threads that share the work of one step, to the same bits.

What a step does to each body, piece or pair by itself is a list of items. The thread that steps publishes such a *job* and takes
items off it, some at a time; so does who else is there. An item reads what no other writes, so it does not matter who does it.
The step waits for what was taken, never for help: a crew that does not come costs nothing.

The items of a job are divided into as many ranges as there are threads. Each thread takes from its own one first, so that what a
body is made of stays near the same core from job to job, and then from those of the others.

The words of a crew that are written at unlike times stand each in a cache line of its own:

    NEXT       of each range: number of the job, times 2^32, and the first item that nobody has taken
    KIND, COUNT, SHARE, and what the job is about (TOPIC): of the job, written before NEXT tells of it; SIZE: how many ranges
    DONE       items that are done
    FOUND_SUM  what the items found, summed up
    STEP_OPEN  1: a step is being taken, and there may be jobs
    HELPED     items that helpers did, ever

Who takes items replaces NEXT by what it is after that, if it is still what it was: then the words of the job, which were read in
between, belong to it, as these are written while all ranges are closed.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.broadphase.candidate_pairs import (
    FEW_BOXES,
    Tree,
    fill_tree,
    join_halves,
    put_bounded_first,
    sort_pairs,
    tree_of,
    tree_pairs,
    unbounded_pairs,
)
from tumble.collision.broadphase.candidate_pairs import find_pairs_far as search_boxes
from tumble.collision.geometry import empty_geometry
from tumble.collision.halving import halve_once, halve_range, nodes_of, put_centers
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean, remote, stack_table
from tumble.collision.kernels.shared import add, address_of, group_at, look, put, reals_at, swap_if, wholes_at
from tumble.collision.kernels.waiting import doze, give_way, pause
from tumble.sim.contact.touching.impact_threshold import least_speed
from tumble.sim.contact.touching.manifolds import fresh_manifolds, update_manifold
from tumble.sim.contact.touching.swept_pairs import sweep_bounds
from tumble.sim.contact.touching.wide_boxes import (
    NEAR_PAIRS,
    compare_leavers,
    forget_leavers,
    leavers,
    pick_meeting,
    take_near,
    widen_some,
)
from tumble.sim.flight.clusters import flight_balance
from tumble.sim.flight.flight_split import balanced, book_flight
from tumble.sim.flight.motion import finite_body, fly_some, land_some
from tumble.sim.flight.saved_state import save_bodies
from tumble.sim.impact.crowds.crowd_blocks import NO_BLOCKS, sweep_block
from tumble.sim.impact.crowds.crowd_rows import NO_CROWD, target_some
from tumble.sim.impact.time_of_impact import next_impact
from tumble.sim.ledger import entries as ledger
from tumble.sim.state import DYNAMIC, EXAMPLE, KNOWN, POINTS, ROWS, SETTINGS, WANTED

# jobs: what is done to their items
FLIGHTS, BOXES, ARRIVALS, ARRIVALS_AGAIN, MANIFOLDS, CORNERS, HALVES, MEETINGS, BALANCES, LANDINGS = range(10)
LEAVERS, COMPARES, TARGETS, SWEEPS, WIDENINGS = range(10, 15)
# of bodies, boxes or contacts, which cost the same
EVEN_JOBS = (FLIGHTS, BOXES, BALANCES, LANDINGS, LEAVERS, COMPARES, TARGETS, WIDENINGS)
CACHE_LINE = 64  # bytes
KIND, COUNT, SHARE, SIZE = 0, 8, 16, 24
DONE, FOUND_SUM, STEP_OPEN, HELPED, TOPIC = (CACHE_LINE * k for k in range(1, 6))
NEXT = TOPIC + 2 * CACHE_LINE  # one after the other
JOB = 1 << 32
PORTIONS = 4  # parts for each thread of a range of such
# Who waits looks all the time for some 200 us, then yields for some 500 us, then sleeps 50 us between two looks.
PAUSES, YIELDS, NAP = 8000, 1000, 50
# Looks at which a waiter yields while a step is taken, before it sleeps: a helper must be there within a microsecond.
LONG_WAIT = 10 * YIELDS


@lean
def _portion(job):
    """How many items of a job are taken at a time, at least: some microseconds of work."""
    return 48 if job in EVEN_JOBS else 1 if job in (HALVES, SWEEPS) else 16


@lean
def find_arrival(model, geometry, settings, k, rows, ids):
    """The next impact of pair k, from where the flights of its bodies began."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    pairs.search[k] = KNOWN
    least = least_speed(bodies, geoms, geometry, pairs, k, dt)
    pairs.event[k], pairs.speed[k] = next_impact(bodies, forces, geoms, pairs, geometry, k, dt, least, rows, ids)


@kernel(**FOR_KERNELS)
def _work(model, geometry, settings, job, first, stop, rows, ids):
    """Do the items [first, stop) of a job; what they found."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    if job == FLIGHTS:
        fly_some(bodies, forces, dt, first, stop)
    elif job == BOXES:
        saved, left = look(settings.crew + TOPIC), look(settings.crew + TOPIC + 8)
        _box(bodies, geoms, geometry, bodies_at(saved), left, look(settings.crew + TOPIC + 16), dt, first, stop)
    elif job == ARRIVALS:
        for k in range(first, stop):
            pairs.fresh[k], pairs.hits[k], pairs.struck[k] = False, 0, -np.inf
            pairs.clear[k, 0], pairs.clear[k, 1] = -np.inf, 0.0
            find_arrival(model, geometry, settings, k, rows, ids)
    elif job == ARRIVALS_AGAIN:
        for k in range(first, stop):
            if pairs.search[k] == WANTED:
                find_arrival(model, geometry, settings, k, rows, ids)
    elif job == MANIFOLDS:
        return fresh_manifolds(bodies, geoms, pairs, geometry, dt, first, stop)
    elif job == CORNERS:
        for k in range(first, stop):
            if pairs.search[k] == WANTED:
                update_manifold(bodies, geoms, pairs, geometry, k, dt)
    elif job == BALANCES:
        balances, lost = reals_at(look(settings.crew + TOPIC), len(bodies.kind), 2), 0
        for i in range(first, stop):
            balances[i, 0], balances[i, 1] = flight_balance(bodies, i)
            lost += _is_lost(bodies, i)
        return lost
    elif job == LANDINGS:
        land_some(bodies, dt, first, stop)
    elif job == TARGETS:
        target_some(bodies, contacts, settings, crowd_at(look(settings.crew + TOPIC)), first, stop)
    elif job == SWEEPS:
        crowd, blocks = crowd_at(look(settings.crew + TOPIC)), blocks_at(look(settings.crew + TOPIC + 8))
        base = look(settings.crew + TOPIC + 16)
        for k in range(first, stop):
            sweep_block(crowd, blocks, base + k)
    elif job == LEAVERS:
        left = wholes_at(look(settings.crew + TOPIC), 1, FEW_BOXES)[0]
        leavers(bodies, geoms, dt, first, stop, left, look(settings.crew + TOPIC + 8))
    elif job == WIDENINGS:
        widen_some(bodies, geoms, dt, first, stop)
    elif job == COMPARES:
        left = wholes_at(look(settings.crew + TOPIC), 1, look(settings.crew + TOPIC + 8))[0]
        away = wholes_at(look(settings.crew + TOPIC + 16), 1, len(geoms.body))[0]
        compare_leavers(geoms, pairs, left, away, first, stop, look(settings.crew + TOPIC + 24))
    elif job == HALVES:
        order, center, tree, n, _ = _read_tree(settings.crew)
        for half in range(first, stop):
            a, b = (0, n // 2) if half == 0 else (n // 2, n)
            node = 1 if half == 0 else 1 + nodes_of(n // 2)
            last = halve_range(center, order[0], a, b, tree.node, node)
            fill_tree(geoms.wide_lo, geoms.wide_hi, geoms.body, geoms.mobile, order[0], tree, node, last)
    elif job == MEETINGS:
        _, _, tree, n, counter = _read_tree(settings.crew)
        tree_pairs(tree, nodes_of(n), first, stop, counter, pairs.near)
    return 0


spare_rows, spare_ids = stack_table(POINTS, ROWS), stack_table(1, POINTS, "int64")
bodies_at, crowd_at, blocks_at = group_at(EXAMPLE.bodies), group_at(NO_CROWD), group_at(NO_BLOCKS)
work = far(
    _work, lambda: (EXAMPLE, empty_geometry(), SETTINGS, 0, 0, 0, np.zeros((POINTS, ROWS)), np.zeros(POINTS, np.int64)), returns=0
)


@remote
def _share(model, geometry, settings, job, count):
    """Do all items of a job, with whoever helps; what they found, summed up."""
    crew, rows, ids = settings.crew, spare_rows(), spare_ids()[0]
    share = _portion(job)
    if crew == 0 or count < 2 * share:
        return work(model, geometry, settings, job, 0, count, rows, ids)
    number, size = look(crew + NEXT) // JOB * JOB, look(crew + SIZE)
    for k in range(size):
        put(crew + NEXT + CACHE_LINE * k, number + JOB + (JOB - 1))  # nobody can take of what follows before it is whole
    put(crew + KIND, job)
    put(crew + COUNT, count)
    put(crew + SHARE, max(share, count // (PORTIONS * size)) if job in EVEN_JOBS else share)
    put(crew + DONE, 0)
    put(crew + FOUND_SUM, 0)
    for k in range(size):
        put(crew + NEXT + CACHE_LINE * k, number + 2 * JOB + count * k // size)
    while _take(model, geometry, settings, 0, rows, ids) > 0:
        pass
    idle = 0
    while look(crew + DONE) < count:
        idle = _wait(idle, YIELDS)
    return look(crew + FOUND_SUM)


share = far(_share, lambda: (EXAMPLE, empty_geometry(), SETTINGS, 0, 0), returns=0)


@lean
def _take(model, geometry, settings, who, rows, ids):
    """Thread ``who`` does some items of the job that there is; how many."""
    crew, size = settings.crew, look(settings.crew + SIZE)
    for turn in range(size):
        k = (who + turn) % size
        next = crew + NEXT + CACHE_LINE * k
        while True:
            now = look(next)
            first, job, count, some = now % JOB, look(crew + KIND), look(crew + COUNT), look(crew + SHARE)
            last = count * (k + 1) // size
            if first >= last:
                break
            if swap_if(next, now, now + min(some, last - first)):
                stop = min(first + some, last)
                found = work(model, geometry, settings, job, first, stop, rows, ids)
                if found != 0:
                    add(crew + FOUND_SUM, found)
                add(crew + DONE, stop - first)
                return stop - first
    return 0


@kernel
def assist(model, geometry, settings, who):
    """Help with the steps of a world until none is taken for a while; what the threads beside the one that steps do, which are
    numbered (``who``) from 1."""
    rows, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    crew, idle = settings.crew, 0
    while idle < PAUSES + YIELDS or look(crew + STEP_OPEN) == 1:
        items = _take(model, geometry, settings, who, rows, ids)
        add(crew + HELPED, items)
        idle = 0 if items > 0 else _wait(idle, LONG_WAIT)


@lean
def _wait(idle, yields):
    """Wait a moment, a longer one where one has waited for so many; how many there are now."""
    if idle < PAUSES:
        pause()
    elif idle < PAUSES + yields:
        give_way()
    else:
        doze(NAP)
    return idle + 1


@lean
def tell_helpers(settings, open):
    """Tell the helpers that a step is being taken (``open`` is 1), or that none is."""
    if settings.crew != 0:
        put(settings.crew + STEP_OPEN, open)


@lean
def _is_lost(bodies, i):
    """The state of body i is not finite."""
    return 1 if bodies.kind[i] == DYNAMIC and not finite_body(bodies, i) else 0


@inner
def book_flights(model, geometry, settings):
    """The flights of all bodies that no force couples to others end in their current state: books.energy, books.moved. How many
    bodies have a state that is not finite."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    n, lost = len(bodies.kind), 0
    if settings.crew == 0:
        for i in range(n):
            lost += _is_lost(bodies, i)
            if forces.cluster[i] < 0:
                book_flight(bodies, books, i)
        return lost
    balances = np.empty((n, 2))
    put(settings.crew + TOPIC, address_of(balances))
    lost = share(model, geometry, settings, BALANCES, n)
    energy, moved = books.energy[ledger.INTEGRATOR], books.moved[0]  # in registers: no number is written n times
    for i in range(n):
        if forces.cluster[i] < 0:
            energy, moved = balanced(energy, moved, balances[i, 0], balances[i, 1])
    books.energy[ledger.INTEGRATOR], books.moved[0] = energy, moved
    return lost


@lean
def _box(bodies, geoms, geometry, saved, left, counter, dt, first, stop):
    """Keep the bodies [first, stop) as they are, and put boxes around these pieces for the coming drift; those that leave their
    wide boxes are listed, where ``left`` is the address of a list."""
    save_bodies(bodies, saved, first, min(stop, len(bodies.kind)))
    stop = min(stop, len(geoms.body))
    sweep_bounds(bodies, geoms, geometry, dt, first, stop)
    if left != 0:
        leavers(bodies, geoms, dt, first, stop, wholes_at(left, 1, FEW_BOXES)[0], counter)


@inner
def box_all(model, geometry, settings, saved, list_leavers):
    """Keep the bodies as they are in ``saved``, and put boxes around all pieces; with ``list_leavers`` what `find_pairs` begins
    with: the boxes that left their wide ones, as far as there is room, and how many."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    left, listed, count = np.empty(FEW_BOXES, np.int64), np.zeros(1, np.int64), max(len(bodies.kind), len(geoms.body))
    to, counter = address_of(left) if list_leavers else 0, address_of(listed)
    if settings.crew == 0:
        _box(bodies, geoms, geometry, saved, to, counter, settings.dt, 0, count)
    else:
        put(settings.crew + TOPIC, address_of(saved))
        put(settings.crew + TOPIC + 8, to)
        put(settings.crew + TOPIC + 16, counter)
        share(model, geometry, settings, BOXES, count)
    return left, listed


@inner
def find_pairs(model, geometry, settings):
    """Put the pairs of pieces whose boxes meet into pairs.met, sorted; how many. More than there is room for: nothing of use."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    left, listed = np.empty(FEW_BOXES, np.int64), np.zeros(1, np.int64)
    if settings.crew == 0:
        leavers(bodies, geoms, settings.dt, 0, len(geoms.body), left, address_of(listed))
    else:
        put(settings.crew + TOPIC, address_of(left))
        put(settings.crew + TOPIC + 8, address_of(listed))
        share(model, geometry, settings, LEAVERS, len(geoms.body))
    return pairs_of_leavers(model, geometry, settings, left, listed)


@inner
def pairs_of_leavers(model, geometry, settings, left, listed):
    """As `find_pairs`, once it is known which boxes left their wide ones."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    count = listed[0]
    if pairs.count[NEAR_PAIRS] == 0 or count > FEW_BOXES:
        share(model, geometry, settings, WIDENINGS, len(geoms.body))
        pairs.count[NEAR_PAIRS] = 1 + _search_near(model, geometry, settings)
    elif count > 0:
        _compare(model, geometry, settings, left[:count])
    return pick_meeting(geoms, pairs)


@inner
def _compare(model, geometry, settings, left):
    """Put the near pairs of the boxes in ``left`` in the place of those that they had."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    away, count = forget_leavers(geoms, pairs, left)
    if settings.crew == 0:
        compare_leavers(geoms, pairs, left, away, 0, len(geoms.body), address_of(count))
    else:
        put(settings.crew + TOPIC, address_of(left))
        put(settings.crew + TOPIC + 8, len(left))
        put(settings.crew + TOPIC + 16, address_of(away))
        put(settings.crew + TOPIC + 24, address_of(count))
        share(model, geometry, settings, COMPARES, len(geoms.body))
    take_near(geoms, pairs, count[0])
    _hold(left, away, count)


@inner
def _search_near(model, geometry, settings):
    """As tumble.collision.broadphase.candidate_pairs.find_pairs, for the wide boxes of the pieces; with the crew."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    n, crew = len(geoms.body), settings.crew
    if crew == 0 or n <= 2 * FEW_BOXES:
        return search_boxes(geoms.wide_lo, geoms.wide_hi, geoms.body, geoms.mobile, pairs.near)
    order, found = np.empty((1, n), np.int64), np.zeros(1, np.int64)
    counter = address_of(found)
    bounded, unbounded = put_bounded_first(geoms.wide_lo, geoms.wide_hi, order[0])
    unbounded_pairs(geoms.wide_lo, geoms.wide_hi, geoms.body, geoms.mobile, order[0], bounded, unbounded, counter, pairs.near)
    if bounded > 2 * FEW_BOXES:
        center, tree = np.empty((bounded, 3)), tree_of(bounded)
        put_centers(geoms.wide_lo, geoms.wide_hi, order[0], bounded, center)
        tree.node[0, 0] = tree.node[0, 1] = 0
        halve_once(center, order[0], 0, bounded)
        _put_tree(crew, order, center, tree, bounded, counter)
        share(model, geometry, settings, HALVES, 2)
        join_halves(tree, 0)
        share(model, geometry, settings, MEETINGS, bounded)
        _hold(order, center, tree)
    else:
        return search_boxes(geoms.wide_lo, geoms.wide_hi, geoms.body, geoms.mobile, pairs.near)
    if found[0] <= len(pairs.near):
        sort_pairs(pairs.near, found[0], n)
    return found[0]


@lean
def _hold(one, two, three):
    """Keep these arrays until here: their memory would be given back after the last use that the compiler sees, and the crew
    knows their addresses alone."""


@lean
def _put_tree(crew, order, center, tree, n, counter):
    """Tell the crew where a tree stands that is to be built, or asked: the arrays must outlive the jobs."""
    put(crew + TOPIC, address_of(order))
    put(crew + TOPIC + 8, address_of(center))
    put(crew + TOPIC + 16, address_of(tree.box))
    put(crew + TOPIC + 24, address_of(tree.item))
    put(crew + TOPIC + 32, address_of(tree.around))
    put(crew + TOPIC + 40, address_of(tree.node))
    put(crew + TOPIC + 48, n)
    put(crew + TOPIC + 56, counter)


@lean
def _read_tree(crew):
    n = look(crew + TOPIC + 48)
    order, center = wholes_at(look(crew + TOPIC), 1, n), reals_at(look(crew + TOPIC + 8), n, 3)
    box, item = reals_at(look(crew + TOPIC + 16), n, 6), wholes_at(look(crew + TOPIC + 24), n, 4)
    around, node = reals_at(look(crew + TOPIC + 32), 2 * n, 6), wholes_at(look(crew + TOPIC + 40), 2 * n, 4)
    return order, center, Tree(box, item, around, node), n, look(crew + TOPIC + 56)
