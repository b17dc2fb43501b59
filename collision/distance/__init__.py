"""Distance of polytopes: how far two are apart or overlap, certified by a lower and an upper bound.

In: two packed shapes and the pose of one in the frame of the other; where the last search ended.
Out: raw bounds, a normal and the closest points; result.py makes the answer of them.

Equations: on the Minkowski difference D = B - A the distance is that of the origin; every support plane n gives a lower bound
n.w. Gilbert, Johnson, Keerthi, IEEE J. Robotics Automation 4 (1988) 193; expanding polytope: van den Bergen 2001.

polytopes.py is the one path of all queries. First it proposes and proves: gjk.py while the bodies are apart, epa.py where they
overlap, of boxes sat.py; simplex.py is a step of such a search with care. Then overlap.py, where they touch as near as rounding
can tell.
Last exact_hull.py, on a lattice, whose signs are exact (Dekker 1971), for what rounding spoils.
axes.py makes an axis better by the features it touches, clip.py cuts one flat feature by another (Sutherland and Hodgman
1974), segments.py is the closest pair of two segments, result.py adds rounding and decides the status.
"""
