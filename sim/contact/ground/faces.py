"""What a row of pieces is, by its face: a piece of a body, the carrier of a ground, or a facet of one (facet_rows.py)."""

from __future__ import annotations

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
def face_to_face(geoms, i, j):
    """Whether piece i may meet piece j as far as grounds go: a level piece meets its plane, and no other facet of that ground."""
    if not is_facet_row(geoms, j):
        return True
    one = geoms.level[i]
    if geoms.face[j] <= PLANE:
        return one == j
    return one < 0 or geoms.body[one] != geoms.body[j]
