"""Broad phase: which of many boxes overlap, before anything is known of the shapes inside.

In: lower and upper corners of boxes.
Out: sorted pairs, so that their order depends on the numbering alone.

Equations: lo_a <= hi_b and lo_b <= hi_a along each axis; a tree of boxes makes it O(n log n).

candidate_pairs.py: all pairs, from a tree built anew at each call. box_tree.py: a tree that lives on as boxes come, go and
move. As users call them: bounding_boxes.py (boxes of shapes), dynamic_broadphase.py (pairs that come and go) and
collision_manager.py (many shapes, and queries against all of them).
"""
