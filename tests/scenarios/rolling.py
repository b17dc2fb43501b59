"""Balls that roll without slip: over a polyhedron, edge by edge, and on a smooth surface, by its equations."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def on_profile(
    xs: np.ndarray,
    zs: np.ndarray,
    radius: float,
    start: float,
    speed: float,
    seconds: float,
    plastic: bool = True,
    inertia: float = 0.4,
) -> Callable[[float], np.ndarray]:
    """Time -> centre (x, z) of what rolls, from the face below ``start`` towards larger x; ``inertia`` over m R^2: a ball's.

    On a face it is accelerated evenly. About the edge between two faces that fall away it turns as a pendulum that stands on its
    head. Where they rise it meets the next face and turns about that from then on: its angular momentum about the new point of
    contact stays, so of its speed (k + cos d)/(k + 1) is left, at a bend of d and an inertia of k m R^2. ``plastic=False``:
    without that.
    """
    angles, rolls = np.arctan2(np.diff(zs), np.diff(xs)), 1 / (1 + inertia)
    i = int(np.searchsorted(xs, start)) - 1
    t, way, v, pieces = 0.0, (start - xs[i]) / math.cos(angles[i]), speed, []
    while t < seconds:
        u = np.array((math.cos(angles[i]), math.sin(angles[i])))
        up, bend = np.array((-u[1], u[0])), angles[i + 1] - angles[i]
        left = (xs[i + 1] - xs[i]) / u[0] - max(radius * math.tan(bend / 2), 0.0) - way
        a = -rolls * G * u[1]
        assert v * v + 2 * a * left > 0.0, "it turns back"
        then = math.sqrt(v * v + 2 * a * left)
        took = 2 * left / (v + then)
        place = np.array((xs[i], zs[i])) + way * u + radius * up
        pieces.append((t + took, lambda s, t=t, place=place, u=u, v=v, a=a: place + (v * (s - t) + a * (s - t) ** 2 / 2) * u))
        t, v, i = t + took, then, i + 1
        if bend > 0.0:
            v *= rolls * (inertia + math.cos(bend)) if plastic else 1.0
            way = radius * math.tan(bend / 2)
            continue
        assert G * u[0] > v * v / radius, "it leaves the edge"
        over = lambda _, y, end=angles[i]: y[0] - end  # noqa: E731
        over.terminal = True
        turn = lambda _, y: (y[1], rolls * G / radius * math.sin(y[0]))  # noqa: E731
        found = solve_ivp(turn, (0, 9), (angles[i - 1], -v / radius), events=over, rtol=1e-12, atol=1e-13, dense_output=True)
        edge = np.array((xs[i], zs[i]))
        about = lambda s, t=t, edge=edge, f=found.sol: edge + radius * np.array((-math.sin(f(s - t)[0]), math.cos(f(s - t)[0])))  # noqa: E731
        t, v, way = t + found.t[-1], -radius * found.y[1, -1], 0.0
        pieces.append((t, about))
    ends = [end for end, _ in pieces]
    return lambda s: pieces[int(np.searchsorted(ends, s))][1](s)


Place = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


def above(height: Callable[[float, float], tuple], radius: float) -> Place:
    """Of a ball that touches a height field at (x, y): its centre, the normal n there, and derivatives (3, 2) of both.

    ``height(x, y)``: the height, its slopes (2,) and its second derivatives (2, 2).
    """

    def place(p: np.ndarray) -> tuple[np.ndarray, ...]:
        z, slope, bend = height(*p)
        raw = np.array((-slope[0], -slope[1], 1.0))
        size = np.linalg.norm(raw)
        n = raw / size
        turns = np.stack([(d - n * (n @ d)) / size for d in np.c_[-bend, np.zeros(2)]], axis=1)
        moves = np.array(((1.0, 0.0), (0.0, 1.0), slope))
        return np.array((*p, z)) + radius * n, n, moves + radius * turns, turns

    return place


def on_surface(
    place: Place, radius: float, start: np.ndarray, velocity: np.ndarray, seconds: float
) -> Callable[[float], np.ndarray]:
    """Time -> centre (3,) of a ball that rolls on a smooth surface, from the coordinates ``start`` (2,) of its place on it.

    With v = R w x n and Newton's and Euler's laws, without the force: the tangential part of a is (5/2 g + R w x dn/dt)/(7/2),
    the normal one -v . dn/dt, and the spin about n changes by w . dn/dt.
    """
    heavy = np.array((0.0, 0.0, -G))

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        _, n, moves, turns = place(y[:2])
        v, spin = y[2:5], y[5]
        goes = np.linalg.lstsq(moves, v, rcond=None)[0]
        dn, w = turns @ goes, np.cross(n, v) / radius + spin * n
        push = (2.5 * heavy + radius * np.cross(w, dn)) / 3.5
        return np.concatenate([goes, push - n * (n @ push) - n * (v @ dn), [w @ dn]])

    found = solve_ivp(rate, (0, seconds), (*start, *velocity, 0.0), rtol=1e-10, atol=1e-12, dense_output=True)
    return lambda s: place(found.sol(s)[:2])[0]
