"""Checks: what physics asks of a run, and how runs compare.

In: runs, scenes.
Out: assertions that fail with numbers, differences over time, measured orders.

Equations: an order is log2 of the ratio of differences between the results at dt, dt/2 and dt/4.

assertions.py: conservation, books, friction, rest. baselines.py: numbers of a run with tolerances. rerun.py: a run done again,
to the last bit. compare.py: two runs beside each other. converge.py: orders. repair.py: a damaged recording made whole.
"""
