"""What is drawn, as plain data: a :class:`Cast` that stays the same, and a :class:`Frame` for one instant.

A frame comes from a world as it stands, or from a recorded run at any time, between samples too. The renderers know nothing
else, so that whatever can fill a frame can be drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.broadphase.bounding_boxes import bounding_boxes, candidate_pairs
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.render.look import KINEMATIC, PALETTE, STATIC, rgb
from tumble.render.meshes.meshes import bounding_ball, ground_of, planes_of
from tumble.render.rotation import rotate
from tumble.sim.joints.joint_definitions import Gear
from tumble.sim.scene.visual import RELIEF

if TYPE_CHECKING:
    from tumble.render.frames.graphs import Graphs


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
    masses: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (n,) [kg]; nan where not dynamic
    finishes: tuple[str, ...] = ()  # of tumble.sim.scene.visual.FINISHES; none: all plain
    visuals: tuple[Any, ...] = ()  # a Visual or None each; none: all as they collide

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
        for i, (center, radius) in enumerate(found):
            for skin in self.skins(i) or ():  # what is drawn may go beyond what collides
                radius = max(radius, float(np.linalg.norm(skin.points - center, axis=1).max()))
            found[i] = center, radius
        return np.array([c for c, _ in found]).reshape(-1, 3), np.array([r for _, r in found])

    def finish(self, body: int) -> str:
        return self.finishes[body] if self.finishes else "plain"

    def skins(self, body: int) -> tuple | None:
        """What is drawn in place of the shape of a body, as ``skins_of`` gives it; None: the shape."""
        from tumble.render.meshes.visuals import skins_of

        key = self.skin_key(body)
        if isinstance(key, Ground):
            from tumble.render.meshes.relief import relief

            return (relief(key),)
        return None if key is None else skins_of(key)

    def skin_key(self, body: int) -> Any:
        """What skins of a body are told apart by: its visual, or the ground that is coloured by height; None: none."""
        if self.visuals and self.visuals[body] is not None:
            return self.visuals[body]
        return ground_of(self.shapes[body]) if self.finish(body) == RELIEF else None

    @cached_property
    def packed(self) -> ShapeSet:
        """The shapes as queries take them."""
        return ShapeSet(self.shapes, ground=True)

    @cached_property
    def principal(self) -> tuple[np.ndarray, np.ndarray]:
        """``(axes (n, 3, 3), half (n, 3) [m])`` of the boxes that turn like the bodies: rows of unit vectors in the body frame,
        the axis of least inertia first, and half the width of an even box with these moments along each; nan where not dynamic.

        A box has I_1 = m (b^2 + c^2) / 3 and so on, hence a^2 = 3 (I_2 + I_3 - I_1) / (2 m).
        """
        axes, half = np.full((len(self), 3, 3), np.nan), np.full((len(self), 3), np.nan)
        for i in np.flatnonzero(self.dynamic & np.isfinite(self.inertias).all(axis=(1, 2))):
            moments, vectors = np.linalg.eigh(self.inertias[i])
            axes[i] = vectors.T * (1.0, 1.0, np.linalg.det(vectors))  # right-handed
            half[i] = np.sqrt(np.maximum(1.5 * (moments.sum() - 2.0 * moments) / self.masses[i], 0.0))
        return axes, half

    @cached_property
    def planes(self) -> tuple[list, ...]:
        """The half-spaces of each body, as ``planes_of`` gives them."""
        return tuple(planes_of(shape) for shape in self.shapes)

    @cached_property
    def floors(self) -> list[tuple[int, np.ndarray, float]]:
        """(body, normal (3,) in its frame, offset [m]) of all half-spaces."""
        return [(body, *plane) for body, planes in enumerate(self.planes) for plane in planes]

    @property
    def has_floor(self) -> bool:
        return bool(self.floors)


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contact points of one instant: ``points`` (m, 3) [m], ``normals`` (m, 3), ``forces`` (m, 3) [N] on the second body.

    ``bodies`` (m, 2): rows of the two; ``pieces`` (m, 2): the convex pieces that touch; those of a pair make a manifold.
    """

    points: np.ndarray
    normals: np.ndarray
    forces: np.ndarray
    bodies: np.ndarray
    pieces: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> Contacts:
        """From the structured array of ``World.contacts`` or ``Run.contacts``: those that bear a force, or are closed.

        The solver is handed points that are still open too, for they might close within the step.
        """
        rows = rows[(np.abs(rows["force"]).max(axis=1) > 0.0) | (rows["gap"] <= 0.0)]
        pair = lambda a, b: np.stack([rows[a], rows[b]], axis=1)  # noqa: E731
        vectors = (np.array(rows[name]) for name in ("point", "normal", "force"))
        return cls(*vectors, pair("body_a", "body_b"), pair("piece_a", "piece_b"))


@dataclass(frozen=True, eq=False)
class Impact:
    """A hit of a moment ago: ``point`` (3,) [m], ``impulse`` (3,) [N s] on the second body, ``age`` from 0 to 1, forgotten."""

    point: np.ndarray
    impulse: np.ndarray
    age: float


@dataclass(frozen=True, eq=False)
class SpinTrace:
    """The way of a body's angular velocity [rad/s], from old to new, as vectors from its centre of mass.

    ``polhode`` (m, 3): in the body, turned as the body now stands; ``herpolhode`` (m, 3): in space. Both end at omega now.
    """

    body: int
    polhode: np.ndarray
    herpolhode: np.ndarray


def spin_trace(body: int, orientations: np.ndarray, spins: np.ndarray) -> SpinTrace:
    """From the orientations (m, 4) and angular velocities (m, 3) of a body, from old to new."""
    in_body = rotate(orientations * (1.0, -1.0, -1.0, -1.0), spins)
    return SpinTrace(body, rotate(orientations[-1], in_body), spins)


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
    traces: list[SpinTrace] = field(default_factory=list)
    impacts: list[Impact] = field(default_factory=list)
    asleep: np.ndarray | None = None  # (n,) bool
    lines: tuple[str, ...] = ()  # text in the corner
    scales: dict[str, float] = field(default_factory=dict)  # by overlay, what its longest arrow means [N], [N s]; else its own
    graphs: Graphs | None = None
    picked: int | None = None  # a body to stand out
    pull: np.ndarray | None = None  # (2, 3) [m] ends of the spring by which a body is dragged

    @property
    def present(self) -> np.ndarray:
        """(n,) bool: not removed from the world; the others have no position."""
        return np.isfinite(self.positions).all(axis=1)

    def centers_of_mass(self) -> np.ndarray:
        """(n, 3) [m] in the world."""
        return self.positions + rotate(self.orientations, self.cast.centers_of_mass)

    def angular_momenta(self) -> np.ndarray:
        """(n, 3) [kg m^2/s] of each body about its centre of mass: R I R^T omega; nan where not dynamic."""
        back = self.orientations * (1.0, -1.0, -1.0, -1.0)
        spin = rotate(back, self.angular_velocities)
        return rotate(self.orientations, np.einsum("nij,nj->ni", self.cast.inertias, spin))

    def balls(self) -> tuple[np.ndarray, np.ndarray]:
        """``(centres (n, 3), radii (n,))`` in the world, of balls around bodies; radius nan for half-spaces and the removed."""
        centers, radii = self.cast.balls
        return self.positions + rotate(self.orientations, centers), np.where(self.present, radii, np.nan)

    def ball(self) -> tuple[np.ndarray, float]:
        """``(centre (3,), radius)`` [m] of a ball about the mean of the bodies that have an end, which holds them."""
        centers, radii = self.balls()
        near = np.isfinite(radii)
        if not near.any():
            return np.zeros(3), 1.0
        middle = centers[near].mean(axis=0)
        return middle, float((np.linalg.norm(centers[near] - middle, axis=1) + radii[near]).max())

    def floor(self, body: int, normal: np.ndarray, offset: float) -> tuple[np.ndarray, float]:
        """``(n (3,), level)`` of a half-space of a body as it stands: it fills n . x <= level [m]."""
        n = rotate(self.orientations[body], normal)
        return n, offset + float(n @ self.positions[body])

    def boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """``(lo, hi)``, (n, 3) each [m]: boxes along the axes of the world; infinite for half-spaces, nan for the removed."""
        there = np.flatnonzero(self.present)
        lo, hi = np.full((2, len(self.cast), 3), np.nan)
        lo[there], hi[there] = bounding_boxes(self.cast.packed, there, self.positions[there], self.orientations[there])
        return lo, hi

    def pairs(self) -> np.ndarray:
        """(m, 2): bodies whose boxes overlap, one of the two dynamic."""
        there = np.flatnonzero(self.present)
        lo, hi = self.boxes()
        return there[candidate_pairs(lo[there], hi[there], mobile=self.cast.dynamic[there])]


def cast_of(bodies: Iterable[Any], title: str = "", joints: Iterable[Any] = ()) -> Cast:
    """The cast of BodyDefs, or of a world's bodies; with the JointDefs that were made as the bodies stand there.

    Bodies without a colour get one of the palette in turn. Gears are not marked: they have no point in common, only their teeth.
    """
    bodies, joints = list(bodies), [joint for joint in joints if not isinstance(joint, Gear)]
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
    masses, centers, inertias = np.full(len(bodies), np.nan), np.zeros((len(bodies), 3)), np.full((len(bodies), 3, 3), np.nan)
    for i, body in enumerate(bodies):
        if body.kind == "dynamic" and hasattr(body, "mass_properties"):
            masses[i], centers[i], inertias[i] = body.mass_properties()
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
        masses=masses,
        finishes=tuple(getattr(body, "finish", "plain") for body in bodies),
        visuals=tuple(getattr(body, "visual", None) for body in bodies),
    )


def frame_of(world: Any, cast: Cast | None = None, contacts: bool = True, energy: float | None = None) -> Frame:
    """The frame of a world as it stands. To save time hand in the ``cast`` of the last call, and the total ``energy`` [J]."""
    if cast is None:
        scene = getattr(world, "scene", None)
        bodies = scene.bodies if scene is not None else world.bodies
        cast = cast_of(bodies, getattr(scene, "name", ""))
    if energy is None:
        energy = float(world.energy().total)
    time, state = float(world.time), (world.positions, world.orientations, world.velocities, world.angular_velocities)
    lines = lines_of(cast.title, time, energy, digits_of(np.array([energy])))
    frame = Frame(cast, time, *(np.array(rows, float) for rows in state), lines=lines)
    if getattr(world, "joints", None):
        shown = [joint.anchors for joint in world.joints if not isinstance(joint.definition, Gear)]
        frame.joints = np.array(shown).reshape(-1, 2, 3)
    if contacts and getattr(world, "step_count", 0) > 0:  # of the last step; to ask before the first one lets the world begin
        frame.contacts = Contacts.of(world.contacts())
    if hasattr(world, "asleep"):
        frame.asleep = np.array(world.asleep)
    return frame


def digits_of(energy: np.ndarray) -> int:
    """Decimals that show five digits of the largest energy, the same all through a film so that the number stands still."""
    most = float(np.abs(energy).max()) if len(energy) else 0.0
    return int(np.clip(4 - np.floor(np.log10(most)), 0, 9)) if most > 0 else 3


def lines_of(title: str, time: float, energy: float, digits: int) -> tuple[str, ...]:
    return (title.replace("_", " "), f"t = {time:.3f} s", f"E = {energy:.{digits}f} J")
