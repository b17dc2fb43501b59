"""Figures: curves of a run, drawn by matplotlib when one is asked for.

In: runs, differences of runs, traces of a search.
Out: PNG, SVG.

Equations: none.

plots.py: energy, books, momentum. curves.py: anything over anything. minkowski.py: a search for a distance, step by step.
"""
