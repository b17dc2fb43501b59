"""Ground in a step: which triangles of it are at hand, and what a piece may meet of them.

In: boxes of what moves in the coming drift, grounds of many triangles (``tumble.collision.ground``).
Out: rows of ``Geoms`` that are facets, pieces like others.

Equations: none; a facet is the triangle itself, or the half-space under a face that is all there is within reach.

facet_rows.py: brings facets, and lets them go. faces.py: what a row of pieces is.
"""
