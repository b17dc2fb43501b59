"""Frames of a world that goes on: with what was seen of it before, in bounded memory. Reads the world, never writes to it."""

from __future__ import annotations

import math
import warnings
from collections import deque
from time import perf_counter
from typing import Any

import numpy as np

from tumble.render.frames.frame import Frame, Impact, cast_of, digits_of, frame_of, lines_of, spin_trace
from tumble.render.frames.graphs import Log
from tumble.render.frames.overlay import OF_BOOKS, OF_CONTACTS
from tumble.render.frames.recorded import HIT_SECONDS, HITS, TRACE_POINTS, TRACE_SECONDS, TRAIL_POINTS, TRAIL_SECONDS

LOG_SECONDS = 0.1  # of the clock, from one row of graphs that are not shown to the next


class WorldFrames:
    """Call :meth:`look` now and then while the world steps, and :meth:`now` for a frame.

    Attributes
    ----------
    trails, traces, contacts, impacts, graphs : whether frames have them; :meth:`prepare` sets them by the names of overlays.
        Impacts are read from the events of the world, which are gone then.
    """

    def __init__(self, world: Any, title: str | None = None):
        self.world = world
        self.title = world.scene.name if title is None else title
        self.camera = getattr(world.scene, "camera", None)
        self.trails = self.traces = self.contacts = self.impacts = self.graphs = False
        self._hits: deque = deque(maxlen=HITS)
        self._log = Log()
        self._logged = -math.inf  # by the clock
        self._digits = 0
        self._gather()
        self.look()

    def prepare(self, overlays: tuple[str, ...]) -> None:
        """Have in the frames what these overlays show."""
        self.trails, self.traces = "trails" in overlays, "polhode" in overlays
        self.contacts = any(name in overlays for name in OF_CONTACTS)
        self.graphs = any(name in overlays for name in OF_BOOKS)
        if "impacts" in overlays and not self.impacts:
            with warnings.catch_warnings(action="ignore"):  # what happened before it was looked at may be too much
                self.world.events()
        self.impacts = "impacts" in overlays

    def look(self) -> None:
        """Keep what trails, traces and graphs will need."""
        if self.world.bodies != self._bodies:
            self._gather()
        if self.impacts:
            self._hits += [(e.time, e.point, e.impulse) for e in self.world.events() if e.kind == "impact"]
        world, time = self.world, self.world.time
        if not self._ways or time >= self._ways[-1][0] + TRAIL_SECONDS / TRAIL_POINTS:
            self._ways.append((time, world.centers_of_mass))
        if not self._spins or time >= self._spins[-1][0] + TRACE_SECONDS / TRACE_POINTS:
            self._spins.append((time, world.orientations, world.angular_velocities))
        clock = perf_counter()
        if self.graphs or clock >= self._logged + LOG_SECONDS:
            self._log.look(world)
            self._logged = clock

    def now(self) -> Frame:
        """The frame of the world as it stands."""
        self.look()
        energy = float(self.world.energy().total)
        frame = frame_of(self.world, self.cast, self.contacts, energy)
        self._digits = max(self._digits, digits_of(np.array([energy])))  # steady once it is running
        frame.lines = lines_of(self.title, frame.time, energy, self._digits)
        moving = [int(b) for b in np.flatnonzero(self.cast.dynamic)]
        if self.trails:
            ways = np.stack([*(x for _, x in self._ways), frame.centers_of_mass()])
            frame.trails = [(b, ways[:, b]) for b in moving]
        if self.traces:
            turns = np.stack([*(q for _, q, _ in self._spins), frame.orientations])
            spins = np.stack([*(w for _, _, w in self._spins), frame.angular_velocities])
            frame.traces = [spin_trace(b, turns[:, b], spins[:, b]) for b in moving]
        if self.impacts:
            ages = ((frame.time - time) / HIT_SECONDS for time, _, _ in self._hits)
            frame.impacts = [Impact(x, p, max(a, 0.0)) for (_, x, p), a in zip(self._hits, ages, strict=True) if a < 1.0]
        if self.graphs:
            frame.graphs = self._log.graphs()
        return frame

    def _gather(self) -> None:
        """Bodies came or went: their rows are others now."""
        self._bodies = list(self.world.bodies)
        self.cast = cast_of([body.definition for body in self._bodies], self.title)
        self._ways: deque = deque(maxlen=TRAIL_POINTS)
        self._spins: deque = deque(maxlen=TRACE_POINTS)
