"""Joints: what a joint is (definitions.py), the geometry of each kind (one file each), and their rows of the kick."""
