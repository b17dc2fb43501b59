"""Grounds: queries against surfaces of many triangles, of which only those nearby are looked at.

In: a ground (shapes/ground.py), a shape, a point or a ray.
Out: distances, nearest places, hits.

Equations: none of its own; a tree of boxes halved along the widest axis, O(n log n) to build.

triangle_tree.py: the tree. planes.py: which triangles are one plane face. cache.py: both on disk, for large meshes.
ground_tables.py: what kernels read of a ground. nearby.py: what a moving piece may meet, a face or triangles. rays.py: the
first triangle on a half-line. points.py: nearest place, and the side of it. ground_distance.py: how far a convex shape is,
certified. ground_impacts.py: what a moving shape may reach, and when.
"""
