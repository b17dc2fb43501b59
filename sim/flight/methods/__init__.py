"""Integrators of flight, one file and one row of the table each.

In: states and rates of one body, or of a cluster as rows of Forces.path.
Out: the state at the end of a step.

Equations: x' = p/m, q' = (0, w) q/2, p' = F, L' = T (sim/equations.py).

integrators.py: the table of what users may choose. rk4.py (Kutta 1901), splitting.py (Touma, Wisdom 1994), exact.py (Jacobi's
elliptic functions; van Zon, Schofield 2007), dop853.py (Hairer, Wanner 1993), and rk6.py for jointed bodies (Butcher 1964).
Under forces explicit.py has the stages of Runge-Kutta methods, composition.py kicks between exact flights (Suzuki 1990).
"""
