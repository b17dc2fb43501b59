"""Crowds: heaps in which so much lands at once that no order of instants matters.

In: the table of contacts, sorted by islands (``Contacts``), velocities before the kick, pairs that may meet in the drift.
Out: impulses of the contacts, velocities after the kick, rows for corners that turn in before the step ends.

Equations: Coulomb's law at each contact, by projected block Gauss-Seidel (solvers/sweeps.py); for what turns in, Newton's
method on the gap at the end of the step.

crowd_kick.py: the kick of crowds, from the table to the ledger. crowd_prediction.py: what turns in. crowd_rows.py: contacts as
the sweeps read them, and what they ask for. crowd_blocks.py: in which order they are swept, such that threads can share it.
crowd_sweeps.py: the sweeps. coming_points.py: what comes down next, in impacts of what is not kicked again.
"""
