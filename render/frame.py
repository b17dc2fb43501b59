"""What is drawn, as plain data: a :class:`Cast` that stays the same, and a :class:`Frame` for one instant.

A frame comes from a world as it stands, or from a recorded run at any time, between samples too. The renderers know nothing
else, so that whatever can fill a frame can be drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from collision.errors import InputError
from render.look import KINEMATIC, PALETTE, STATIC, rgb
from render.meshes import bounding_ball, planes_of
from render.rotation import interpolate, rotate

TRAIL_SECONDS = 1.0
TRAIL_POINTS = 60
LARGE = 2_000_000  # samples of bodies, some 200 MB: recordings beyond stay on disk


@dataclass(frozen=True, eq=False)
class Cast:
    """The bodies of a scene, one entry each, in the order of the positions."""

    title: str
    names: tuple[str, ...]
    shapes: tuple[Any, ...]
    kinds: tuple[str, ...]
    colors: np.ndarray  # (n, 3) as displayed, 0 to 1
    centers_of_mass: np.ndarray  # (n, 3) [m] in the body frame
    inertias: np.ndarray  # (n, 3, 3) [kg m^2] about the centre of mass in body axes; nan where not dynamic
    joined: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), int))  # (k, 2) bodies of the joints, -1: the world
    anchors: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 3)))  # (k, 2, 3) [m] in their frames

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def dynamic(self) -> np.ndarray:
        """(n,) bool: moved by the laws of motion."""
        return np.array([kind == "dynamic" for kind in self.kinds], bool)

    @cached_property
    def balls(self) -> tuple[np.ndarray, np.ndarray]:
        """``(centres (n, 3), radii (n,))`` [m] in the body frames, of balls around the bodies; nan where there is no end."""
        found = [bounding_ball(shape) for shape in self.shapes]
        return np.array([c for c, _ in found]).reshape(-1, 3), np.array([r for _, r in found])

    @cached_property
    def has_floor(self) -> bool:
        return any(planes_of(shape) for shape in self.shapes)


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contact points of one instant: ``points`` (m, 3) [m], ``normals`` (m, 3), ``forces`` (m, 3) [N] on the second body."""

    points: np.ndarray
    normals: np.ndarray
    forces: np.ndarray


@dataclass(eq=False)
class Frame:
    """One instant. Positions are those of the body frames' origins; what is None is not known and is not drawn."""

    cast: Cast
    time: float
    positions: np.ndarray  # (n, 3) [m]
    orientations: np.ndarray  # (n, 4) (w, x, y, z)
    velocities: np.ndarray | None = None  # (n, 3) [m/s] of the centres of mass
    angular_velocities: np.ndarray | None = None  # (n, 3) [rad/s] in the world
    contacts: Contacts | None = None
    joints: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 3)))  # (k, 2, 3) [m] both anchors of each
    trails: list[tuple[int, np.ndarray]] = field(default_factory=list)  # (body, (m, 3) points from old to new)
    lines: tuple[str, ...] = ()  # text in the corner

    def centers_of_mass(self) -> np.ndarray:
        """(n, 3) [m] in the world."""
        return self.positions + rotate(self.orientations, self.cast.centers_of_mass)

    def angular_momenta(self) -> np.ndarray:
        """(n, 3) [kg m^2/s] of each body about its centre of mass: R I R^T omega; nan where not dynamic."""
        back = self.orientations * (1.0, -1.0, -1.0, -1.0)
        spin = rotate(back, self.angular_velocities)
        return rotate(self.orientations, np.einsum("nij,nj->ni", self.cast.inertias, spin))

    def balls(self) -> tuple[np.ndarray, np.ndarray]:
        """``(centres (n, 3), radii (n,))`` in the world, of balls around the bodies; radius nan for half-spaces."""
        centers, radii = self.cast.balls
        return self.positions + rotate(self.orientations, centers), radii


def cast_of(bodies: Iterable[Any], title: str = "", joints: Iterable[Any] = ()) -> Cast:
    """The cast of BodyDefs, or of a world's bodies; with the JointDefs that were made as the bodies stand there.

    Bodies without a colour get one of the palette in turn.
    """
    bodies = list(bodies)
    names = tuple(body.name for body in bodies)
    joined = [tuple(-1 if end is None else names.index(end) for end in (j.a, j.b)) for j in joints]
    ends = [[getattr(j, name, getattr(j, "anchor", None)) for name in ("anchor_a", "anchor_b")] for j in joints]
    anchors = np.array(ends, float).reshape(-1, 2, 3)
    for pair, points in zip(joined, anchors, strict=True):
        for i, point in zip(pair, points, strict=True):
            if i >= 0:
                back = np.array(bodies[i].orientation) * (1.0, -1.0, -1.0, -1.0)
                point[:] = rotate(back[None], (point - bodies[i].position)[None])[0]
    colors, turn = [], 0
    for body in bodies:
        color = getattr(body, "color", None)
        if color is None and body.kind != "dynamic":
            color = STATIC if body.kind == "static" else KINEMATIC
        elif color is None:
            color, turn = PALETTE[turn % len(PALETTE)], turn + 1
        colors.append(rgb(color))
    centers, inertias = np.zeros((len(bodies), 3)), np.full((len(bodies), 3, 3), np.nan)
    for i, body in enumerate(bodies):
        if body.kind == "dynamic" and hasattr(body, "mass_properties"):
            _, centers[i], inertias[i] = body.mass_properties()
    return Cast(
        title=title,
        names=names,
        shapes=tuple(body.shape for body in bodies),
        kinds=tuple(body.kind for body in bodies),
        colors=np.array(colors, float).reshape(-1, 3),
        centers_of_mass=centers,
        inertias=inertias,
        joined=np.array(joined, int).reshape(-1, 2),
        anchors=anchors,
    )


def frame_of(world: Any, cast: Cast | None = None) -> Frame:
    """The frame of a world as it stands. Hand in the ``cast`` of the last call to save making it again."""
    if cast is None:
        scene = getattr(world, "scene", None)
        bodies = scene.bodies if scene is not None else world.bodies
        cast = cast_of(bodies, getattr(scene, "name", ""))
    energy = float(world.energy().total)
    frame = Frame(
        cast,
        float(world.time),
        np.array(world.positions, float),
        np.array(world.orientations, float),
        np.array(world.velocities, float),
        np.array(world.angular_velocities, float),
        lines=_lines(cast.title, float(world.time), energy, _digits(np.array([energy]))),
    )
    if getattr(world, "joints", None):
        frame.joints = np.array([joint.anchors for joint in world.joints])
    if hasattr(world, "contacts"):
        found = world.contacts()
        frame.contacts = Contacts(np.array(found["point"]), np.array(found["normal"]), np.array(found["force"]))
    return frame


class RunFrames:
    """Frames of a recorded run at any time in it. Reads the recording in blocks, so that its length costs no memory.

    Parameters
    ----------
    run : has ``scene`` (with ``bodies`` and ``name``) and ``times`` (T,), ``positions`` (T, n, 3), ``orientations``
        (T, n, 4), ``velocities`` and ``angular_velocities`` (T, n, 3), ``energy`` (T,).

    Attributes
    ----------
    trails : set it to have the paths of the centres of mass over the last second in the frames.
    """

    def __init__(self, run: Any):
        self.cast = cast_of(run.scene.bodies, getattr(run.scene, "name", ""), getattr(run.scene, "joints", ()))
        self.camera = getattr(run.scene, "camera", None)
        self.times = np.asarray(run.times, float)
        if len(self.times) == 0:
            raise InputError("run", getattr(run, "path", None), "holds no sample, so there is nothing to draw")
        self.trails = False
        large = len(self.times) * len(self.cast) > LARGE and getattr(run, "path", None) is not None
        stored = run.dataset if large else None  # read as it is needed
        self._positions, self._orientations, self._velocities, self._spins = (
            _Rows(getattr(run, name) if stored is None else stored[variable])
            for name, variable in (
                ("positions", "position"),
                ("orientations", "orientation"),
                ("velocities", "velocity"),
                ("angular_velocities", "angular_velocity"),
            )
        )
        self._energy = np.asarray(run.energy, float)
        self._digits = _digits(self._energy)

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
        trails = self._trails(time) if self.trails else []
        lines = _lines(self.cast.title, time, energy, self._digits)
        return Frame(self.cast, time, x, q, v, w, joints=self._joints(x, q), trails=trails, lines=lines)

    def _joints(self, x: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Where the anchors of the joints are."""
        joined, points = self.cast.joined, self.cast.anchors
        moved = x[joined] + rotate(q[joined.ravel()], points.reshape(-1, 3)).reshape(-1, 2, 3)
        return np.where(joined[..., None] >= 0, moved, points)

    def sampled(self, count: int = 96) -> tuple[np.ndarray, np.ndarray]:
        """``(centres (k, n, 3), radii (n,))`` of the balls around the bodies at up to ``count`` instants of the run."""
        picks = np.unique(np.linspace(0, len(self.times) - 1, min(count, len(self.times))).round().astype(int))
        centers, radii = self.cast.balls
        return np.stack([self._positions[i] + rotate(self._orientations[i], centers) for i in picks]), radii

    def _place(self, time: float) -> tuple[int, float]:
        """Sample before ``time`` and the fraction of the way to the next."""
        i = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.times) - 1))
        if i == len(self.times) - 1 or time <= self.times[i]:
            return i, 0.0
        return i, float((time - self.times[i]) / (self.times[i + 1] - self.times[i]))

    def _trails(self, time: float) -> list[tuple[int, np.ndarray]]:
        first, last = self._place(time - TRAIL_SECONDS)[0], self._place(time)[0]
        picks = np.unique(np.linspace(first, last, min(TRAIL_POINTS, last - first + 1)).round().astype(int))
        com = self.cast.centers_of_mass
        paths = np.stack([self._positions[i] + rotate(self._orientations[i], com) for i in picks], axis=1)
        return [(int(b), paths[b]) for b in np.flatnonzero(self.cast.dynamic)]


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
    """Rows of an array in memory or on disk, read a block at a time."""

    def __init__(self, source: Any, block: int = 256):
        self.source, self.block, self.start, self.rows = source, block, 0, np.zeros((0,))

    def __getitem__(self, i: int) -> np.ndarray:
        if isinstance(self.source, np.ndarray):
            return self.source[i]
        if not self.start <= i < self.start + len(self.rows):
            self.start = i - i % self.block
            self.rows = np.asarray(self.source[self.start : self.start + self.block])
        return self.rows[i - self.start]


def _digits(energy: np.ndarray) -> int:
    """Decimals that show five digits of the largest energy, the same all through a film so that the number stands still."""
    most = float(np.abs(energy).max()) if len(energy) else 0.0
    return int(np.clip(4 - np.floor(np.log10(most)), 0, 9)) if most > 0 else 3


def _lines(title: str, time: float, energy: float, digits: int) -> tuple[str, ...]:
    return (title.replace("_", " "), f"t = {time:.3f} s", f"E = {energy:.{digits}f} J")
