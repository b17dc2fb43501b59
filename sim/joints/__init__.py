"""Joints: two bodies, or a body and the world, that keep some of their six coordinates.

In: joints as users say them, poses and velocities of their bodies.
Out: rows for the solvers (Jacobians, targets, bounds), and impulses, works, coordinates of each joint.

Equations: in flight, forces f along the rows of G hold rigid coordinates, G M^-1 G^T f = -(G a + G' u); springs are the
trapezoidal rule, p = -h k (g- + 2 g + g+)/4, where they do not act in flight.

joint_definitions.py: joints as frozen records. kinds/: the geometry of each kind.
constraint_forces.py: joints in flight. constraint_system.py: their linear system. row_bends.py: G' u. kept_rows.py: which
coordinates motors, friction and stops hold there; driven_rows.py: the rows of these, and of rotors.
flown_springs.py: springs that act there.
rows.py: coordinates, blocks and Jacobians of a joint in a solve. velocity_solve.py: their part of the kick. joint_tables.py: the
arrays as joints come and go. pairs.py: pairs that a joint lets overlap. burden.py: which bodies a kick gives something to.
mechanism/: the same joints as one tree in coordinates of its own, actuators and instruments.
Joints in impacts are in sim/impact/joint_impulses.py; the object that users hold is sim/world/joint.py.
"""
