"""Kinematics and dynamics of a tree of links, in NumPy: poses, Jacobians, mass matrix, bias forces.

With q' the rates, v = J q' and a = J q'' + (J' q') of each body; virtual work gives M = sum J^T diag(m, I) J + rotors, and the
bias forces c = sum J^T (m (a0 - g), I alpha0 + w x I w), where a0, alpha0 are the accelerations at q'' = 0 (Featherstone, Rigid
Body Dynamics Algorithms, 2008, ch. 5 and 6). World axes, about the centres of mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.pose import Pose
from tumble.sim.joints.joint_tables import joint_ends, standing
from tumble.sim.joints.mechanism.tree import TRAVEL, TURN, UNIT_AXES, Link, angles, link_turn, rotation_about
from tumble.sim.ledger.diagnostics import rotations
from tumble.sim.state import Model


class Poses(NamedTuple):
    """Of each link: centre of mass (n, 3), rotation (n, 3, 3)."""

    x: np.ndarray
    rot: np.ndarray


class Sides(NamedTuple):
    """Of a link's joint: anchor and frame of the side that carries it, and of its own; world axes."""

    at: np.ndarray
    frame: np.ndarray
    own_at: np.ndarray
    own_frame: np.ndarray


def sides(model: Model, link: Link, carrier: tuple[np.ndarray, np.ndarray], own: tuple[np.ndarray, np.ndarray]) -> Sides:
    ends = joint_ends(model.joints, link.joint, *((own, carrier) if link.flipped else (carrier, own)))
    return Sides(*(ends[2:] + ends[:2] if link.flipped else ends))


def forward(model: Model, links: list[Link], q: np.ndarray) -> Poses:
    """Poses of all links with these coordinates."""
    n = len(links)
    x, rot = np.zeros((n, 3)), np.zeros((n, 3, 3))
    for k, link in enumerate(links):
        mine = q[link.q : link.q + link.nq]
        if link.free:
            rot[k] = rotations(mine[None, 3:] / np.linalg.norm(mine[3:]))[0]
            x[k] = mine[:3] + rot[k] @ model.bodies.center[link.body]
            continue
        carrier = (x[link.parent], rot[link.parent]) if link.parent >= 0 else standing(model, link.carrier)
        s = sides(model, link, carrier, (np.zeros(3), np.eye(3)))
        if link.round:  # of the body's own axes against those of its carrier
            turn = rotations(mine[None] / np.linalg.norm(mine))[0]
            rot[k] = _round_rest(model, link, carrier[1]) @ turn
            x[k] = s.at - rot[k] @ s.own_at
            continue
        sign = -1.0 if link.flipped else 1.0
        d = sum((c.sign * (v - c.reference) * UNIT_AXES[c.axis] for c, v in zip(link.coordinates, mine, strict=True)
                 if c.kind == TRAVEL), np.zeros(3))  # fmt: skip
        turn = link_turn(link, mine)
        rot[k] = s.frame @ (turn.T if link.flipped else turn) @ s.own_frame.T
        x[k] = s.at + sign * (s.frame @ d) - rot[k] @ s.own_at
    return Poses(x, rot)


def _round_rest(model: Model, link: Link, carrier: np.ndarray) -> np.ndarray:
    """Rotation of a body on a ball joint where its quaternion is 1: both frames of the joint coincide."""
    near, far = int(link.flipped), 1 - int(link.flipped)
    return carrier @ model.joints.frame[link.joint, near] @ model.joints.frame[link.joint, far].T


def quaternion(m: np.ndarray) -> np.ndarray:
    """(4,) of a rotation matrix."""
    return np.array(Pose.from_matrix(m).orientation)


def coordinates(model: Model, links: list[Link], poses: Poses, counted: np.ndarray) -> np.ndarray:
    """qpos of these poses; angles are nearest to ``counted``, what the joints have counted (one number a row of joints)."""
    out = np.zeros(sum(link.nq for link in links))
    for k, link in enumerate(links):
        at = slice(link.q, link.q + link.nq)
        if link.free:
            out[at] = (*(poses.x[k] - poses.rot[k] @ model.bodies.center[link.body]), *quaternion(poses.rot[k]))
            continue
        carrier = (poses.x[link.parent], poses.rot[link.parent]) if link.parent >= 0 else standing(model, link.carrier)
        if link.round:
            out[at] = quaternion(_round_rest(model, link, carrier[1]).T @ poses.rot[k])
            continue
        s = sides(model, link, carrier, (poses.x[k], poses.rot[k]))
        r = s.frame.T @ s.own_frame
        turns = angles(link, r.T if link.flipped else r)
        d = (-1.0 if link.flipped else 1.0) * (s.frame.T @ (s.own_at - s.at))
        turning = [c for c in link.coordinates if c.kind == TURN]
        if len(turning) == 3:  # the same turn by other angles: those which the joints have counted
            other = np.array([turns[0] + np.pi, np.pi - turns[1], turns[2] + np.pi])
            known = [c.sign * counted[c.row] if c.row >= 0 else 0.0 for c in turning]
            turns = min(turns, other, key=lambda t: sum(1 - np.cos(np.subtract(t, known))))
        values = []
        for c in link.coordinates:
            value = c.sign * (d if c.kind == TRAVEL else turns)[c.axis]
            if c.kind == TURN and c.row >= 0:
                value += 2 * np.pi * round((counted[c.row] - value) / (2 * np.pi))
            values.append(value + c.reference)
        out[at] = values
    return out


class Motion:
    """Columns of motion of a tree at one pose, and what follows from them.

    ``turn``, ``move``: (n, 3, nv) Jacobians of each link: angular velocity, velocity of its centre, by the rates qvel.
    """

    def __init__(self, model: Model, links: list[Link], poses: Poses, q: np.ndarray):
        self.model, self.links, self.poses = model, links, poses
        n, nv = len(links), sum(link.nv for link in links)
        self.turn, self.move = np.zeros((n, 3, nv)), np.zeros((n, 3, nv))
        self.axes: list[np.ndarray] = []  # (3, nv of the link) of each
        self.point = np.zeros((n, 3))
        for k, link in enumerate(links):
            x, rot = poses.x[k], poses.rot[k]
            at = slice(link.v, link.v + link.nv)
            carrier = (poses.x[link.parent], poses.rot[link.parent]) if link.parent >= 0 else standing(model, link.carrier)
            if link.free:
                axes, point = np.hstack([np.eye(3), rot]), x - rot @ model.bodies.center[link.body]
            else:
                axes, point = self._columns(link, carrier, (x, rot), q[link.q : link.q + link.nq])
            self.axes.append(axes)
            self.point[k] = point
            if link.parent >= 0:
                self.turn[k] = self.turn[link.parent]
                self.move[k] = self.move[link.parent] - _cross(point - carrier[0]) @ self.turn[link.parent]
            for c, (column, axis) in enumerate(zip(range(at.start, at.stop), axes.T, strict=True)):
                (self.turn if link.coordinates[c].kind == TURN else self.move)[k][:, column] += axis
            self.move[k] -= _cross(x - point) @ self.turn[k]

    def _columns(self, link: Link, carrier: tuple, own: tuple, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        s = sides(self.model, link, carrier, own)
        if link.round:
            return own[1].copy(), s.own_at
        sign, r, out = -1.0 if link.flipped else 1.0, np.eye(3), []
        for c, value in zip(link.coordinates, mine, strict=True):
            if c.kind == TRAVEL:
                out.append(sign * c.sign * s.frame[:, c.axis])
            else:
                base = s.frame if not link.flipped else s.own_frame
                out.append(sign * c.sign * (base @ r @ UNIT_AXES[c.axis]))
                r = r @ rotation_about(UNIT_AXES[c.axis], c.sign * (value - c.reference))
        return np.array(out).reshape(-1, 3).T, s.own_at

    def bias_acceleration(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) each: angular and linear accelerations of the links at q'' = 0."""
        n = len(self.links)
        alpha, a = np.zeros((n, 3)), np.zeros((n, 3))
        w = self.turn @ v
        for k, link in enumerate(self.links):
            p, rates = link.parent, v[link.v : link.v + link.nv]
            wp = w[p] if p >= 0 else np.zeros(3)
            if p >= 0:
                d = self.point[k] - self.poses.x[p]
                alpha[k] = alpha[p]
                a[k] = a[p] + np.cross(alpha[p], d) + np.cross(wp, np.cross(wp, d))
            spin = wp.copy()
            for c, axis, rate in zip(link.coordinates, self.axes[k].T, rates, strict=True):
                if link.free:
                    continue  # rates of the origin are those of the world; those of turning are of the body
                if c.kind == TRAVEL:
                    a[k] += 2 * np.cross(wp, axis) * rate
                elif link.round:
                    alpha[k] += np.cross(w[k], axis) * rate
                else:
                    alpha[k] += np.cross(spin, axis) * rate
                    spin = spin + axis * rate
            r = self.poses.x[k] - self.point[k]
            a[k] += np.cross(alpha[k], r) + np.cross(w[k], np.cross(w[k], r))
        return alpha, a

    def inertias(self) -> np.ndarray:
        """(n, 3, 3) about the centres, world axes."""
        own = self.model.bodies.inertia[[link.body for link in self.links]]
        return self.poses.rot @ own @ self.poses.rot.transpose(0, 2, 1)

    def mass_matrix(self) -> np.ndarray:
        """(nv, nv) with the rotors."""
        mass = self.model.bodies.mass[[link.body for link in self.links]]
        m = np.einsum("n,nki,nkj->ij", mass, self.move, self.move)
        m += np.einsum("nki,nkl,nlj->ij", self.turn, self.inertias(), self.turn)
        for link in self.links:
            for k, c in enumerate(link.coordinates):
                m[link.v + k, link.v + k] += c.armature
        return m

    def bias(self, v: np.ndarray) -> np.ndarray:
        """(nv,) forces that keep q'' = 0: of inertia and gravity."""
        rows = [link.body for link in self.links]
        mass, gravity = self.model.bodies.mass[rows], self.model.bodies.gravity[rows]
        alpha, a = self.bias_acceleration(v)
        w, inertia = self.turn @ v, self.inertias()
        torque = np.einsum("nij,nj->ni", inertia, alpha) + np.cross(w, np.einsum("nij,nj->ni", inertia, w))
        return np.einsum("nki,nk->i", self.move, mass[:, None] * (a - gravity)) + np.einsum("nki,nk->i", self.turn, torque)


def _cross(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
