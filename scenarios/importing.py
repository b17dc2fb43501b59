"""Models of other programs as scenes: the part of MJCF and URDF that is about free rigid bodies.

``load_model("model.xml")`` gives the scene, and a list of what was not taken over: nothing is dropped silently. What both formats
share is here; ``scenarios/mjcf.py`` and ``scenarios/urdf.py`` read them.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from collision.errors import InputError
from collision.mass import mass_properties
from collision.pose import Pose
from collision.shapes import Compound, HalfSpace, Shape
from sim.diagnostics import rotations
from sim.scene import Scene


@dataclass
class Imported:
    """A scene, and what of the model is not in it: one line each, with the name of the element."""

    scene: Scene
    left_out: list[str] = field(default_factory=list)

    def leave(self, what: str) -> None:
        if what not in self.left_out:
            self.left_out.append(what)


@dataclass
class Piece:
    """A shape in the frame of its body, with its mass; ``inertia`` (3, 3) about its own centre of mass where it is given."""

    shape: Shape
    pose: Pose
    mass: float


def load_model(path: str | Path) -> Imported:
    """The scene of an MJCF (.xml) or URDF (.urdf) file. InputError names the file and what is wrong with it."""
    path = Path(path)
    try:
        root = xml.parse(path).getroot()
    except FileNotFoundError:
        raise InputError("model", str(path), "there is no such file") from None
    except (OSError, xml.ParseError) as error:
        raise InputError("model", str(path), f"is not XML: {error}") from None
    try:
        if root.tag == "mujoco":
            from scenarios.mjcf import read
        elif root.tag == "robot":
            from scenarios.urdf import read
        else:
            raise InputError("model", root.tag, "must be <mujoco> (MJCF) or <robot> (URDF)")
        return read(path, root)
    except InputError as error:
        raise InputError(f"{path}: {error.name}", error.value, error.hint) from None


def numbers(element: xml.Element, key: str, default: Sequence[float] | None, n: int | None = None) -> tuple[float, ...] | None:
    """The numbers of an attribute; ``n`` of them where that is given."""
    text = element.get(key)
    if text is None:
        return None if default is None else tuple(default)
    try:
        out = tuple(float(word) for word in text.split())
    except ValueError:
        out = ()
    if not out or (n is not None and len(out) != n) or not all(map(math.isfinite, out)):
        raise InputError(f"{element.tag}.{key}", text, f"must be {n or 'some'} numbers")
    return out


def matrix(q: Sequence[float]) -> np.ndarray:
    """(3, 3) of a quaternion of any length."""
    q = np.array(q, dtype=float)
    return rotations(q[None] / np.linalg.norm(q))[0]


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


def inertials(pieces: Sequence[Piece]) -> dict[str, Any]:
    """Mass, centre of mass and inertia of pieces, each filled evenly; where they overlap both count, as in both formats."""
    mass = sum(piece.mass for piece in pieces)
    rows = []
    for piece in pieces:
        solid = mass_properties(piece.shape)
        m = matrix(piece.pose.orientation)
        at = np.array(piece.pose.position) + m @ np.array(solid.center)
        rows.append((piece.mass, at, m @ np.array(solid.inertia) @ m.T * (piece.mass / solid.volume)))
    center = sum(w * at for w, at, _ in rows) / mass
    inertia = sum(i + w * (((at - center) @ (at - center)) * np.eye(3) - np.outer(at - center, at - center)) for w, at, i in rows)
    return {"mass": float(mass), "center_of_mass": tuple(map(float, center)), "inertia": _rows(inertia)}


def given_inertia(mass: float, at: Pose, inertia: np.ndarray) -> dict[str, Any]:
    """The same of an <inertial>: its own axes at a pose in the body frame."""
    m = matrix(at.orientation)
    return {"mass": mass, "center_of_mass": at.position, "inertia": _rows(m @ inertia @ m.T)}


def _rows(inertia: np.ndarray) -> tuple[tuple[float, ...], ...]:
    even = 0.5 * (inertia + inertia.T)
    return tuple(tuple(map(float, row)) for row in even)


def ground(normal_pose: Pose) -> HalfSpace:
    """The plane z = 0 of a frame as a half-space of the world."""
    normal = matrix(normal_pose.orientation)[:, 2]
    return HalfSpace(normal=tuple(map(float, normal)), offset=float(normal @ np.array(normal_pose.position)))


def unique(name: str, taken: Sequence[str]) -> str:
    from sim.scene import free_name

    return free_name(name, set(taken))
