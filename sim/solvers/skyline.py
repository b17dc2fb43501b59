"""Direct solution of symmetric positive definite systems that are sparse: L D L^T within the skyline.

Of each row are kept the columns from the first that is not zero up to the diagonal; elimination fills no others. The rows are
ordered such that these are few (reverse Cuthill-McKee; George, Liu, Computer Solution of Large Sparse Positive Definite Systems,
4.3): chains and trees cost O(rows).
"""

from __future__ import annotations

from collision.kernels.jit import lean


@lean
def factor_skyline(first, at, values):
    """Factor in place. Row i has its columns ``first[i]`` to i at ``values[at[i]:]``; the diagonal becomes 1/D."""
    for i in range(len(first)):
        row, start = at[i] - first[i], first[i]
        diagonal = values[row + i]
        for j in range(start, i):
            other, low = at[j] - first[j], max(start, first[j])
            total = values[row + j]
            for k in range(low, j):
                total -= values[row + k] * values[other + k]
            values[row + j] = total
        for j in range(start, i):
            left = values[row + j] * values[at[j] - first[j] + j]
            diagonal -= left * values[row + j]
            values[row + j] = left
        values[row + i] = 1.0 / diagonal if diagonal > 0.0 else 0.0


@lean
def solve_skyline(first, at, values, x):
    """Solve in place for a right-hand side x, with what ``factor_skyline`` left."""
    n = len(first)
    for i in range(n):
        row, total = at[i] - first[i], x[i]
        for j in range(first[i], i):
            total -= values[row + j] * x[j]
        x[i] = total
    for i in range(n):
        x[i] *= values[at[i] - first[i] + i]
    for i in range(n - 1, -1, -1):
        row = at[i] - first[i]
        for j in range(first[i], i):
            x[j] -= values[row + j] * x[i]
