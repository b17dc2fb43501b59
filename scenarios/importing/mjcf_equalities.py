"""Equalities of MJCF: bodies tied at a point or as one, and joints that move together."""

from __future__ import annotations

import math
import xml.etree.ElementTree as xml
from collections.abc import Mapping

import numpy as np

from tumble.collision.pose import Pose
from tumble.scenarios.importing.couplings import NoCoupling, coupling_between
from tumble.scenarios.importing.models import Imported, compose, matrix, numbers
from tumble.sim.joints.joint_definitions import Fixed, Hinge, JointDef, Point, Slider

ALIKE = 1e-6  # [m] and [rad]: files give poses to so many digits
POSE = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # MuJoCo's default of relpose, without a quaternion: as the bodies stand


Spots = Mapping[str, tuple[str | None, Pose]]  # by the names of the file: bodies of the scene, and poses in the world


def read_equality(element: xml.Element, places: Spots, sites: Spots, out: Imported) -> JointDef | None:
    """A joint of the scene that says the same as an equality does; None, and told of with its reason, where there is none.

    ``places``, ``sites``: where bodies and sites are; the joints of the scene are in ``out``.
    """
    name, tag = element.get("name", ""), element.tag
    if tag == "joint":
        ends = [element.get(key) for key in ("joint1", "joint2") if element.get(key)]
    elif "site1" in element.attrib:
        ends = [element.get("site1"), element.get("site2", "")]
    else:
        ends = [element.get("body1"), element.get("body2", "world")]
    told = name or " ".join(filter(None, ends))
    try:
        if element.get("active", "true") == "false":
            raise _Left("it is not active")
        if tag == "joint":
            return _coupled(element, name, ends, out)
        if tag not in ("connect", "weld"):
            raise _Left("there is nothing like it")
        if "site1" in element.attrib:
            return _tied_at_sites(element, name, ends, sites, out)
        if not set(ends) <= set(places):
            raise _Left("it is not of two bodies that are there")
        return _tied(element, name, places, out)
    except (_Left, NoCoupling) as why:
        out.leave(f"equality {tag}", f"{told}: {why}" if told else str(why))
        return None


class _Left(Exception):
    """Why an equality is not taken over."""


def _tied_at_sites(element: xml.Element, name: str, ends: list[str], sites: Spots, out: Imported) -> JointDef:
    """The bodies of two sites, which lie in one place: at that point (connect), or as one where they are aligned too (weld)."""
    if not set(ends) <= set(sites):
        raise _Left("it is not of two sites that are there")
    (a, at), (b, stands) = (sites[end] for end in ends)
    if a == b:
        raise _Left("its sites do not move against each other")
    weld = element.tag == "weld"
    way = float(np.linalg.norm(np.subtract(at.position, stands.position)))
    turn = _turn(at, stands) if weld else 0.0
    if max(way, turn) > ALIKE:
        off = f"{way:.6f} m" + (f" and {turn:.6f} rad" if weld else "")
        raise _Left(f"its sites are {off} apart, and bodies are tied as they stand")
    if "torquescale" in element.attrib:
        out.leave("equality weld", f"torquescale of {name or ' '.join(ends)}")
    return (Fixed if weld else Point)(a, b, name=name, anchor=at.position)


def _turn(a: Pose, b: Pose) -> float:
    """The angle between two orientations [rad]."""
    apart = np.linalg.norm(matrix(a.orientation) - matrix(b.orientation))  # 2 sqrt(2) sin(turn/2)
    return 2.0 * math.asin(min(1.0, apart / math.sqrt(8.0)))


def _tied(element: xml.Element, name: str, places: Spots, out: Imported) -> JointDef:
    """Two bodies, at a point (connect) or as one (weld)."""
    one, other = element.get("body1"), element.get("body2", "world")
    (a, at), (b, stands) = places[one], places[other]
    if a == b:
        raise _Left("its bodies do not move against each other")
    weld = element.tag == "weld"
    frame = stands if weld else at  # the point of a weld is given in the frame of body2
    anchor = np.array(frame.position) + matrix(frame.orientation) @ numbers(element, "anchor", (0, 0, 0), 3)
    if not weld:
        return Point(a, b, name=name, anchor=tuple(anchor))
    if "torquescale" in element.attrib:
        out.leave("equality weld", f"torquescale of {name or f'{one} {other}'}")
    pose = numbers(element, "relpose", POSE, 7)
    if any(pose[3:]):  # the turn of body2 in the frame of body1, and where its point is there
        wanted = compose(at, Pose(pose[:3], Pose.from_matrix(matrix(pose[3:])).orientation))
        way = np.linalg.norm(np.array(wanted.position) - anchor)
        turn = _turn(wanted, stands)
        if max(way, turn) > ALIKE:
            raise _Left(
                f"its relpose is not how {other} stands, off by {way:.6f} m and {turn:.6f} rad; bodies are welded as they stand"
            )
    return Fixed(a, b, name=name, anchor=tuple(anchor))


def _coupled(element: xml.Element, name: str, ends: list[str], out: Imported) -> JointDef:
    """q1 - q1_0 = c0 + c1 (q2 - q2_0) + ... of two joints, with q_0 as the model stands; of one joint as a lock."""
    if len(ends) == 0 or element.get("joint1") is None:
        raise _Left("it names no joint1")
    factors = (*numbers(element, "polycoef", (0.0, 1.0, 0.0, 0.0, 0.0)), 0.0, 0.0, 0.0, 0.0)[:5]
    known = {joint.name: joint for joint in out.scene.joints}
    for end in ends:
        if not isinstance(known.get(end), Hinge | Slider):
            raise _Left(f"{end} is no hinge or slide that is the only joint of its body")
    if factors[0] != 0.0:
        raise _Left(f"its polycoef begins with {factors[0]:g}, and joints are coupled as they stand")
    first = known[ends[0]]
    if len(ends) == 1 or not any(factors):
        return Fixed(first.a, first.b, name=name, anchor=first.anchor)
    if any(factors[2:]):
        raise _Left(f"its polynomial is of order {max(k for k in range(5) if factors[k])}, and couplings are of order one")
    second = known[ends[1]]
    return coupling_between(name, first, second, factors[1])
