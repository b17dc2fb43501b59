"""Sensors of MJCF that read the state, as instruments; the medium in which a model moves."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Mapping

from tumble.collision.pose import Pose
from tumble.scenarios.importing.models import Imported, number, numbers
from tumble.sim.forces.definitions import Medium
from tumble.sim.joints.definitions import Driven, JointDef
from tumble.sim.joints.mechanism.instruments import (
    Accelerometer,
    Encoder,
    Gyroscope,
    Instrument,
    RangeFinder,
    Tracker,
    Velocimeter,
)

ON_SITE = {"accelerometer": Accelerometer, "gyro": Gyroscope, "velocimeter": Velocimeter, "rangefinder": RangeFinder}
SENSOR = {"name", "class", "site", "joint", "objtype", "objname", "noise", "user", "cutoff"}


def read_sensor(
    element: xml.Element, values: dict[str, str], joints: Mapping[str, JointDef], bodies: Mapping[str, tuple[str | None, Pose]],
    out: Imported,
) -> Instrument | None:  # fmt: skip
    """The instrument that a sensor is; None for one that has no counterpart. ``bodies``: of the file, by name: (name, pose)."""
    tag, name = element.tag, values.get("name") or f"{element.tag}_{len(out.instruments) + 1}"
    more = {"noise": number(xml.Element(tag, values), "noise", 0.0)}
    if tag in ON_SITE and values.get("site") in out.sites:
        body, at = out.sites[values["site"]]
        cutoff = number(xml.Element(tag, values), "cutoff", 0.0)
        if tag == "rangefinder" and cutoff > 0:
            more["reach"] = cutoff
        return ON_SITE[tag](name, body, at.position, at.orientation, **more)
    if tag in ("jointpos", "jointvel") and isinstance(joints.get(values.get("joint")), Driven):
        return Encoder(name, values["joint"], **more)
    if tag == "framepos" and values.get("objtype") == "site" and values.get("objname") in out.sites and "refname" not in values:
        body, at = out.sites[values["objname"]]
        return Tracker(name, body, at.position, **more)
    if tag == "framepos" and values.get("objtype") == "xbody" and "refname" not in values:
        body = bodies.get(values.get("objname"), (None, None))[0]
        if body == values.get("objname"):  # its own frame, not that of a body which it is welded to
            return Tracker(name, body, **more)
    return None


def read_medium(options: list[xml.Element]) -> Medium | None:
    """The medium of a model; None in a vacuum."""
    said: dict[str, str] = {key: value for option in options for key, value in option.attrib.items()}
    element = xml.Element("option", said)
    density, viscosity = (number(element, key, 0.0) for key in ("density", "viscosity"))
    if density == viscosity == 0.0:
        return None
    return Medium(density=density, viscosity=viscosity, wind=numbers(element, "wind", (0, 0, 0), 3))
