"""URDF: links, joints, transmissions. Source: the URDF specification of ROS (wiki.ros.org/urdf/XML).

A link that hangs on no joint is free, or, without mass, part of the world; fixed joints weld. Links stand where they do with all
joints at zero. Collision elements are the shapes; a link without any meets nothing. The two links of a joint do not meet. A mesh
is its convex hull, as in the programs that URDF is written for; or the pieces that it has been cut into.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.queries.proximity import signed_distance
from tumble.collision.shapes.definitions import Box, Capsule, Compound, ConvexHull, Cylinder, HalfSpace, Shape, Sphere
from tumble.collision.solids.mesh_files import convex_surfaces, load_mesh
from tumble.collision.spelling import did_you_mean
from tumble.collision.status import Status
from tumble.scenarios.fields import within
from tumble.scenarios.files.limits import MOST_MODELLED, packaged
from tumble.scenarios.importing.couplings import NoCoupling, coupling_between
from tumble.scenarios.importing.models import (
    Imported,
    Mass,
    Piece,
    about,
    add_static,
    color,
    combined,
    compose,
    direction,
    fields_of,
    matrix,
    needed,
    number,
    numbers,
    part,
    placed,
    solid_of,
    stand_in,
    unique,
    welded,
)
from tumble.sim.joints.joint_definitions import Driven, General, Hinge, JointDef, Point, Slider
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.scene.scene import Scene

OPTENV = re.compile(r"\$\(optenv\s+(\S+?)\s*((?<=\s)[^)]*)?\)")


def read(path: Path, root: xml.Element, meshes: str = "hull") -> Imported:
    """The scene of a <robot> element; ``meshes``: as for `load_model`."""
    out = Imported(Scene(name=root.get("name") or path.stem, allow_overlap=True))
    _fill_in(root, out)
    links: dict[str, xml.Element] = {}
    for link in root.findall("link"):
        name = link.get("name")
        if name is None:
            raise InputError("link", None, "needs a name")
        if name in links:
            raise InputError("link", name, "is the name of two: each link needs one of its own")
        links[name] = link
    if len(links) > MOST_MODELLED:
        raise InputError("robot", root.get("name"), f"holds more than {MOST_MODELLED} links")
    colors = {m.get("name"): m.find("color").get("rgba") for m in root.iter("material") if m.find("color") is not None}
    parents: dict[str, tuple[str, xml.Element]] = {}
    for joint in root.findall("joint"):
        parent, child = (part(joint, side).get("link") for side in ("parent", "child"))
        for name in (parent, child):
            if name not in links:
                raise InputError(f"joint {joint.get('name')}", name, "there is no such link")
        if child in parents:
            two = f"{parents[child][1].get('name')} and {joint.get('name')}"
            raise InputError("link", child, f"hangs on two joints, {two}: the links of a robot make a tree")
        parents[child] = (parent, joint)
    _check_tree(parents)
    for element in root:
        if element.tag not in ("link", "joint", "material", "transmission"):
            out.leave(element.tag, element.get("name", ""))

    below: dict[str, list[tuple[str, xml.Element]]] = {}
    for child, (parent, joint) in parents.items():
        below.setdefault(parent, []).append((child, joint))
    reader = _Reader(out, path, links, colors, below, _Meshes(meshes == "decompose"))
    for name in links:
        if name not in parents:
            reader.add(name, Pose(), None, None)
    reader.transmissions(root)
    reader.mimics(root)
    reader.part()
    if not out.scene.bodies:
        raise InputError("robot", root.get("name"), f"holds no link that can be a body; not taken over: {'; '.join(out.lines())}")
    return out


def _check_tree(parents: dict[str, tuple[str, xml.Element]]) -> None:
    """InputError where links hang on themselves, by a ring of joints."""
    for link in parents:
        way, above = [], link
        while above in parents:
            way.append(parents[above][1].get("name", ""))
            above = parents[above][0]
            if above == link:
                raise InputError("link", link, f"hangs on itself, by joints {', '.join(way)}: links make a tree")
            if len(way) > len(parents):
                break  # it hangs on such a ring, which is told of its own links


def _fill_in(root: xml.Element, out: Imported) -> None:
    """Defaults for what macros of ROS left open, ``$(optenv NAME a default)``: nobody has set a variable here."""
    for element in root.iter():
        for key, value in element.attrib.items():
            if "$(optenv " in value:
                element.set(key, OPTENV.sub(r"\2", value))
                for name, _ in OPTENV.findall(value):
                    out.leave("optenv, taken as its default", name)


@dataclass
class _Meshes:
    """Mesh files of a model, each read once."""

    cut: bool  # into convex pieces, rather than taken as their hulls
    known: dict[Path, tuple[list[np.ndarray], bool]] = field(default_factory=dict)

    def pieces(self, file: Path) -> tuple[list[np.ndarray], bool]:
        """(Points of each convex piece of a file, whether that is the hull of a mesh that does not fill it)."""
        if file not in self.known:
            pieces = convex_surfaces(file)
            hull = [] if pieces else [np.array(load_mesh(file, convex="hull").vertices)]
            self.known[file] = pieces or hull, not pieces
        return self.known[file]


@dataclass
class _Reader:
    out: Imported
    path: Path
    links: dict[str, xml.Element]
    colors: dict[str, str]
    below: dict[str, list[tuple[str, xml.Element]]]  # link: those that hang on it, with the joints
    meshes: _Meshes

    def add(self, name: str, at: Pose, joint: xml.Element | None, parent: str | None) -> None:
        """A link at a pose in the world, what is welded to it, and what hangs on that; ``parent``: by its name in the scene."""
        scene = self.out.scene
        welded_links, hanging = [], []
        left = [(name, Pose())]
        while left:
            link, place = left.pop(0)
            welded_links.append((self.links[link], place))
            for child, one in self.below.get(link, ()):
                spot = compose(place, _origin(one))
                if one.get("type") == "fixed":
                    left.append((child, spot))
                else:
                    hanging.append((child, compose(at, spot), one))
        own = self.body(name, welded_links, at, joint)
        if own is not None and joint is not None:
            made = self.joint(joint, at, parent, own)
            if made is not None:
                scene.add_joint(made)
        elif joint is not None:
            return
        for child, spot, one in hanging:
            self.add(child, spot, one, own)

    def body(self, name: str, links: list[tuple[xml.Element, Pose]], at: Pose, joint: xml.Element | None) -> str | None:
        """The body of a link with those that are welded to it, by its name in the scene; None where there is none."""
        out = self.out
        pieces: list[Piece] = []
        masses: list[Mass] = []
        more: dict[str, Any] = {}
        for link, place in links:
            self.look(link, place, pieces, masses, more)
        mass = sum(m for m, _, _ in masses)
        label = unique(name, [b.name for b in out.scene])
        if mass == 0 and joint is not None:
            out.leave("link without mass on a joint, and what hangs on it", f"{name} ({joint.get('name')})")
            return None
        felt = bool(pieces)
        if not felt:
            out.leave("link with nothing that touches", name)
            if mass == 0:
                return None
            pieces, more["mask"] = [stand_in(welded(masses))], 0
        if mass == 0:  # as Bullet and Gazebo have it: a robot without mass is part of the world
            return [add_static(out.scene, name, piece.shape, compose(at, piece.pose), **more) for piece in pieces][-1]
        if any(isinstance(piece.shape, HalfSpace) for piece in pieces):
            raise InputError(f"link {name}", "plane", "only a link without mass can have one")
        place = {"position": at.position, "orientation": at.orientation}
        whole = welded(masses)
        if felt and not whole[2].any() and (solid := solid_of(combined(pieces)))[0] > 0:
            out.leave("inertia of zero, taken as that of its shape", name)
            whole = whole[0], whole[1], solid[2] * (mass / solid[0])
        with within(f"link {name}: "):
            try:
                out.scene.add(combined(pieces), name=label, **place, **fields_of(whole), **more)
            except InputError as error:
                mean = float(np.trace(whole[2])) / 3
                if error.name != "inertia" or not mean > 0:
                    raise
                out.leave("inertia that no body can have, taken as the mean of its moments about all axes", name)
                whole = whole[0], whole[1], mean * np.eye(3)
                out.scene.add(combined(pieces), name=label, **place, **fields_of(whole), **more)
        return label

    def look(self, link: xml.Element, place: Pose, pieces: list[Piece], masses: list[Mass], more: dict[str, Any]) -> None:
        """What one link adds to its body."""
        out, path, colors = self.out, self.path, self.colors
        for collision in link.findall("collision"):
            shape = _shape(out, path, link.get("name"), collision.find("geometry"), self.meshes)
            if shape is not None:
                pieces.append(Piece(shape, compose(place, _origin(collision)), 0.0))
        own = link.find("inertial")
        if own is not None:
            masses.append(_inertial(own, place))
        for visual in link.findall("visual"):
            material = visual.find("material")
            if material is not None and "color" not in more:
                own_color = material.find("color")
                rgba = own_color.get("rgba") if own_color is not None else colors.get(material.get("name"))
                more |= {"color": color(f"link {link.get('name')}: rgba", rgba)} if rgba else {}
        contact = link.find("contact")
        for element in contact if contact is not None else ():
            key = {"lateral_friction": "friction", "restitution": "restitution", "rolling_friction": "rolling_friction",
                   "spinning_friction": "torsional_friction"}.get(element.tag)  # fmt: skip
            if key:
                more[key] = number(element, "value")
            else:
                out.leave("contact", f"{element.tag} of {link.get('name')}")
        for element in link:
            if element.tag not in ("collision", "inertial", "visual", "contact"):
                out.leave(element.tag, f"of {link.get('name')}")

    def joint(self, element: xml.Element, at: Pose, parent: str | None, own: str) -> JointDef | None:
        """A joint whose child link is at a pose in the world; None, and told of, for a kind that is not known."""
        out, kind, name = self.out, element.get("type"), element.get("name", "")
        for child in element:
            if child.tag not in ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"):
                out.leave(f"joint {child.tag}", name)
        given = element.find("axis")
        axis = matrix(at.orientation) @ (numbers(given, "xyz", (1, 0, 0), 3) if given is not None else (1.0, 0.0, 0.0))
        if kind not in ("floating", "fixed"):
            axis = direction(f"joint {name}: axis", axis)
        ends = {"a": parent, "b": own, "name": name, "anchor": at.position}
        said: dict[str, Any] = {}
        dynamics, limit = element.find("dynamics"), element.find("limit")
        if dynamics is not None:
            said = {key: number(dynamics, key, 0.0) for key in ("damping", "friction")}
        if kind not in ("revolute", "continuous", "prismatic", "fixed"):
            for what in (dynamics, limit):
                for key, value in () if what is None else what.attrib.items():
                    out.leave(f"joint {what.tag}", f"{key}={value} of {name} ({kind})")
        elif limit is not None and number(limit, "velocity", 0.0) > 0.0:
            out.leave("joint limit of speed", name)
        if limit is not None and kind in ("revolute", "prismatic"):
            low, high = (number(limit, key, 0.0) for key in ("lower", "upper"))
            if low < high:
                said["limits"] = low, high
            else:
                out.leave("joint limit", f"[{low:g}, {high:g}] of {name}, which holds nothing as in Bullet")
        if kind in ("revolute", "continuous"):
            return Hinge(**ends, axis=tuple(axis), **said)
        if kind == "prismatic":
            return Slider(**ends, axis=tuple(axis), **said)
        if kind == "planar":
            return General(**ends, axis=tuple(axis), free=("y", "z", "turn_x"))
        if kind == "spherical":
            return Point(**ends)
        if kind != "floating":
            out.leave("joint of a kind that is not known, whose link is free", f"{name} ({kind})")
        return None

    def transmissions(self, root: xml.Element) -> None:
        """A motor for each joint that a transmission names; its control is the effort, up to what the joint's limit says."""
        scene = self.out.scene
        driven = {joint.name for joint in scene.joints if isinstance(joint, Driven)}
        limits = {joint.get("name"): joint.find("limit") for joint in root.findall("joint")}
        named = {joint.get("name") for element in root.findall("transmission") for joint in element.findall("joint")}
        alone = {joint.name for joint in scene.joints if isinstance(joint, Hinge | Slider)}
        for name in sorted(alone - named):
            if limits.get(name) is not None and number(limits[name], "effort", 0.0) > 0.0:
                self.out.leave("joint limit of effort, where there is no transmission", name)
        for element in root.findall("transmission"):
            for joint in element.findall("joint"):
                name = joint.get("name")
                if name not in driven:
                    self.out.leave("transmission", element.get("name", name or ""))
                    continue
                said = next((g.text for g in element.iter("mechanicalReduction") if g.text), "1")
                try:
                    gear = number(xml.Element("mechanicalReduction", {"value": said}), "value")
                except InputError:  # a place to be filled in by a macro
                    self.out.leave("mechanicalReduction", f"{said} of {element.get('name', name)}, taken as 1")
                    gear = 1.0
                most = limits[name] is not None and number(limits[name], "effort", 0.0)
                label = unique(element.get("name") or name, [a.name for a in scene.actuators])
                scene.add_actuator(Actuator(label, name, gear=gear, force_range=(-most, most) if most else None))

    def mimics(self, root: xml.Element) -> None:
        """A coupling for each joint that mimics another: a multiple of it. What can not be coupled is told of."""
        joints = {joint.name: joint for joint in self.out.scene.joints}
        for element in root.findall("joint"):
            said, name = element.find("mimic"), element.get("name", "")
            if said is None:
                continue
            other = said.get("joint", "")
            first, second = joints.get(name), joints.get(other)
            try:
                if second is None:
                    raise NoCoupling(f"there is no joint {other}{did_you_mean(other, list(joints))}")
                if offset := number(said, "offset", 0.0):
                    raise NoCoupling(f"its offset is {offset:g}, and joints are coupled as they stand")
                factor = number(said, "multiplier", 1.0)
                self.out.scene.add_joint(coupling_between(f"{name} mimic", first, second, factor))
            except NoCoupling as why:
                self.out.leave("joint mimic", f"{name}: {why}")

    def part(self) -> None:
        """Links that overlap where the model stands do not meet: they would be pushed apart, or jam, from the first step on."""
        scene = self.out.scene
        bodies = [body for body in scene if body.kind == "dynamic" and body.mask != 0]
        jointed = {frozenset((joint.a, joint.b)) for joint in scene.joints if not joint.collide}
        for a, b in combinations(bodies, 2):
            if frozenset((a.name, b.name)) in jointed:
                continue
            places = [(body.position, body.orientation) for body in (a, b)]
            between = signed_distance(a.shape, places[0], b.shape, places[1], margin=0.0)
            if between.status == Status.OVERLAPPING:
                scene.exclude(a.name, b.name)
                self.out.leave("links that overlap where they stand, which do not meet", f"{a.name} and {b.name}")


def _inertial(element: xml.Element, place: Pose) -> Mass:
    """In the frame of the body."""
    mass = number(part(element, "mass"), "value")
    given = element.find("inertia")
    get = (lambda key: number(given, key, 0.0)) if given is not None else (lambda key: 0.0)
    xx, xy, xz, yy, yz, zz = (get(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return placed((mass, np.zeros(3), inertia), compose(place, _origin(element)))


def _origin(element: xml.Element) -> Pose:
    """<origin xyz rpy>: turns about the fixed axes x, y, z in that order."""
    origin = element.find("origin")
    if origin is None:
        return Pose()
    roll, pitch, yaw = numbers(origin, "rpy", (0, 0, 0), 3)
    turn = compose(compose(about(2, yaw), about(1, pitch)), about(0, roll))
    return Pose(numbers(origin, "xyz", (0, 0, 0), 3), turn.orientation)


def _shape(out: Imported, path: Path, link: str, geometry: xml.Element | None, meshes: _Meshes) -> Shape | None:
    found = geometry[0] if geometry is not None and len(geometry) else None
    kind = "nothing" if found is None else found.tag
    if kind == "box":
        return Box(tuple(x / 2 for x in needed(found, "size", 3)))
    if kind == "sphere":
        return Sphere(number(found, "radius"))
    if kind in ("cylinder", "capsule"):
        return (Cylinder if kind == "cylinder" else Capsule)(number(found, "radius"), number(found, "length") / 2)
    if kind == "plane":
        return HalfSpace()
    if kind == "mesh":
        file = _file(path, found.get("filename", ""))
        if file is None:
            raise InputError(f"link {link}: mesh", found.get("filename"), f"is not there, neither from {path.parent} nor above")
        packaged(f"link {link}: mesh", file)
        given = numbers(found, "scale", (1, 1, 1))
        if len(given) > 3:
            what = "mesh scale of more than three numbers, of which the first three count as in Bullet"
            out.leave(what, f"{found.get('scale')}: {file.name} of {link}")
        elif len(given) < 3:
            raise InputError(f"link {link}: mesh.scale", found.get("scale"), "must be 3 numbers")
        scale = np.array(given[:3])
        if meshes.cut and np.ptp(scale) == 0 and scale[0] > 0:
            try:
                return load_mesh(file, scale=float(scale[0]))
            except InputError as error:
                if "watertight" not in error.hint:
                    raise
        pieces, filled = meshes.pieces(file)
        if filled:
            out.leave("mesh, taken as its convex hull", f"{file.name} of {link}")
        parts = [(ConvexHull(points * scale), Pose()) for points in pieces]
        return parts[0][0] if len(parts) == 1 else Compound(parts)
    out.leave("geometry", f"{kind} of {link}")
    return None


def _file(path: Path, name: str) -> Path | None:
    """The file that a URDF at ``path`` names; "package://" is looked for from its folder upwards."""
    rest = name.removeprefix("file://")
    folders = [path.parent]
    if rest.startswith("package://"):
        rest, folders = rest.removeprefix("package://"), [path.parent, *path.resolve().parents]
    return next((folder / rest for folder in folders if rest and (folder / rest).is_file()), None)
