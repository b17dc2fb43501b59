"""Hinges that a model couples, as wheels that mesh: equalities of MJCF, and what mimics another joint in URDF."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tumble.collision.errors import InputError
from tumble.sim.joints.joint_definitions import Gear, Hinge

TEETH = 1000  # at most: the ratio of two hinges is put as one of whole numbers up to this


class NoGear(Exception):
    """Why two hinges can not be coupled by wheels."""


def gear_between(name: str, first: Hinge, second: Hinge, factor: float) -> Gear:
    """Wheels that make the turn of the first hinge that of the second, times ``factor``.

    What carries both wheels is a body that both hinges have: each then turns the other body of its hinge against it. With teeth
    n_a, n_b about axes that point the same way n_a turn_a = -n_b turn_b. Raises NoGear, with the reason, where there are none.
    """
    carriers = [body for body in (first.a, first.b) if body in (second.a, second.b)]
    if not carriers:
        raise NoGear("its hinges have no body in common, which could carry wheels")
    carrier = carriers[0]
    wheels, sign = [], -1.0
    for hinge in (first, second):
        wheels.append(hinge.b if hinge.a == carrier else hinge.a)
        if hinge.a != carrier:  # the hinge says how far the carrier turns against the wheel
            sign = -sign
    axes = [np.array(hinge.axis) / np.linalg.norm(hinge.axis) for hinge in (first, second)]
    if axes[0] @ axes[1] < 0.0:
        sign = -sign
    ratio = Fraction(factor).limit_denominator(TEETH)
    if abs(float(ratio) - factor) > 1e-9 * abs(factor) or max(abs(ratio.numerator), ratio.denominator) > TEETH:
        raise NoGear(f"{factor:g} is no ratio of two whole numbers of teeth up to {TEETH}")
    try:
        return Gear(  # MuJoCo lets coupled bodies touch
            wheels[0], wheels[1], name=name, collide=True, center_a=first.anchor, center_b=second.anchor, axis_a=tuple(axes[0]),
            axis_b=tuple(axes[1] if axes[0] @ axes[1] >= 0.0 else -axes[1]), teeth_a=ratio.denominator,
            teeth_b=int(sign * ratio.numerator),
        )  # fmt: skip
    except InputError as error:
        raise NoGear(f"there are no wheels for it: {error}") from None
