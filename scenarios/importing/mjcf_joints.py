"""Joints and actuators of MJCF: several joints of one body as one general joint, with a drive along each of its coordinates."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.fields import within
from tumble.scenarios.importing.mjcf_values import Values
from tumble.scenarios.importing.models import Imported, direction, matrix, needed, number, numbers, unique
from tumble.sim.joints.joint_definitions import COORDINATES, Drive, General, Hinge, JointDef, Point, Slider
from tumble.sim.joints.joint_tables import frame_of
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.scene.scene import Scene

JOINT = {
    "name", "class", "type", "pos", "axis", "range", "limited", "stiffness", "damping", "springref", "ref", "armature",
    "frictionloss", "group", "user",
}  # fmt: skip
SIZES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}  # kinds: numbers of qpos and of qvel
ACTUATOR = {
    "name", "class", "joint", "jointinparent", "gear", "ctrlrange", "ctrllimited", "forcerange", "forcelimited",
    "way", "gaintype", "gainprm", "biastype", "biasprm", "dyntype", "group", "user", "tendon",
}  # fmt: skip


@dataclass
class Read:
    """A joint of MJCF in the world: where, along what, and what is said of its coordinate."""

    name: str
    kind: str
    anchor: np.ndarray
    axis: np.ndarray
    said: dict


def read_joint(file: Values, values: dict[str, str], name: str, at: Pose, out: Imported) -> Read:
    """From attributes, those of its class among them."""
    element = xml.Element("joint", values)
    kind = values.get("type", "hinge")
    if kind not in SIZES:
        raise InputError(f"joint {name}: type", kind, f"must be one of {', '.join(SIZES)}{did_you_mean(kind, list(SIZES))}")
    rot = matrix(at.orientation)
    anchor = np.array(at.position) + rot @ numbers(element, "pos", (0, 0, 0), 3)
    axis = rot @ numbers(element, "axis", (0, 0, 1), 3)
    unit = file.turn if kind in ("hinge", "ball") else 1.0
    one = lambda key, scale=1.0: scale * (numbers(element, key, (0.0,)) or (0.0,))[0]  # noqa: E731
    said = {key: value for key, value in (
        ("stiffness", one("stiffness")), ("damping", one("damping")), ("armature", one("armature")),
        ("friction", one("frictionloss")), ("reference", one("ref", unit)),
    ) if value}  # fmt: skip
    if "stiffness" in said:
        said["rest"] = one("springref", unit)
    limited = values.get("limited", "auto")
    if limited == "true" or (limited == "auto" and file.auto and "range" in values):
        low, high = numbers(element, "range", (0, 0), 2)
        said["limits"] = unit * low, unit * high
    out.leave_rest("joint", values, JOINT, name)
    for key in ("stiffness", "damping"):
        if len(values.get(key, "").split()) > 1:
            out.leave("joint", f"{key}={values[key]} of {name}, of which the first is taken")
    return Read(name, kind, anchor, direction(f"joint {name}: axis", axis), said)


def joints_of(reads: Sequence[Read], a: str | None, b: str, out: Imported) -> list[JointDef] | None:
    """What ties body b to a by these joints, one after the other; None where they can not be put together."""
    ends = {"a": a, "b": b}
    if len(reads) == 1:
        r = reads[0]
        place = {"name": r.name, "anchor": tuple(r.anchor)}
        if r.kind == "ball":
            for key in sorted(set(r.said) - {"friction", "reference", "rest"}):
                out.leave("ball joint", f"{key} of {r.name}")
            return [Point(**ends, **place, friction=r.said.get("friction", 0.0))]
        with within(f"joint {r.name}: "):
            return [(Hinge if r.kind == "hinge" else Slider)(**ends, **place, axis=tuple(r.axis), **r.said)]
    slides, hinges = [r for r in reads if r.kind == "slide"], [r for r in reads if r.kind == "hinge"]
    if len(slides) + len(hinges) < len(reads) or [*slides, *hinges] != list(reads) or len(hinges) > 3 or len(slides) > 3:
        return None
    frame = _frame(slides, hinges)
    if frame is None or any(np.linalg.norm(h.anchor - hinges[0].anchor) > 1e-9 for h in hinges):
        return None
    along = lambda axis: next((k for k in range(3) if abs(frame[:, k] @ axis) > 1 - 1e-9), None)  # noqa: E731
    columns = [along(s.axis) for s in slides]
    if None in columns or len(set(columns)) < len(columns):
        return None
    turns = {0: (), 1: (0,), 2: (0, 2), 3: (0, 1, 2)}[len(hinges)]
    anchor = tuple(hinges[0].anchor if hinges else slides[0].anchor)
    base = {**ends, "anchor": anchor, "axis": tuple(frame[:, 0]), "axis_y": tuple(frame[:, 1])}
    free = [COORDINATES[c] for c in columns] + [COORDINATES[3 + t] for t in turns]
    found: list[JointDef] = [General(**base, name=f"{b}: {', '.join(r.name for r in reads)}", free=tuple(free))]
    for s in slides:
        with within(f"joint {s.name}: "):
            found.append(Drive(**ends, name=s.name, anchor=anchor, axis=tuple(s.axis), driven="x", **s.said))
    for h, t in zip(hinges, turns, strict=True):
        with within(f"joint {h.name}: "):
            found.append(Drive(**base, name=h.name, driven=COORDINATES[3 + t], reverse=bool(frame[:, t] @ h.axis < 0), **h.said))
    return found


def in_groups(reads: Sequence[Read]) -> list[list[Read]]:
    """The joints of a body in their order, as few groups as can be of those that make one joint."""
    groups: list[list[Read]] = []
    for read in reads:
        if groups and joints_of([*groups[-1], read], None, "b", Imported(Scene())) is not None:
            groups[-1].append(read)
        else:
            groups.append([read])
    return groups


def _frame(slides: list[Read], hinges: list[Read]) -> np.ndarray | None:
    """(3, 3) with the hinges along columns: x; x and z; x, y and z."""
    axes = [h.axis for h in hinges]
    if any(abs(p @ q) > 1e-9 for p, q in zip(axes, axes[1:], strict=False)):
        return None
    if len(axes) == 3:
        z = np.cross(axes[0], axes[1])
        return np.column_stack([axes[0], axes[1], z]) if abs(z @ axes[2]) > 1 - 1e-9 else None
    if len(axes) == 2:
        return np.column_stack([axes[0], np.cross(axes[1], axes[0]), axes[1]])
    if not axes:
        axes = [slides[0].axis]
    across = next((s.axis for s in slides if abs(s.axis @ axes[0]) < 1e-9), None)
    if across is None:
        return frame_of(axes[0], None)
    return np.column_stack([axes[0], across, np.cross(axes[0], across)])


def read_tendon(element: xml.Element, values: dict[str, str], known: dict[str, JointDef], out: Imported) -> dict[str, float]:
    """A fixed tendon as joint -> coefficient; its spring and damper are an actuator without control. Empty, and told of, else."""
    name = values.get("name", "")
    parts = {child.get("joint", ""): number(child, "coef") for child in element if child.tag == "joint"}
    if element.tag != "fixed" or not parts or not set(parts) <= set(known):
        out.leave(f"tendon {element.tag}", name)
        return {}
    said = xml.Element("fixed", values)
    stiffness, damping = ((numbers(said, key, (0.0,)) or (0.0,))[0] for key in ("stiffness", "damping"))
    rest = numbers(said, "springlength", (-1.0,)) or (-1.0,)
    start = sum(coefficient * known[joint].reference for joint, coefficient in parts.items())
    if stiffness or damping:
        slack = start if rest[0] == -1.0 else rest[0]
        if len(rest) > 1 and rest[0] != rest[1]:
            out.leave("tendon fixed", f"springlength={values['springlength']} of {name}, of which the first is taken")
        first, *more = parts
        pulled = {"tendon": tuple(more), "coefficients": tuple(parts.values())}
        bias = (stiffness * slack, -stiffness, -damping)
        out.scene.add_actuator(Actuator(f"{name} spring".strip(), first, gain=0.0, bias=bias, **pulled))
    taken = {"name", "class", "stiffness", "damping", "springlength", "group", "rgba", "width", "material"}
    out.leave_rest("tendon fixed", values, taken, name)
    return parts


def read_actuator(
    tag: str, values: dict[str, str], known: dict[str, JointDef], out: Imported, auto: bool, tendons: dict[str, dict[str, float]]
) -> Actuator | None:
    """An actuator of a joint with one coordinate, or of a tendon; None, and told of, for others. ``values``: of a <general>."""
    element = xml.Element(tag, values)
    tendon = tendons.get(values.get("tendon", ""), {})
    joint = values.get("joint") or next(iter(tendon), None)
    name = values.get("name") or unique(values.get("tendon") or joint or tag, [other.name for other in out.scene.actuators])
    dynamic = values.get("dyntype", "none") != "none" or tag not in ("motor", "position", "velocity", "general", "damper")
    if dynamic or joint not in known or values.get("gaintype", "fixed") != "fixed" or "dampratio" in values:
        out.leave(f"actuator {tag}", name)
        return None
    prm = lambda key, default: (*(numbers(element, key, default) or ()), 0.0, 0.0, 0.0)[:3]  # noqa: E731
    gain, bias = prm("gainprm", (1.0,))[0], (0.0, 0.0, 0.0)
    if values.get("biastype", "none") == "affine":
        bias = prm("biasprm", (0.0,))
    elif tag == "damper" or values.get("biastype", "none") != "none":
        out.leave(f"actuator {tag}", name)
        return None

    def ends(key: str, limited: str) -> tuple[float, float] | None:
        flag = values.get(limited, "auto")
        given = flag == "true" or (flag == "auto" and auto and key in values)
        return needed(element, key, 2) if given else None

    out.leave_rest(f"actuator {tag}", values, ACTUATOR, name)
    gear = numbers(element, "gear", (1.0,))[0]
    ranges = {"force_range": ends("forcerange", "forcelimited"), "control_range": ends("ctrlrange", "ctrllimited")}
    more = {"tendon": tuple(tendon)[1:], "coefficients": tuple(tendon.values())} if tendon else {}
    with within(f"actuator {name}: "):
        return Actuator(name, joint, gain=gain, gear=gear, bias=bias, **ranges, **more)
