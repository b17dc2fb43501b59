"""The mesh that several rooms test with: a cube, whose volume, distances and impacts are known in closed form."""

from __future__ import annotations

import itertools

import numpy as np

CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))  # of a cube with edges of 2
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
TRIANGLES = [triple for a, b, c, d in SIDES for triple in ((a, b, c), (a, c, d))]
