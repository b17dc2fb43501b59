"""The crew: threads that share the work of one step, to the same bits.

What a step does to each body, piece or pair by itself is a list of items. The thread that steps publishes such a *job* and takes
items off it, some at a time; so does who else is there. An item reads what no other writes, so it does not matter who does it.
The step waits for what was taken, never for help: a crew that does not come costs nothing.

The words of a crew stand each in a cache line of its own:

    NEXT       number of the job, times 2^32, and the first item that nobody has taken
    KIND, COUNT, SHARE, and what the job is about (TREE): of the job, written before NEXT tells of it
    DONE       items that are done
    FOUND_SUM  what the items found, summed up
    STEP_OPEN  1: a step is being taken, and there may be jobs
    HELPED     items that helpers did, ever

Who takes items replaces NEXT by what it is after that, if it is still what it was: then the words of the job, which were read in
between, belong to it.
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
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.kernels.shared import add, address_of, look, put, reals_at, swap_if, wholes_at
from tumble.collision.kernels.waiting import doze, give_way, pause
from tumble.sim.contact.touching.impact_threshold import least_speed
from tumble.sim.contact.touching.manifolds import fresh_manifolds, update_manifold
from tumble.sim.contact.touching.swept_pairs import sweep_bounds
from tumble.sim.contact.touching.wide_boxes import NEAR_PAIRS, compare_leavers, leavers, pick_meeting
from tumble.sim.flight.clusters import flight_balance
from tumble.sim.flight.flight_split import balanced, book_flight
from tumble.sim.flight.motion import fly_some, land_some
from tumble.sim.impact.time_of_impact import next_impact
from tumble.sim.ledger import entries as ledger
from tumble.sim.state import EXAMPLE, KNOWN, POINTS, ROWS, SETTINGS, WANTED

# jobs: what is done to their items
FLIGHTS, BOXES, ARRIVALS, ARRIVALS_AGAIN, MANIFOLDS, CORNERS, HALVES, MEETINGS, BALANCES, LANDINGS = range(10)
CACHE_LINE = 64  # bytes
NEXT, KIND, COUNT, SHARE, DONE, FOUND_SUM, STEP_OPEN, HELPED, TREE = (CACHE_LINE * k for k in range(9))
CREW_WORDS = 8 * 8 + 16  # of a crew
JOB = 1 << 32
PAUSES, YIELDS, NAP = 8000, 1000, 50  # some 200 us in which one looks all the time; then some 500 us; us between two looks later


@lean
def _portion(job):
    """How many items of a job are taken at a time: some microseconds of work."""
    return 48 if job in (FLIGHTS, BOXES, BALANCES, LANDINGS) else 1 if job == HALVES else 16


@lean
def find_arrival(model, geometry, settings, k, rows, ids):
    """The next impact of pair k, from where the flights of its bodies began."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    pairs.search[k] = KNOWN
    least = least_speed(bodies, geoms, pairs, k, dt)
    pairs.event[k], pairs.speed[k] = next_impact(bodies, forces, geoms, pairs, geometry, k, dt, least, rows, ids)


@kernel(**FOR_KERNELS)
def _work(model, geometry, settings, job, first, stop, rows, ids):
    """Do the items [first, stop) of a job; what they found."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    if job == FLIGHTS:
        fly_some(bodies, forces, dt, first, stop)
    elif job == BOXES:
        sweep_bounds(bodies, geoms, geometry, dt, first, stop)
    elif job == ARRIVALS:
        for k in range(first, stop):
            pairs.fresh[k], pairs.hits[k] = False, 0
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
        balances = reals_at(look(settings.crew + TREE), len(bodies.kind), 2)
        for i in range(first, stop):
            balances[i, 0], balances[i, 1] = flight_balance(bodies, i)
    elif job == LANDINGS:
        land_some(bodies, dt, first, stop)
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


work = far(
    _work,
    lambda: (EXAMPLE, empty_geometry(), SETTINGS, 0, 0, 0, np.zeros((POINTS, ROWS)), np.zeros(POINTS, np.int64)),
    returns=0,
)


@kernel(**FOR_KERNELS)
def _share(model, geometry, settings, job, count):
    """Do all items of a job, with whoever helps; what they found, summed up."""
    crew, rows, ids = settings.crew, np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    share = _portion(job)
    if crew == 0 or count < 2 * share:
        return work(model, geometry, settings, job, 0, count, rows, ids)
    number = look(crew + NEXT) // JOB * JOB
    put(crew + NEXT, number + JOB + (JOB - 1))  # nobody can take of what follows before it is whole
    put(crew + KIND, job)
    put(crew + COUNT, count)
    put(crew + SHARE, share)
    put(crew + DONE, 0)
    put(crew + FOUND_SUM, 0)
    put(crew + NEXT, number + 2 * JOB)
    while _take(model, geometry, settings, rows, ids) > 0:
        pass
    idle = 0
    while look(crew + DONE) < count:
        idle = _wait(idle)
    return look(crew + FOUND_SUM)


share = far(_share, lambda: (EXAMPLE, empty_geometry(), SETTINGS, 0, 0), returns=0)


@inner
def _take(model, geometry, settings, rows, ids):
    """Do some items of the job that there is; how many."""
    crew = settings.crew
    while True:
        now = look(crew + NEXT)
        first, job, count, some = now % JOB, look(crew + KIND), look(crew + COUNT), look(crew + SHARE)
        if first >= count:
            return 0
        if swap_if(crew + NEXT, now, now + min(some, count - first)):
            stop = min(first + some, count)
            found = work(model, geometry, settings, job, first, stop, rows, ids)
            if found != 0:
                add(crew + FOUND_SUM, found)
            add(crew + DONE, stop - first)
            return stop - first


@kernel
def assist(model, geometry, settings):
    """Help with the steps of a world until none is taken for a while; what threads beside the one that steps do."""
    rows, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    crew, idle = settings.crew, 0
    while idle < PAUSES + YIELDS or look(crew + STEP_OPEN) == 1:
        items = _take(model, geometry, settings, rows, ids)
        add(crew + HELPED, items)
        idle = 0 if items > 0 else _wait(idle)


@lean
def _wait(idle):
    """Wait a moment, a longer one where one has waited for so many; how many there are now."""
    if idle < PAUSES:
        pause()
    elif idle < PAUSES + YIELDS:
        give_way()
    else:
        doze(NAP)
    return idle + 1


@lean
def open_shop(settings):
    if settings.crew != 0:
        put(settings.crew + STEP_OPEN, 1)


@lean
def close_shop(settings):
    if settings.crew != 0:
        put(settings.crew + STEP_OPEN, 0)


@inner
def book_flights(model, geometry, settings):
    """The flights of all bodies that no force couples to others end in their current state: books.energy, books.moved."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    n = len(bodies.kind)
    if settings.crew == 0:
        for i in range(n):
            if forces.cluster[i] < 0:
                book_flight(bodies, books, i)
        return
    balances = np.empty((n, 2))
    put(settings.crew + TREE, address_of(balances))
    share(model, geometry, settings, BALANCES, n)
    energy, moved = books.energy[ledger.INTEGRATOR], books.moved[0]  # in registers: no number is written n times
    for i in range(n):
        if forces.cluster[i] < 0:
            energy, moved = balanced(energy, moved, balances[i, 0], balances[i, 1])
    books.energy[ledger.INTEGRATOR], books.moved[0] = energy, moved


@inner
def find_pairs(model, geometry, settings):
    """Put the pairs of pieces whose boxes meet into pairs.met, sorted; how many. More than there is room for: nothing of use."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    left = np.empty(FEW_BOXES, np.int64)
    count = leavers(bodies, geoms, settings.dt, left)
    if pairs.count[NEAR_PAIRS] == 0 or count > FEW_BOXES:
        pairs.count[NEAR_PAIRS] = 1 + _search_near(model, geometry, settings)
    elif count > 0:
        compare_leavers(geoms, pairs, left[:count])
    return pick_meeting(geoms, pairs)


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
def _hold(order, center, tree):
    """What is named here is not given back before."""


@lean
def _put_tree(crew, order, center, tree, n, counter):
    """Tell the crew where a tree stands that is to be built, or asked: the arrays must outlive the jobs."""
    put(crew + TREE, address_of(order))
    put(crew + TREE + 8, address_of(center))
    put(crew + TREE + 16, address_of(tree.box))
    put(crew + TREE + 24, address_of(tree.item))
    put(crew + TREE + 32, address_of(tree.around))
    put(crew + TREE + 40, address_of(tree.node))
    put(crew + TREE + 48, n)
    put(crew + TREE + 56, counter)


@lean
def _read_tree(crew):
    n = look(crew + TREE + 48)
    order, center = wholes_at(look(crew + TREE), 1, n), reals_at(look(crew + TREE + 8), n, 3)
    box, item = reals_at(look(crew + TREE + 16), n, 6), wholes_at(look(crew + TREE + 24), n, 4)
    around, node = reals_at(look(crew + TREE + 32), 2 * n, 6), wholes_at(look(crew + TREE + 40), 2 * n, 4)
    return order, center, Tree(box, item, around, node), n, look(crew + TREE + 56)
