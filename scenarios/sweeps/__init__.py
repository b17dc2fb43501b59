"""Sweeps: many runs of one scene with other numbers, on the cores of this machine or on a cluster.

In: a plan of parameters.
Out: a store of members, each with its numbers; nothing is lost where a process dies.

Equations: none. docs/sweeps.md tells the plan.

ensemble.py: what the members are, and the store that keeps them. sweep.py: how they are run.
"""
