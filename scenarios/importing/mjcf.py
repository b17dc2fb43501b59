"""MJCF: bodies, joints, actuators, geoms, meshes, height fields, inertials, materials, gravity. Source: MuJoCo's XML reference.

Files that are included, frames and replicas are taken in. Several joints of a body become one general joint with a drive
along each (``mjcf_joints.py``). MuJoCo's collisions are between convex hulls of meshes, so hulls they are here
too; what a mesh weighs is what it weighs there (``mjcf_parts.py``). Geoms that only show have mass all the same.
Its contacts are soft: solref, solimp and the like have no counterpart.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere
from tumble.collision.shapes.ground import Ground
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.files.limits import MOST_MODELLED
from tumble.scenarios.importing.mjcf_equalities import read_equality
from tumble.scenarios.importing.mjcf_fields import field_name, read_field
from tumble.scenarios.importing.mjcf_joints import Read, in_groups, joints_of, read_actuator, read_joint, read_tendon
from tumble.scenarios.importing.mjcf_parts import Mesh, expanded
from tumble.scenarios.importing.mjcf_sensors import SENSOR, read_medium, read_sensor
from tumble.scenarios.importing.models import (
    Imported,
    Mass,
    Piece,
    color,
    combined,
    compose,
    direction,
    fields_of,
    filled,
    ground,
    needed,
    number,
    numbers,
    placed,
    said_of,
    scaled_masses,
    solid_of,
    unique,
    welded,
    whole,
)
from tumble.sim.joints.definitions import Driven, JointDef
from tumble.sim.scene.options import check_step
from tumble.sim.scene.scene import Scene

IGNORED = {  # of the top level: what none of the bodies' motion hangs on
    "compiler", "option", "size", "visual", "statistic", "default", "asset", "worldbody", "custom", "extension", "keyframe",
}  # fmt: skip
GEOM = {
    "name", "class", "type", "pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "size", "fromto", "mass", "density",
    "friction", "rgba", "material", "mesh", "hfield", "group", "contype", "conaffinity", "condim",
}  # fmt: skip
COMPILER = {  # what is taken over, or changes no motion
    "angle", "eulerseq", "meshdir", "assetdir", "texturedir", "strippath", "inertiafromgeom", "inertiagrouprange", "settotalmass",
    "autolimits", "coordinate", "convexhull", "discardvisual", "fusestatic", "usethread", "alignfree", "saveinertial",
    "exactmeshinertia",
}  # fmt: skip
JOINTED = "body on joints that can not be put together, and what hangs on it"
CARRIER = 0.1  # mass of what is put between the joints of a body, of that of the body: with less, impacts tear it
CARRIED = "joints of a body that are no one joint, between which are carriers of a tenth of its mass"
UNTOUCHED = "body without a geom that touches, which meets nothing"
INSIDE = ("geom", "body", "joint", "freejoint", "inertial")  # of a body: what is taken over, or told of elsewhere


def named(element: xml.Element, where: str) -> str:
    """An element by its name, and the body that it is in."""
    name = element.get("name", "")
    return name if where == "worldbody" else f"{name} of {where}".strip()


def read(path: Path, root: xml.Element) -> Imported:
    """The scene of a <mujoco> element."""
    return _Reader(path, root).read()


class _Reader:
    def __init__(self, path: Path, root: xml.Element):
        self.path, self.root = path, expanded(root, path)
        root = self.root
        self.compiler = compiler = {key: value for element in root.iter("compiler") for key, value in element.attrib.items()}
        self.turn = 1.0 if compiler.get("angle", "degree") == "radian" else math.pi / 180
        self.euler = compiler.get("eulerseq", "xyz")
        if len(self.euler) != 3 or not set(self.euler.lower()) <= set("xyz"):
            raise InputError("compiler.eulerseq", self.euler, "must be three letters of xyz or XYZ")
        self.meshes = path.parent / compiler.get("meshdir", compiler.get("assetdir", ""))
        self.defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for default in root.findall("default"):
            self.default(default, "main", {})
        assets = [m for asset in root.findall("asset") for m in asset.findall("mesh") if m.get("file") or m.get("vertex")]
        self.assets = {self.mesh_name(m): m for m in assets}
        self.read_meshes: dict[str, Mesh] = {}
        fields = [f for asset in root.findall("asset") for f in asset.findall("hfield")]
        self.fields = {field_name(f): f for f in fields}
        self.read_fields: dict[str, Ground] = {}
        low, high = numbers(xml.Element("compiler", compiler), "inertiagrouprange", (0, 5), 2)
        self.weighed = range(int(low), int(high) + 1)  # groups of geoms that have mass
        self.colors = {m.get("name"): m.get("rgba") for m in root.findall("asset/material") if m.get("rgba")}
        self.places: dict[str, tuple[str | None, Pose]] = {"world": (None, Pose())}  # body of the file: of the scene, pose
        self.bits: dict[str, list[tuple[int, int]]] = {}  # body of the scene: contype and conaffinity of its geoms
        self.geoms: dict[str, str] = {}  # name of a geom that touches: body of the scene
        self.meet: list[tuple[str, str]] = []  # bodies that a pair of geoms brings together
        self.carriers: list[str] = []  # bodies of the scene that the file has not
        self.taken: list[str] = []  # names of joints
        self.copied = 0  # by replicas
        self.touches = True
        if sum(1 for _ in root.iter("body")) > MOST_MODELLED:
            raise InputError("worldbody", None, f"holds more than {MOST_MODELLED} bodies")
        self.out = Imported(Scene(name=root.get("model", path.stem), allow_overlap=True, friction_rule="max"))

    def default(self, element: xml.Element, name: str, above: dict[str, dict[str, str]]) -> None:
        """A class of defaults holds those of the class around it."""
        own = {tag: dict(values) for tag, values in above.items()}
        for child in element:
            if child.tag != "default":
                own[child.tag] = {**own.get(child.tag, {}), **child.attrib}
        self.defaults[name] = own
        for child in element.findall("default"):
            self.default(child, child.get("class", ""), own)

    def mesh_name(self, mesh: xml.Element) -> str:
        return mesh.get("name") or Path(mesh.get("file", "")).stem

    def read(self) -> Imported:
        scene = self.out.scene
        for option in self.root.findall("option"):
            scene.gravity = numbers(option, "gravity", scene.gravity, 3)
            if option.get("timestep"):
                scene.dt = check_step("option.timestep", number(option, "timestep"))
            for key in sorted(set(option.attrib) - {"gravity", "timestep", "density", "viscosity", "wind"}):
                self.out.leave("option", f"{key}={option.get(key)}")
            for flag in option.findall("flag"):
                for key, value in flag.attrib.items():
                    if key == "gravity" and value == "disable":
                        scene.gravity = (0.0, 0.0, 0.0)
                    elif key == "contact" and value == "disable":
                        self.touches = False
                    elif value != "enable":
                        self.out.leave("option flag", f"{key}={value}")
        for key in sorted(set(self.compiler) - COMPILER):
            self.out.leave("compiler", f"{key}={self.compiler[key]}")
        worlds = self.root.findall("worldbody")
        if not worlds:
            raise InputError("worldbody", None, "is missing")
        for world in worlds:
            self.fixed(world, "ground", Pose(), world.get("childclass", "main"), "worldbody")
        self.total_mass()
        self.machinery()
        self.medium()
        if not self.touches:
            scene.bodies = [body.replace(mask=0) for body in scene.bodies]
        if not scene.bodies:
            raise InputError(
                "worldbody", None, f"holds no body that is free or fixed; not taken over: {'; '.join(self.out.lines())}"
            )
        return self.out

    def total_mass(self) -> None:
        """``settotalmass``: all masses times one factor, which is known where no body was left out."""
        wanted = number(xml.Element("compiler", self.compiler), "settotalmass", -1.0)
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
                yield from self.inside(child, child.get("childclass", inherited), compose(at, self.pose(child)))
            elif child.tag == "replicate":
                step = xml.Element("frame", {"pos": child.get("offset", "0 0 0"), "euler": child.get("euler", "0 0 0")})
                place = at
                for _ in range(self.copies(child)):
                    yield from self.inside(child, child.get("childclass", inherited), place)
                    place = compose(place, self.pose(step))
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
                values = self.geom(child, inner)
                if values is not None:
                    self.add_static(child.get("name") or name, values, place)
                    if "shows" not in values[3]:
                        self.geoms[child.get("name", "")] = self.out.scene.bodies[-1].name
            elif child.tag == "body":
                self.body(child, place, inner)
            elif child.tag not in INSIDE:
                self.out.leave(child.tag, named(child, where))

    def add_static(self, name: str, values: tuple[Shape, Pose, Mass | None, dict[str, Any]], at: Pose) -> None:
        shape, pose, _, more = values
        if "shows" in more:
            return
        pose = compose(at, pose)
        bits = more["bits"]
        more = {key: value for key, value in more.items() if key not in ("mass", "density", "group", "bits")}
        name = unique(name, [b.name for b in self.out.scene])
        self.bits[name] = [bits]
        if isinstance(shape, HalfSpace):
            self.out.scene.add(ground(pose), kind="static", name=name, **more)
        else:
            self.out.scene.add(shape, kind="static", name=name, position=pose.position, orientation=pose.orientation, **more)

    def body(self, body: xml.Element, above: Pose, inherited: str) -> None:
        """A child of the world, or of a static body."""
        name = body.get("name") or "body"
        at = compose(above, self.pose(body))
        inner = body.get("childclass", inherited)
        if body.get("mocap") == "true":
            self.out.leave("body driven by motion capture, which stands still here", name)
        if self.jointed(body, inner):
            self.moving(body, name, at, inner, None)
        else:
            self.places[name] = None, at
            self.fixed(body, name, at, inner, name)

    def jointed(self, body: xml.Element, inherited: str) -> list[tuple[xml.Element, Pose, str]]:
        """The joints of a body, with the poses of their frames in it and their classes."""
        return [found for found in self.inside(body, inherited) if found[0].tag in ("joint", "freejoint")]

    def moving(self, body: xml.Element, name: str, at: Pose, inherited: str, parent: str | None) -> None:
        """A body on joints with what is welded to it, then the bodies that hang on it. ``parent``: by its name in the scene."""
        out = self.out
        found = self.joints(body, name, at, inherited, parent)
        if found is None:
            return
        pieces: list[Piece] = []  # that touch
        shown: list[Piece] = []
        masses: list[Mass] = []  # of the body, and of each that is welded to it
        surface: dict[str, Any] = {}
        below: list[tuple[xml.Element, Pose, str]] = []
        bits: list[tuple[int, int]] = []
        welds = [(name, Pose())]

        def gather(element: xml.Element, pose: Pose, inherited: str) -> None:
            weighed: list[Mass] = []
            given: list[Mass] = []
            for child, frame, inner in self.inside(element, inherited):
                place = compose(pose, frame)
                if child.tag == "geom":
                    put(child, place, inner, weighed)
                elif child.tag == "body":
                    here, own = compose(place, self.pose(child)), child.get("childclass", inner)
                    if self.jointed(child, own):
                        below.append((child, here, own))
                    else:
                        welds.append((child.get("name", ""), here))
                        gather(child, here, own)
                elif child.tag == "inertial" and self.compiler.get("inertiafromgeom") != "true":
                    given.append(placed(self.inertial(child), place))
                elif child.tag not in INSIDE:
                    out.leave(child.tag, named(child, element.get("name") or name))
                    if child.tag == "site":
                        spot = compose(place, self.pose(xml.Element("site", self.with_defaults(child, inner))))
                        sites.append((child.get("name", ""), spot))
            if element.get("gravcomp", "0") != "0":
                out.leave("gravcomp", f"{element.get('gravcomp')} of {element.get('name', name)}")
            masses.extend(given or weighed)

        def put(element: xml.Element, frame: Pose, inner: str, weighed: list[Mass]) -> None:
            values = self.geom(element, inner)
            if values is None:
                return
            shape, pose, solid, more = values
            if isinstance(shape, HalfSpace | Ground):
                out.leave("plane of a free body" if isinstance(shape, HalfSpace) else "height field of a free body", name)
                return
            mass, pose = more.pop("mass", None), compose(frame, pose)
            mass = more.pop("density") * (solid or solid_of(shape))[0] if mass is None else mass
            piece = Piece(shape, pose, mass, solid)
            if more.pop("group") in self.weighed and mass > 0:
                weighed.append(filled(piece))
            bit = more.pop("bits")
            if "shows" in more:
                shown.append(piece)
            else:
                pieces.append(piece)
                touching.append(element.get("name", ""))
                bits.append(bit)
                surface.update({key: value for key, value in more.items() if key not in (*surface, "density")})

        sites: list[tuple[str, Pose]] = []
        touching: list[str] = []  # geoms
        gather(body, Pose(), body.get("childclass", inherited))
        if not masses:
            raise InputError(
                f"body {name}", None, "has no mass, which what is on a joint needs: give it an <inertial>, or a geom that weighs"
            )
        scene, mass = out.scene, welded(masses)
        name = unique(name, [b.name for b in scene])
        if not pieces:
            out.leave(UNTOUCHED, name)
            surface = {"mask": 0}
            pieces = shown or [Piece(Sphere(max(1e-3, float(np.sqrt(np.trace(mass[2]) / mass[0])))), Pose(tuple(mass[1])), 0.0)]
        with said_of(f"body {name}"):
            scene.add(combined(pieces), name=name, position=at.position, orientation=at.orientation, **fields_of(mass), **surface)
        self.bits[name] = bits
        self.geoms |= dict.fromkeys(touching, name)
        self.places |= {old: (name, compose(at, pose)) for old, pose in welds}
        out.sites |= {site: (name, pose) for site, pose in sites if site}
        for joint in found(name):
            scene.add_joint(joint)
        for child, pose, inner in below:
            self.moving(child, child.get("name") or "body", compose(at, pose), inner, name)

    def joints(
        self, body: xml.Element, name: str, at: Pose, inherited: str, parent: str | None
    ) -> Callable[[str], list[JointDef]] | None:
        """What makes the joints of a body, once its name in the scene is known; None, and told of, where that can not be."""
        found = self.jointed(body, inherited)
        kinds = [e.tag if e.tag == "freejoint" else self.with_defaults(e, c).get("type", "hinge") for e, _, c in found]
        if kinds in (["freejoint"], ["free"]):
            for child, _, own in found:
                values = self.with_defaults(child, own) if child.tag == "joint" else {}
                for key in ("damping", "armature", "stiffness", "frictionloss"):
                    if numbers(xml.Element("joint", values), key, (0.0,))[0] != 0:
                        self.out.leave("free joint", f"{key}={values[key]} of {name}")
            return lambda mine: []
        auto = self.compiler.get("autolimits", "true") == "true"
        reads = [
            read_joint(self.with_defaults(e, c), self.joint_name(e, name, k), compose(at, pose), self.turn, auto, self.out)
            for k, (e, pose, c) in enumerate(found)
        ]
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
            self.carriers.append(name)
            joints += joints_of(group, above, name, self.out)
            above = name
        if above != parent and parent is not None:
            scene.exclude(parent, mine)
        return joints + joints_of(groups[-1], above, mine, self.out)

    def joint_name(self, element: xml.Element, body: str, k: int) -> str:
        name = element.get("name") or f"{body}_joint{k + 1 if k else ''}"
        name = unique(name, self.taken)
        self.taken.append(name)
        return name

    def machinery(self) -> None:
        """What is said beside the bodies: actuators, equalities, pairs that do not touch, keyframes."""
        out, scene, auto = self.out, self.out.scene, self.compiler.get("autolimits", "true") == "true"
        driven = {joint.name: joint for joint in scene.joints if isinstance(joint, Driven)}
        tendons: dict[str, dict[str, float]] = {}
        for child in (child for element in self.root.findall("tendon") for child in element):
            values = {**self.defaults["main"].get("tendon", {}), **self.with_defaults(child, "main")}
            tendons[child.get("name", "")] = read_tendon(child, values, driven, out)
        for element in self.root:
            for child in element:
                if element.tag == "tendon":
                    continue
                if element.tag == "actuator":
                    tag = child.tag
                    own = self.with_defaults(child, "main")
                    general = self.defaults["main"].get("general", {}) if tag == "general" else {}
                    actuator = read_actuator(tag, {**general, **own}, driven, out, auto, tendons)
                    if actuator is not None:
                        scene.add_actuator(actuator)
                elif element.tag == "equality":
                    joint = read_equality(child, self.places, out)
                    if joint is not None:
                        scene.add_joint(joint)
                elif element.tag == "keyframe":
                    given = {key: numbers(child, key, None) for key in ("qpos", "qvel", "ctrl") if child.get(key)}
                    out.keyframes[child.get("name") or str(len(out.keyframes))] = given
                elif element.tag == "contact" and child.tag == "exclude":
                    a, b = (self.places.get(child.get(key), (None, None))[0] for key in ("body1", "body2"))
                    if a is None or b is None or a == b:
                        out.leave("contact exclude", f"{child.get('body1')} {child.get('body2')}")
                    else:
                        scene.exclude(a, b)
                elif element.tag == "contact" and child.tag == "pair":
                    self.pair(child)
                elif element.tag not in IGNORED:
                    out.leave(f"{element.tag} {child.tag}", child.get("name", ""))
                if element.tag == "sensor":
                    values = self.with_defaults(child, "main")
                    sensor = read_sensor(child, values, driven, self.places, out)
                    if sensor is not None:
                        out.instruments.append(sensor)
                        for key in sorted(set(values) - SENSOR):
                            out.leave(f"sensor {child.tag}", f"{key}={values[key]} of {sensor.name}")
        kinds = {body.name: body.kind for body in scene}
        apart: list[tuple[str, str]] = []
        for (a, mine), (b, its) in combinations(self.bits.items(), 2):
            if "dynamic" not in (kinds[a], kinds[b]) or not mine or not its:
                continue
            meet = [bool(p & s or q & r) for p, q in mine for r, s in its]
            if not any(meet):
                apart.append((min(a, b), max(a, b)))
            elif not all(meet):
                out.leave("contype and conaffinity of some geoms of a body, which touch as one", f"{a} and {b}")
        scene.apart = [pair for pair in dict.fromkeys([*scene.apart, *apart]) if pair not in self.meet]

    def medium(self) -> None:
        """The air or water of the model; bodies that are welded together resist it as one."""
        found = read_medium(self.root.findall("option"))
        if found is None or all(body.kind != "dynamic" for body in self.out.scene):
            return
        if self.carriers:
            dynamic = [body.name for body in self.out.scene if body.kind == "dynamic" and body.name not in self.carriers]
            found = found.replace(bodies=dynamic)
        self.out.scene.add_force(found)
        names = [name for name, _ in self.places.values()]
        for name, (own, _) in self.places.items():
            if own is not None and names.count(own) > 1 and own != name:
                self.out.leave("resistance of the medium of its own", f"{name}, which is welded to {own}")

    def pair(self, element: xml.Element) -> None:
        """A <pair> of geoms: their bodies meet, with its friction."""
        names = [element.get("geom1", ""), element.get("geom2", "")]
        a, b = (self.geoms.get(name) for name in names)
        told = element.get("name") or " ".join(names)
        values = self.with_defaults(element, "main")
        if a is None or b is None or a == b:
            self.out.leave("contact pair", told)
            return
        self.meet.append((min(a, b), max(a, b)))
        if any(len(self.bits[body]) > 1 for body in (a, b)):
            self.out.leave("contact pair of some geoms of a body, which touch as one", told)
        given = numbers(xml.Element("pair", values), "friction", None)
        if given is not None:
            slide, torsion, roll = given[0], *(given[2:4] if len(given) >= 4 else (None, None))
            condim = whole(xml.Element("pair", values), "condim", 3)
            coefficients = {"friction": 0.0 if condim == 1 else slide}
            coefficients |= {"torsional_friction": torsion} if condim >= 4 and torsion is not None else {}
            coefficients |= {"rolling_friction": roll} if condim == 6 and roll is not None else {}
            self.out.scene.set_pair(a, b, **coefficients)
        for key in sorted(set(values) - {"name", "class", "geom1", "geom2", "friction", "condim"}):
            self.out.leave("contact pair", f"{key}={values[key]} of {told}")

    def inertial(self, element: xml.Element) -> Mass:
        mass, at = number(element, "mass"), self.pose(element)
        full = numbers(element, "fullinertia", None, 6)
        if full is not None:
            xx, yy, zz, xy, xz, yz = full
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            inertia = np.diag(numbers(element, "diaginertia", (0.4 * mass * 1e-2,) * 3, 3))
        return placed((mass, np.zeros(3), inertia), at)

    def with_defaults(self, element: xml.Element, inherited: str) -> dict[str, str]:
        name = element.get("class", inherited)
        if name not in self.defaults:
            raise InputError(f"{element.tag}.class", name, "there is no such default")
        return {**self.defaults[name].get(element.tag, {}), **element.attrib}

    def geom(self, element: xml.Element, inherited: str) -> tuple[Shape, Pose, Mass | None, dict[str, Any]] | None:
        """(shape, pose, what it weighs if not as the shape, fields of the body); None for what has no shape.

        Among the fields ``group``, and ``shows`` where it touches nothing.
        """
        geom = xml.Element("geom", self.with_defaults(element, inherited))
        name = geom.get("name", geom.get("mesh", geom.get("type", "sphere")))
        shows = geom.get("contype", "1") == "0" and geom.get("conaffinity", "1") == "0"
        if shows:
            self.out.leave("geom that only shows", name)
        for key in sorted(set(geom.attrib) - GEOM):
            self.out.leave("geom", f"{key}={geom.get(key)}")
        pose, kind = (
            self.pose(geom),
            geom.get("type", "mesh" if geom.get("mesh") else "hfield" if geom.get("hfield") else "sphere"),
        )
        size = numbers(geom, "size", (), None) or ()
        ends = numbers(geom, "fromto", None, 6)
        if ends is not None:
            a, b = np.array(ends[:3]), np.array(ends[3:])
            pose, half = Pose(tuple((a + b) / 2), self.along("geom.fromto", a - b)), float(np.linalg.norm(b - a)) / 2
            radius = needed(geom, "size")[0]
            size = (radius, radius, half) if kind in ("box", "ellipsoid") else (radius, half)
        mesh = self.mesh(geom) if geom.get("mesh") in self.assets and kind in ("mesh", "sdf") else None
        if mesh is not None:
            shape = mesh.hull()
        else:
            shape = self.field(geom.get("hfield", "")) if kind == "hfield" else self.shape(name, kind, size)
        if shape is None:
            return None
        slide, torsion, roll = self.frictions(geom)
        more: dict[str, Any] = {"friction": slide}
        condim = whole(geom, "condim", 3)
        more |= {"friction": 0.0} if condim == 1 else {}
        more |= {"torsional_friction": torsion} if condim >= 4 else {}
        more |= {"rolling_friction": roll} if condim == 6 else {}
        rgba = geom.get("rgba") or self.colors.get(geom.get("material"))
        if rgba:
            more["color"] = color("geom.rgba", rgba)
        if geom.get("mass") is not None:
            more["mass"] = number(geom, "mass")
        more["bits"] = whole(geom, "contype", 1), whole(geom, "conaffinity", 1)
        more["group"] = whole(geom, "group", 0)
        more["density"] = number(geom, "density", 1000.0)
        return shape, pose, None if mesh is None else mesh.solid(), more | ({"shows": True} if shows else {})

    def mesh(self, geom: xml.Element) -> Mesh:
        """The mesh that a geom names, read once; what it is in MuJoCo's contacts is told."""
        name = geom.get("mesh")
        if name not in self.read_meshes:
            asset = xml.Element("mesh", self.with_defaults(self.assets[name], "main"))
            mesh = Mesh.read(asset, self.meshes, self.compiler.get("strippath") == "true")
            self.read_meshes[name] = mesh
            if (too_heavy := mesh.overcounted()) > 1.01:
                self.out.leave("mesh that weighs more than what it encloses, as in MuJoCo", f"{name} ({too_heavy:.3g} times)")
        self.out.leave("mesh, taken as its convex hull", name)
        return self.read_meshes[name]

    def field(self, name: str) -> Ground:
        """The height field that a geom names, read once."""
        if name not in self.read_fields:
            if name not in self.fields:
                raise InputError("geom.hfield", name, f"there is none of this name{did_you_mean(name, list(self.fields))}")
            self.read_fields[name] = read_field(self.fields[name], self.meshes, self.compiler.get("strippath") == "true")
        return self.read_fields[name]

    def frictions(self, geom: xml.Element) -> tuple[float, float, float]:
        given = numbers(geom, "friction", (), None) or ()
        return (*given[:3], *(1.0, 0.005, 0.0001)[len(given) :])

    def shape(self, name: str, kind: str, size: tuple[float, ...]) -> Shape | None:
        sizes = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
        if kind == "plane":
            return HalfSpace()
        if kind in sizes and len(size) < sizes[kind]:
            raise InputError(f"geom {name}: size", list(size), f"a {kind} has {sizes[kind]} numbers")
        if kind == "sphere":
            return Sphere(size[0])
        if kind in ("capsule", "cylinder"):
            return (Capsule if kind == "capsule" else Cylinder)(size[0], size[1])
        if kind == "box":
            return Box(size[:3])
        if kind == "ellipsoid":
            return Ellipsoid(size[:3])
        self.out.leave("geom", f"{name} of type {kind}")
        return None

    def pose(self, element: xml.Element) -> Pose:
        """pos with one of quat, euler, axisangle, xyaxes, zaxis."""
        at = numbers(element, "pos", (0, 0, 0), 3)
        if element.get("quat"):
            return Pose(at, tuple(direction(f"{element.tag}.quat", needed(element, "quat", 4))))
        if element.get("axisangle"):
            *axis, angle = needed(element, "axisangle", 4)
            half, axis = angle * self.turn / 2, direction(f"{element.tag}.axisangle", axis)
            return Pose(at, (math.cos(half), *(math.sin(half) * axis)))
        if element.get("euler"):
            out = Pose()
            for letter, angle in zip(self.euler, needed(element, "euler", 3), strict=True):
                half, axis = angle * self.turn / 2, "xyz".index(letter.lower())
                q = [math.cos(half), 0.0, 0.0, 0.0]
                q[1 + axis] = math.sin(half)
                one = Pose(orientation=tuple(q))
                out = compose(out, one) if letter.islower() else compose(one, out)
            return Pose(at, out.orientation)
        if element.get("xyaxes"):
            given = np.array(needed(element, "xyaxes", 6))
            x = direction(f"{element.tag}.xyaxes", given[:3])
            y = direction(f"{element.tag}.xyaxes", given[3:] - (given[3:] @ x) * x)
            return Pose(at, Pose.from_matrix(np.column_stack((x, y, np.cross(x, y)))).orientation)
        if element.get("zaxis"):
            return Pose(at, self.along(f"{element.tag}.zaxis", needed(element, "zaxis", 3)))
        return Pose(at)

    def along(self, key: str, vector: np.ndarray) -> tuple[float, ...]:
        """The shortest turn of the z axis into a direction."""
        d = direction(key, vector)
        if d[2] < -1 + 1e-12:
            return (0.0, 1.0, 0.0, 0.0)
        q = np.array([1 + d[2], -d[1], d[0], 0.0])
        return tuple(map(float, q / np.linalg.norm(q)))
