"""MJCF: bodies, joints, actuators, geoms, meshes, height fields, inertials, materials, gravity. Source: MuJoCo's XML reference.

Files that are included, frames and replicas are taken in. Several joints of a body become one general joint with a drive
along each (``mjcf_joints.py``). MuJoCo collides convex hulls in place of meshes, so meshes become hulls here too, and they have
the mass that MuJoCo gives them (``mjcf_parts.py``). Geoms that are only drawn have mass all the same. MuJoCo's contacts are soft:
solref, solimp and the like have no counterpart.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Capsule, HalfSpace, Shape
from tumble.collision.shapes.ground import Ground
from tumble.scenarios.fields import within
from tumble.scenarios.files.limits import MOST_MODELLED
from tumble.scenarios.importing.mjcf_geoms import Geoms
from tumble.scenarios.importing.mjcf_joints import SIZES, Read, in_groups, joints_of, read_joint
from tumble.scenarios.importing.mjcf_machinery import JOINTED, Machinery, Taken
from tumble.scenarios.importing.mjcf_parts import expanded
from tumble.scenarios.importing.mjcf_sensors import region_of
from tumble.scenarios.importing.mjcf_values import COMPILER, Values
from tumble.scenarios.importing.models import (
    Imported,
    Mass,
    Piece,
    add_static,
    combined,
    compose,
    fields_of,
    filled,
    number,
    numbers,
    placed,
    scaled_masses,
    solid_of,
    stand_in,
    unique,
    welded,
    whole,
)
from tumble.sim.joints.joint_definitions import JointDef
from tumble.sim.joints.mechanism.sensors import Frame
from tumble.sim.scene.options import check_step
from tumble.sim.scene.scene import Scene

CARRIER = 0.1  # of a body's mass: the mass of each carrier between two of its joints; with less, impacts tear it
CARRIED = "joints of a body that are no one joint, between which are carriers of a tenth of its mass"
UNTOUCHED = "body without a geom that touches, which meets nothing"
OFF = ("override", "multiccd", "invdiscrete", "sleep")  # flags that are off unless they are said
INSIDE = ("geom", "body", "joint", "freejoint", "inertial")  # children of a body that are read, or told of elsewhere


def check_names(root: xml.Element) -> None:
    """InputError where two bodies, joints, geoms or sites of a file have the same name."""
    for tags in (("body",), ("joint", "freejoint"), ("geom",), ("site",)):
        seen: set[str] = set()
        for element in (e for world in root.findall("worldbody") for e in world.iter() if e.tag in tags):
            name = element.get("name", "")
            if name and name in seen:
                raise InputError(tags[0], name, f"is the name of two: each {tags[0]} needs one of its own")
            seen.add(name)


def named(element: xml.Element, where: str) -> str:
    """An element by its name, or what it has for one, and the body that it is in."""
    name = next((element.get(key) for key in ("name", "prefix", "model") if element.get(key)), "")
    return name if where == "worldbody" else f"{name} of {where}".strip()


def read(path: Path, root: xml.Element) -> Imported:
    """The scene of a <mujoco> element."""
    return _Reader(path, root).read()


@dataclass
class Welded:
    """A body on joints, and all that is welded to it: one body of the scene. Poses are in its frame."""

    name: str
    pieces: list[Piece] = field(default_factory=list)  # that touch
    shown: list[Piece] = field(default_factory=list)
    masses: list[Mass] = field(default_factory=list)  # of the body, and of each that is welded to it
    surface: dict[str, Any] = field(default_factory=dict)
    below: list[tuple[xml.Element, Pose, str]] = field(default_factory=list)  # bodies that hang on it, and their classes
    bits: list[tuple[int, int]] = field(default_factory=list)
    sites: list[tuple[str, Pose]] = field(default_factory=list)
    geoms: list[tuple[str, Pose]] = field(default_factory=list)
    touching: list[str] = field(default_factory=list)  # names of geoms

    def __post_init__(self) -> None:
        self.welds = [(self.name, Pose())]  # bodies of the file that are this one


class _Reader:
    def __init__(self, path: Path, root: xml.Element):
        self.path, self.root = path, expanded(root, path)
        root = self.root
        self.out = Imported(Scene(name=root.get("model", path.stem), allow_overlap=True, friction_rule="max"))
        self.values, self.taken = Values(root), Taken()
        self.geoms = Geoms(root, path, self.values, self.out)
        if sum(1 for _ in root.iter("body")) > MOST_MODELLED:
            raise InputError("worldbody", None, f"holds more than {MOST_MODELLED} bodies")
        check_names(root)
        self.joint_names: list[str] = []
        self.copied = 0  # by replicas
        self.touches = True

    def read(self) -> Imported:
        self.options()
        self.out.leave_rest("compiler", self.values.compiler, COMPILER)
        worlds = self.root.findall("worldbody")
        if not worlds:
            raise InputError("worldbody", None, "is missing")
        for world in worlds:
            self.fixed(world, "ground", Pose(), world.get("childclass", "main"), "worldbody")
        self.total_mass()
        machinery = Machinery(self.root, self.values, self.taken, self.out)
        machinery.read()
        machinery.medium()
        scene = self.out.scene
        if not self.touches:
            scene.bodies = [body.replace(mask=0) for body in scene.bodies]
        if not scene.bodies:
            raise InputError(
                "worldbody", None, f"holds no body that is free or fixed; not taken over: {'; '.join(self.out.lines())}"
            )
        return self.out

    def options(self) -> None:
        """Gravity, the step, and whether anything touches; what else <option> says is told of."""
        scene = self.out.scene
        for option in self.root.findall("option"):
            scene.gravity = numbers(option, "gravity", scene.gravity, 3)
            if option.get("timestep"):
                scene.dt = check_step("option.timestep", number(option, "timestep"))
            self.out.leave_rest("option", option.attrib, {"gravity", "timestep", "density", "viscosity", "wind"})
            for flag in option.findall("flag"):
                for key, value in flag.attrib.items():
                    if key == "gravity" and value == "disable":
                        scene.gravity = (0.0, 0.0, 0.0)
                    elif key == "contact" and value == "disable":
                        self.touches = False
                    elif value != "enable" or key in OFF:
                        self.out.leave("option flag", f"{key}={value}")

    def total_mass(self) -> None:
        """``settotalmass``: all masses times one factor, which is known where no body was left out."""
        wanted = number(xml.Element("compiler", self.values.compiler), "settotalmass", -1.0)
        if wanted <= 0:
            return
        if JOINTED in self.out.left_out:
            self.out.leave("compiler", f"settotalmass={wanted:g}, which counts bodies that are left out")
        elif all(body.kind != "dynamic" for body in self.out.scene.bodies):
            self.out.leave("compiler", f"settotalmass={wanted:g}: nothing moves")
        else:
            scaled_masses(self.out.scene, wanted)

    def inside(self, element: xml.Element, inherited: str, at: Pose = Pose()) -> Iterator[tuple[xml.Element, Pose, str]]:
        """The children of a body, those in its frames and replicas too, with the pose of the frame and their class."""
        for child in element:
            if child.tag == "frame":
                yield from self.inside(child, child.get("childclass", inherited), compose(at, self.values.pose(child)))
            elif child.tag == "replicate":
                step = xml.Element("frame", {"pos": child.get("offset", "0 0 0"), "euler": child.get("euler", "0 0 0")})
                place = at
                for _ in range(self.copies(child)):
                    yield from self.inside(child, child.get("childclass", inherited), place)
                    place = compose(place, self.values.pose(step))
            else:
                yield child, at, inherited

    def copies(self, replicate: xml.Element) -> int:
        """How many a replica makes, while there is room for what all of them make."""
        count = whole(replicate, "count")
        self.copied += max(count, 0)
        if self.copied > MOST_MODELLED:
            raise InputError("replicate.count", count, f"makes more than {MOST_MODELLED} copies in all")
        return count

    def fixed(self, body: xml.Element, name: str, at: Pose, inherited: str, where: str) -> None:
        """What is in the world, or in a body that stands still."""
        for child, frame, inner in self.inside(body, inherited):
            place = compose(at, frame)
            if child.tag == "geom":
                values = self.geoms.read(child, inner)
                if values is not None:
                    self.seat("geom", child.get("name", ""), Frame(), compose(place, values[1]))
                    self.add_static(child.get("name") or name, values, place)
                    if "shows" not in values[3]:
                        self.taken.geoms[child.get("name", "")] = self.out.scene.bodies[-1].name
            elif child.tag == "body":
                self.body(child, place, inner)
            elif child.tag not in INSIDE:
                self.out.leave(child.tag, named(child, where))
                if child.tag == "site":
                    self.seat("site", child.get("name", ""), Frame(), compose(place, self.site(child, inner)))

    def site(self, child: xml.Element, inherited: str) -> Pose:
        """The pose of a site; its region is noted."""
        site = xml.Element("site", self.values.with_defaults(child, inherited))
        region = region_of(site)
        if region is not None:
            self.taken.seats.regions[child.get("name", "")] = region
        return self.values.pose(site)

    def seat(self, kind: str, name: str, on: Frame, at: Pose) -> None:
        """Note where in a body of the scene, or in the world, something of the file is, for sensors."""
        if name:
            self.taken.seats.frames[kind, name] = Frame(on.body, at.position, at.orientation)

    def add_static(self, name: str, values: tuple[Shape, Pose, Mass | None, dict[str, Any]], at: Pose) -> None:
        shape, pose, _, more = values
        if "shows" in more:
            return
        pose, bits = compose(at, pose), more["bits"]
        more = {key: value for key, value in more.items() if key not in ("mass", "density", "group", "bits")}
        self.taken.bits[add_static(self.out.scene, name, shape, pose, **more)] = [bits]

    def body(self, body: xml.Element, above: Pose, inherited: str) -> None:
        """A child of the world, or of a static body."""
        name = body.get("name") or "body"
        at = compose(above, self.values.pose(body))
        inner = body.get("childclass", inherited)
        if body.get("mocap") == "true":
            self.out.leave("body driven by motion capture, which stands still here", name)
        if self.jointed(body, inner):
            self.moving(body, name, at, inner, None)
        else:
            self.taken.places[name] = None, at
            self.seat("xbody", name, Frame(), at)
            self.fixed(body, name, at, inner, name)

    def jointed(self, body: xml.Element, inherited: str) -> list[tuple[xml.Element, Pose, str]]:
        """The joints of a body, with the poses of their frames in it and their classes."""
        found = [found for found in self.inside(body, inherited) if found[0].tag in ("joint", "freejoint")]
        for child, _, _ in found:
            if child.get("type") == "fixed":  # as Bullet has it
                self.out.leave("joint of type fixed, which is as none", child.get("name", ""))
        return [one for one in found if one[0].get("type") != "fixed"]

    def moving(self, body: xml.Element, name: str, at: Pose, inherited: str, parent: str | None) -> None:
        """A body on joints with what is welded to it, then the bodies that hang on it. ``parent``: by its name in the scene."""
        joints = self.joints(body, name, at, inherited, parent)
        if joints is None:
            return
        found = Welded(name)
        self.gather(found, body, Pose(), body.get("childclass", inherited))
        with self.rotors_told(body, inherited):
            name = self.add_moving(found, at)
        self.taken.seats.above[name] = parent
        for joint in joints(name):
            self.out.scene.add_joint(joint)
        for child, pose, inner in found.below:
            self.moving(child, child.get("name") or "body", compose(at, pose), inner, name)

    def gather(self, found: Welded, element: xml.Element, pose: Pose, inherited: str) -> None:
        """What a body has, at its pose in the one that it is welded to, and all that is welded to it in turn."""
        weighed: list[Mass] = []
        given: list[Mass] = []
        for child, frame, inner in self.inside(element, inherited):
            place = compose(pose, frame)
            if child.tag == "geom":
                self.put(found, child, place, inner, weighed)
            elif child.tag == "body":
                here, own = compose(place, self.values.pose(child)), child.get("childclass", inner)
                if self.jointed(child, own):
                    found.below.append((child, here, own))
                else:
                    found.welds.append((child.get("name", ""), here))
                    self.gather(found, child, here, own)
            elif child.tag == "inertial" and self.values.compiler.get("inertiafromgeom") != "true":
                given.append(placed(self.values.inertial(child), place))
            elif child.tag not in INSIDE:
                self.out.leave(child.tag, named(child, element.get("name") or found.name))
                if child.tag == "site":
                    found.sites.append((child.get("name", ""), compose(place, self.site(child, inner))))
                    self.taken.seats.owners[child.get("name", "")] = element.get("name") or found.name
        if element.get("gravcomp", "0") != "0":
            self.out.leave("gravcomp", f"{element.get('gravcomp')} of {element.get('name', found.name)}")
        found.masses.extend(given or weighed)

    def put(self, found: Welded, element: xml.Element, frame: Pose, inner: str, weighed: list[Mass]) -> None:
        """A geom: a piece of the body where it touches, else of what is seen of it; what it weighs joins ``weighed``."""
        values = self.geoms.read(element, inner)
        if values is None:
            return
        shape, pose, solid, more = values
        if isinstance(shape, HalfSpace | Ground):
            what = "plane of a free body" if isinstance(shape, HalfSpace) else "height field of a free body"
            self.out.leave(what, found.name)
            return
        mass, pose = more.pop("mass", None), compose(frame, pose)
        mass = more.pop("density") * (solid or solid_of(shape))[0] if mass is None else mass
        piece = Piece(shape, pose, mass, solid)
        found.geoms.append((element.get("name", ""), pose))
        if more.pop("group") in self.values.weighed and mass > 0:
            weighed.append(filled(piece))
        bit = more.pop("bits")
        if "shows" in more:
            found.shown.append(piece)
        else:
            found.pieces.append(piece)
            found.touching.append(element.get("name", ""))
            found.bits.append(bit)
            found.surface |= {key: value for key, value in more.items() if key not in (*found.surface, "density")}

    def add_moving(self, found: Welded, at: Pose) -> str:
        """Add the body that was gathered, and note what the file calls its parts; its name in the scene."""
        if not found.masses:
            what = "has no mass, which what is on a joint needs: give it an <inertial>, or a geom that weighs"
            raise InputError(f"body {found.name}", None, what)
        scene, mass = self.out.scene, welded(found.masses)
        name = unique(found.name, [b.name for b in scene])
        pieces, surface = found.pieces, found.surface
        if not pieces:
            self.out.leave(UNTOUCHED, name)
            pieces, surface = found.shown or [stand_in(mass)], {"mask": 0}
        with within(f"body {name}: "):
            place = {"position": at.position, "orientation": at.orientation}
            scene.add(combined(pieces), name=name, **place, **fields_of(mass), **surface)
        self.taken.bits[name] = found.bits
        self.taken.geoms |= dict.fromkeys(found.touching, name)
        self.taken.places |= {old: (name, compose(at, pose)) for old, pose in found.welds}
        self.out.sites |= {site: (name, pose) for site, pose in found.sites if site}
        own = Frame(name)
        for kind, places in (("site", found.sites), ("geom", found.geoms), ("xbody", found.welds)):
            for old, pose in places:
                self.seat(kind, old, own, pose)
        self.taken.seats.roots[found.name] = name
        if len(found.welds) == 1:
            self.seat("body", found.name, own, Pose(tuple(map(float, mass[1]))))
        return name

    @contextmanager
    def rotors_told(self, body: xml.Element, inherited: str) -> Iterator[None]:
        """Where a body has no mass, or none about all axes, a rotor on its joint does not stand in for it, as in MuJoCo."""
        try:
            yield
        except InputError as error:
            weighed = error.name.endswith((": mass", ": inertia")) or error.value is None
            for child, _, own in self.jointed(body, inherited) if weighed else ():
                if numbers(xml.Element("joint", self.values.with_defaults(child, own)), "armature", (0.0,))[0] > 0:
                    hint = (
                        f"{error.hint}; the armature of joint {child.get('name', '')} turns about its axis alone: the body needs"
                    )
                    hint += " a mass and three moments of its own, however small, in <inertial>"
                    raise InputError(error.name, error.value, hint.replace("joint  ", "its joint ")) from None
            raise

    def joints(
        self, body: xml.Element, name: str, at: Pose, inherited: str, parent: str | None
    ) -> Callable[[str], list[JointDef]] | None:
        """What makes the joints of a body, once its name in the scene is known; None, and told of, where that can not be."""
        found = self.jointed(body, inherited)
        kinds = [e.tag if e.tag == "freejoint" else self.values.with_defaults(e, c).get("type", "hinge") for e, _, c in found]
        for kind in kinds:
            self.taken.sizes += SIZES.get("free" if kind == "freejoint" else kind, (0, 0))
        if kinds in (["freejoint"], ["free"]):
            for child, _, own in found:
                values = self.values.with_defaults(child, own) if child.tag == "joint" else {}
                for key in ("damping", "armature", "stiffness", "frictionloss"):
                    if numbers(xml.Element("joint", values), key, (0.0,))[0] != 0:
                        self.out.leave("free joint", f"{key}={values[key]} of {name}")
            return lambda mine: []
        reads = []
        for k, (e, pose, c) in enumerate(found):
            label, place = self.joint_name(e, name, k), compose(at, pose)
            reads.append(read_joint(self.values, self.values.with_defaults(e, c), label, place, self.out))
        if "free" in kinds or "freejoint" in kinds:
            self.out.leave(JOINTED, f"{name} ({', '.join(kinds)})")
            return None
        groups = in_groups(reads)
        if len(groups) > 1:
            self.out.leave(CARRIED, f"{name} ({', '.join(kinds)})")
        return lambda mine: self.joined(groups, parent, mine)

    def joined(self, groups: list[list[Read]], parent: str | None, mine: str) -> list[JointDef]:
        """The joints of a body of the scene; between groups that are no one joint are carriers, of a part of its mass."""
        scene = self.out.scene
        body = scene.bodies[-1]
        mass, center, inertia = body.mass_properties()
        arm = math.sqrt(float(np.trace(inertia)) / (2 * mass))
        light, rest = CARRIER * mass, 1 - CARRIER * (len(groups) - 1)
        if len(groups) > 1:
            scene.bodies[-1] = body.replace(**fields_of((rest * mass, np.array(center), rest * np.array(inertia))))
        joints, above = [], parent
        for group, after in zip(groups, groups[1:], strict=False):
            name = unique(f"{mine} on {group[-1].name}", [b.name for b in scene])
            at = tuple(map(float, (group[-1].anchor + after[0].anchor) / 2))
            scene.add(Capsule(0.1 * arm, 0.5 * arm), name=name, position=at, mass=light, inertia=(light * arm**2,) * 3, mask=0)
            self.taken.carriers.append(name)
            joints += joints_of(group, above, name, self.out)
            above = name
        if above != parent and parent is not None:
            scene.exclude(parent, mine)
        return joints + joints_of(groups[-1], above, mine, self.out)

    def joint_name(self, element: xml.Element, body: str, k: int) -> str:
        name = element.get("name") or f"{body}_joint{k + 1 if k else ''}"
        name = unique(name, self.joint_names)
        self.joint_names.append(name)
        return name
