"""Events as their readers see them; kernels write them in impact/event_log.py."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tumble.sim.state import EVENTS, LOST_EVENTS

if TYPE_CHECKING:
    from tumble.sim.world.body import Body
    from tumble.sim.world.world import World

EVENT_KINDS = ("begin", "persist", "end", "impact", "enter", "leave")


class Event(NamedTuple):
    """Something that happened between bodies a and b.

    kind : "impact", at its own instant; "begin" and "end" of a contact that lasts, at the step that finds it; "persist", on
        request, at each step in between; "enter" and "leave" of a sensor and a body.
    time : [s]
    point, normal : (3,) where [m], and from a to b; the mean over the points of contact by their load. Zero where a
        contact ended, and for sensors.
    impulse : (3,) on b [N s]: of the impact, or of the kick that a contact begins with, or persists in.
    loss : [J] taken by friction and restitution, never negative in an impact.
    speed : [m/s] at which the fastest point approached.
    """

    kind: str
    time: float
    a: Body
    b: Body
    point: np.ndarray
    normal: np.ndarray
    impulse: np.ndarray
    loss: float
    speed: float


def take(world: World) -> list[Event]:
    """The events since they were taken last, in the order in which they were found."""
    books = world.model.books
    rows = books.log[: books.counters[EVENTS]]
    body = world._by_serial
    events = [
        Event(
            EVENT_KINDS[int(r[0])], float(r[1]), body[int(r[2])], body[int(r[3])],
            r[4:7].copy(), r[7:10].copy(), r[10:13].copy(), float(r[13]), float(r[14]),
        )
        for r in rows
    ]  # fmt: skip
    lost = int(books.counters[LOST_EVENTS])
    books.counters[EVENTS] = books.counters[LOST_EVENTS] = 0
    known = {int(serial) for keys in (books.touching, books.sensed) for key in keys for serial in (key >> 31, key & 0x7FFFFFFF)}
    world._by_serial = {s: b for s, b in body.items() if b.alive or s in known}
    if lost:
        warnings.warn(f"{lost} events had no room: read them more often, or World.listen(capacity=...)", stacklevel=3)
    return events
