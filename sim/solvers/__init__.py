"""Solvers of the kick: newton.py, accurate; blocks.py, the linear algebra under it."""
