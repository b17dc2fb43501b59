"""MJCF: values that a file gives once for all elements (units and orders of angles, classes of defaults), and the poses that
follow."""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.scenarios.importing.models import Mass, about, compose, direction, needed, number, numbers, placed, whole

COMPILER = {  # what is taken over, or changes no motion
    "angle", "eulerseq", "meshdir", "assetdir", "texturedir", "strippath", "inertiafromgeom", "inertiagrouprange", "settotalmass",
    "autolimits", "coordinate", "convexhull", "discardvisual", "fusestatic", "usethread", "alignfree", "saveinertial",
    "exactmeshinertia",
}  # fmt: skip


ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion")


def as_general(tag: str, above: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """Attributes of an actuator over defaults, as those of a <general>. In MuJoCo all actuators of a class have one set of
    defaults, whatever their tags, and a <motor>, <position> or <velocity> is a way to set gain and bias of it. Those that another
    such way has set count for nothing; under ``way`` it is noted."""
    out = {**above, **own}
    element = xml.Element(tag, out)
    gain, bias = (list(numbers(element, key, (default,))) for key, default in (("gainprm", 1.0), ("biasprm", 0.0)))
    bias += [0.0] * (3 - len(bias))
    if tag not in ("motor", "position", "velocity"):
        return out
    if tag == "motor" or above.get("way", tag) != tag:
        gain, bias = [1.0], [0.0, 0.0, 0.0]
    if tag == "position":
        gain[0] = number(element, "kp", gain[0])
        bias = [0.0, -gain[0], -number(element, "kv", -bias[2])]
    elif tag == "velocity":
        gain[0] = number(element, "kv", gain[0])
        bias = [0.0, 0.0, -gain[0]]
    out |= {"gaintype": "fixed", "biastype": "none" if tag == "motor" else "affine", "way": tag}
    out["gainprm"], out["biasprm"] = (" ".join(map(repr, values)) for values in (gain, bias))
    return {key: value for key, value in out.items() if key not in ("kp", "kv")}


class Values:
    """Reads values of elements as the <compiler> and the <default> classes of a file say.

    ``turn``: radians in the file's unit of angles. ``auto``: a range that is given is a limit. ``weighed``: groups of geoms that
    have mass.
    """

    def __init__(self, root: xml.Element):
        self.compiler = compiler = {key: value for element in root.iter("compiler") for key, value in element.attrib.items()}
        self.turn = 1.0 if compiler.get("angle", "degree") == "radian" else math.pi / 180
        self.auto = compiler.get("autolimits", "true") == "true"
        self.strip = compiler.get("strippath") == "true"
        self.euler = compiler.get("eulerseq", "xyz")
        if len(self.euler) != 3 or not set(self.euler.lower()) <= set("xyz"):
            raise InputError("compiler.eulerseq", self.euler, "must be three letters of xyz or XYZ")
        low, high = numbers(xml.Element("compiler", compiler), "inertiagrouprange", (0, 5), 2)
        self.weighed = range(int(low), int(high) + 1)
        self.defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for default in root.findall("default"):
            self._default(default, "main", self.defaults["main"])
            self.defaults[default.get("class", "main")] = self.defaults["main"]

    def _default(self, element: xml.Element, name: str, above: dict[str, dict[str, str]]) -> None:
        """A class of defaults holds those of the class around it."""
        own = {tag: dict(values) for tag, values in above.items()}
        for child in element:
            if child.tag in ACTUATORS:
                own["actuator"] = as_general(child.tag, own.get("actuator", {}), child.attrib)
            elif child.tag != "default":
                own[child.tag] = {**own.get(child.tag, {}), **child.attrib}
        self.defaults[name] = own
        for child in element.findall("default"):
            self._default(child, child.get("class", ""), own)

    def with_defaults(self, element: xml.Element, inherited: str, tag: str | None = None) -> dict[str, str]:
        """Attributes of an element, over those of its class, or else of the class that it inherits; ``tag``: under which defaults
        of it stand, if not under its own."""
        return {**self._of_class(element, inherited).get(tag or element.tag, {}), **element.attrib}

    def actuator(self, element: xml.Element) -> dict[str, str]:
        """Attributes of an actuator, as those of a <general>."""
        return as_general(element.tag, self._of_class(element, "main").get("actuator", {}), element.attrib)

    def _of_class(self, element: xml.Element, inherited: str) -> dict[str, dict[str, str]]:
        """Defaults of the class of an element, or of that which it inherits."""
        name = element.get("class", inherited)
        if name not in self.defaults:
            raise InputError(f"{element.tag}.class", name, "there is no such default")
        return self.defaults[name]

    def inertial(self, element: xml.Element) -> Mass:
        """What an <inertial> says, in the frame of its body."""
        mass, at = number(element, "mass"), self.pose(element)
        full = numbers(element, "fullinertia", None, 6)
        if full is not None:
            xx, yy, zz, xy, xz, yz = full
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            inertia = np.diag(numbers(element, "diaginertia", (0.4 * mass * 1e-2,) * 3, 3))
        return placed((mass, np.zeros(3), inertia), at)

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
                one = about("xyz".index(letter.lower()), angle * self.turn)
                out = compose(out, one) if letter.islower() else compose(one, out)
            return Pose(at, out.orientation)
        if element.get("xyaxes"):
            given = np.array(needed(element, "xyaxes", 6))
            x = direction(f"{element.tag}.xyaxes", given[:3])
            y = direction(f"{element.tag}.xyaxes", given[3:] - (given[3:] @ x) * x)
            return Pose(at, Pose.from_matrix(np.column_stack((x, y, np.cross(x, y)))).orientation)
        if element.get("zaxis"):
            return Pose(at, along(f"{element.tag}.zaxis", needed(element, "zaxis", 3)))
        return Pose(at)


def along(key: str, vector: np.ndarray) -> tuple[float, ...]:
    """The shortest turn of the z axis into a direction."""
    d = direction(key, vector)
    if d[2] < -1 + 1e-12:
        return (0.0, 1.0, 0.0, 0.0)
    q = np.array([1 + d[2], -d[1], d[0], 0.0])
    return tuple(map(float, q / np.linalg.norm(q)))


def coefficients(element: xml.Element, slide: float, torsion: float | None, roll: float | None) -> dict[str, float]:
    """Coefficients of friction by the names of tumble: those that are given and that ``condim`` lets act."""
    condim = whole(element, "condim", 3)
    out = {"friction": 0.0 if condim == 1 else slide}
    out |= {"torsional_friction": torsion} if condim >= 4 and torsion is not None else {}
    return out | ({"rolling_friction": roll} if condim == 6 and roll is not None else {})
