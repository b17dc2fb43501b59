"""What a row of pieces is, by its face: a piece of a body, the carrier of a ground, or a facet of one (facet_rows.py)."""

from __future__ import annotations

from tumble.collision.geometry import SHARP
from tumble.collision.kernels.jit import lean
from tumble.sim.state import PIECE, PLANE


@lean
def off(geoms, k):
    """Whether piece k is none that touches anything."""
    return PLANE < geoms.face[k] < PIECE


@lean
def is_facet_row(geoms, k):
    """Whether piece k is a facet that is in use: a triangle or a plane."""
    return geoms.face[k] >= 0 or geoms.face[k] <= PLANE


@lean
def same_facets(geoms, b, other):
    """Whether pieces b and other are one, or facets of one ground."""
    return b == other or (geoms.face[b] != PIECE and geoms.face[other] != PIECE and geoms.body[b] == geoms.body[other])


@lean
def known_on_ground(row):
    """Whether a contact point with this row of a manifold has its name from the first body, so that it is found by it on another
    facet too: a corner or a rounding of that body has. A point on an edge or a face of it is named after the facet."""
    along, across = row[7], row[8]
    edge = (along == 0.0 and across == SHARP) or (along == SHARP and across == 0.0)
    return not edge and not (along == 0.0 and across == 0.0)


@lean
def face_to_face(geoms, i, j):
    """Whether piece i may meet piece j as far as grounds go: a level piece meets its plane, and no other facet of that ground."""
    if not is_facet_row(geoms, j):
        return True
    one = geoms.level[i]
    if geoms.face[j] <= PLANE:
        return one == j
    return one < 0 or geoms.body[one] != geoms.body[j]
