"""What touches at a step: pairs that may meet, their contact points, and the table that the kick solves.

In: poses and momenta at the start of a drift and at its end (``Bodies``, ``Geoms``), and what contacts bore in the last kick.
Out: ``Pairs``, their manifolds, and the table of contacts (``Contacts``).

Equations: an approach is an impact if it is faster than max(g h/40, -2 a_n h), with a_n the relative acceleration along the
normal in a flight of length h; that acceleration is Montana's, Int. J. Robotics Res. 7 (1988) 17.

swept_pairs.py: boxes around the coming drift. wide_boxes.py: the pairs whose boxes meet. pair_list.py: what is known of those
that may meet. impact_threshold.py: what is an impact, and what is left to the kick. manifolds.py: contact points, and
carried_manifolds.py those that travel with their bodies. point_accelerations.py: accelerations of contact points.
contact_table.py: the table.
"""
