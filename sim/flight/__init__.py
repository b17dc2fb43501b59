"""Free flight: how bodies move between impacts and kicks, under smooth forces or none.

In: position, orientation, momentum and angular momentum of each body; the rates that ``tumble.sim.forces`` gives.
Out: the same at the end of the drift and, as polynomials, at any time inside it; the integrator's error for the ledger.

Equations: x' = p/m, q' = (0, w) q/2, p' = F, L' = T, w = R J^-1 R^T L (sim/equations.py).

motion.py flies single bodies and tells what follows from their state; clusters.py flies bodies that forces tie together;
flight_split.py ends flights at an impact and books what they flew; end_pose.py tells where bodies would end if they left with
the velocities that a solver has now.
rates.py: rates of a cluster, forces and joints; stations.py: states that a path goes through between its ends; flight_check.py:
what a flight of jointed bodies is off by; joint_looks.py: where a flight takes coordinates of joints; saved_state.py: what a step
begins with, should it be undone. methods/: the integrators.
"""
