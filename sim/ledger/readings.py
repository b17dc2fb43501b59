"""What a world tells of its contacts, its solver and its bits."""

from __future__ import annotations

import hashlib

import numpy as np

from tumble.sim.ledger.diagnostics import unheard
from tumble.sim.state import EVENTS, LOST_EVENTS, Books, Contacts, Model

CONTACT_ROW = np.dtype(
    [
        ("body_a", np.int32), ("body_b", np.int32), ("point", float, 3), ("normal", float, 3), ("gap", float),
        ("impulse", float, 3), ("force", float, 3), ("moment", float, 3), ("slip", float, 3),
        ("friction", float), ("feature", np.int64),
        ("piece_a", np.int32), ("piece_b", np.int32), ("loss", float), ("residual", float),
    ]
)  # fmt: skip


WARM = ("pair", "id", "impulse", "moment", "slides", "turns", "arrives")  # of a contact: what the next kick starts from


@unheard
def contacts(c: Contacts, dt: float) -> np.ndarray:
    """Contact points of the last kick, a structured array.

    body_a, body_b; point (3,) [m]; normal (3,), from A to B; gap [m]; impulse (3,) [N s]: normal, and along the
    two tangents; force (3,) [N] on B, world axes, mean over a step; moment (3,) [N m] on B by rolling and torsional
    friction, likewise; slip (3,) [m/s] of B's surface against A's in the middle of the kick, world axes; friction, the
    coefficient that bounds the impulse; feature, an id that stays from step to step; piece_a, piece_b: which convex pieces
    touch, numbered over all bodies; loss [J], taken by friction and a slow landing in this kick; residual [m/s], what the
    solve of the contact's island missed the law by.
    """
    n = int(c.count[0])
    out = np.zeros(n, CONTACT_ROW)
    frame, p, u = c.frame[:n], 2.0 * c.impulse[:n], 0.5 * (c.u[:n] + c.u_after[:n])
    out["body_a"], out["body_b"] = c.body[:n, 0], c.body[:n, 1]
    out["point"], out["normal"], out["gap"] = c.point[:n], frame[:, 2], c.gap[:n]
    out["impulse"] = p[:, [2, 0, 1]]
    out["force"] = np.einsum("nk,nki->ni", p, frame) / dt
    out["moment"] = np.einsum("nk,nki->ni", 2.0 * c.moment[:n], frame) / dt
    u[:, 2] = 0.0
    out["slip"] = np.einsum("nk,nki->ni", u, frame)
    out["friction"], out["feature"] = c.mu[:n], c.id[:n]
    out["piece_a"], out["piece_b"] = c.pair[:n, 0], c.pair[:n, 1]
    out["loss"], out["residual"] = c.loss[:n], c.residual[:n]
    return out


def max_penetration(c: Contacts) -> float:
    """Depth of the deepest contact [m]; 0 where nothing overlaps."""
    return max(0.0, -float(c.gap[: c.count[0]].min(initial=0.0)))


def statistics(books: Books) -> dict[str, float]:
    """Counters since the start, and worst values."""
    names = ("steps", "impacts", "solves", "iterations", "unsolved", "uncertain", "capped", "rekicks", "placed")
    counters = dict(zip(names, map(int, books.counters[:EVENTS]), strict=True))
    worst = dict(zip(("residual", "depth", "impact_gain"), map(float, books.worst), strict=True))
    return counters | {"events_lost": int(books.counters[LOST_EVENTS])} | worst


def state_bits(model: Model, dormant: dict[str, np.ndarray]) -> list[np.ndarray]:
    """All that the state is made of; ``dormant``: contacts of sleeping bodies."""
    b, c, j = model.bodies, model.contacts, model.joints
    columns = [b.x, b.q, b.p, b.l, b.low, b.p_before, b.l_before, b.kind, b.still]
    n = c.count[0]
    jointed = [j.impulse, j.hold, j.value] if len(j.kind) else []  # empty columns have no bits
    warm = [getattr(c, f)[:n] for f in WARM] if n else []
    return columns + jointed + warm + [dormant[f] for f in WARM if dormant]


def state_hash(columns: list[np.ndarray], step: int, pushes: dict[str, object]) -> str:
    """Hash over every bit of the state; ``pushes``: what the user pushed with last."""
    digest = hashlib.sha256(str(step).encode())
    for array in columns:
        digest.update(np.ascontiguousarray(array + 0.0).tobytes())  # + 0.0: no minus zero
    if pushes:
        digest.update(repr(sorted(pushes.items())).encode())
    return digest.hexdigest()
