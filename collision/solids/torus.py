"""Tori, as rings of capsules."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.errors import InputError, check_length
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Capsule, Compound

MOST_CAPSULES = 4096  # capsules of a ring


def torus(major_radius: float, minor_radius: float, segments: int | None = None, error: float | None = None) -> Compound:
    """A torus about the local z: all points within ``minor_radius`` of the circle of ``major_radius`` [m], as a ring of capsules.

    The ring's middle line is a regular polygon that weaves about the circle, so that the surfaces of ring and torus are nowhere
    further apart than `torus_error`. ``segments``: how many capsules, 8 to 4096, 32 where nothing is said; or ``error`` [m]:
    how far apart they may be, from which the number follows. Mass, centre and inertia are those of the torus itself. Raises
    InputError for what is no torus: the tube must leave a hole.

    >>> ring = torus(1.0, 0.2, error=1e-3)
    >>> len(ring.parts), torus_error(1.0, len(ring.parts))
    (50, 0.0009882...)
    """
    major, minor = check_length("major_radius", major_radius), check_length("minor_radius", minor_radius)
    if minor >= major:
        raise InputError("minor_radius", minor_radius, f"must be less than the major radius, {major:g} m: a torus has a hole")
    if segments is not None and error is not None:
        raise InputError("error", error, "segments are given too: only one of them can hold")
    if error is not None:
        error = check_length("error", error)
        segments = max(math.ceil(math.pi / (2.0 * math.atan(math.sqrt(error / major)))), 8)
        if segments > MOST_CAPSULES:
            least = torus_error(major, MOST_CAPSULES)
            raise InputError("error", error, f"must not be less than {least:.2g} m, which takes {MOST_CAPSULES} capsules")
    segments = _count(32 if segments is None else segments)
    half_turn = math.pi / segments
    corner = major + torus_error(major, segments)  # the corners are as far outside the circle as the middles are inside
    middle, half = corner * math.cos(half_turn), corner * math.sin(half_turn)
    parts = []
    for k in range(segments):
        a = 2.0 * half_turn * k
        upright = Pose((0, 0, 0), (math.sqrt(0.5), -math.sqrt(0.5), 0, 0))  # z along y
        turned = Pose((0, 0, 0), (math.cos(a / 2), 0, 0, math.sin(a / 2))) @ upright
        parts.append((Capsule(minor, half), Pose((middle * math.cos(a), middle * math.sin(a), 0.0), turned.orientation)))
    volume = 2.0 * math.pi**2 * major * minor**2
    across, along = volume * (major**2 / 2 + 5 * minor**2 / 8), volume * (major**2 + 3 * minor**2 / 4)
    inertia = tuple(map(tuple, np.diag([across, across, along]).tolist()))
    return Compound(parts, volume=volume, center=(0.0, 0.0, 0.0), inertia=inertia)


def torus_error(major_radius: float, segments: int) -> float:
    """How far the surface of `torus` is from that of the true torus at most [m]: major_radius tan(pi / (2 segments))^2.

    That is how far the corners of its polygon lie outside the circle, and the middles of its sides inside; capsules and torus
    are these lines with the same ball added, which takes them no further apart.
    """
    return check_length("major_radius", major_radius) * math.tan(math.pi / (2 * _count(segments))) ** 2


def _count(segments) -> int:
    if isinstance(segments, bool) or not isinstance(segments, (int, np.integer)) or not 8 <= segments <= MOST_CAPSULES:
        raise InputError("segments", segments, f"must be a number of capsules, a whole number from 8 to {MOST_CAPSULES}")
    return int(segments)
