"""URDF: links that are free, with what is fixed to them. Source: the URDF specification of ROS (wiki.ros.org/urdf/XML).

Each link that no movable joint hangs on is a free body, in the place it has with all joints at zero; fixed joints weld. Links
that hang on movable joints are left out, and listed. Collision elements are the shapes; a link without any
has none to touch with.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import numpy as np

from collision.errors import InputError
from collision.mesh import load_mesh
from collision.pose import Pose
from collision.shapes import Box, Capsule, ConvexHull, Cylinder, HalfSpace, Shape, Sphere
from scenarios.importing import (
    Imported,
    Mass,
    Piece,
    combined,
    compose,
    fields_of,
    ground,
    numbers,
    placed,
    unique,
    welded,
)
from scenarios.limits import packaged
from sim.scene import Scene


def read(path: Path, root: xml.Element) -> Imported:
    """The scene of a <robot> element."""
    out = Imported(Scene(name=root.get("name") or path.stem, allow_overlap=True))
    links = {link.get("name"): link for link in root.findall("link")}
    colors = {m.get("name"): m.find("color").get("rgba") for m in root.iter("material") if m.find("color") is not None}
    parents: dict[str, tuple[str, xml.Element]] = {}
    for joint in root.findall("joint"):
        parent, child = (joint.find(side).get("link") for side in ("parent", "child"))
        for name in (parent, child):
            if name not in links:
                raise InputError(f"joint {joint.get('name')}", name, "there is no such link")
        parents[child] = (parent, joint)
    for element in root:
        if element.tag not in ("link", "joint", "material"):
            out.leave(element.tag, element.get("name", ""))

    def children(name: str) -> list[tuple[str, Pose]]:
        """Links that are welded to this one, with their poses in its frame, itself first."""
        found = [(name, Pose())]
        for child, (parent, joint) in parents.items():
            if parent != name:
                continue
            if joint.get("type") == "fixed":
                place = _origin(joint)
                found += [(other, compose(place, pose)) for other, pose in children(child)]
            else:
                out.leave("link on a joint, and what hangs on it", f"{child} ({joint.get('name')}, {joint.get('type')})")
        return found

    for name in links:
        if name not in parents:
            _add(out, path, name, [(links[other], pose) for other, pose in children(name)], colors)
    if not out.scene.bodies:
        raise InputError("robot", root.get("name"), f"holds no link that can be a body; not taken over: {'; '.join(out.lines())}")
    return out


def _add(out: Imported, path: Path, name: str, links: list[tuple[xml.Element, Pose]], colors: dict[str, str]) -> None:
    pieces: list[Piece] = []
    masses: list[Mass] = []
    more: dict[str, Any] = {}
    for link, place in links:
        for collision in link.findall("collision"):
            shape = _shape(out, path, link.get("name"), collision.find("geometry"))
            if shape is not None:
                pieces.append(Piece(shape, compose(place, _origin(collision)), 0.0))
        own = link.find("inertial")
        if own is not None:
            masses.append(_inertial(own, place))
        for visual in link.findall("visual"):
            material = visual.find("material")
            if material is not None and "color" not in more:
                color = material.find("color")
                rgba = color.get("rgba") if color is not None else colors.get(material.get("name"))
                more |= {"color": tuple(min(1.0, max(0.0, float(c))) for c in rgba.split()[:3])} if rgba else {}
        contact = link.find("contact")
        for element in contact if contact is not None else ():
            key = {"lateral_friction": "friction", "restitution": "restitution", "rolling_friction": "rolling_friction",
                   "spinning_friction": "torsional_friction"}.get(element.tag)  # fmt: skip
            if key:
                more[key] = float(element.get("value"))
            else:
                out.leave("contact", f"{element.tag} of {link.get('name')}")
        for element in link:
            if element.tag not in ("collision", "inertial", "visual", "contact"):
                out.leave(element.tag, f"of {link.get('name')}")
    if not pieces:
        out.leave("link with nothing that touches", name)
        return
    name = unique(name, [b.name for b in out.scene])
    mass = sum(m for m, _, _ in masses)
    if mass == 0:  # as Bullet and Gazebo have it: a robot without mass is part of the world
        for piece in pieces:
            plane = isinstance(piece.shape, HalfSpace)
            place = {} if plane else {"position": piece.pose.position, "orientation": piece.pose.orientation}
            shape = ground(piece.pose) if plane else piece.shape
            out.scene.add(shape, name=unique(name, [b.name for b in out.scene]), kind="static", **place, **more)
        return
    if any(isinstance(piece.shape, HalfSpace) for piece in pieces):
        raise InputError(f"link {name}", "plane", "only a link without mass can have one")
    out.scene.add(combined(pieces), name=name, **fields_of(welded(masses)), **more)


def _inertial(element: xml.Element, place: Pose) -> Mass:
    """In the frame of the body."""
    mass = float(element.find("mass").get("value"))
    given = element.find("inertia")
    get = (lambda key: float(given.get(key, 0.0))) if given is not None else (lambda key: 0.0)
    xx, xy, xz, yy, yz, zz = (get(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return placed((mass, np.zeros(3), inertia), compose(place, _origin(element)))


def _origin(element: xml.Element) -> Pose:
    """<origin xyz rpy>: turns about the fixed axes x, y, z in that order."""
    origin = element.find("origin")
    if origin is None:
        return Pose()
    roll, pitch, yaw = numbers(origin, "rpy", (0, 0, 0), 3)
    turns = []
    for angle, axis in ((yaw, 2), (pitch, 1), (roll, 0)):
        q = [math.cos(angle / 2), 0.0, 0.0, 0.0]
        q[1 + axis] = math.sin(angle / 2)
        turns.append(Pose(orientation=tuple(q)))
    return Pose(numbers(origin, "xyz", (0, 0, 0), 3), compose(compose(turns[0], turns[1]), turns[2]).orientation)


def _shape(out: Imported, path: Path, link: str, geometry: xml.Element | None) -> Shape | None:
    found = geometry[0] if geometry is not None and len(geometry) else None
    kind = "nothing" if found is None else found.tag
    if kind == "box":
        return Box(tuple(x / 2 for x in numbers(found, "size", None, 3)))
    if kind == "sphere":
        return Sphere(float(found.get("radius")))
    if kind in ("cylinder", "capsule"):
        return (Cylinder if kind == "cylinder" else Capsule)(float(found.get("radius")), float(found.get("length")) / 2)
    if kind == "plane":
        return HalfSpace()
    if kind == "mesh":
        file = _file(path, found.get("filename", ""))
        scale = np.array(numbers(found, "scale", (1, 1, 1), 3))
        if file is None:
            raise InputError(f"link {link}: mesh", found.get("filename"), f"is not there, neither from {path.parent} nor above")
        packaged(f"link {link}: mesh", file)
        if np.ptp(scale) == 0 and scale[0] > 0:
            try:
                return load_mesh(file, scale=float(scale[0]))
            except InputError as error:
                if "watertight" not in error.hint:
                    raise
                out.leave("mesh with holes, taken as its convex hull", f"{file.name} of {link}")
        else:
            out.leave("mesh scaled unevenly, taken as its convex hull", f"{file.name} of {link}")
        return ConvexHull(np.array(load_mesh(file, convex="hull").vertices) * scale)
    out.leave("geometry", f"{kind} of {link}")
    return None


def _file(path: Path, name: str) -> Path | None:
    """The file that a URDF at ``path`` names; "package://" is looked for from its folder upwards."""
    rest = name.removeprefix("file://")
    folders = [path.parent]
    if rest.startswith("package://"):
        rest, folders = rest.removeprefix("package://"), [path.parent, *path.resolve().parents]
    return next((folder / rest for folder in folders if rest and (folder / rest).is_file()), None)
