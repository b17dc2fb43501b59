"""Queries: what users ask about shapes at poses, one pair or many pairs in a compiled call.

In: shapes, poses, motions, rays.
Out: certified distances, contact points, times of impact, hits.

Equations: a time of impact is found by conservative advancement, with a lower bound S(s) of the distance along a fixed normal
(conservative_advancement.py derives it); a ray hits where it enters the interval that a shape cuts out of its line.

One pair: proximity.py; single.py is its compiled call; incremental_manifold.py gathers points one by one; trace.py tells what
a search does. Many pairs: batch.py and batch_kernels.py for distances, batch_contacts.py for contact points and impacts.
Motion: conservative_advancement.py; impact_of_compounds.py for many pieces; shape_casts.py.
Rays: ray_casts.py, line_intervals.py.
"""
