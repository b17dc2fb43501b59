"""Islands that fall asleep, and wake: rare, and so not compiled.

A sleeping island keeps its poses, and its contacts with their impulses. When it wakes its velocity is zero, and the kick starts
from those impulses. The energy that an island loses as it falls asleep is the entry ``sleep`` of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tumble.sim.contact.sleep_criterion import ROUSED
from tumble.sim.ledger import diagnostics
from tumble.sim.ledger import entries as ledger
from tumble.sim.state import DYNAMIC, SLEEPING, Contacts

if TYPE_CHECKING:
    from tumble.sim.world.world import World

CONTACT_ARRAYS = tuple(f for f in Contacts._fields if f != "count")


def fall_asleep(world: World) -> None:
    """Put the islands to sleep whose bodies have all been still for long enough."""
    b, steps = world.model.bodies, world.settings.sleep_steps
    awake = b.kind == DYNAMIC
    least = np.full(len(b.kind), steps)
    np.minimum.at(least, b.island[awake], b.still[awake])
    sleepers = awake & (least[b.island] >= steps)
    beds = b.serial[b.island]
    world._change(())
    _keep(world, sleepers)
    p, l = diagnostics.mean_momenta(b)
    world.model.books.reservoir[0] += p[sleepers].sum(axis=0)
    world.model.books.reservoir[1] += (l + np.cross(b.x, p))[sleepers].sum(axis=0)
    for column in (b.p, b.l, b.p_before, b.l_before, b.force, b.torque, b.dv, b.dw):
        column[sleepers] = 0.0
    b.pull[sleepers] = b.twist[sleepers] = 0.0
    b.bed[sleepers] = beds[sleepers]
    b.field[sleepers] = b.gravity[sleepers]
    b.gravity[sleepers] = 0.0
    _mark(world, sleepers, SLEEPING)
    taken = world.energy().total - world._changed_at
    world.model.books.energy[ledger.SLEEP] += taken
    world.model.books.moved[0] += abs(taken)
    world._changed_at += taken


def wake(world: World, rows: Iterable[int] | None = None) -> None:
    """Wake the islands of these bodies, by default all."""
    b = world.model.bodies
    beds = b.bed if rows is None else b.bed[[i for i in rows if b.kind[i] == SLEEPING]]
    woken = (b.kind == SLEEPING) & np.isin(b.bed, beds)
    if not woken.any():
        return
    world._change(())
    b.still[woken] = 0
    b.gravity[woken] = b.field[woken]
    b.field[woken] = 0.0
    _mark(world, woken, DYNAMIC)
    back = woken[world._dormant["body"]].any(axis=1)
    _join(world, {f: column[back] for f, column in world._dormant.items()})
    world._dormant = {f: column[~back] for f, column in world._dormant.items()}


def wake_roused(world: World) -> None:
    """Wake the islands that something touched in the step that was undone."""
    b = world.model.bodies
    wake(world, np.flatnonzero((b.kind == SLEEPING) & (b.still == ROUSED)))


def with_dormant(world: World) -> Contacts:
    """The contacts of the last kick and those of sleeping bodies, in the order of the pairs of pieces."""
    c = world.model.contacts
    if not world._dormant or len(world._dormant["gap"]) == 0:
        return c
    rows = _sorted(world, world._dormant)
    return Contacts(count=np.array([len(rows["gap"])]), **rows)


def _mark(world: World, rows: np.ndarray, kind: int) -> None:
    bodies, geoms = world.model.bodies, world.model.geoms
    bodies.kind[rows] = kind
    geoms.asleep[:] = bodies.kind[geoms.body] == SLEEPING


def _keep(world: World, sleepers: np.ndarray) -> None:
    """Add the contacts of bodies that fall asleep to the dormant ones."""
    c, old = world.model.contacts, world._dormant
    n = int(c.count[0])
    rows = np.flatnonzero(sleepers[c.body[:n]].any(axis=1))
    more = {f: getattr(c, f)[rows] for f in CONTACT_ARRAYS}
    world._dormant = {f: np.concatenate([old[f], more[f]]) for f in CONTACT_ARRAYS} if old else more


def _join(world: World, rows: dict[str, np.ndarray]) -> None:
    """Put contacts back into the table, which is sorted by pairs of pieces."""
    joined = _sorted(world, rows)
    total = len(joined["gap"])
    while total > len(world.model.contacts.gap):
        world._grow_pairs()
    c = world.model.contacts
    for f, column in joined.items():
        getattr(c, f)[:total] = column
    c.count[0] = total


def _sorted(world: World, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The table of contacts and these rows, in the order of the pairs of pieces."""
    c = world.model.contacts
    n = int(c.count[0])
    joined = {f: np.concatenate([getattr(c, f)[:n], rows[f]]) for f in CONTACT_ARRAYS}
    order = np.lexsort((joined["pair"][:, 1], joined["pair"][:, 0]))
    return {f: column[order] for f, column in joined.items()}
