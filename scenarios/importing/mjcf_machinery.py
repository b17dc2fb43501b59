"""MJCF, after the bodies: tendons, actuators, equalities, sensors, keyframes, which bodies touch, and the medium around them."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.scenarios.importing.mjcf_equalities import read_equality
from tumble.scenarios.importing.mjcf_joints import read_actuator, read_tendon
from tumble.scenarios.importing.mjcf_sensors import ON_SITE, SENSOR, Places, SensorReader, read_medium
from tumble.scenarios.importing.mjcf_values import Values, coefficients
from tumble.scenarios.importing.models import Imported, compose, numbers
from tumble.sim.joints.joint_definitions import Driven
from tumble.sim.words import count

JOINTED = "body on joints that can not be put together, and what hangs on it"
FRICTION = (1.0, 1.0, 0.005, 0.0001)  # of a <pair> that says none, whatever its geoms have
IGNORED = {  # elements of the top level that are read elsewhere, or on which no motion depends
    "compiler", "option", "size", "visual", "statistic", "default", "asset", "worldbody", "custom", "extension", "keyframe",
}  # fmt: skip


@dataclass
class Taken:
    """What was made of the bodies of a file, by which the rest of the file names them."""

    # of a body of the file: its body of the scene, None where it stands still, and its pose
    places: dict[str, tuple[str | None, Pose]] = field(default_factory=lambda: {"world": (None, Pose())})
    bits: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # body of the scene: contype and conaffinity of geoms
    geoms: dict[str, str] = field(default_factory=dict)  # name of a geom that touches: body of the scene
    meet: list[tuple[str, str]] = field(default_factory=list)  # bodies that a pair of geoms brings together
    sizes: np.ndarray = field(default_factory=lambda: np.zeros(2, dtype=int))  # of qpos and of qvel, of the joints that were read
    carriers: list[str] = field(default_factory=list)  # bodies of the scene that the file does not have
    seats: Places = field(default_factory=Places)  # what sensors are on


class Machinery:
    """Reads what follows the bodies of a file into the scene that has them."""

    def __init__(self, root: xml.Element, values: Values, taken: Taken, out: Imported):
        self.root, self.values, self.taken, self.out = root, values, taken, out

    def read(self) -> None:
        out, scene = self.out, self.out.scene
        self.driven = {joint.name: joint for joint in scene.joints if isinstance(joint, Driven)}
        self.tendons: dict[str, dict[str, float]] = {}
        for child in (child for element in self.root.findall("tendon") for child in element):
            values = self.values.with_defaults(child, "main", "tendon")
            self.tendons[child.get("name", "")] = read_tendon(child, values, self.driven, out)
        readers = {
            "actuator": self._actuator, "equality": self._equality, "keyframe": self._keyframe, "contact": self._contact,
            "sensor": self._sensor,
        }  # fmt: skip
        for element in self.root:
            for child in element:
                if element.tag in readers:
                    readers[element.tag](child)
                elif element.tag != "tendon" and element.tag not in IGNORED:
                    out.leave(f"{element.tag} {child.tag}", child.get("name", ""))
        self._leave_apart()

    def _actuator(self, child: xml.Element) -> None:
        actuator = read_actuator(child.tag, self.values.actuator(child), self.driven, self.out, self.values.auto, self.tendons)
        if actuator is not None:
            self.out.scene.add_actuator(actuator)

    def _equality(self, child: xml.Element) -> None:
        said = xml.Element(child.tag, self.values.with_defaults(child, "main", "equality"))
        joint = read_equality(said, self.taken.places, self._sites(), self.out)
        if joint is not None:
            self.out.scene.add_joint(joint)

    def _sites(self) -> dict[str, tuple[str | None, Pose]]:
        """Bodies of the scene that sites are on, None for the world, and where they are in that."""
        stand = {body.name: Pose(body.position, body.orientation) for body in self.out.scene}
        found = {name: frame for (kind, name), frame in self.taken.seats.frames.items() if kind == "site"}
        places = {name: Pose(frame.position, frame.orientation) for name, frame in found.items()}
        return {name: (f.body, compose(stand.get(f.body, Pose()), places[name])) for name, f in found.items()}

    def _keyframe(self, child: xml.Element) -> None:
        name = child.get("name") or str(len(self.out.keyframes))
        given = {key: numbers(child, key, None) for key in ("qpos", "qvel", "ctrl") if child.get(key)}
        drives = sum(len(element) for element in self.root.findall("actuator"))
        for key, size in zip(("qpos", "qvel", "ctrl"), (*self.taken.sizes.tolist(), drives), strict=True):
            if key in given and len(given[key]) != size and JOINTED not in self.out.left_out:
                raise InputError(f"key {name}: {key}", child.get(key), f"must be {count(size, 'number')}")
        self.out.leave_rest("key", child.attrib, {"name", *given}, name)
        self.out.keyframes[name] = given

    def _contact(self, child: xml.Element) -> None:
        if child.tag == "pair":
            self._pair(child)
        elif child.tag == "exclude":
            a, b = (self.taken.places.get(child.get(key), (None, None))[0] for key in ("body1", "body2"))
            if a is None or b is None or a == b:
                self.out.leave("contact exclude", f"{child.get('body1')} {child.get('body2')}")
            else:
                self.out.scene.exclude(a, b)
        else:
            self.out.leave(f"contact {child.tag}", child.get("name", ""))

    def _sensor(self, child: xml.Element) -> None:
        values = self.values.with_defaults(child, "main")
        sensor = SensorReader(self.taken.seats, self.driven, self.tendons, self.out).read(child, values)
        if sensor is None:
            self.out.leave(f"sensor {child.tag}", child.get("name", ""))
            return
        self.out.instruments.append(self.out.scene.add_instrument(sensor))
        taken = SENSOR | ({"cutoff"} if child.tag in ON_SITE else set())
        self.out.leave_rest(f"sensor {child.tag}", values, taken, sensor.name)

    def _pair(self, element: xml.Element) -> None:
        """A <pair> of geoms: their bodies meet, with its friction."""
        names = [element.get("geom1", ""), element.get("geom2", "")]
        a, b = (self.taken.geoms.get(name) for name in names)
        told = element.get("name") or " ".join(names)
        values = self.values.with_defaults(element, "main")
        if a is None or b is None or a == b:
            self.out.leave("contact pair", told)
            return
        self.taken.meet.append((min(a, b), max(a, b)))
        if any(len(self.taken.bits[body]) > 1 for body in (a, b)):
            self.out.leave("contact pair of some geoms of a body, which touch as one", told)
        given = numbers(xml.Element("pair", values), "friction", ())  # sliding both ways, torsion, rolling both ways
        slide, _, torsion, roll = (*given[:4], *FRICTION[len(given) :])[:4]
        self.out.scene.set_pair(a, b, **coefficients(xml.Element("pair", values), slide, torsion, roll))
        self.out.leave_rest("contact pair", values, {"name", "class", "geom1", "geom2", "friction", "condim"}, told)

    def _leave_apart(self) -> None:
        """Bodies whose geoms do not meet by their bits pass through each other."""
        scene = self.out.scene
        kinds = {body.name: body.kind for body in scene}
        apart: list[tuple[str, str]] = []
        for (a, mine), (b, its) in combinations(self.taken.bits.items(), 2):
            if "dynamic" not in (kinds[a], kinds[b]) or not mine or not its:
                continue
            meet = [bool(p & s or q & r) for p, q in mine for r, s in its]
            if not any(meet):
                apart.append((min(a, b), max(a, b)))
            elif not all(meet):
                self.out.leave("contype and conaffinity of some geoms of a body, which touch as one", f"{a} and {b}")
        scene.apart = [pair for pair in dict.fromkeys([*scene.apart, *apart]) if pair not in self.taken.meet]

    def medium(self) -> None:
        """The air or water of the model; bodies that are welded together resist it as one."""
        found = read_medium(self.root.findall("option"))
        if found is None or all(body.kind != "dynamic" for body in self.out.scene):
            return
        if self.taken.carriers:
            dynamic = [body.name for body in self.out.scene if body.kind == "dynamic" and body.name not in self.taken.carriers]
            found = found.replace(bodies=dynamic)
        self.out.scene.add_force(found)
        names = [name for name, _ in self.taken.places.values()]
        for name, (own, _) in self.taken.places.items():
            if own is not None and names.count(own) > 1 and own != name:
                self.out.leave("resistance of the medium of its own", f"{name}, which is welded to {own}")
