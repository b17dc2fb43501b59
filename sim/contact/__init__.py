"""Lasting contact: where bodies touch at a step, and the one solve of impulses that lets them rest, roll or slide.

In: poses, momenta and forces at the end of a drift (``Bodies``, ``Geoms``, ``Pairs``), the rows of joints, and what each contact
bore in the last kick.
Out: the table of contacts (``Contacts``) with their impulses, new momenta, and the works for the ledger.

Equations: with u the relative velocity of a contact before the kick, u' after it, a its relative acceleration in the coming
flight of length h, the kick asks for u'_n >= -h/2 a_n - gap/h with complementarity (Mirtich's micro-collisions, thesis 1996,
made second order) and for Coulomb's law in the tangent. Rolling: Montana, Int. J. Robotics Res. 7 (1988) 17. docs/step.md
derives both.

Finding what touches: touching/, with ground/ for grounds of triangles. surfaces.py has coefficients of two surfaces and
conveyors.
Solving: contact_solve.py, which is the kick, stage after stage; prepare.py makes the problem of an island, contact_blocks.py and
rolling_friction.py are the parts of contacts and their moments in it (those of joints: sim/joints/velocity_solve.py).
contact_accelerations.py gives a where bodies turn, divided_drift.py says where a flight is too long for that,
load_distribution.py spreads the load of faces that slide, overlap_correction.py opens what overlaps.
Between steps: half_kick.py takes back what a steady force has in advance when an impact comes in mid-step, and makes the
middle of the kick the state; sleep_criterion.py says who has come to rest and who wakes.
"""
