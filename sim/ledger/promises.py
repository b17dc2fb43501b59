"""What the method promises of every world, and by how much one missed it: what its counters tell, in words.

The bars are those of ``benchmarks.worlds``, where each step of a world is looked at, and by other means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tumble.collision.shapes.definitions import Capsule, HalfSpace, Rounded, Shape, convex_parts
from tumble.collision.shapes.ground import Ground

if TYPE_CHECKING:
    from tumble.sim.scene.body_definition import BodyDef

MOST_OVERLAP = 1e-3  # deepest overlap, of the smaller body
MOST_UNSOLVED = 1e-5  # solves above the tolerance, of all
MOST_RESIDUAL = 1e-6  # worst residual of a solve [m/s]
MOST_ENERGY = 1e-5  # what the method gives or takes by itself, of the largest kinetic energy
MOST_GAIN = 1e-11  # what an impact gains, of what it moves
NO_THICKNESS = 1e-12  # of the longest side of a shape: what is less is no thickness


class Promises(NamedTuple):
    """What a world kept since its start, as numbers; ``missed`` names in words what it did not, and so does its text.

    overlap : the deepest [m]; ``part`` : of the smallest dynamic body, the smallest side of its box.
    unsolved, solves : solves of contacts that ended above the tolerance, and all; ``residual`` : the worst [m/s].
    placed : times that joints were open at a step, and taken to their places.
    contact, correction, flight : energy that lasting contacts, the removal of overlap and the integrator gave, as a part of
        the energies of all bodies.
    gain : the most that an impact gained, of what it moved.
    closes : the books do.
    """

    overlap: float
    part: float
    unsolved: int
    solves: int
    residual: float
    placed: int
    contact: float
    correction: float
    flight: float
    gain: float
    closes: bool

    @property
    def missed(self) -> list[str]:
        """What is not kept, one text each; empty where all is."""
        out = []
        if self.part > MOST_OVERLAP:
            out.append(f"overlap up to {self.overlap:.1e} m, {_percent(self.part)} of the smallest body")
        if self.unsolved > MOST_UNSOLVED * self.solves:
            out.append(f"{self.unsolved} of {self.solves} solves unsolved, off by up to {self.residual:.1e} m/s")
        if self.placed > 0:
            out.append(f"joints came open and were taken to their places at {self.placed} steps")
        for name, value in (
            ("contacts", self.contact),
            ("taking bodies out of overlaps, and joints to their places,", self.correction),
            ("free flight", self.flight),
        ):
            if abs(value) > MOST_ENERGY:
                out.append(f"{name} {'gave' if value > 0 else 'took'} {_percent(abs(value))} of the energy")
        if self.gain > MOST_GAIN:
            out.append(f"an impact gained {_percent(self.gain)} of its energy")
        if not self.closes:
            out.append("the books do not close")
        return out

    def __str__(self) -> str:
        return "; ".join(self.missed) or "all kept"


def promises(
    counters: dict[str, Any], ledger: dict[str, float], scale: float, closes: bool, bodies: Iterable[BodyDef]
) -> Promises:
    """Of a world's counters, the entries of its ledger [J], the scale of its energies [J] and its bodies."""
    size = min((thickness(b.shape) for b in bodies if b.kind == "dynamic" and not b.sensor), default=math.inf)
    solved = (counters[name] for name in ("unsolved", "solves", "residual", "placed"))
    given = (ledger[name] / scale if scale > 0 else 0.0 for name in ("contact", "correction", "integrator"))
    return Promises(counters["depth"], counters["depth"] / size, *solved, *given, counters["impact_gain"], closes)


def thickness(shape: Shape) -> float:
    """The smallest side of the box around a shape in its own frame [m], of a flat one the smaller that is not nothing;
    of a compound, that of its thinnest piece."""
    return min(_thickness(piece) for piece, _ in convex_parts(shape))


def _thickness(shape: Shape) -> float:
    if isinstance(shape, HalfSpace | Ground):
        return math.inf
    if isinstance(shape, Rounded):
        return _thickness(shape.shape) + 2.0 * shape.radius
    if hasattr(shape, "vertices"):
        sides = np.ptp(shape.vertices, axis=0)
        return float(sides[sides > NO_THICKNESS * sides.max()].min(initial=math.inf))  # a point has none
    for name in ("half_extents", "radii"):
        if hasattr(shape, name):
            return 2.0 * min(getattr(shape, name))
    along = getattr(shape, "half_length", getattr(shape, "half_height", math.inf))
    return 2.0 * (shape.radius if isinstance(shape, Capsule) else min(shape.radius, along))


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %"
