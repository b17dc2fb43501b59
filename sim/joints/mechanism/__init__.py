"""A world's jointed bodies as one machine: coordinates of its own, actuators that drive it, instruments that read it.

In: a world, its joints and their coordinates.
Out: mass matrix, Jacobians, bias forces and energies in joint coordinates; commands for actuators; readings of sensors.

Equations: Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 5 and 6.

mechanism.py: what ``World.mechanism`` gives. tree.py: which body hangs on which, and what may move there. dynamics.py:
kinematics and dynamics in NumPy. loops.py: what follows where a coordinate of a loop is set. actuators.py: named inputs.
instruments.py: sensors, each with its rate and noise. sensors.py: those that models of robots name besides.
instrument_kinds.py: all of them by name, to plain tables and back.
"""
