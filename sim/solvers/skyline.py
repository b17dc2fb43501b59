"""Direct solution of symmetric positive definite systems that are sparse: L D L^T within the skyline.

Of each row are kept the columns from the first that is not zero up to the diagonal; elimination fills no others. The rows are
ordered such that these are few (reverse Cuthill-McKee; George, Liu, Computer Solution of Large Sparse Positive Definite Systems,
4.3): chains and trees cost O(rows).

Elimination is sums of products, each of which waits for the one before it. So four rows, a *panel*, are eliminated together, by
four columns at a time: sixteen sums in four registers (lanes.py). A panel begins where the first of its rows does, rounded down
to panels, and is kept by columns: its column k lies in the row ``at[panel] + k - LANES first[panel]`` of a table, a lane for each
of its rows. Lanes that no row has are zero. Each sum is taken in the order of the columns.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.sim.solvers.lanes import LANES, every, lanes_at, put_lanes


@lean
def entry_at(first, at, row, column):
    """Where the table has this entry on or below the diagonal: (row, lane)."""
    panel = row // LANES
    return at[panel] + column - LANES * first[panel], row % LANES


@lean
def _four(table, n):
    """Four rows from n on."""
    return lanes_at(table, n, 0), lanes_at(table, n + 1, 0), lanes_at(table, n + 2, 0), lanes_at(table, n + 3, 0)


@lean
def factor_skyline(first, at, table):
    """Factor in place. Panel i has the panels of columns ``first[i]`` to i; the diagonal becomes 1/D."""
    for i in range(len(first)):
        row = at[i] - LANES * first[i]
        for j in range(first[i], i):
            _eliminate(table, row, at[j] - LANES * first[j], LANES * max(first[i], first[j]), LANES * j)
        _factor_panel(first, at, table, i)


@lean
def _eliminate(table, row, other, low, c):
    """The columns from c on of the panel at ``row``, by those from ``low`` on and the panel at ``other`` that they belong to."""
    t0, t1, t2, t3 = _four(table, row + c)
    for k in range(low, c):
        own, n = lanes_at(table, row + k, 0), other + k
        t0 = t0 - own * every(table[n, 0])
        t1 = t1 - own * every(table[n, 1])
        t2 = t2 - own * every(table[n, 2])
        t3 = t3 - own * every(table[n, 3])
    n = other + c
    t1 = t1 - t0 * every(table[n, 1])
    t2 = t2 - t0 * every(table[n, 2]) - t1 * every(table[n + 1, 2])
    t3 = t3 - t0 * every(table[n, 3]) - t1 * every(table[n + 1, 3]) - t2 * every(table[n + 2, 3])
    put_lanes(table, row + c, 0, t0)
    put_lanes(table, row + c + 1, 0, t1)
    put_lanes(table, row + c + 2, 0, t2)
    put_lanes(table, row + c + 3, 0, t3)


@lean
def _factor_panel(first, at, table, i):
    """Divide the columns of panel i by D, and factor its diagonal."""
    row, c = at[i] - LANES * first[i], LANES * i
    t0, t1, t2, t3 = _four(table, row + c)
    for j in range(first[i], i):
        other = at[j] - LANES * first[j]
        for lane in range(LANES):
            k = LANES * j + lane
            own, n = lanes_at(table, row + k, 0), row + k
            put_lanes(table, n, 0, own * every(table[other + k, lane]))
            t0 = t0 - own * every(table[n, 0])
            t1 = t1 - own * every(table[n, 1])
            t2 = t2 - own * every(table[n, 2])
            t3 = t3 - own * every(table[n, 3])
    n = row + c
    _divide(table, n, 0, t0)
    t1 = t1 - t0 * every(table[n, 1])
    t2 = t2 - t0 * every(table[n, 2])
    t3 = t3 - t0 * every(table[n, 3])
    _divide(table, n + 1, 1, t1)
    t2 = t2 - t1 * every(table[n + 1, 2])
    t3 = t3 - t1 * every(table[n + 1, 3])
    _divide(table, n + 2, 2, t2)
    t3 = t3 - t2 * every(table[n + 2, 3])
    _divide(table, n + 3, 3, t3)


@lean
def _divide(table, n, lane, column):
    """Put a column of the diagonal's panel there, divided by D, which stands in this lane and becomes 1/D."""
    put_lanes(table, n, 0, column)
    inverse = 1.0 / table[n, lane] if table[n, lane] > 0.0 else 0.0
    put_lanes(table, n, 0, column * every(inverse))
    table[n, lane] = inverse


@lean
def solve_skyline(first, at, table, x):
    """Solve in place for a right-hand side x (panels, LANES), zero in lanes without a row, with what ``factor_skyline`` left."""
    count = len(first)
    for i in range(count):
        row, c, total = at[i] - LANES * first[i], LANES * i, lanes_at(x, i, 0)
        for j in range(first[i], i):
            n = row + LANES * j
            total = total - lanes_at(table, n, 0) * every(x[j, 0])
            total = total - lanes_at(table, n + 1, 0) * every(x[j, 1])
            total = total - lanes_at(table, n + 2, 0) * every(x[j, 2])
            total = total - lanes_at(table, n + 3, 0) * every(x[j, 3])
        put_lanes(x, i, 0, total)
        for r in range(1, LANES):
            for k in range(r):
                x[i, r] -= table[row + c + k, r] * x[i, k]
    for i in range(count):
        for r in range(LANES):
            x[i, r] *= table[at[i] + LANES * (i - first[i]) + r, r]
    for i in range(count - 1, -1, -1):
        row, c = at[i] - LANES * first[i], LANES * i
        for r in range(LANES - 1, 0, -1):
            for k in range(r):
                x[i, k] -= table[row + c + k, r] * x[i, r]
        x0, x1, x2, x3 = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
        for j in range(first[i], i):
            for k in range(LANES):
                n = row + LANES * j + k
                x[j, k] = x[j, k] - table[n, 3] * x3 - table[n, 2] * x2 - table[n, 1] * x1 - table[n, 0] * x0
