"""The arrays of a world, and how they grow when bodies are added or more pairs come near each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Shape
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.sim import state
from tumble.sim.joints.joint_tables import linked
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.diagnostics import rotations, unheard
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.materials import SURFACE_FIELDS, coefficients
from tumble.sim.state import Bodies, Contacts, Geoms, Model, Pairs

EVENTS_KEPT = 4096  # room of the log where nothing else is said
PAIRS = 64  # candidate pairs that a world has room for at the start


def rows_for(pairs: int) -> int:
    """Room for contacts where there is room for so many pairs. Kicks inside a drift are kept in what contacts leave free, so that
    less of it would give other bits: members of Worlds, which begin with fewer pairs, have as much as a world."""
    return state.POINTS * max(pairs, PAIRS)


def empty(pairs: int, rules: np.ndarray) -> Model:
    """A model without bodies, with room for so many candidate pairs; ``rules`` as in Bodies."""
    bodies = state.bodies_of(0)._replace(rules=rules)
    contacts, books = state.contacts_of(rows_for(pairs)), state.books_of(ledger.ENTRIES, pairs, EVENTS_KEPT)
    return Model(bodies, state.geoms_of(0), state.pairs_of(pairs), contacts, books, state.forces_of(0), state.joints_of(0))


@unheard
def with_bodies(
    model: Model,
    definitions: Sequence[BodyDef],
    parts: Sequence[Sequence[tuple[Shape, Pose]]],
    shapes: ShapeSet,
    gravity: tuple[float, float, float],
    serial: int,
) -> Model:
    """The model with bodies added, and their convex ``parts``, which are the last rows of ``shapes``.

    ``gravity`` is the uniform field that dynamic bodies fall in [m/s^2], ``serial`` the number of the first of them.
    """
    n = len(model.bodies.kind)
    bodies, geoms = state.bodies_of(n + len(definitions)), state.geoms_of(len(shapes))
    for field in Bodies._fields:
        if field in state.SHARED:
            bodies = bodies._replace(**{field: getattr(model.bodies, field)})
        else:
            getattr(bodies, field)[:n] = getattr(model.bodies, field)
    fixed = len(model.geoms.body) - facets(model.geoms)  # facets of grounds stay the last rows
    count = sum(map(len, parts))
    for column, old in zip(geoms, model.geoms, strict=True):
        if column is not geoms.apart:
            column[:fixed], column[fixed + count :] = old[:fixed], old[fixed:]
    geoms = geoms._replace(apart=model.geoms.apart)
    geoms.shape[fixed:] = np.arange(fixed, len(geoms.shape))
    for rows in (model.pairs.geoms[: model.pairs.count[0]], model.contacts.pair[: model.contacts.count[0]]):
        rows += count * (rows >= fixed)
    bodies.serial[n:] = np.arange(serial, serial + len(definitions))
    k = fixed
    turns = [pose.orientation for pieces in parts for _, pose in pieces]
    geoms.rot[k : k + count] = rotations(np.array(turns, dtype=float).reshape(-1, 4))
    rots = rotations(np.array([d.orientation for d in definitions], dtype=float).reshape(-1, 4))
    for i, (definition, rot) in enumerate(zip(definitions, rots, strict=True), n):
        _write_body(bodies, i, definition, rot, gravity)
    several = [len(pieces) for pieces in parts]
    of = lambda values: np.repeat(np.array(values), several)  # noqa: E731  of each body to each of its pieces
    new, body = slice(k, k + count), n + np.repeat(np.arange(len(definitions)), several)
    geoms.body[new], geoms.shape[new] = body, np.arange(k, k + count)
    places = [pose.position for pieces in parts for _, pose in pieces]
    geoms.x[new] = np.array(places, dtype=float).reshape(-1, 3) - bodies.center[body]
    geoms.mobile[new] = of([d.kind == "dynamic" or d.sensor for d in definitions])
    geoms.moves[new], geoms.sensor[new] = of([d.kind != "static" for d in definitions]), of([d.sensor for d in definitions])
    geoms.groups[new], geoms.mask[new] = of([d.groups for d in definitions]), of([d.mask for d in definitions])
    geoms.face[new] = of([state.CARRIER if isinstance(d.shape, Ground) else state.PIECE for d in definitions])
    reach = np.array([np.linalg.norm(x) if x.any() else 0.0 for x in geoms.x[new]]) + shapes.geometry.radius[new]
    np.maximum.at(bodies.radius, body, reach)
    return linked(model._replace(bodies=bodies, geoms=geoms))


def facets(geoms: Geoms) -> int:
    """How many rows are facets of grounds, the last ones."""
    return int(((geoms.face >= 0) | (geoms.face == state.IDLE) | (geoms.face <= state.PLANE)).sum())


def with_facets(model: Model, owners: np.ndarray) -> Model:
    """The model with idle facets more for the grounds of these bodies (n,), in rows behind all others."""
    old = model.geoms
    m = len(old.body)
    geoms = state.geoms_of(m + len(owners))
    state.copied(old._replace(apart=geoms.apart), geoms)
    geoms = geoms._replace(apart=old.apart)
    geoms.shape[m:], geoms.face[m:], geoms.body[m:] = np.arange(m, m + len(owners)), state.IDLE, owners
    geoms.rot[m:], geoms.lo[m:], geoms.hi[m:] = np.eye(3), np.inf, -np.inf
    carriers = {int(geoms.body[k]): k for k in np.flatnonzero(geoms.face == state.CARRIER)}
    rows = [carriers[int(i)] for i in owners]
    geoms.groups[m:], geoms.mask[m:], geoms.short[rows] = geoms.groups[rows], geoms.mask[rows], 0
    return model._replace(geoms=geoms)


def _write_body(bodies: Bodies, i: int, d: BodyDef, rot: np.ndarray, gravity: tuple[float, float, float]) -> None:
    """Row i as the definition says; ``rot``: its orientation as a matrix (3, 3)."""
    mass, center, inertia = d.mass_properties()
    bodies.kind[i] = state.KIND_CODES[d.kind]
    bodies.center[i] = center
    set_surface_motion(bodies, i, d.surface_velocity, d.surface_spin)
    bodies.material[i] = coefficients({field: getattr(d, field) for field in SURFACE_FIELDS})
    bodies.q[i] = d.orientation
    bodies.x[i] = np.asarray(d.position) + rot @ center
    if d.kind == "dynamic":
        bodies.mass[i], bodies.inv_mass[i], bodies.gravity[i] = mass, 1.0 / mass, gravity
        bodies.inertia[i] = inertia
        bodies.inv_inertia[i], bodies.moments[i], bodies.axes[i] = _principal(bodies.inertia[i].tobytes())
        bodies.spin[i] = 1.0 / bodies.moments[i, 0]
        bodies.p[i] = bodies.p_before[i] = mass * np.asarray(d.velocity)
        if any(d.angular_velocity):
            bodies.l[i] = bodies.l_before[i] = rot @ inertia @ rot.T @ np.asarray(d.angular_velocity)
        else:
            bodies.l[i] = bodies.l_before[i] = 0.0
    else:
        bodies.p[i] = bodies.p_before[i] = d.velocity
        bodies.l[i] = bodies.l_before[i] = d.angular_velocity


@lru_cache(maxsize=1024)
def _principal(inertia: bytes) -> tuple[np.ndarray, np.ndarray, tuple[float, ...]]:
    """Inverse, principal moments and axes, as a quaternion, of an inertia tensor by its bytes: bodies of one kind share them."""
    tensor = np.frombuffer(inertia).reshape(3, 3)
    moments, axes = np.linalg.eigh(tensor)
    axes[:, 2] *= np.sign(np.linalg.det(axes))  # right-handed
    return np.linalg.inv(tensor), moments, Pose.from_matrix(axes).orientation


@unheard
def with_other(model: Model, i: int, definition: BodyDef, gravity: tuple[float, float, float]) -> Model:
    """The model in which body i is another one of the same shape, as the definition says, and where it says."""
    bodies, geoms = model.bodies, model.geoms
    old = bodies.center[i].copy()
    b = bodies
    matter, forces = (b.mass, b.inv_mass, b.inertia, b.inv_inertia, b.moments, b.axes, b.spin), (b.gravity, b.force, b.torque)
    for column in (*matter, *forces, b.dv, b.dw):
        column[i] = 0.0
    _write_body(bodies, i, definition, rotations(np.array([definition.orientation], dtype=float))[0], gravity)
    mine = geoms.body == i
    geoms.x[mine] += old - bodies.center[i]
    geoms.mobile[mine] = definition.kind == "dynamic" or definition.sensor
    geoms.moves[mine] = definition.kind != "static"
    bodies.radius[i] += np.linalg.norm(bodies.center[i] - old)
    return linked(model)


def with_paths(model: Model, definitions: Sequence[BodyDef]) -> Model:
    """The model with the paths of all its bodies, which are these."""
    bodies, tables, first = model.bodies, [np.zeros((0, state.KNOT))], 0
    for i, d in enumerate(definitions):
        bodies.path[i], bodies.period[i] = first, 0.0
        if d.path is not None:
            table, bodies.period[i] = d.path.coefficients(d.position, d.orientation)
            tables.append(table)
            bodies.path[i, 1] = first = first + len(table)
    return model._replace(bodies=bodies._replace(knots=np.concatenate(tables)))


def without_body(model: Model, i: int) -> Model:
    """The model without body i: what is known of other bodies, pairs and contacts stays known."""
    kept = np.arange(len(model.bodies.kind)) != i
    row = np.cumsum(kept) - 1  # where the kept bodies go
    geoms = model.geoms
    mine = geoms.body == i
    piece = np.cumsum(~mine) - 1
    geoms = geoms._replace(**{name: column[~mine] for name, column in geoms._asdict().items() if name != "apart"})
    geoms = geoms._replace(body=row[geoms.body], shape=piece[geoms.shape])
    pairs, contacts = _picked(model.pairs, "geoms", mine), _picked(model.contacts, "pair", mine)
    pairs.geoms[:] = piece[pairs.geoms]
    pairs.slot[:], pairs.seen[:] = np.arange(len(pairs.slot)), 0.0
    contacts.pair[:], contacts.body[:] = piece[contacts.pair], row[contacts.body]
    rows = {name: column[kept] for name, column in model.bodies._asdict().items() if name not in state.SHARED}
    bodies = model.bodies._replace(**rows)
    joints = model.joints  # those of body i are gone already
    joints.body[:] = np.where(joints.body >= 0, row[joints.body], -1)
    return linked(model._replace(bodies=bodies, geoms=geoms, pairs=pairs, contacts=contacts))


def _picked(group: Pairs | Contacts, key: str, gone: np.ndarray) -> Pairs | Contacts:
    """A table of pairs of pieces without those that concern a piece that is gone."""
    n = int(group.count[0])
    stay = np.flatnonzero(~gone[getattr(group, key)[:n]].any(axis=1))
    out = type(group)(*(np.zeros_like(column) for column in group))
    for column, into in zip(group, out, strict=True):
        if column is not group.count:
            into[: len(stay)] = column[stay]
    out.count[0] = len(stay)
    return out


def set_surface_motion(bodies: Bodies, i: int, velocity: Sequence[float], spin: Sequence[float]) -> None:
    """Have the surface of body i move against it; see BodyDef."""
    bodies.surface_v[i], bodies.surface_w[i] = velocity, spin
    bodies.runs[i] = int(any(velocity) or any(spin))


def with_surfaces(model: Model, surface: np.ndarray, exceptions: np.ndarray) -> Model:
    """The model with other pairs of surfaces; see materials.surfaces."""
    model.bodies.surface[:] = surface
    return model._replace(bodies=model.bodies._replace(exceptions=exceptions))


def with_pairs(model: Model, room: int) -> Model:
    """The model with room for more candidate pairs; tables of contacts have room for all points of all pairs."""
    books = model.books
    touching, sensed = (np.concatenate([keys, np.zeros(room - len(keys), np.int64)]) for keys in (books.touching, books.sensed))
    return model._replace(
        pairs=_longer(model.pairs, state.pairs_of(room)),
        contacts=_longer(model.contacts, state.contacts_of(rows_for(room))),
        books=books._replace(touching=touching, sensed=sensed),
    )


def with_accounts(model: Model) -> Model:
    """The model with room for twice as many accounts of pairs, and for those that the next step can open."""
    books = model.books
    room = max(2 * len(books.account), 4 * (int(books.counters[state.ACCOUNTS]) + len(model.pairs.event)))
    account, works = np.zeros(room, np.int64), np.zeros((room, 8))
    slots = books.account * np.int64(0x9E3779B1) % room  # wraps as accounts.book_pair does
    for key, row, k in zip(books.account, books.works, slots, strict=True):
        if key:
            while account[k]:
                k = (k + 1) % room
            account[k], works[k] = key, row
    return model._replace(books=books._replace(account=account, works=works))


def with_apart(model: Model, pairs: Sequence[tuple[int, int]]) -> Model:
    """The model in which these pairs of bodies do not meet."""
    keys = sorted({(min(i, j) << 32) | max(i, j) for i, j in pairs})
    return model._replace(geoms=model.geoms._replace(apart=np.array(keys, dtype=np.int64)))


def _longer(group: Pairs, into: Pairs) -> Pairs:
    """A table with a count, state.copied into a longer one."""
    state.copied(group._replace(count=into.count[:0]), into)
    into.count[:] = group.count
    return into
