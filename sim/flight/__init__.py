"""Free flight: how bodies move between impacts and kicks, under smooth forces or none.

In: position, orientation, momentum and angular momentum of each body; the rates that ``sim.forces`` gives.
Out: the same at the end of the drift and, as polynomials, at any time inside it; the integrator's error for the ledger.

Equations: x' = p/m, q' = (0, w) q/2, p' = F, L' = T, w = R J^-1 R^T L (sim/equations.py).

motion.py flies single bodies and tells what follows from their state; clusters.py flies bodies that forces tie together;
flight_split.py ends flights at an impact and books what they flew; end_pose.py tells where bodies would end if they left with
the velocities that a solver has now.
The methods, one file and one row of the table integrators.py each: rk4.py (Kutta 1901), splitting.py (Touma, Wisdom 1994),
exact.py (Jacobi's elliptic functions; van Zon, Schofield 2007), dop853.py (Hairer, Wanner 1993). Under forces explicit.py has
the stages of Runge-Kutta methods, composition.py kicks between exact flights (Suzuki 1990).
"""
