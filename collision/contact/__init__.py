"""Contact points: where two shapes that are near touch, each with its gap and a name that lasts from step to step.

In: two packed shapes, their poses, the normal that a distance search found.
Out: rows of a manifold: points, gaps, names of features.

Equations: features that face each other are projected along the normal, and the corners of their overlap are the points;
a gap is the distance of both features along the normal there.

manifold.py: the rows, and the choice of a few among many. polytope_manifold.py: two polytopes. patch.py: one round body at
least; features.py: what a shape shows to one side, and how it bends there.
facets.py: triangles of a ground, which know the normals that a contact may have there.
ridges.py: polytopes that lie across their edges and corners.
warm_start.py: what the points and impacts of a pair were a call ago.
"""
