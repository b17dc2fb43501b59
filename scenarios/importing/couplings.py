"""Joints that a model couples: equalities of MJCF, and what mimics another joint in URDF.

Hinges turn together as by wheels that mesh. What goes as far as the other, the same way, needs no wheels: two bodies on parallel
axes of a third one do not turn, or slide, against each other.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tumble.collision.errors import InputError
from tumble.sim.joints.joint_definitions import COORDINATES, Gear, General, Hinge, JointDef, Slider

TEETH = 1000  # at most: the ratio of two hinges is put as one of whole numbers up to this
PARALLEL = 1e-9  # by so much less than one the cosine between two axes may be


class NoCoupling(Exception):
    """Why two joints can not be coupled."""


def coupling_between(name: str, first: JointDef | None, second: JointDef | None, factor: float) -> JointDef:
    """What makes the coordinate of the first joint that of the second one, times ``factor``: of two hinges, or of two slides.

    A body that both joints have carries the coupling: each then moves the other body of its joint against it. Raises NoCoupling,
    with the reason, where there is none.
    """
    if not any(isinstance(first, kind) and isinstance(second, kind) for kind in (Hinge, Slider)):
        raise NoCoupling("it is not of two hinges, or of two slides")
    carriers = [body for body in (first.a, first.b) if body in (second.a, second.b)]
    if not carriers:
        raise NoCoupling("its joints have no body in common, which could carry wheels")
    carrier, ends = carriers[0], []
    axes = [np.array(joint.axis) / np.linalg.norm(joint.axis) for joint in (first, second)]
    sense = 1.0 if axes[0] @ axes[1] >= 0.0 else -1.0
    for joint in (first, second):
        ends.append(joint.b if joint.a == carrier else joint.a)
        if joint.a != carrier:  # the joint says how far the carrier moves against the other one
            sense = -sense
    both = {"a": ends[0], "b": ends[1], "name": name, "collide": True}  # MuJoCo lets coupled bodies touch
    if sense * factor == 1.0 and abs(axes[0] @ axes[1]) > 1.0 - PARALLEL:
        held = "turn_x" if isinstance(first, Hinge) else "x"
        free = tuple(coordinate for coordinate in COORDINATES if coordinate != held)
        return General(**both, anchor=second.anchor, axis=tuple(axes[0]), free=free)
    if isinstance(first, Slider):
        raise NoCoupling("slides are coupled where they go as far, the same way")
    ratio = Fraction(factor).limit_denominator(TEETH)
    if abs(float(ratio) - factor) > 1e-9 * abs(factor) or max(abs(ratio.numerator), ratio.denominator) > TEETH:
        raise NoCoupling(f"{factor:g} is no ratio of two whole numbers of teeth up to {TEETH}")
    try:  # with teeth n_a, n_b about axes that point the same way n_a turn_a = -n_b turn_b
        return Gear(
            **both, center_a=first.anchor, center_b=second.anchor, axis_a=tuple(axes[0]),
            axis_b=tuple(axes[1] if axes[0] @ axes[1] >= 0.0 else -axes[1]), teeth_a=ratio.denominator,
            teeth_b=int(-sense * ratio.numerator),
        )  # fmt: skip
    except InputError as error:
        raise NoCoupling(f"there are no wheels for it: {error}") from None
