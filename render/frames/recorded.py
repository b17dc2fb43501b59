"""Frames of a recorded run at any time in it, between samples too."""

from __future__ import annotations

from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.render.frames.frame import Contacts, Frame, Impact, SpinTrace, cast_of, digits_of, lines_of, spin_trace
from tumble.render.frames.graphs import Graphs, graphs_of_run
from tumble.render.frames.overlay import OF_BOOKS, OF_CONTACTS
from tumble.render.rotation import interpolate, rotate
from tumble.sim.errors import RecordingError

TRAIL_SECONDS = 1.0
TRAIL_POINTS = 60
TRACE_SECONDS = 10.0  # of the angular velocity
TRACE_POINTS = 400
HIT_SECONDS = 0.3  # for so long an impact is seen
HITS = 400  # at most
LOOKS, USUAL = 60, 0.9  # samples that set the scale of forces, and the part of their largest forces that it covers
LARGE = 2_000_000  # samples of bodies, some 200 MB: recordings beyond stay on disk


class RunFrames:
    """Frames of a recorded run at any time in it. Reads the recording in blocks, so that its length costs no memory.

    Of a recording of chosen bodies they show these, and the static ones, where the scene has them.

    Parameters
    ----------
    run : has ``scene`` (with ``bodies`` and ``name``) and ``times`` (T,), ``positions`` (T, n, 3), ``orientations``
        (T, n, 4), ``velocities`` and ``angular_velocities`` (T, n, 3), ``energy`` (T,).

    Attributes
    ----------
    trails, traces, contacts : set them to have these in the frames, or let :meth:`prepare` do it.
    graphs, impacts : likewise, what ``graphs_of_run`` and ``Run.impacts`` give.
    """

    def __init__(self, run: Any):
        bodies = list(getattr(run, "bodies", run.scene.bodies))  # those that were recorded
        names = {None, *(body.name for body in bodies)}
        still = [body for body in run.scene.bodies if body.kind == "static" and body.name not in names]  # known all the same
        bodies, names = [*bodies, *still], names | {body.name for body in still}
        joints = [joint for joint in getattr(run.scene, "joints", ()) if joint.a in names and joint.b in names]
        self.cast = cast_of(bodies, getattr(run.scene, "name", ""), joints)
        self.camera = getattr(run.scene, "camera", None)
        self.times = np.asarray(run.times, float)
        if len(self.times) == 0:
            raise InputError("run", getattr(run, "path", None), "holds no sample, so there is nothing to draw")
        self.run, self.trails, self.traces, self.contacts = run, False, False, False
        self.scales: dict[str, float] = {}
        self.graphs: Graphs | None = None
        self.impacts: np.ndarray | None = None
        large = len(self.times) * len(self.cast) > LARGE and getattr(run, "path", None) is not None
        stored = run.dataset if large else None  # read as it is needed
        zero = np.zeros((len(still), 3))
        self._positions, self._orientations, self._velocities, self._spins = (
            _Rows(getattr(run, name) if stored is None else stored[variable], fixed)
            for name, variable, fixed in (
                ("positions", "position", [body.position for body in still]),
                ("orientations", "orientation", [body.orientation for body in still]),
                ("velocities", "velocity", zero),
                ("angular_velocities", "angular_velocity", zero),
            )
        )
        try:
            self._asleep = _Rows(run.asleep if stored is None else stored["asleep"], np.zeros(len(still), bool))
        except (AttributeError, KeyError, RecordingError):  # of an older version
            self._asleep = None
        rows = {body.name: row for row, body in enumerate(bodies)}
        self.row_of = np.array([rows.get(name, -1) for name in getattr(run, "partners", rows)], int)  # of who touches
        self._energy = np.asarray(run.energy, float)
        self._digits = digits_of(self._energy)

    def prepare(self, overlays: tuple[str, ...]) -> None:
        """Have in the frames what these overlays show. RecordingError where the run does not hold it."""
        self.trails, self.traces = "trails" in overlays, "polhode" in overlays
        if "impacts" not in overlays:
            self.impacts = None
        elif self.impacts is None:
            rows = self.run.impacts  # says so if there are none
            self.impacts = rows[np.argsort(rows["time"], kind="stable")]  # within a step they are in the order of their finding
            self.scales["impacts"] = float(np.linalg.norm(rows["impulse"], axis=1).max(initial=0.0))
        if "sleeping" in overlays and self._asleep is None:
            self.run.asleep  # noqa: B018  says so
        wanted = any(name in overlays for name in OF_CONTACTS)
        if wanted and not self.contacts:
            self.run.contacts(0)  # says so if there are none
            looks = np.unique(np.linspace(0, len(self.times) - 1, LOOKS).round().astype(int))
            most = [np.linalg.norm(self.run.contacts(i)["force"], axis=1).max(initial=0.0) for i in looks]
            self.scales["contacts"] = float(np.quantile(most, USUAL))
        self.contacts = wanted
        if self.graphs is None and any(name in overlays for name in OF_BOOKS):
            self.graphs = graphs_of_run(self.run)

    @property
    def start(self) -> float:
        return float(self.times[0])

    @property
    def stop(self) -> float:
        return float(self.times[-1])

    def at(self, time: float) -> Frame:
        """The frame at ``time`` [s], held at the ends of the run beyond them.

        Between samples orientations turn at constant spin, and positions follow the cubic that has the recorded velocities
        at both ends (exact under gravity). Where the velocities do not add up to the way gone, for a body was hit in
        between, a straight line is taken: a cubic would swing out of it.
        """
        i, s = self._place(time)
        x, q, v, w = (rows[i] for rows in (self._positions, self._orientations, self._velocities, self._spins))
        if s > 0.0:
            h = float(self.times[i + 1] - self.times[i])
            x1, q1, v1, w1 = (rows[i + 1] for rows in (self._positions, self._orientations, self._velocities, self._spins))
            com = self.cast.centers_of_mass
            c0, c1 = x + rotate(q, com), x1 + rotate(q1, com)
            q = interpolate(q, q1, s, 0.5 * h * (w + w1))
            x = between(c0, c1, v, v1, h, s) - rotate(q, com)
            v, w = v + s * (v1 - v), w + s * (w1 - w)
        energy = float(self._energy[i] + s * (self._energy[min(i + 1, len(self._energy) - 1)] - self._energy[i]))
        time = min(max(time, self.start), self.stop)
        frame = Frame(self.cast, time, x, q, v, w, joints=self._joints(x, q), graphs=self.graphs, scales=self.scales)
        frame.lines = lines_of(self.cast.title, time, energy, self._digits)
        frame.trails = self._trails(time) if self.trails else []
        frame.traces = self._traces(time) if self.traces else []
        if self.contacts:
            frame.contacts = touching = Contacts.of(self.run.contacts(i))
            touching.bodies[:] = self.row_of[touching.bodies]
        if self.impacts is not None:
            first, last = np.searchsorted(self.impacts["time"], (time - HIT_SECONDS, time), side="right")
            recent = self.impacts[max(first, last - HITS) : last]
            frame.impacts = [Impact(e["point"], e["impulse"], float(time - e["time"]) / HIT_SECONDS) for e in recent]
        if self._asleep is not None:
            frame.asleep = self._asleep[i]
        return frame

    def _joints(self, x: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Where the anchors of the joints are."""
        joined, points = self.cast.joined, self.cast.anchors
        moved = x[joined] + rotate(q[joined.ravel()], points.reshape(-1, 3)).reshape(-1, 2, 3)
        return np.where(joined[..., None] >= 0, moved, points)

    def bare(self, i: int) -> Frame:
        """The poses of sample ``i``, and nothing else."""
        return Frame(self.cast, float(self.times[i]), self._positions[i], self._orientations[i])

    def sample(self, time: float) -> int:
        """The sample at ``time`` [s], or the one before."""
        return self._place(time + 1e-9)[0]

    def _place(self, time: float) -> tuple[int, float]:
        """Sample before ``time`` and the fraction of the way to the next."""
        i = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.times) - 1))
        if i == len(self.times) - 1 or time <= self.times[i]:
            return i, 0.0
        return i, float((time - self.times[i]) / (self.times[i + 1] - self.times[i]))

    def _past(self, time: float, seconds: float, most: int) -> np.ndarray:
        """Samples of the last seconds, ``most`` at most."""
        first, last = self._place(time - seconds)[0], self._place(time)[0]
        return np.unique(np.linspace(first, last, min(most, last - first + 1)).round().astype(int))

    def _trails(self, time: float) -> list[tuple[int, np.ndarray]]:
        picks = self._past(time, TRAIL_SECONDS, TRAIL_POINTS)
        com = self.cast.centers_of_mass
        paths = np.stack([self._positions[i] + rotate(self._orientations[i], com) for i in picks], axis=1)
        return [(int(b), paths[b]) for b in np.flatnonzero(self.cast.dynamic)]

    def _traces(self, time: float) -> list[SpinTrace]:
        picks = self._past(time, TRACE_SECONDS, TRACE_POINTS)
        q, w = np.stack([self._orientations[i] for i in picks]), np.stack([self._spins[i] for i in picks])
        return [spin_trace(int(b), q[:, b], w[:, b]) for b in np.flatnonzero(self.cast.dynamic)]


def between(x0: np.ndarray, x1: np.ndarray, v0: np.ndarray, v1: np.ndarray, h: float, s: float) -> np.ndarray:
    """Positions (n, 3) a fraction ``s`` of the time ``h`` after x0: cubic Hermite where the motion was smooth, else linear.

    Smooth motion leaves x1 - x0 - h (v0 + v1) / 2 = O(h^3); a hit in between leaves O(h) times the jump in velocity.
    """
    straight = x0 + s * (x1 - x0)
    smooth = x0 + (3 - 2 * s) * s * s * (x1 - x0) + h * s * (1 - s) * ((1 - s) * v0 - s * v1)
    gap = np.linalg.norm(x1 - x0 - 0.5 * h * (v0 + v1), axis=1)
    jump = 0.5 * h * np.linalg.norm(v1 - v0, axis=1)
    return np.where((gap <= 0.1 * jump + 1e-12)[:, None], smooth, straight)


class _Rows:
    """Rows of an array in memory or on disk, read a block at a time; ``fixed`` (m, ...) stands below each."""

    def __init__(self, source: Any, fixed: Any = (), block: int = 256):
        self.source, self.fixed, self.block = source, np.array(fixed), block
        self.start, self.rows = 0, np.zeros((0,))

    def __getitem__(self, i: int) -> np.ndarray:
        row = self.row(i)
        return np.concatenate([row, self.fixed]) if len(self.fixed) else row

    def row(self, i: int) -> np.ndarray:
        if isinstance(self.source, np.ndarray):
            return self.source[i]
        if not self.start <= i < self.start + len(self.rows):
            self.start = i - i % self.block
            self.rows = np.asarray(self.source[self.start : self.start + self.block])
        return self.rows[i - self.start]
