"""Geometry: shapes, mass properties, proximity queries, contact manifolds. Stateless; takes nothing else of ours.

The compiled parts load on first use, so that describing a scene costs no compiler. Each room has a page at its head, its
``__init__``; a room imports those above it only:

    kernels      how functions are compiled, kept, loaded and called
    shapes       shapes, the arrays that kernels read, support points
    distance     distance and depth of polytopes, certified
    contact      contact points and their names
    pairs        closed forms, and pairs with round shapes
    solids       volume, inertia, bodies from files
    ground       surfaces of many triangles
    queries      what users ask, one pair or many
    broadphase   which boxes overlap
    reference    the queries once more, short, in NumPy

In the hall: errors.py, spelling.py, suggesting.py (names that are misspelt), hints.py (types), regular.py (files read whole),
status.py, pose.py, linalg.py (vectors as numbers), geometry.py (shapes as kernels read them), bounds.py and halving.py (boxes);
above ``pairs`` stands narrowphase.py, the table that says which routine handles a pair.
"""

from __future__ import annotations

from tumble.late_names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
