"""Forces packed for the step: rows of numbers for each body or pair of bodies that one acts on, sorted by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tumble.collision.pose import Pose
from tumble.sim import state
from tumble.sim.errors import InputError
from tumble.sim.forces import force_definitions as definitions
from tumble.sim.forces.force_definitions import Force, FunctionForce, Medium, Spring
from tumble.sim.forces.functions import Callback
from tumble.sim.solvers.lanes import LANES
from tumble.sim.state import DYNAMIC, GENERAL, SLEEPING, Bodies, Forces, Joints, forces_of

if TYPE_CHECKING:
    from tumble.sim.world.body import Body

Row = tuple[int, int, int, list[float], int]  # kind, body, other body or -1, numbers, address


def check_bodies(force: Force, bodies: Sequence[Body]) -> None:
    """All bodies that a force names are there, and those that it moves are dynamic."""
    kinds = {body.name: body.kind for body in bodies}
    names = force.on() or ()
    for k, name in enumerate(names):
        field = ("a", "b")[k] if isinstance(force, Spring) else "bodies"
        if name not in kinds:
            raise InputError(field, name, f"there is no such body; there are {', '.join(kinds) or 'none'}")
    moved = [name for name in names if kinds[name] == "dynamic"]
    if names and (not moved if isinstance(force, Spring) else len(moved) < len(names)):
        still = next(name for name in names if kinds[name] != "dynamic")
        raise InputError(field, still, f"is {kinds[still]}: forces act on dynamic bodies")


def callbacks(forces: Sequence[Force]) -> dict[Force, Callback]:
    """The functions among the forces, compiled or wrapped."""
    out = {}
    for force in forces:
        if isinstance(force, FunctionForce):
            if force.function is None:
                raise InputError("function", force.name, "is known by name only: functions are not kept in files; give it again")
            out[force] = Callback(force.name, force.function)
    return out


def pack_forces(
    forces: Sequence[Force],
    called: dict[Force, Callback],
    bodies: Bodies,
    joints: Joints,
    names: Sequence[str],
    gravity: tuple[float, float, float],
    method: int,
    pushed: Sequence[int] = (),
) -> Forces:
    """The group of forces for these bodies and joints; the uniform fields, the world's ``gravity`` among them, go to their rows.

    The bodies ``pushed`` have rows for what the user applies (world/applied_forces.py).
    """
    at = {name: i for i, name in enumerate(names)}
    dynamic, asleep = np.flatnonzero(bodies.kind == DYNAMIC), bodies.kind == SLEEPING
    falling = np.flatnonzero(bodies.mass > 0)
    bodies.gravity[falling] = gravity
    rows: list[Row] = []
    knots: list[np.ndarray] = []
    for force in forces:
        on = None if force.on() is None else [at[name] for name in force.on()]
        if isinstance(force, definitions.UniformGravity):
            for i in falling if on is None else on:
                bodies.gravity[i] += force.acceleration
        else:
            rows += _rows(force, dynamic if on is None else on, bodies, called, knots)
    rows += [(state.CONSTANT, i, -1, [0.0] * state.USERS + [1.0], 0) for i in pushed]
    bodies.field[asleep], bodies.gravity[asleep] = bodies.gravity[asleep], 0.0
    return _sorted(rows, knots, bodies, joints, method)


def _rows(force: Force, on: Sequence[int], bodies: Bodies, called: dict, knots: list[np.ndarray]) -> list[Row]:
    if isinstance(force, definitions.CentralGravity):
        return [(state.CENTRAL, i, -1, [*force.center, force.gm, float(force.gradient)], 0) for i in on]
    if isinstance(force, definitions.MutualGravity):
        numbers = [force.constant, force.softening]
        return [(state.MUTUAL, i, j, numbers, 0) for i, j in combinations(sorted(on), 2)]
    if isinstance(force, definitions.Drag):
        numbers = [force.linear, force.quadratic, force.spin_linear, force.spin_quadratic, *force.wind]
        return [(state.DRAG, i, -1, numbers, 0) for i in on]
    if isinstance(force, Medium):
        return [(state.MEDIUM, i, -1, resistance(force, bodies.mass[i], bodies.inertia[i]), 0) for i in on]
    if isinstance(force, Spring):
        return [_spring(force, list(on), bodies)]
    if isinstance(force, FunctionForce):
        return [(state.FUNCTION, i, -1, [], called[force].address) for i in on]
    first, count = sum(map(len, knots)), 0
    if isinstance(force, definitions.TabulatedForce):
        zero = ((0.0, 0.0, 0.0),) * len(force.times)
        table = np.column_stack([force.times, force.forces or zero, force.torques or zero])
        knots.append(table)
        count = len(table)
    assert isinstance(force, definitions.ConstantForce | definitions.TabulatedForce)
    kind, f, torque = (state.TABLE, (0, 0, 0), (0, 0, 0)) if count else (state.CONSTANT, force.force, force.torque)
    out = []
    for i in on:
        arm = (0.0, 0.0, 0.0) if force.point is None else np.asarray(force.point) - bodies.center[i]
        out.append((kind, i, -1, [*f, *torque, float(force.frame == "body"), *arm, count], first))
    return out


def principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,) and axes (3, 3), right-handed, of an inertia tensor.

    Where two moments are equal, the axes are those of the body after the shortest turn of z to the third: rounding has no say.
    """
    moments, axes = np.linalg.eigh(inertia)
    same = np.diff(moments) <= 1e-9 * moments[2]
    if same.all():
        return moments, np.eye(3)
    if same.any():
        k = 2 if same[0] else 0
        n = axes[:, k] * (1.0 if next(x for x in axes[::-1, k] if abs(x) > 1e-9) > 0 else -1.0)
        moments = np.array([moments[1], moments[1], moments[k]])
        v = np.array([-n[1], n[0], 0.0])
        axes = n[2] * np.eye(3) + np.array([[0, 0, n[0]], [0, 0, n[1]], [-n[0], -n[1], 0]]) + np.outer(v, v) / (1 + n[2])
    elif np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return moments, axes


def resistance(force: Medium, mass: float, inertia: np.ndarray) -> list[float]:
    """The numbers of :func:`tumble.sim.forces.laws.medium` for a body of this mass and inertia (3, 3).

    Half sides r of the box of the same mass and moments of inertia, of even density; the force by squares is that on a plate,
    rho/2 C A u^2 with C = 1, A the side across u; what is linear is Stokes' law for a ball of the mean r.
    """
    moments, axes = principal(inertia)
    x, y, z = r = np.sqrt(np.maximum(1.5 / mass * (moments.sum() - 2 * moments), 0.0))
    mean, viscous = r.mean(), np.pi * force.viscosity
    by_speed = 2 * force.density * np.array([y * z, z * x, x * y])
    by_rate = 0.5 * force.density * r * np.array([y**4 + z**4, z**4 + x**4, x**4 + y**4])
    turn = Pose.from_matrix(axes).orientation
    return [6 * viscous * mean, 8 * viscous * mean**3, *by_speed, *by_rate, *turn, *force.wind]


def _spring(force: Spring, on: list[int], bodies: Bodies) -> Row:
    ends = [force.anchor_a, force.anchor_b]
    if len(on) == 1:
        on.append(-1)
    elif bodies.kind[on[0]] != DYNAMIC:  # the first of a row is dynamic
        on, ends = on[::-1], ends[::-1]
    arms = [np.asarray(end) - (bodies.center[i] if i >= 0 else 0.0) for i, end in zip(on, ends, strict=True)]
    return state.SPRING, on[0], on[1], [force.stiffness, force.damping, force.length, *arms[0], *arms[1], float(force.slack)], 0


def _sorted(rows: list[Row], knots: list[np.ndarray], bodies: Bodies, joints: Joints, method: int) -> Forces:
    """The group, its rows, members and joints sorted by clusters, clusters by their first body."""
    parent = np.arange(len(bodies.kind))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    moved = lambda i: bool(i >= 0 and bodies.kind[i] == DYNAMIC)  # noqa: E731
    coordinates, hosts = held_rows(joints), hosts_of(joints)
    for j, host in hosts.items():
        coordinates[host] |= coordinates[j]
        coordinates[j] = False
    held = [j for j in range(len(joints.kind)) if coordinates[j].any() and any(map(moved, joints.body[j]))]
    for i, j in [row[1:3] for row in rows] + joints.body[held].tolist():
        if moved(i) and moved(j):
            a, b = sorted((root(i), root(j)))
            parent[b] = a
    roots = [root(row[1]) for row in rows]
    everyone = [root(i) for i in np.flatnonzero(bodies.kind == DYNAMIC)] if method == state.DOP853 else []
    order = sorted(range(len(rows)), key=lambda k: roots[k])
    roots_held = [root(next(i for i in joints.body[j].tolist() if moved(i))) for j in held]
    used = sorted({*roots, *roots_held, *everyone})  # the adaptive method knows clusters only
    label = {r: c for c, r in enumerate(used)}
    members = sorted((label[root(i)], i) for i in range(len(parent)) if root(i) in label and bodies.kind[i] == DYNAMIC)
    stages = 12 if method == state.DOP853 else 7 if held else 4
    links = sorted((label[c], j) for c, j in zip(roots_held, held, strict=True))
    group = forces_of(len(parent), len(rows), len(used), len(members), sum(map(len, knots)), stages, len(links))
    group.method[0] = method
    for k, n in enumerate(order):
        kind, i, j, numbers, address = rows[n]
        group.kind[k], group.body[k], group.address[k] = kind, (i, j), address
        group.number[k, : len(numbers)] = numbers
    for k, (c, i) in enumerate(members):
        group.member[k], group.cluster[i], group.seat[i] = i, c, k
    group.first_row[:] = np.searchsorted([label[roots[n]] for n in order], range(len(used) + 1))
    group.first_member[:] = np.searchsorted([c for c, _ in members], range(len(used) + 1))
    if knots:
        group.knots[:] = np.concatenate(knots)
    group.coupled[:] = (np.diff(group.first_member) > 1) | np.isin(range(len(used)), [c for c, _ in links])
    return _with_joints(group, links, joints, coordinates, hosts)


def _with_joints(
    group: Forces, links: list[tuple[int, int]], joints: Joints, coordinates: np.ndarray, hosts: dict[int, int]
) -> Forces:
    """The group with joints (cluster, joint), which of them hold the same body, and the rows of their linear systems: one for
    each of the ``coordinates`` (j, 6) that may be held."""
    count = len(group.potential)
    group.first_link[:] = np.searchsorted([c for c, _ in links], range(count + 1))
    link_of = np.full(len(joints.kind), -1, dtype=np.int64)
    for k, (_, j) in enumerate(links):
        link_of[j] = k
        if joints.axis[j] >= 0:
            group.driver[k, joints.axis[j]] = j
    for j, host in hosts.items():
        link_of[j] = link_of[host]
        if link_of[j] >= 0:
            group.driver[link_of[j], joints.axis[j]] = j
    meet: list[tuple[int, int, int, int]] = []
    columns: list[int] = []
    for c in range(count):
        first, last = group.first_link[c : c + 2].tolist()
        holders: dict[int, list[tuple[int, int]]] = {}
        for k in range(first, last):
            group.link[k] = links[k][1]
            group.seats[k] = [group.seat[i] if i >= 0 else -1 for i in joints.body[links[k][1]]]
            group.anchored[c] |= group.seats[k].min() < 0
            for side, seat in enumerate(group.seats[k].tolist()):
                holders.setdefault(seat, []).append((k, side))
        holders.pop(-1, None)
        pairs = [(i, j, s, t) for held in holders.values() for (i, s), (j, t) in combinations(held, 2)]
        own = [(k, k, s, s) for k in range(first, last) for s in range(2) if group.seats[k, s] >= 0]
        group.first_meet[c + 1] = group.first_meet[c] + len(own) + len(pairs)
        meet += own + pairs
        columns += _equations(group, coordinates, first, last, pairs)
        order = _outwards(group, joints, first, last, int(group.first_member[c + 1] - group.first_member[c]))
        if order:
            group.tree[c], group.chain[first:last] = 1, order
        group.first_panel[c + 1] = len(columns)
    own = np.arange(len(columns)) - np.repeat(group.first_panel[:-1], np.diff(group.first_panel))
    starts = np.cumsum([0, *(LANES * (own - columns + 1))]) if columns else np.zeros(1)
    return group._replace(
        link_of=link_of,
        meet=np.array(meet, dtype=np.int64).reshape(-1, 4),
        slot=_slots(group, meet, np.array(columns, dtype=np.int64), starts),
        first_column=np.array(columns, dtype=np.int64),
        first_value=starts.astype(np.int64),
        table=np.zeros((int(starts[-1]), LANES)),
        right=np.zeros((len(columns), LANES)),
    )


def _outwards(group: Forces, joints: Joints, first: int, last: int, members: int) -> list[tuple[int, int]]:
    """The links of a cluster from what does not move outwards, or from the body that most hangs from, and the side on which
    something hangs from each; none where bodies do not hang by one joint each, or where a row is more than one coordinate."""
    own = group.link[first:last]
    plain = np.isin(joints.kind[own], (state.POINT, state.HINGE, state.SLIDER, state.FIXED, state.DISTANCE, GENERAL)).all()
    seats = group.seats[first:last]
    hangs = seats.min(initial=0) < 0
    if not plain or first == last or members - (last - first) != (0 if hangs else 1):
        return []
    ends, counts = np.unique(seats, return_counts=True)
    root = -1 if hangs else int(ends[counts.argmax()])
    order: list[tuple[int, int]] = []
    reached, left = {root}, set(range(first, last))
    while left:
        ready = [(k, side) for k in sorted(left) for side in (0, 1) if group.seats[k, 1 - side] in reached]
        fresh = [(k, side) for k, side in ready if group.seats[k, side] not in reached]
        if not fresh or len({k for k, _ in ready}) != len({int(group.seats[k, side]) for k, side in fresh}):
            return []
        order += fresh
        reached |= {int(group.seats[k, side]) for k, side in fresh}
        left -= {k for k, _ in fresh}
    return order


def _slots(group: Forces, meet: list[tuple[int, int, int, int]], columns: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """(p, 6, 6): where in the table of the linear system the products of the rows of two joints belong; -1: nowhere."""
    out = np.full((len(meet), 6, 6), -1, dtype=np.int64)
    for n, (i, j, _, _) in enumerate(meet):
        panel = group.first_panel[np.searchsorted(group.first_link, i, side="right") - 1]
        a, b = group.equation[i][:, None], group.equation[j][None, :]
        row, column = np.maximum(a, b), np.minimum(a, b)
        of = panel + row // LANES
        at = LANES * (starts[of] + column - LANES * columns[of]) + row % LANES
        out[n] = np.where((a >= 0) & (b >= 0) & ((i != j) | (b <= a)), at, -1)
    return out


def hosts_of(joints: Joints) -> dict[int, int]:
    """Drives that act along a free coordinate of a general joint of the same bodies, anchors and axes, and that joint: in flight
    they are rows of it. One drive a coordinate; others, and drives without such a joint, are joints of their own."""
    hosts: dict[int, int] = {}
    general = np.flatnonzero((joints.kind == GENERAL) & joints.rigid.any(axis=1)).tolist()
    taken = {(h, int(joints.axis[h])) for h in general}
    for j in np.flatnonzero((joints.kind == GENERAL) & ~joints.rigid.any(axis=1)).tolist():
        for h in general:
            same = all((table[h] == table[j]).all() for table in (joints.body, joints.anchor, joints.frame))
            if same and not joints.rigid[h, joints.axis[j]] and (h, int(joints.axis[j])) not in taken:
                hosts[j] = h
                taken.add((h, int(joints.axis[j])))
                break
    return hosts


def held_rows(joints: Joints) -> np.ndarray:
    """(j, 6): the coordinates that forces may hold in flight, rigid ones and those that something drives."""
    rows = joints.rigid == 1
    drives = (joints.strength > 0) | (joints.friction > 0) | (joints.armature > 0) | np.isfinite(joints.limit).any(axis=1)
    driven = np.flatnonzero((joints.axis >= 0) & drives)
    rows[driven, joints.axis[driven]] = True
    return rows


def _equations(group: Forces, rows: np.ndarray, first: int, last: int, pairs: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """Number what may be held of the joints from ``first`` to ``last`` of a cluster; the first panel of columns of each panel."""
    if first == last:
        return []
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = last - first
    i, j = np.array([pair[:2] for pair in pairs], dtype=int).reshape(-1, 2).T - first
    graph = csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    order = reverse_cuthill_mckee(csr_array(graph + graph.T), symmetric_mode=True)
    group.equation[first:last] = -1
    total, head = 0, np.zeros(n, dtype=int)
    for k in order:
        head[k] = total
        for r in np.flatnonzero(rows[group.link[first + k]]):
            group.equation[first + k, r] = total
            total += 1
    low = head.copy()
    for a, b in zip([*i, *j], [*j, *i], strict=True):
        low[a] = min(low[a], head[b])
    lows = [int(low[k]) // LANES for k in order for _ in range(rows[group.link[first + k]].sum())]
    return [min(lows[n : n + LANES]) for n in range(0, len(lows), LANES)]
