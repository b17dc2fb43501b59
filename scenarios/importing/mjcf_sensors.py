"""Sensors of MJCF that read the state, as instruments; the medium in which a model moves."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Mapping
from dataclasses import dataclass, field

from tumble.scenarios.importing.models import Imported, number, numbers
from tumble.sim.forces.force_definitions import Medium
from tumble.sim.joints.joint_definitions import Driven, JointDef
from tumble.sim.joints.mechanism.instruments import Accelerometer, Gyroscope, Instrument, RangeFinder, Velocimeter
from tumble.sim.joints.mechanism.sensors import (
    REGIONS,
    ActuatorSensor,
    CoordinateSensor,
    Frame,
    FrameSensor,
    Interaction,
    SubtreeSensor,
    Touch,
    WorldSensor,
)

ON_SITE = {"accelerometer": Accelerometer, "gyro": Gyroscope, "velocimeter": Velocimeter, "rangefinder": RangeFinder}
OF_FRAME = {
    "framepos": "position", "framequat": "orientation", "framexaxis": "x", "frameyaxis": "y", "framezaxis": "z",
    "framelinvel": "velocity", "frameangvel": "angular_velocity",
}  # fmt: skip
OF_TREE = {"subtreecom": "center", "subtreelinvel": "velocity", "subtreeangmom": "angular_momentum"}
OF_JOINT = {"jointpos": "position", "jointvel": "speed"}
OF_TENDON = {"tendonpos": "position", "tendonvel": "speed"}
OF_ACTUATOR = {"actuatorpos": "position", "actuatorvel": "speed", "actuatorfrc": "force"}
OF_WORLD = {"clock": "time", "e_potential": "potential", "e_kinetic": "kinetic"}
SENSOR = {
    "name", "class", "site", "joint", "tendon", "actuator", "body", "objtype", "objname", "reftype", "refname", "noise", "user",
}  # fmt: skip


@dataclass
class Places:
    """What sensors are on: frames of the scene by type and name of the file, and what hangs on what."""

    frames: dict[tuple[str, str], Frame] = field(default_factory=lambda: {(kind, "world"): Frame() for kind in ("xbody", "body")})
    regions: dict[str, tuple[str, tuple[float, ...]]] = field(default_factory=dict)  # site: its shape and size
    above: dict[str, str | None] = field(default_factory=dict)  # body of the scene: on which it hangs, None for the world
    roots: dict[str, str] = field(default_factory=dict)  # body of the file on joints: that of the scene, with all welded to it
    owners: dict[str, str] = field(default_factory=dict)  # site: its body of the file

    def tree(self, body: str) -> tuple[str, ...]:
        """A body of the scene and all that hangs on it."""
        return (body, *(deep for name, on in self.above.items() if on == body for deep in self.tree(name)))


class SensorReader:
    """Reads sensors; ``joints``: those with one coordinate, ``tendons``: joint -> coefficient, by their names."""

    def __init__(self, places: Places, joints: Mapping[str, JointDef], tendons: Mapping[str, dict[str, float]], out: Imported):
        self.places, self.joints, self.tendons, self.out = places, joints, tendons, out

    def read(self, element: xml.Element, values: dict[str, str]) -> Instrument | None:
        """The instrument that a sensor is; None for one that has no counterpart."""
        tag, name = element.tag, values.get("name") or f"{element.tag}_{len(self.out.instruments) + 1}"
        said = xml.Element(tag, values)
        more = {"noise": number(said, "noise", 0.0)}
        site = self.places.frames.get(("site", values.get("site", "")))
        if tag in OF_WORLD:
            return WorldSensor(name, OF_WORLD[tag], **more)
        if tag in OF_FRAME:
            return self._of_frame(name, OF_FRAME[tag], values, more)
        if tag in OF_TREE:
            root = self.places.roots.get(values.get("body", ""))
            return SubtreeSensor(name, self.places.tree(root), OF_TREE[tag], **more) if root else None
        if tag in OF_JOINT:
            known = isinstance(self.joints.get(values.get("joint")), Driven)
            return CoordinateSensor(name, (values["joint"],), OF_JOINT[tag], **more) if known else None
        if tag in OF_TENDON:
            parts = self.tendons.get(values.get("tendon", ""))
            return CoordinateSensor(name, tuple(parts), OF_TENDON[tag], tuple(parts.values()), **more) if parts else None
        if tag in OF_ACTUATOR:
            known = values.get("actuator") in [actuator.name for actuator in self.out.scene.actuators]
            return ActuatorSensor(name, values["actuator"], OF_ACTUATOR[tag], **more) if known else None
        if site is None or site.body is None:
            return None
        return self._on_site(tag, name, site, said, more)

    def _of_frame(self, name: str, of: str, values: dict[str, str], more: dict[str, float]) -> Instrument | None:
        frame = self.places.frames.get((values.get("objtype", ""), values.get("objname", "")))
        against = self.places.frames.get((values.get("reftype", ""), values.get("refname", "")))
        if frame is None or ("refname" in values and against is None):
            return None
        turned = of not in ("position", "velocity", "angular_velocity") or against is not None
        if turned and "body" in (values.get("objtype"), values.get("reftype")):
            return None  # axes of inertia: for equal moments any are
        return FrameSensor(name, frame, of, against, **more)

    def _on_site(self, tag: str, name: str, site: Frame, said: xml.Element, more: dict[str, float]) -> Instrument | None:
        if tag in ON_SITE:
            cutoff = number(said, "cutoff", 0.0)
            reach = {"reach": cutoff} if tag == "rangefinder" and cutoff > 0 else {}
            return ON_SITE[tag](name, site.body, site.position, site.orientation, **reach, **more)
        if tag in ("force", "torque"):
            held = {site.body, self.places.above.get(site.body)}
            joints = [joint.name for joint in self.out.scene.joints if {joint.a, joint.b} == held]
            hangs = self.places.owners.get(said.get("site", "")) in self.places.roots
            return Interaction(name, site, tuple(joints), tag, **more) if joints and hangs else None
        if tag == "touch" and said.get("site") in self.places.regions:
            region, size = self.places.regions[said.get("site", "")]
            return Touch(name, site.body, site.position, site.orientation, region, size, **more)
        return None


def region_of(site: xml.Element) -> tuple[str, tuple[float, ...]] | None:
    """Shape and size of a site; None for one that is no region."""
    kind, size = site.get("type", "sphere"), numbers(site, "size", (0.005, 0.005, 0.005))
    return None if kind not in REGIONS or len(size) < REGIONS[kind][0] else (kind, size)


def read_medium(options: list[xml.Element]) -> Medium | None:
    """The medium of a model; None in a vacuum."""
    said: dict[str, str] = {key: value for option in options for key, value in option.attrib.items()}
    element = xml.Element("option", said)
    density, viscosity = (number(element, key, 0.0) for key in ("density", "viscosity"))
    if density == viscosity == 0.0:
        return None
    return Medium(density=density, viscosity=viscosity, wind=numbers(element, "wind", (0, 0, 0), 3))
