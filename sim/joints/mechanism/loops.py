"""Loops of a mechanism: where some of its coordinates are set, the others follow, so that loops stay closed.

What the tree leaves out, joints that close a loop, gears and screws, is closed where its rigid coordinates are zero. The
coordinates that were set go to where they shall be in a few strides, and after each of them Newton's method brings the others
there, from where they are: so a loop that can be closed in two ways stays as it was put together. Rates follow in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.sim.joints.joint_tables import joint_ends, measured_at, standing
from tumble.sim.joints.mechanism.dynamics import Motion, Poses, forward
from tumble.sim.joints.mechanism.tree import Link
from tumble.sim.state import DYNAMIC, Model

PART_OF_WAY, FEWEST_OF_THEM, MOST_OF_THEM = 0.1, 4, 200  # rad or m, of a coordinate at once; how many of them
ROUNDS = 30  # of Newton's method; it takes three to six where there is a way
CLOSED = 1e-12  # of the largest coordinate, or of 1 m and 1 rad: so far loops are closed
SAME = 1e-12  # a coordinate that was given as it stands, but for so much


class Loops(NamedTuple):
    """The links of a mechanism, and the rows of the joints that close its loops."""

    model: Model
    links: list[Link]
    rows: list[int]

    def followed(self, now: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
        """(nq,) coordinates in which loops are closed, those set that differ from ``now``; as given, where a small way closes
        them: the world goes it when it begins again. None where that can not be."""
        if self._is_closed(self._open(wanted)[0], wanted):
            return wanted
        free = self._free(np.abs(wanted - now) > SAME * np.maximum(1.0, np.abs(wanted)))
        closed, q = self._on_the_way(now, wanted, free) if free.any() else (False, wanted)
        if closed:
            return q
        closed, q = self._newton(wanted, self._free(np.zeros(len(wanted), bool)))
        return wanted if closed and np.abs(q - wanted).max() <= PART_OF_WAY else None

    def worst(self, q: np.ndarray) -> tuple[int, float]:
        """The joint that is open most at these coordinates, and by how much [m or rad]."""
        ends = np.cumsum([self.model.joints.rigid[j].sum() for j in self.rows])[:-1]
        opened = [float(np.abs(part).max()) for part in np.split(self._open(q)[0], ends)]
        return self.rows[int(np.argmax(opened))], max(opened)

    def _on_the_way(self, now: np.ndarray, wanted: np.ndarray, free: np.ndarray) -> tuple[bool, np.ndarray]:
        """(Whether loops could be kept closed, the coordinates), on the way of those that were set."""
        q, strides = now.copy(), int(np.clip(np.ceil(np.abs(wanted - now).max() / PART_OF_WAY), FEWEST_OF_THEM, MOST_OF_THEM))
        for stride in range(1, strides + 1):
            q = self._to(q, now, wanted, stride / strides, free)
            closed, q = self._newton(q, free)
            if not closed:
                return False, q
        return True, q

    def rates(self, q: np.ndarray, now: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """(nv,) rates that keep loops closed at these coordinates, those set that differ from ``now``."""
        set_, fixed = np.abs(wanted - now) > SAME * np.maximum(1.0, np.abs(wanted)), np.zeros(len(wanted), bool)
        for link in self.links:
            fixed[link.v : link.v + link.nv] = link.free
        free = ~(set_ | fixed)
        if not set_.any() or not free.any():
            return wanted
        _, jacobian = self._open(q)
        out = wanted.copy()
        out[free] -= np.linalg.lstsq(jacobian[:, free], jacobian @ wanted, rcond=None)[0]
        return out

    def _free(self, set_: np.ndarray) -> np.ndarray:
        """(nv,) the rates of what follows: what was not set. A body that hangs on nothing need not move for a loop."""
        free = np.zeros(sum(link.nv for link in self.links), bool)
        for link in self.links:
            mine = set_[link.q : link.q + link.nq]
            free[link.v : link.v + link.nv] = False if link.free else (not mine.any() if link.round else ~mine)
        return free

    def _to(self, q: np.ndarray, now: np.ndarray, wanted: np.ndarray, share: float, free: np.ndarray) -> np.ndarray:
        """The coordinates, those that were set on the way to where they shall be."""
        out = q.copy()
        for link in self.links:
            for k in range(link.nq):
                if not free[link.v + min(k, link.nv - 1)]:
                    at = link.q + k
                    out[at] = wanted[at] if share == 1.0 else now[at] + share * (wanted[at] - now[at])
        return out

    def _newton(self, q: np.ndarray, free: np.ndarray) -> tuple[bool, np.ndarray]:
        """(Whether loops are closed, the coordinates for it), the rates that are ``free`` moved."""
        error, jacobian = self._open(q)
        for _ in range(ROUNDS):
            if self._is_closed(error, q):
                break
            step, full = np.zeros(len(free)), np.linalg.lstsq(jacobian[:, free], -error, rcond=1e-10)[0]
            for part in (1.0, 0.5, 0.25, 0.125):
                step[free] = part * full
                tried = self._moved(q, step)
                there, slope = self._open(tried)
                if np.linalg.norm(there) < np.linalg.norm(error):
                    break
            else:
                break
            q, error, jacobian = tried, there, slope
        return self._is_closed(error, q), q

    def _is_closed(self, error: np.ndarray, q: np.ndarray) -> bool:
        return bool(np.abs(error).max() <= CLOSED * max(1.0, float(np.abs(q).max())))

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """The coordinates after a step along the rates; a ball joint turns about the axes of its body."""
        out = q.copy()
        for link in self.links:
            mine = step[link.v : link.v + link.nv]
            if link.free:
                continue
            if not link.round:
                out[link.q : link.q + link.nq] += mine
                continue
            angle = float(np.linalg.norm(mine))
            w, x = q[link.q], q[link.q + 1 : link.q + 4]
            c, s = np.cos(0.5 * angle), 0.5 * np.sinc(angle / (2.0 * np.pi)) * mine
            out[link.q : link.q + 4] = (w * c - x @ s, *(w * s + c * x + np.cross(x, s)))
        return out

    def _open(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far the joints that close loops are open, and the rates of that by those of the coordinates."""
        poses = forward(self.model, self.links, q)
        motion, joints = Motion(self.model, self.links, poses, q), self.model.joints
        place = {link.body: k for k, link in enumerate(self.links)}
        errors, rows = [], []
        for j in self.rows:
            pair = [int(i) for i in joints.body[j]]
            ends = [self._pose(poses, place, i) for i in pair]
            point, along, about, values = measured_at(joints, j, *joint_ends(joints, j, *ends))
            move, turn = np.zeros((2, 3, len(motion.move[0].T)))
            for sign, i in zip((-1.0, 1.0), pair, strict=True):
                if i in place:
                    k = place[i]
                    turn += sign * motion.turn[k]
                    move += sign * (motion.move[k] - np.cross(point - poses.x[k], motion.turn[k].T).T)
            rigid = joints.rigid[j].astype(bool)
            errors.append(values[rigid])
            rows.append(np.concatenate([along @ move, about @ turn])[rigid])
        return np.concatenate(errors), np.concatenate(rows)

    def _pose(self, poses: Poses, place: dict[int, int], i: int) -> tuple[np.ndarray, np.ndarray]:
        return (poses.x[place[i]], poses.rot[place[i]]) if i in place else standing(self.model, i)


def loops_of(model: Model, links: list[Link]) -> Loops | None:
    """The loops of a mechanism; None where it has none."""
    mine, hung = {link.body for link in links}, {link.joint for link in links}
    rows = []
    for j, pair in enumerate(model.joints.body.tolist()):
        moving = [i for i in pair if i >= 0 and model.bodies.kind[i] == DYNAMIC]
        if j not in hung and model.joints.rigid[j].any() and moving and mine.issuperset(moving):
            rows.append(j)
    return Loops(model, links, rows) if rows else None
