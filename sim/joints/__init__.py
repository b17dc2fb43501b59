"""Joints: two bodies, or a body and the world, that keep some of their six coordinates.

In: joints as users say them, poses and velocities of their bodies.
Out: rows for the solvers (Jacobians, targets, bounds), and impulses, works, coordinates of each joint.

Equations: rigid coordinates g are zero at the end of each flight, which is the discrete Euler-Lagrange equation of SHAKE and
RATTLE (Leimkuhler, Skeel, J. Comput. Phys. 112 (1994) 117); springs are the trapezoidal rule, p = -h k (g- + 2 g + g+)/4.

definitions.py: joints as frozen records. One file of geometry for each kind: point.py (ball), hinge.py, slider.py, fixed.py,
distance.py, gear.py (and screws), general.py (any choice of coordinates).
rows.py: coordinates, blocks and Jacobians of a joint in a solve. velocity_solve.py: their part of the kick. tables.py: the
arrays as joints come and go. pairs.py: pairs that a joint lets overlap.
mechanism/: the same joints as one tree in coordinates of its own, actuators and instruments.
Joints in impacts are in sim/impact/joint_impulses.py; the object that users hold is sim/world/joint.py.
"""
