"""Models of other programs as scenes: the part of MJCF and URDF that is about free rigid bodies.

``load_model("model.xml")`` gives the scene, and what was not taken over: nothing is dropped silently. What both formats
share is here; ``scenarios/importing/mjcf.py`` and ``scenarios/importing/urdf.py`` read them.
"""

from __future__ import annotations

import math
import textwrap
import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Compound, HalfSpace, Shape, Sphere
from tumble.collision.solids.mass_properties import mass_properties
from tumble.scenarios.files.limits import MOST_WHOLE, package, read_xml
from tumble.sim.joints.mechanism.instruments import Instrument
from tumble.sim.ledger.diagnostics import rotations
from tumble.sim.scene.scene import Scene, free_name
from tumble.sim.words import count

# What is left out of them counts most.
MECHANICS = ("body", "link", "mesh", "plane", "geom", "free joint", "joint", "actuator", "equality", "gravcomp")
Mass = tuple[float, np.ndarray, np.ndarray]  # mass, its centre (3,) and its inertia (3, 3) about that


@dataclass
class Imported:
    """A scene, and what of the model is not in it: kind -> names of the elements, "" for one that has none.

    sites : name -> (body of the scene, pose in its frame). keyframes : name -> "qpos", "qvel", "ctrl" as given, for
    ``world.mechanism().set`` and ``world.controls``. instruments: the sensors that read the state, which are the scene's too.
    """

    scene: Scene
    left_out: dict[str, list[str]] = field(default_factory=dict)
    sites: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    keyframes: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)
    instruments: list[Instrument] = field(default_factory=list)

    def leave(self, what: str, name: str = "") -> None:
        names = self.left_out.setdefault(what, [])
        if not name or name not in names:
            names.append(name)

    def leave_rest(self, what: str, values: Mapping[str, str], taken: set[str], name: str | None = None) -> None:
        """Tell of the attributes, of the element of this name, that are not taken over."""
        of = "" if name is None else f" of {name}"
        for key in sorted(set(values) - taken):
            self.leave(what, f"{key}={values[key]}{of}")

    def lines(self, width: int = 110) -> list[str]:
        """What is not in it as text, a paragraph for each kind: how many, and their names; bodies and shapes first."""
        out = []
        for what, names in sorted(self.left_out.items(), key=lambda item: not item[0].startswith(MECHANICS)):
            many = f" ({len(names)})" if len(names) > 1 else ""
            told = ", ".join(name for name in names if name)
            text = f"{what}{many}{': ' if told else ''}{told}"
            out.append(textwrap.fill(text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False))
        return out


@dataclass
class Piece:
    """A shape in the frame of its body, with its mass; ``solid``: its mass at density 1, where that is not the shape's own."""

    shape: Shape
    pose: Pose
    mass: float
    solid: Mass | None = None


def load_model(path: str | Path, root: str | Path | None = None, meshes: Literal["hull", "decompose"] = "hull") -> Imported:
    """The scene of an MJCF (.xml) or URDF (.urdf) file. InputError names the file and what is wrong with it.

    What the model names is read from its package: the nearest folder above it with a package.xml, else its own folder; or
    from ``root``. Meshes that touch are their convex hulls, as in the programs that read such models, and the pieces where a
    file holds closed convex ones. With meshes="decompose" those of URDF are cut into convex pieces, which takes seconds to
    minutes for each file, once.
    """
    if meshes not in ("hull", "decompose"):
        raise InputError("meshes", meshes, 'must be "hull" or "decompose"')
    path = Path(path)
    element = read_xml(path)
    try:
        # what overflows is not finite, which scenes, bodies and joints refuse
        with package(path, None if root is None else Path(root)), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if element.tag == "mujoco":
                if meshes != "hull":
                    raise InputError("meshes", meshes, 'must be "hull" for MJCF: the inertia of its meshes depends on it')
                from tumble.scenarios.importing.mjcf import read as read_mjcf

                return read_mjcf(path, element)
            if element.tag == "robot":
                from tumble.scenarios.importing.urdf import read as read_urdf

                return read_urdf(path, element, meshes)
            raise InputError("model", element.tag, "must be <mujoco> (MJCF) or <robot> (URDF)")
    except InputError as error:
        raise InputError(f"{path}: {whose(element, error)}", error.value, error.hint) from None


def whose(root: xml.Element, error: InputError) -> str:
    """The name of an error; where it tells an attribute by a tag alone, with that of the element, or of the next above it."""
    tag, _, key = error.name.partition(".")
    above = {child: parent for parent in root.iter() for child in parent}
    for element in root.iter(tag) if key and ":" not in error.name else ():
        if element.get(key) != error.value:
            continue
        owner: xml.Element | None = element
        while owner is not None and owner.get("name") is None:
            owner = above.get(owner)
        if owner is element:
            return f"{tag} {element.get('name')}: {key}"
        if owner is not None and owner is not root:
            return f"{owner.tag} {owner.get('name')}: {error.name}"
    return error.name


def numbers(element: xml.Element, key: str, default: Sequence[float] | None, n: int | None = None) -> tuple[float, ...] | None:
    """The numbers of an attribute; ``n`` of them where that is given."""
    text = element.get(key)
    if text is None:
        return None if default is None else tuple(default)
    out = _floats(f"{element.tag}.{key}", text, n or 1)
    if n is not None and len(out) != n:
        raise InputError(f"{element.tag}.{key}", text, f"must be {count(n, 'number')}")
    return out


def _floats(key: str, text: str, least: int) -> tuple[float, ...]:
    """The finite numbers of a text, so many at least."""
    try:
        out = tuple(float(word) for word in text.split())
    except ValueError:
        out = ()
    if len(out) < least:
        raise InputError(key, text, f"must be {count(least, 'number')}")
    if not all(map(math.isfinite, out)):
        raise InputError(key, text, "must be finite numbers")
    return out


def number(element: xml.Element, key: str, default: float | None = None) -> float:
    """The number of an attribute, which must be there if there is no default."""
    return needed(element, key, 1)[0] if default is None else numbers(element, key, (default,), 1)[0]


def needed(element: xml.Element, key: str, n: int | None = None) -> tuple[float, ...]:
    """The numbers of an attribute that must be there."""
    if element.get(key) is None:
        raise InputError(f"{element.tag}.{key}", None, "is missing")
    return numbers(element, key, None, n)


def whole(element: xml.Element, key: str, default: int | None = None) -> int:
    """The whole number of an attribute."""
    value = number(element, key, default)
    if value != int(value) or abs(value) > MOST_WHOLE:
        raise InputError(f"{element.tag}.{key}", element.get(key), "must be a whole number")
    return int(value)


def color(key: str, text: str) -> tuple[float, ...]:
    """Red, green and blue of "r g b a", as far as they are in [0, 1]."""
    return tuple(min(1.0, max(0.0, c)) for c in _floats(key, text, 3)[:3])


def direction(key: str, vector: Any) -> np.ndarray:
    """(3,) of length one. InputError where it has none."""
    vector = np.asarray(vector, float)
    length = np.linalg.norm(vector)
    if not 0 < length < math.inf:
        raise InputError(key, tuple(map(float, vector)), "must have a length: it is a direction")
    return vector / length


def part(element: xml.Element, tag: str) -> xml.Element:
    """The child that an element must have."""
    found = element.find(tag)
    if found is None:
        raise InputError(f"{element.tag} {element.get('name', '')}".strip(), None, f"needs a <{tag}>")
    return found


def matrix(q: Sequence[float]) -> np.ndarray:
    """(3, 3) of a quaternion of any length. InputError where it has none."""
    q = np.array(q, dtype=float)
    length = np.linalg.norm(q)
    if not 0 < length < math.inf:
        raise InputError("quaternion", tuple(map(float, q)), "must have a length")
    return rotations(q[None] / length)[0]


def about(axis: int, angle: float) -> Pose:
    """A turn about x, y or z [rad]."""
    q = [math.cos(angle / 2), 0.0, 0.0, 0.0]
    q[1 + axis] = math.sin(angle / 2)
    return Pose(orientation=tuple(q))


def compose(a: Pose, b: Pose) -> Pose:
    """b, given in the frame of a, in the frame that a is given in."""
    m = matrix(a.orientation)
    at = np.array(a.position) + m @ np.array(b.position)
    return Pose(tuple(map(float, at)), Pose.from_matrix(m @ matrix(b.orientation)).orientation)


def combined(pieces: Sequence[Piece]) -> Shape:
    """One shape of all pieces, in the frame of the body."""
    if len(pieces) == 1 and pieces[0].pose == Pose():
        return pieces[0].shape
    return Compound([(piece.shape, piece.pose) for piece in pieces])


def solid_of(shape: Shape) -> Mass:
    """(volume, centre (3,), inertia (3, 3) about it) at density 1."""
    solid = mass_properties(shape)
    return solid.volume, np.array(solid.center), np.array(solid.inertia)


def filled(piece: Piece) -> Mass:
    """A piece that its mass fills evenly, in the frame of its body."""
    volume, center, inertia = solid_of(piece.shape) if piece.solid is None else piece.solid
    return placed((piece.mass, center, inertia * (piece.mass / volume)), piece.pose)


def placed(mass: Mass, at: Pose) -> Mass:
    """A mass given in a frame, in the frame that the pose is given in."""
    m = matrix(at.orientation)
    return mass[0], np.array(at.position) + m @ mass[1], m @ mass[2] @ m.T


def welded(parts: Sequence[Mass]) -> Mass:
    """All of them as one. Where they overlap both count, as in MJCF and URDF."""
    if len(parts) == 1:
        return parts[0]
    mass = sum(m for m, _, _ in parts)
    center = sum(m * at for m, at, _ in parts) / mass
    inertia = np.zeros((3, 3))
    for m, at, own in parts:
        r = at - center
        inertia += own + m * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, center, inertia


def fields_of(mass: Mass) -> dict[str, Any]:
    """The fields of a body that has this mass, centre and inertia."""
    even = 0.5 * mass[2] + 0.5 * mass[2].T
    rows = tuple(tuple(map(float, row)) for row in even)
    return {"mass": float(mass[0]), "center_of_mass": tuple(map(float, mass[1])), "inertia": rows}


def scaled_masses(scene: Scene, total: float) -> None:
    """Masses and inertias times one factor, such that they come to a total [kg]."""
    factor = total / sum(body.mass_properties()[0] for body in scene.bodies if body.kind == "dynamic")
    for k, body in enumerate(scene.bodies):
        if body.kind == "dynamic":
            mass, center, inertia = body.mass_properties()
            scene.bodies[k] = body.replace(**fields_of((factor * mass, np.array(center), factor * np.array(inertia))))


def stand_in(mass: Mass) -> Piece:
    """For what has no shape: a ball of about the size that a mass with this inertia has."""
    radius = max(1e-3, float(np.sqrt(np.trace(mass[2]) / mass[0])))
    return Piece(Sphere(radius), Pose(tuple(map(float, mass[1]))), 0.0)


def add_static(scene: Scene, name: str, shape: Shape, at: Pose, **more: Any) -> str:
    """Add what stands still; its name in the scene. A plane is a half-space of the world."""
    label = free_name(name, {body.name for body in scene})
    if isinstance(shape, HalfSpace):
        normal = matrix(at.orientation)[:, 2]
        half_space = HalfSpace(normal=tuple(map(float, normal)), offset=float(normal @ np.array(at.position)))
        scene.add(half_space, kind="static", name=label, **more)
    else:
        scene.add(shape, kind="static", name=label, position=at.position, orientation=at.orientation, **more)
    return label


def unique(name: str, taken: Sequence[str]) -> str:
    return free_name(name, set(taken))
