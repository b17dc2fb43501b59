"""Pairs with a round shape or a half-space: closed forms, and Newton's method where there is none.

In: two packed shapes and the pose of one in the frame of the other.
Out: certified distance and contact points of the pair.

Equations: the signed distance is the greatest value over n of s(n) = min over B of n.x - max over A of n.x.

Closed forms: halfspace.py, sphere.py, capsule.py, point_distance.py (a point against one shape), flats.py (one touches a flat).
Cylinders, cones, ellipsoids: smooth.py; smooth_newton.py and tangent.py, Newton's method for the closest points.
Overlap: smooth_depth.py finds and proves a depth; directions.py proves it by branch and bound; meridians.py is for a body
round about an axis that meets the other alike all around.
"""
