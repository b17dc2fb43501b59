"""Solvers: impulses of many contacts and joints at once, given the bodies' masses and each contact's law.

In: one problem, as arrays: Jacobians, masses, velocities v*, targets c, coefficients; impulses to start from.
Out: impulses p, velocities v, and the residual: the velocity by which the worst contact misses its law.

Equations: v = v* + M^-1 J^T p; at each contact u = J v + u0 and p = P(p - r (u - c)), P the projection on Coulomb's cone
(Alart, Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353).

problem.py: a problem and its parts, what impulses do and what they miss. block_laws.py: what blocks obey, as projections.
newton.py: semismooth Newton, accurate, the default; blocks.py: its sparse systems; interior.py: where Newton does not find
who slides.
sweeps.py: projected Gauss-Seidel (Moreau 1994; Jourdan, Alart, Jean 1998), cheap; lanes.py: the same four contacts at a time, for
crowds; mixing.py: Anderson's acceleration; crowd_targets.py: targets that sweeps can meet together.
skyline.py: sparse L D L^T, for joints in flight; link_recursion.py: a recursion where these make trees.
islands.py: groups of bodies between which no impulse passes.
"""
