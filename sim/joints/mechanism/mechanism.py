"""A mechanism in coordinates of its own: what ``World.mechanism`` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, check_vector
from tumble.sim.joints.mechanism.dynamics import Motion, Poses, coordinates, forward, quaternion
from tumble.sim.joints.mechanism.loops import Loops, loops_of
from tumble.sim.joints.mechanism.tree import links_of, loop_of
from tumble.sim.ledger.diagnostics import rotations

if TYPE_CHECKING:
    from tumble.sim.world.world import World


class Mechanism:
    """Jointed bodies of a world in coordinates of their own: a view, which reads and sets the world.

    qpos (nq,): of each link, parents first: angle or travel [rad or m]; a quaternion (w, x, y, z) of a ball joint; of a free body
    the position of its frame [m] and its quaternion. qvel (nv,): rates of these; of a ball joint the angular velocity in the axes
    of its body, of a free body the velocity of its frame in the world and the angular velocity in its own axes. As in MuJoCo.

    Loops: coordinates are those of a tree of joints. Where some are set, the others move with them such that the joints that
    close loops stay closed, as gears and screws do. Where that can not be, InputError names the joint that would stay open; what
    a way of up to 0.1 m or rad closes is as given, and the world closes it when it begins again.
    """

    def __init__(self, world: World, body: str | None = None):
        self.world = world
        self._tree = links_of(world, body)
        self.nq = sum(link.nq for link in self._tree)
        self.nv = sum(link.nv for link in self._tree)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the links, parents first."""
        return tuple(self.world.names[link.body] for link in self._tree)

    @property
    def names(self) -> tuple[str, ...]:
        """(nv,) names of the coordinates: of the joint, or of the drive, that each belongs to."""
        return tuple(c.name for link in self._tree for c in link.coordinates)

    @property
    def limits(self) -> np.ndarray:
        """(nv, 2) low and high end of each coordinate; infinite where there is none."""
        out = np.full((self.nv, 2), (-np.inf, np.inf))
        for k, c in self._driven():
            out[k] = self.world.model.joints.limit[c.row] + c.reference
        return out

    def _driven(self) -> list[tuple[int, Any]]:
        return [(link.v + k, c) for link in self._tree for k, c in enumerate(link.coordinates) if c.row >= 0]

    def _poses(self, qpos: object | None) -> Poses:
        if qpos is not None:
            return forward(self.world.model, self._tree, self._numbers("qpos", qpos, self.nq))
        b, rows = self.world.model.bodies, [link.body for link in self._tree]
        return Poses(b.x[rows].copy(), rotations(b.q[rows]))

    def _numbers(self, name: str, value: object, n: int) -> np.ndarray:
        out = np.array(value, dtype=float)
        if out.shape != (n,) or not np.isfinite(out).all():
            raise InputError(name, value, f"must be {n} finite numbers")
        return out

    @property
    def qpos(self) -> np.ndarray:
        """(nq,) coordinates; may be set: the bodies are put there, velocities stay as ``qvel``. In loops the rest follows."""
        model = self.world.model
        return coordinates(model, self._tree, self._poses(None), model.joints.value)

    @qpos.setter
    def qpos(self, value: object) -> None:
        self.set(value, self.qvel)

    @property
    def qvel(self) -> np.ndarray:
        """(nv,) rates, in the middle of the kick; may be set."""
        world, motion = self.world, self._motion(None)
        rows = [link.body for link in self._tree]
        v, w = world.velocities[rows], world.angular_velocities[rows]
        wanted = np.concatenate([w, v], axis=1).ravel()
        columns = np.concatenate([motion.turn, motion.move], axis=1).reshape(-1, self.nv)
        return np.linalg.lstsq(columns, wanted, rcond=None)[0] if self.nv else np.zeros(0)

    @qvel.setter
    def qvel(self, value: object) -> None:
        self.set(self.qpos, value)

    def set(self, qpos: object, qvel: object | None = None) -> None:
        """Put the bodies where these coordinates are, with these rates (zero if left out)."""
        model, world = self.world.model, self.world
        q = self._numbers("qpos", qpos, self.nq)
        v = np.zeros(self.nv) if qvel is None else self._numbers("qvel", qvel, self.nv)
        loops = loops_of(model, self._tree)
        if loops is not None:
            q = self._followed(loops, q)
            v = loops.rates(q, self.qvel, v)
        poses = forward(model, self._tree, q)
        motion = Motion(model, self._tree, poses, q)
        for k, link in enumerate(self._tree):
            i = link.body
            origin = poses.x[k] - poses.rot[k] @ model.bodies.center[i]
            world._set(i, origin, quaternion(poses.rot[k]), motion.move[k] @ v, motion.turn[k] @ v)
            for c, value in zip(link.coordinates, q[link.q : link.q + link.nv], strict=True):
                if c.row >= 0:
                    world.model.joints.value[c.row] = value - c.reference

    def _followed(self, loops: Loops, wanted: np.ndarray) -> np.ndarray:
        """Coordinates in which loops are closed, or will be; InputError where they can not be."""
        q = loops.followed(self.qpos, wanted)
        if q is None:
            row, opened = loops.worst(wanted)
            name = self.world.joints[row].name
            ring = ", ".join(loop_of(self.world, row)) or name
            why = f"leaves joint {name} open by {opened:.3g}, and no pose near closes it"
            raise InputError("qpos", wanted.tolist(), f"{why}: of {ring} set what leads, as far as it goes, and leave the others")
        return q

    def _motion(self, qpos: object | None) -> Motion:
        q = self.qpos if qpos is None else np.asarray(qpos, dtype=float)
        return Motion(self.world.model, self._tree, self._poses(qpos), q)

    def mass_matrix(self, qpos: object | None = None) -> np.ndarray:
        """(nv, nv) M of the kinetic energy qvel M qvel/2, rotors included; as it stands, or with these coordinates."""
        return self._motion(qpos).mass_matrix()

    def bias_forces(self, qpos: object | None = None, qvel: object | None = None) -> np.ndarray:
        """(nv,) forces of inertia and gravity: what must act for qvel to stay as it is."""
        v = self.qvel if qvel is None else self._numbers("qvel", qvel, self.nv)
        return self._motion(qpos).bias(v)

    def inverse_dynamics(self, acceleration: object, qpos: object | None = None, qvel: object | None = None) -> np.ndarray:
        """(nv,) forces along the coordinates that give this acceleration (nv,), without contact, springs, dampers."""
        a = self._numbers("acceleration", acceleration, self.nv)
        v = self.qvel if qvel is None else self._numbers("qvel", qvel, self.nv)
        motion = self._motion(qpos)
        return motion.mass_matrix() @ a + motion.bias(v)

    def passive_forces(self, qpos: object | None = None, qvel: object | None = None) -> np.ndarray:
        """(nv,) forces of springs and dampers of the joints."""
        q = self.qpos if qpos is None else self._numbers("qpos", qpos, self.nq)
        v = self.qvel if qvel is None else self._numbers("qvel", qvel, self.nv)
        out, joints = np.zeros(self.nv), self.world.model.joints
        for link in self._tree:
            for k, c in enumerate(link.coordinates):
                if c.row >= 0:
                    stretch = q[link.q + k] - c.reference - joints.rest[c.row]
                    out[link.v + k] = -joints.stiffness[c.row] * stretch - joints.damping[c.row] * v[link.v + k]
        return out

    def accelerations(self, forces: object = None, qpos: object | None = None, qvel: object | None = None) -> np.ndarray:
        """(nv,) of the rates, without contact and limits; ``forces`` (nv,) act besides springs and dampers."""
        v = self.qvel if qvel is None else self._numbers("qvel", qvel, self.nv)
        given = np.zeros(self.nv) if forces is None else self._numbers("forces", forces, self.nv)
        motion = self._motion(qpos)
        return np.linalg.solve(motion.mass_matrix(), given + self.passive_forces(qpos, v) - motion.bias(v))

    def jacobian(self, body: str, point: object = (0, 0, 0), qpos: object | None = None) -> np.ndarray:
        """(6, nv): velocity of a point of a body, given in its frame (3,) [m], and its angular velocity, by the rates."""
        k, motion = self._place(body), self._motion(qpos)
        arm = motion.poses.rot[k] @ (np.array(check_vector("point", point)) - self.world.model.bodies.center[self._tree[k].body])
        move = motion.move[k] - np.cross(arm, motion.turn[k].T).T
        return np.vstack([move, motion.turn[k]])

    def point(self, body: str, point: object = (0, 0, 0), qpos: object | None = None) -> np.ndarray:
        """(3,) [m] where a point of a body, given in its frame, is in the world."""
        k, poses = self._place(body), self._poses(qpos)
        center = self.world.model.bodies.center[self._tree[k].body]
        return poses.x[k] + poses.rot[k] @ (np.array(check_vector("point", point)) - center)

    def _place(self, body: str) -> int:
        name = getattr(body, "name", body)
        if name not in self.bodies:
            raise InputError("body", name, f"is no link of the mechanism; there are {', '.join(self.bodies)}")
        return self.bodies.index(name)

    def inverse_kinematics(self, body: str, target: object, point: object = (0, 0, 0), start: object | None = None) -> np.ndarray:
        """(nq,) coordinates, within their limits, that bring a point of a body, in its frame, to ``target`` (3,) [m].

        Angles and travels are sought from ``start`` (as it stands), by scipy's least squares; free bodies and ball joints stay.
        InputError where the point can not get within 1e-9 of the mechanism's size, telling how near it comes.
        """
        from scipy.optimize import least_squares

        goal = np.array(check_vector("target", target))
        q0 = self.qpos if start is None else self._numbers("start", start, self.nq)
        sought = [(link.q + k, link.v + k) for link in self._tree if not link.round for k in range(link.nv)]
        if not sought:
            raise InputError("body", body, "has no joint that could bring it anywhere")
        into, rates = (np.array(list(x)) for x in zip(*sought, strict=True))
        low, high = self.limits[rates].T

        def full(s: np.ndarray) -> np.ndarray:
            q = q0.copy()
            q[into] = s
            return q

        found = least_squares(
            lambda s: self.point(body, point, full(s)) - goal,
            np.clip(q0[into], low, high) if np.isfinite([low, high]).any() else q0[into],
            jac=lambda s: self.jacobian(body, point, full(s))[:3, rates],
            bounds=(low, high),
            xtol=1e-15, ftol=1e-15, gtol=1e-15,
        )  # fmt: skip
        size = max(1.0, float(np.abs(goal).max()))
        if np.linalg.norm(found.fun) > 1e-9 * size:
            raise InputError(
                "target", list(goal), f"is out of reach: {body} comes within {np.linalg.norm(found.fun):.3g} m of it"
            )
        return full(found.x)

    def closed(self) -> float:
        """The largest amount by which a joint of the world is open [m or rad]."""
        return max((joint.error for joint in self.world.joints), default=0.0)

    def __repr__(self) -> str:
        return f"<Mechanism: {len(self._tree)} links, {self.nv} coordinates>"
