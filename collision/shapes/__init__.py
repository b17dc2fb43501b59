"""Shapes: frozen values that are checked once, the arrays that kernels read of them, and their support points.

In: sizes, vertices, triangles, poses.
Out: shapes that compare by value; packed tables (``Geometry``); the point of a shape furthest along a direction.

Equations: the support function h(n) = max of n.x over the shape; a body is all that its support planes leave.

definitions.py: the shapes. ground.py: surfaces of triangles. support_shape.py: a shape by a function of Python.
shapeset.py: shapes packed once. polytope.py: faces and edges of hulls, with face_loops.py for loops of corners and
hull_shortfall.py for what a hull falls short of the points given. compounds.py: compounds as pairs of pieces.
support_points.py: the furthest vertex; support_simd.py by vector instructions; support_guide.py by lists for large hulls;
support_functions.py: support points of every kind of shape, and the smooth pieces of curved ones.

A new kind of shape needs a record in definitions.py, a number in collision/geometry, a row in shapeset.py, a branch in
support_functions.py and in collision/bounds, its integrals in solids/, its lines in queries/, its surface in render/meshes.
One that is a sum of others needs only a function that makes a Compound, as solids/ has for tori.
"""
