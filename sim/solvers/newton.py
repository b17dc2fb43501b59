"""Impulses of many contacts at once, by Newton's method on the velocities.

The problem: bodies with mass matrix M would move at v*; contact impulses p make it v = v* + M^-1 J^T p; at every contact
u = J v + u0 and (p, u - c) obey Coulomb's law, p = P(y), y = p - (u - c)/K_nn. A contact yields a little, by R = COMPLIANCE K_nn:
so each step has one answer even where the load on redundant points is not unique, the split nearest to the last one. What it
yields to is measured from the last iterate (proximal point method), so what is converged to is the law without R, and what is
stopped on is its residual, the velocity by which a contact misses the law.

1. If the impulses carried over solve the problem, nothing is done: a settled pile costs one check.
2. Semismooth Newton on Coulomb's projection: (M + J^T G J) dv = J^T s, dp = s - G J dv, with s and G of the laws linearised at y
   (block_laws.coulomb_step). Near the solution, where a simulation nearly always starts, one to three iterations do. Who touches
   and who slides is read off y at the scale of K_nn, where load and velocity weigh alike (Alart, Curnier). At that of R, y is
   all velocity: a point that bears load and opens by a millionth of its speed counts as open, and the sets take turns. Of 1920
   problems of hulls that land 18 % stalled so, and 5 % do at K_nn, in half of the iterations.
   Between its steps impulses may leave their cones: held in them, a contact that has to slide would seem to stick for ever.
   Where two steps are the same, targets contradict each other by a little, and no impulses of contacts that stick meet them: then
   they give (8), or the step goes on to where the first of them slides (`_way`). In 2902 problems of hulls that land, 125 took
   more than ten iterations, 4216 in all, and 15 were not solved; so, and with the slope of block_laws.coulomb_step, 35, 1615
   and 3.
3. Where that stalls it cycles between sets of sliding contacts, or some mode of the bodies is so soft against R that each
   round takes off a thousandth of it: under a top of a thousand times their mass 20 boxes sway with an eigenvalue of J M^-1
   J^T of 5e-8 of its largest. Then the impulses are looked for from the inside of the cones (interior.py), and 2 ends it.
4. Before that, with joints, 2 is tried from nothing: of a contact that pushes a body all but against its joint, the impulse that
   it once had is a thousand times what the joints bear, and does not go away.
5. What slides so slowly that it yields by less than COMPLIANCE, a contact that others push at 1e-8 m/s, converges as slowly: each
   iteration takes off a third. So from the best that was found 2 goes on with a hundredth of it: a humanoid that rolls on its
   floor, with four such points, came from 5e-9 m/s, after 200 iterations, to the tolerance in 80. Where that does not do, 2 goes
   on from there once more, and where steps shrink by the same part each time, all that are to come are taken at once (Aitken): a
   robot that lies on trunk and legs, with eight such points, came from 1e-8 m/s, where an iteration took off a tenth.
6. Where friction is strong, more load can mean that a contact closes faster (the paradox of Painleve), and the solution is far
   away: without slip, or with hardly a load. So the problem with more than enough friction is solved, from nothing, by sweeps
   first, and 2 goes on from there. A wedge with friction 10, and friction 1 behind a joint, came
   from 2e-2 m/s to 5e-12.
7. At last, with joints, sweeps (sweeps.py) look for who is at a limit, then 2 again, with more sweeps each time.
8. Where kicks contradict themselves (``give``), each of these is tried once more so. Two points of one body that stick ask for
   velocities along the line between them, and each target is right to what the flight of a step bends, and a gap is rounded to.
   What they ask for apart from each other is no motion of the bodies: iterations add the same load, which moves nothing, for ever
   (a humanoid that lies on its floor: off by 1e-10 m/s after 90 of them). Such a part of the targets is let go: the answer is the
   motion nearest to them. So it is in the end where targets are further apart than that, and what they are apart by is the
   residual: a ball with friction 10 that is wedged in has no other answer, only loads that grow.
9. Contacts give no energy: in a solution p_n (u_n - c_n) is zero, and p_t.(u_t - c_t) not above it. Where none was found, the
   velocity that these are worth counts beside the residual: what is wedged bears any impulse, and a small miss at a large one
   is much work. The impulses of contacts are shortened until the sum over all of them is zero, the joints holding.

From cold starts 2 alone solved none of: 20 boxes, the same with a heavy top, 102 blocks, an arch, a card house; with sweeps as
the help they ended at 1e-8, 2e-3, 1e-5, 5e-8, 4e-10 m/s. 3 solves all of them in 14 to 20 iterations.

COMPLIANCE trades iterations against rounding: the same 1920 problems took 8720 iterations with 1e-3, 7208 with 1e-4, 6426 with
1e-5 and 6289 with 1e-6; with 1e-7, where rounding in M + J^T G J shows, 7832, and with 1e-8 a fifth was not solved.
What is solved takes one iteration more unless it is solved to rounding: a miss that stays adds up from kick to kick, and a block
on a slope crept by 6e-12 m/s.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import ZERO, clear_table, copy_table, largest_change, scale
from tumble.sim.solvers.block_laws import BOX_LAW, COULOMB_LAW, RIGID_COMPLIANCE, SOFT_LAW, coulomb_step, project_joint
from tumble.sim.solvers.blocks import SLOPES, assemble_matrix, factor, solve_factored, symbolic
from tumble.sim.solvers.interior import interior_far as interior
from tumble.sim.solvers.problem import (
    COMPLIANCE,
    NO_LAWS,
    NO_SYSTEM,
    Laws,
    add_impulses,
    add_transposed,
    blocks_of,
    energy_given,
    evaluate,
    laws_after,
    missed,
    pressed,
    regularisation,
    relative_velocity,
    worth_of_works,
)
from tumble.sim.solvers.sweeps import COLUMNS, pack_rows, relax, start_sweeps

STALLED_ITERATIONS = 5  # iterations that do not halve the residual, after which the search looks for help
PATIENCE = 4  # where steps may be summed it waits so many times as long: out of their cones impulses miss more at first
SAME_STEP = 0.1  # two steps are the same that differ by less than this part
BEYOND_CONE = 1.001  # a step that ends where a contact slides or parts goes beyond by this factor, so that it does
FINE = 1e-4  # what is solved, but not to this part of the tolerance, is given one more iteration
# where the iterations start from, in this order
FROM_GUESS, FROM_COLD, FROM_INSIDE, FROM_BEST, FROM_BEST_AGAIN, FROM_STICKING, FROM_SWEEPS = range(7)
TIGHT = 1e-2  # the compliance is made this part of what it was where the search goes on from its best: with less, rounding shows
# Friction that holds whatever comes, in place of the real one; sweeps from nothing that begin such a search.
STICKY, FIRST_SWEEPS = 10.0, 80
# Most calls on the sweeps. The first makes twice FEWEST_SWEEPS sweeps, each further one twice as many as the one before.
SWEEPINGS, FEWEST_SWEEPS = 6, 5


@lean
def _linearise(laws, p, u, R, eps, s, g):
    """dp = s - g du: the laws, linearised; contacts yield by ``eps`` of their K_nn."""
    for k in range(len(p)):
        if laws.law[k] == COULOMB_LAW:
            w = (u[k, 0] - laws.c[k, 0], u[k, 1] - laws.c[k, 1], u[k, 2] - laws.c[k, 2])
            step, slope = coulomb_step((p[k, 0], p[k, 1], p[k, 2]), w, laws.mu[k], R[k, 2] / COMPLIANCE, eps)
            follows = ZERO
        else:
            load, growth, hard, n = pressed(laws, p, u, R, k), 0.0, 0.0, laws.load[k]
            if n >= 0 and load > 0.0:  # then the normal impulse of that contact is linearised as growth - hard du_n
                hard = COMPLIANCE / (eps * R[n, 2])
                growth = -(1.0 - eps) * hard * (u[n, 2] - laws.c[n, 2])
            value, slope, follows = project_joint(laws, p, u, R, k, load, growth)
            follows = scale(hard, follows)
            step = (value[0] - p[k, 0], value[1] - p[k, 1], value[2] - p[k, 2])
        for i in range(3):
            s[k, i], g[k, 9 + i] = step[i], follows[i]
        for i in range(9):
            g[k, i] = slope[i]


@lean
def _changed(table, last):
    """Whether any number of a table differs from the ``last`` one."""
    for k in range(len(table)):
        for i in range(table.shape[1]):
            if table[k, i] != last[k, i]:
                return True
    return False


@owning_group
class Room(NamedTuple):
    """What the iterations work in. It serves several solves of one system, if they differ in v*, p and the numbers of the laws
    alone."""

    u: np.ndarray  # (k, 3) velocities of the rows
    R: np.ndarray  # (k, 3) see regularisation
    order: np.ndarray  # (n,) this and the next three are what `symbolic` found of the matrix
    slot: np.ndarray
    later_start: np.ndarray
    later: np.ndarray
    values: np.ndarray  # (blocks, 6, 6) factors of the matrix for the slopes ``factored``
    factored: np.ndarray  # (k, SLOPES)
    s: np.ndarray  # (k, 3) dp = s - g du
    g: np.ndarray  # (k, SLOPES)
    step: np.ndarray  # (n, 6)
    du: np.ndarray  # (k, 3)
    none: np.ndarray  # (k, 3) zeros
    best: np.ndarray  # (k, 3)
    last: np.ndarray  # (k, 3) the last step of the impulses


_T3, _TG, _T0, _I = np.zeros((0, 3)), np.zeros((0, SLOPES)), np.zeros((0, 0), np.int64), np.zeros(0, np.int64)
NO_ROOM = Room(_T3, _T3, _I, _T0, _I, _I, np.zeros((0, 3, 3)), _TG, _T3, _TG, np.zeros((0, 6)), _T3, _T3, _T3, _T3)


@inner
def _room_for(system, u, R):
    """Room for the iterations of a system, with its velocities ``u`` and compliances ``R``."""
    n, m = len(system.mass), len(system.a)
    order, slot, later_start, later, blocks = symbolic(n, system.a, system.b)
    return Room(
        u, R, order, slot, later_start, later, np.empty((blocks, 6, 6)), np.full((m, SLOPES), np.nan),
        np.empty((m, 3)), np.empty((m, SLOPES)), np.empty((n, 6)), np.empty((m, 3)), np.zeros((m, 3)), np.empty((m, 3)),
        np.empty((m, 3)),
    )  # fmt: skip


@inner
def room_of(system, law):
    """Room for a kick that takes several solves, or that hardly ever starts from its solution."""
    m = len(system.a)
    R = np.empty((m, 3))
    regularisation(system, law, R)
    return _room_for(system, np.empty((m, 3)), R)


@inner
def no_room(system, p):
    """Each solve makes room of its own, where it needs some."""
    tg, t0, none = np.empty((0, SLOPES)), np.empty((0, 0), np.int64), system.a[:0]
    return Room(
        p[:0], p[:0], none, t0, none, none, system.inertia[:0], tg, p[:0], tg, np.empty((0, 6)), p[:0], p[:0], p[:0], p[:0]
    )  # fmt: skip


@lean
def _at_target(laws, R, g, k, r):
    """Whether row r of block k holds its target, by whatever impulse that takes, as its slope ``g`` says."""
    law = laws.law[k]
    if law == COULOMB_LAW:
        hard = g[k, 8]
        return hard > 0.0 and (r == 2 or (g[k, 0] == hard and g[k, 4] == hard))
    if law == SOFT_LAW and r == 0:
        return False
    return g[k, 4 * r] * R[k, r] * RIGID_COMPLIANCE > 0.5


@inner
def _let_go(system, laws, room, asked, give):
    """Take from targets what no motion of the bodies meets, where that is no more than ``give`` [m/s].

    Rows that hold their targets, which are ``asked``, miss them by something after this iteration. A second iteration on what is
    missed would take off all that a motion can meet. What is left then makes loads grow that move nothing, and is taken from the
    targets. ``s`` and ``du`` of the room become those for the targets that remain.
    """
    s, g, du = room.s, room.g, room.du
    rest, push, more = np.zeros((len(s), 3)), np.zeros((len(s), 3)), np.empty((len(s), 3))
    for k in range(len(rest)):
        for r in range(3):
            if _at_target(laws, room.R, g, k, r):
                rest[k, r] = room.u[k, r] - asked[k, r] + du[k, r]
    _add_slopes(laws.load, g, rest, -1.0, push)
    _respond(system, room, push, more)
    worst = 0.0
    for k in range(len(rest)):
        for r in range(3):
            if _at_target(laws, room.R, g, k, r):
                rest[k, r] += more[k, r]
                worst = max(worst, abs(rest[k, r]))
    if worst > give:
        return
    for k in range(len(rest)):
        for r in range(3):
            laws.c[k, r] = asked[k, r] + rest[k, r]
    _add_slopes(laws.load, g, rest, 1.0, s)
    _respond(system, room, s, du)


@lean
def _respond(system, room, s, du):
    """Velocities ``du`` that an iteration gives the rows, whose impulses it would change by ``s`` were there no bodies."""
    clear_table(room.step)
    add_transposed(system, s, room.step)
    solve_factored(room.order, room.slot, room.later_start, room.later, room.values, room.step)
    relative_velocity(system, room.none, room.step, du)


@lean
def _add_slopes(load, g, u, f, s):
    """s += f G u"""
    for k in range(len(u)):
        for r in range(3):
            s[k, r] += f * (g[k, 3 * r] * u[k, 0] + g[k, 3 * r + 1] * u[k, 1] + g[k, 3 * r + 2] * u[k, 2])
            if load[k] >= 0:
                s[k, r] += f * g[k, 9 + r] * u[load[k], 2]


@inner
def _descend(system, laws, vstar, room, tolerance, enough, give, halts, most, polish, known, p, v, eps=COMPLIANCE, leaps=False):
    """Newton's iterations from p, until done or stalled; (residual [m/s], iterations). The best of them is left in p.

    ``eps``: the compliance. ``polish``: one iteration at least. ``known``: the residual of p, where v and room.u belong to p;
    else negative. ``give``: by how much targets that contradict each other may be missed; where that solves it, ``laws.c`` are
    those that were met. It ``halts`` where steps repeat; else it goes on along them (`_way`).
    """
    u, R, order, slot, later_start, later = room.u, room.R, room.order, room.slot, room.later_start, room.later
    values, factored, s, g, du = room.values, room.factored, room.s, room.g, room.du
    best_p, last = room.best, room.last
    best = now = known
    if known < 0.0:
        best = now = evaluate(system, laws, vstar, R, p, v, u)
    copy_table(p, best_p)
    # how far a guess is from the solution is known; of what is begun anew the first step tells it
    goal = best if known >= 0.0 else math.inf
    spent, stalled, refined, load, leapt = 0, 0, False, 0.0, False
    asked = laws.c.copy() if give > 0.0 else room.none
    met = laws.c.copy() if give > 0.0 else room.none
    patience = PATIENCE * STALLED_ITERATIONS if leaps else STALLED_ITERATIONS
    while spent < most and stalled < patience:
        if spent > 0 and best <= enough:
            break
        if best <= tolerance and not polish:
            if (refined and not leaps) or spent == 0 or best <= FINE * tolerance:
                break
            refined = True
        spent += 1
        polish = False
        if give > 0.0:
            copy_table(asked, laws.c)
        _linearise(laws, p, u, R, eps, s, g)
        if _changed(g, factored):  # joints without bounds have one matrix
            assemble_matrix(system, laws.load, g, slot, values)
            factor(order, slot, later_start, later, values)
            copy_table(g, factored)
        _respond(system, room, s, du)
        if give > 0.0:
            _let_go(system, laws, room, asked, give)
        _add_slopes(laws.load, g, du, -1.0, s)
        way, again = 1.0, spent > 1 and stalled > 0
        if leaps and again and not leapt:
            way = _sum_to_come(s, last, load)
        if way == 1.0 and again and _same_step(s, last):
            if halts:
                break
            way = _way(laws, p, s, load)
        leapt = way > 1.0
        for k in range(len(p)):
            for r in range(3):
                p[k, r] += way * s[k, r]
        copy_table(s, last)
        if spent == 1:
            load = _length(p)
        now = missed(system, laws, vstar, R, p, v, u)
        stalled = 0 if now < 0.5 * goal or way > 1.0 else stalled + 1
        goal = min(goal, now)
        if now < best:
            best = now
            copy_table(p, best_p)
            if give > 0.0:
                copy_table(laws.c, met)
    copy_table(best_p, p)
    if give > 0.0:
        copy_table(met if best <= tolerance else asked, laws.c)
    return evaluate(system, laws, vstar, R, p, v, u), spent


@lean
def _same_step(step, last):
    """Whether a step is the last one again. Then targets contradict each other by a little: no impulses meet them, and each
    step adds the same, as much as the compliance yields."""
    change, size = 0.0, 0.0
    for k in range(len(step)):
        for r in range(3):
            change += (step[k, r] - last[k, r]) ** 2
            size += step[k, r] ** 2
    return change < SAME_STEP * SAME_STEP * size


@lean
def _sum_to_come(step, last, load):
    """How far to go where each step is the same part r of the one before: all that are to come add up to 1/(1 - r) of this one
    (Aitken 1926), no further than the ``load``; else 1. Where steps differ by more than 1 - r that sum is not known."""
    along, size, change = 0.0, 0.0, 0.0
    for k in range(len(step)):
        for i in range(3):
            along += step[k, i] * last[k, i]
            size += last[k, i] ** 2
    r = along / size if size > 0.0 else 0.0
    if not 0.5 < r < 1.0:
        return 1.0
    for k in range(len(step)):
        for i in range(3):
            change += (step[k, i] - r * last[k, i]) ** 2
    own, way = _length(step), 1.0 / (1.0 - r)
    return way if change < ((1.0 - r) * own) ** 2 and way * own < load else 1.0


@lean
def _length(table):
    """Euclidean length of all numbers of a table."""
    total = 0.0
    for k in range(len(table)):
        for r in range(3):
            total += table[k, r] ** 2
    return math.sqrt(total)


@lean
def _way(laws, p, step, load):
    """How far to go along a step that repeats itself: to where the first contact begins to slide or to part.

    No further than the ``load`` that was there to begin with: what is wedged solves its laws with any load, and the next point
    may slide at a thousand times it.
    """
    way = math.inf
    for k in range(len(p)):
        if laws.law[k] == COULOMB_LAW:
            way = min(way, _to_cone((p[k, 0], p[k, 1], p[k, 2]), (step[k, 0], step[k, 1], step[k, 2]), laws.mu[k]))
    return BEYOND_CONE * way if 1.0 < way and way * _length(step) < load else 1.0


@lean
def _to_cone(p, d, mu):
    """The f > 0 at which p + f d leaves the cone of friction; inf where it never does, or is not inside."""
    a = d[0] * d[0] + d[1] * d[1] - mu * mu * d[2] * d[2]
    b = p[0] * d[0] + p[1] * d[1] - mu * mu * p[2] * d[2]
    c = p[0] * p[0] + p[1] * p[1] - mu * mu * p[2] * p[2]
    if p[2] <= 0.0 or c >= 0.0:
        return math.inf
    # (p + f d) is on the double cone where a f^2 + 2 b f + c = 0; c < 0, and the root that comes first is the way out
    root = b * b - a * c
    if root < 0.0:
        return math.inf
    return -c / (b + math.sqrt(root)) if b + math.sqrt(root) > 0.0 else math.inf


@kernel(**FOR_KERNELS)
def newton_in(system, laws, vstar, room, tolerance, enough, give, most, p, v):
    """Solve for the impulses; returns (residual [m/s], by how much targets were missed because they contradict each other [m/s],
    iterations).

    That is no more than ``give``, and ``laws.c`` are then the targets that were met.
    ``system`` and ``laws`` as in problem.py, ``vstar`` (n, 6) the velocities without impulses; ``room`` is that of the solves of
    this kick, or none (`no_room`). ``p`` (k, 3) holds the guess and then the answer, always inside its bounds; ``v`` (n, 6) the
    velocities. Of what is not solved to the tolerance from the start, a residual of ``enough`` will do.
    """
    n, m = len(system.mass), len(p)
    u, R, ready = room.u, room.R, len(room.order) == n
    if not ready:
        u, R = np.empty((m, 3)), np.empty((m, 3))
        regularisation(system, laws.law, R)
    best = evaluate(system, laws, vstar, R, p, v, u)
    if best <= tolerance:
        return best, 0.0, 0
    if not ready:
        room = _room_for(system, u, R)
    done, spent, help = max(tolerance, enough), 0, FROM_GUESS
    boxes, linked, rubs = _kinds(laws)
    if boxes:  # impulses in their bounds stay as they are, to the last bit: what is known of them needs no second look
        now, spent = _descend(system, laws, vstar, room, tolerance, enough, 0.0, give > 0.0, most, False, best, p, v)
        if now <= done:
            return now, 0.0, spent
    best_p = p.copy()
    least = max(best, worth_of_works(system, laws, p, u))
    while True:
        if help > FROM_GUESS or not boxes:
            now, steps = _search(help, system, laws, vstar, room, tolerance, enough, give, most - spent, best, p, v)
            spent += steps
        if now > done and give > 0.0:
            found = p.copy()
            if help == FROM_GUESS:  # not from a load that only grew
                copy_table(best_p, p)
            left, apart, steps = _search_giving(system, laws, vstar, room, tolerance, give, most - spent, p, v)
            spent += steps
            if left <= tolerance:
                return left, apart, spent
            copy_table(found, p)
            if help == FROM_GUESS:
                now, steps = _descend(system, laws, vstar, room, tolerance, enough, 0.0, False, most - spent, False, -1.0, p, v)
                spent += steps
        worth = now
        if now > done:
            evaluate(system, laws, vstar, R, p, v, u)
            worth = max(now, worth_of_works(system, laws, p, u))
        if now <= done or worth < least:
            best, least = now, worth
            copy_table(p, best_p)
        help = _next_start(help, linked, rubs)
        if best <= done or spent >= most or help >= (FROM_SWEEPS + SWEEPINGS if linked else FROM_SWEEPS):
            break
        spent += _start_from(help, system, laws, vstar, room, tolerance, most - spent, best_p, p, v)
    copy_table(best_p, p)
    if best > done and give > 0.0:  # targets are further apart than they may be: the nearest motion is the best answer
        left, apart, steps = _search_giving(system, laws, vstar, room, tolerance, math.inf, 4 * STALLED_ITERATIONS, p, v)
        if left <= tolerance:
            return apart, apart, spent + steps
        copy_table(best_p, p)
    evaluate(system, laws, vstar, R, p, v, u)
    if best > done and energy_given(laws, p, u) > 0.0:
        _shorten(system, laws, vstar, R, tolerance, p, v, u)
        best = evaluate(system, laws, vstar, R, p, v, u)
    return best, 0.0, spent


@lean
def _kinds(laws):
    """(Whether all blocks are of joints with bounds or springs, whether there are any but contacts, whether any contact rubs)."""
    boxes, linked, rubs = True, False, False
    for k in range(len(laws.law)):
        boxes = boxes and (laws.law[k] == BOX_LAW or laws.law[k] == SOFT_LAW)
        linked, rubs = linked or laws.law[k] != COULOMB_LAW, rubs or laws.mu[k] > 0.0
    return boxes, linked, rubs


@inner
def _search(help, system, laws, vstar, room, tolerance, enough, give, most, best, p, v):
    """The iterations from the start ``help``, whose impulses ``p`` holds: (residual [m/s], iterations). ``best``: the least
    residual so far."""
    halts, again = help == FROM_GUESS and give > 0.0, help == FROM_BEST_AGAIN
    known = best if help == FROM_GUESS else -1.0
    if help == FROM_BEST or again:
        known = evaluate(system, laws, vstar, room.R, p, v, room.u)
    eps, inside = TIGHT * COMPLIANCE if help == FROM_BEST else COMPLIANCE, help == FROM_INSIDE
    now, spent = _descend(system, laws, vstar, room, tolerance, enough, 0.0, halts, most, inside, known, p, v, eps, again)
    while help == FROM_BEST and max(tolerance, enough) < now < 0.5 * best:  # in their cones, impulses miss more than outside
        best = now
        now, steps = _descend(
            system, laws, vstar, room, tolerance, enough, 0.0, halts, most - spent, inside, now, p, v, eps
        )  # fmt: skip
        spent += steps
    return now, spent


@inner
def _search_giving(system, laws, vstar, room, tolerance, give, most, p, v):
    """The iterations from ``p`` where targets give up to ``give`` [m/s]: (residual [m/s], by how much they gave [m/s],
    iterations). Targets that gave in vain are as before."""
    asked = laws.c.copy()
    left, spent = _descend(system, laws, vstar, room, tolerance, 0.0, give, True, most, True, -1.0, p, v)
    apart = largest_change(asked, laws.c)
    if left > tolerance:
        copy_table(asked, laws.c)
    return left, apart, spent


@lean
def _next_start(help, linked, rubs):
    """The start after this one: with joints alone from nothing, with friction alone from more of it."""
    if help == FROM_GUESS and not linked:
        return FROM_INSIDE
    return FROM_SWEEPS if help == FROM_BEST_AGAIN and not rubs else help + 1


@inner
def _start_from(help, system, laws, vstar, room, tolerance, most, best, p, v):
    """Impulses ``p`` to go on from: none, those from inside the cones, the ``best`` so far, those of more friction, or the best
    after so many sweeps; the iterations it took."""
    if help == FROM_INSIDE:
        return interior(system, laws, vstar, tolerance, most, p, v)[1]
    if help == FROM_COLD:
        clear_table(p)
    elif help != FROM_STICKING:
        copy_table(best, p)
    if help >= FROM_SWEEPS:
        _sweep(system, laws, vstar, room.R, FEWEST_SWEEPS << (1 + help - FROM_SWEEPS), p)
    if help != FROM_STICKING:
        return 0
    clear_table(p)
    rubbed = Laws(laws.law, np.full(len(p), STICKY), laws.lo, laws.hi, laws.load, laws.c, laws.u0)
    _sweep(system, rubbed, vstar, room.R, FIRST_SWEEPS, p)
    return _descend(system, rubbed, vstar, room, tolerance, 0.0, 0.0, False, most, False, -1.0, p, v)[1]


@inner
def _shorten(system, laws, vstar, R, tolerance, p, v, u):
    """Take the part f of the contacts' impulses at which they give no energy; joints hold beside them.

    What contacts give is f sum p.(u_0 - c) + f^2 sum p.(u_1 - u_0), with u_0 without them and u_1 with all of them.
    """
    first = 0
    while first < len(p) and laws.law[first] == COULOMB_LAW:
        first += 1
    without, free = p.copy(), v.copy()
    without[:first] = 0.0
    _hold(system, laws, vstar, R, tolerance, first, without, free)
    none = u.copy()
    relative_velocity(system, laws.u0, free, none)
    _hold(system, laws, vstar, R, tolerance, first, p, v)
    relative_velocity(system, laws.u0, v, u)
    linear, quadratic = 0.0, 0.0
    for k in range(first):
        for r in range(3):
            linear += p[k, r] * (none[k, r] - laws.c[k, r])
            quadratic += p[k, r] * (u[k, r] - none[k, r])
    f = 1.0
    if linear >= 0.0:
        f = 0.0
    elif linear + quadratic > 0.0:
        f = -linear / quadratic
    for k in range(len(p)):
        for r in range(3):
            p[k, r] = without[k, r] + f * (p[k, r] - without[k, r])


@inner
def _hold(system, laws, vstar, R, tolerance, first, p, v):
    """Solve for the impulses of joints, from block ``first`` on, beside those of the contacts as they are; v follows."""
    pushed, m = vstar.copy(), len(p)
    add_impulses(blocks_of(system, 0, first), p[:first], pushed)
    if first == m:
        copy_table(pushed, v)
        return
    joints, asked = blocks_of(system, first, m), laws_after(laws, first, p)
    room = _room_for(joints, np.empty((m - first, 3)), R[first:])
    _descend(joints, asked, pushed, room, tolerance, 0.0, 0.0, False, 2 * STALLED_ITERATIONS, False, -1.0, p[first:], v)
    evaluate(joints, asked, pushed, R[first:], p[first:], v, room.u)


@inner
def _sweep(system, laws, vstar, R, times, p):
    """Sweep over all blocks so many times."""
    n, m = len(system.mass), len(p)
    rows, light, w = np.empty((m, COLUMNS)), np.zeros(n + 1), np.zeros((n + 1, 6))
    stick, fast, awake = np.zeros((m, 2)), np.zeros(m, dtype=np.bool_), np.ones(n + 1, dtype=np.bool_)
    light[:n] = system.inv_mass
    pack_rows(system, laws, rows)
    start_sweeps(light, system, laws, vstar, rows, p, w)
    relax(light, system, laws, stick, fast, R, rows, p, w, 0, m, 0.0, times, awake)


_T6 = np.zeros((0, 6))
newton_in_far = far(newton_in, lambda: (NO_SYSTEM, NO_LAWS, _T6, NO_ROOM, 0.0, 0.0, 0.0, 0, _T3, _T6), returns=(0.0, 0.0, 0))


@kernel
def newton_single(system, laws, vstar, tolerance, most, p, v):
    """As `newton_in`, for a single solve of targets that do not give: (residual [m/s], iterations)."""
    worst, _, spent = newton_in_far(system, laws, vstar, no_room(system, p), tolerance, 0.0, 0.0, most, p, v)
    return worst, spent


newton_far = far(newton_single, lambda: (NO_SYSTEM, NO_LAWS, _T6, 0.0, 0, _T3, _T6), returns=(0.0, 0))
