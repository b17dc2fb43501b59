"""Vectors, matrices and quaternions as tuples of floats, for kernels.

A vector is (x, y, z); a matrix the nine numbers row by row; a quaternion (w, x, y, z). Tuples live in registers:
measured 1.8 ns a body for a kernel on tuples against 138 ns on small arrays allocated inside the kernel.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean

ZERO = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
SPLITTER = 134217729.0  # 2^27 + 1: a product by it parts a number into its upper and lower 26 bits


@lean
def load3(a, i):
    return (a[i, 0], a[i, 1], a[i, 2])


@lean
def store3(a, i, v):
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]


@lean
def at(a, i, column):
    """Three numbers of a row, from a column on."""
    return (a[i, column], a[i, column + 1], a[i, column + 2])


@lean
def set_at(a, i, column, v):
    a[i, column] = v[0]
    a[i, column + 1] = v[1]
    a[i, column + 2] = v[2]


@lean
def add3(a, i, v):
    """a[i] += v"""
    a[i, 0] += v[0]
    a[i, 1] += v[1]
    a[i, 2] += v[2]


@lean
def load4(a, i):
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@lean
def store4(a, i, v):
    a[i, 0] = v[0]
    a[i, 1] = v[1]
    a[i, 2] = v[2]
    a[i, 3] = v[3]


@lean
def load9(a, i):
    """Matrix i of an (n, 3, 3) array."""
    return (a[i, 0, 0], a[i, 0, 1], a[i, 0, 2], a[i, 1, 0], a[i, 1, 1], a[i, 1, 2], a[i, 2, 0], a[i, 2, 1], a[i, 2, 2])


@lean
def store9(a, i, m):
    a[i, 0, 0] = m[0]
    a[i, 0, 1] = m[1]
    a[i, 0, 2] = m[2]
    a[i, 1, 0] = m[3]
    a[i, 1, 1] = m[4]
    a[i, 1, 2] = m[5]
    a[i, 2, 0] = m[6]
    a[i, 2, 1] = m[7]
    a[i, 2, 2] = m[8]


@lean
def copy_table(source, target):
    """All of an (n, k) array. Numba compiles a loop faster than an assignment of slices, and once for all callers."""
    for i in range(len(source)):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@lean
def largest_change(a, b):
    """The most that a number of one (n, k) array is off that of another."""
    most = 0.0
    for i in range(len(a)):
        for j in range(a.shape[1]):
            most = max(most, abs(a[i, j] - b[i, j]))
    return most


@lean
def copy_list(source, target):
    for i in range(len(source)):
        target[i] = source[i]


@lean
def clear_table(target):
    for i in range(len(target)):
        for j in range(target.shape[1]):
            target[i, j] = 0.0


@lean
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@lean
def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@lean
def neg(a):
    return (-a[0], -a[1], -a[2])


@lean
def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


@lean
def axpy(s, a, b):
    """s a + b"""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@lean
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@lean
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@lean
def norm(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@lean
def shorter(x, y, length):
    """Whether the vector (x, y) is shorter than ``length``, which is not negative. No root is taken."""
    return x * x + y * y < length * length


@lean
def normalize(a):
    """a / |a|; the zero vector stays zero."""
    n = norm(a)
    if n == 0.0:
        return a
    return (a[0] / n, a[1] / n, a[2] / n)


@lean
def orthonormal(n):
    """Two unit vectors (s, t) such that (s, t, n) is a right-handed orthonormal frame; n must be of unit length."""
    if abs(n[2]) < 0.70710678:
        s = normalize((n[1], -n[0], 0.0))
    else:
        s = normalize((0.0, n[2], -n[1]))
    return s, cross(n, s)


@lean
def mul(m, v):
    """m v"""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@lean
def mul_t(m, v):
    """m^T v"""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@lean
def reach_t(m, half):
    """How far along the axes the points m^T v reach of a box with these half extents."""
    return (
        abs(m[0]) * half[0] + abs(m[3]) * half[1] + abs(m[6]) * half[2],
        abs(m[1]) * half[0] + abs(m[4]) * half[1] + abs(m[7]) * half[2],
        abs(m[2]) * half[0] + abs(m[5]) * half[1] + abs(m[8]) * half[2],
    )


@lean
def along_axis(k, length):
    """The vector of this length along axis 0, 1 or 2; zero where k is none of these."""
    return (length if k == 0 else 0.0, length if k == 1 else 0.0, length if k == 2 else 0.0)


@lean
def matmul(a, b):
    """a b"""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@lean
def transpose(m):
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@lean
def matadd(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8])


@lean
def inverse(m):
    """Inverse of a matrix by cofactors; inf or nan where it is singular."""
    c0 = m[4] * m[8] - m[5] * m[7]
    c1 = m[5] * m[6] - m[3] * m[8]
    c2 = m[3] * m[7] - m[4] * m[6]
    d = m[0] * c0 + m[1] * c1 + m[2] * c2
    return (
        c0 / d,
        (m[2] * m[7] - m[1] * m[8]) / d,
        (m[1] * m[5] - m[2] * m[4]) / d,
        c1 / d,
        (m[0] * m[8] - m[2] * m[6]) / d,
        (m[2] * m[3] - m[0] * m[5]) / d,
        c2 / d,
        (m[1] * m[6] - m[0] * m[7]) / d,
        (m[0] * m[4] - m[1] * m[3]) / d,
    )


@lean
def symmetric_inverse(m):
    """Inverse of a positive definite matrix by L D L^T: good where eigenvalues differ much, which cofactors are not."""
    l1, l2 = m[1] / m[0], m[2] / m[0]
    d1, e = m[4] - l1 * m[1], m[5] - l1 * m[2]
    l3 = e / d1
    d2 = m[8] - l2 * m[2] - l3 * e
    low = l1 * l3 - l2
    xy, xz, yz = -l1 / d1 - low * l3 / d2, low / d2, -l3 / d2
    return (1.0 / m[0] + l1 * l1 / d1 + low * low / d2, xy, xz, xy, 1.0 / d1 + l3 * l3 / d2, yz, xz, yz, 1.0 / d2)


@lean
def product_error(x, y, product):
    """x y - product, exactly, where product is x y rounded (Dekker 1971); of numbers or, in Python, of arrays."""
    x_high, y_high = SPLITTER * x - (SPLITTER * x - x), SPLITTER * y - (SPLITTER * y - y)
    x_low, y_low = x - x_high, y - y_high
    return x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)


@lean
def qmul(a, b):
    """Hamilton product a b"""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@lean
def qnormalize(q):
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


@lean
def rotation(q):
    """Matrix of a unit quaternion, body to world."""
    w, x, y, z = q
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@lean
def symmetric_product(r, m):
    """r m r^T: a tensor of the body frame in world axes."""
    return matmul(matmul(r, m), transpose(r))


@lean
def turned_with(n, m, u):
    """The vector u turned as the unit vector n is turned into m, the short way (Rodrigues' formula); far turns leave it."""
    axis, c = cross(n, m), dot(n, m)
    if c <= 0.0:
        return u
    return add(add(scale(c, u), cross(axis, u)), scale(dot(axis, u) / (1.0 + c), axis))
