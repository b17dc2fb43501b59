"""The tree of a mechanism: which body hangs on which, by which joint, and what may move there.

Joints that tie two bodies which the tree connects already close a loop; drives, gears and screws tie coordinates. All of these
are left to the world: the tree is what the coordinates are counted on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.sim.joints.joint_definitions import Drive
from tumble.sim.joints.joint_tables import angles_of
from tumble.sim.state import DISTANCE, DYNAMIC, GEAR, GENERAL, HINGE, POINT, SCREW, SLIDER

TRAVEL, TURN = range(2)
UNIT_AXES = np.eye(3)


@dataclass(frozen=True)
class Coordinate:
    """One number of qvel: along or about axis 0, 1, 2 of its joint. ``row``: of the joint that drives it, -1 for none."""

    name: str
    kind: int
    axis: int
    sign: float = 1.0
    row: int = -1
    reference: float = 0.0
    armature: float = 0.0


@dataclass
class Link:
    """A body and the joint that it hangs on: its row, -1 for a free body. ``parent``: place in the tree, -1 for the world."""

    body: int
    parent: int
    joint: int
    flipped: bool  # the body is the joint's a
    round: bool  # three coordinates of turning, as a quaternion
    coordinates: list[Coordinate]
    q: int = 0  # of its first number in qpos
    v: int = 0  # in qvel
    carrier: int = -1  # row of the parent body, static ones too; -1 for the world
    free: bool = field(default=False)

    @property
    def nq(self) -> int:
        return len(self.coordinates) + self.round

    @property
    def nv(self) -> int:
        return len(self.coordinates)


def links_of(world: Any, name: str | None) -> list[Link]:
    """All links of the mechanism that a body belongs to, parents first; None: of all bodies that move."""
    kinds, joints = world.model.bodies.kind, world.model.joints
    definitions = [joint.definition for joint in world.joints]
    node = lambda i: int(i) if i >= 0 and kinds[i] == DYNAMIC else -1  # noqa: E731  all that stands is one
    group = list(range(len(kinds))) + [-1]  # group[-1] is that of the world

    def root(i: int) -> int:
        while i >= 0 and group[i] != i:
            i = group[i]
        return i

    edges: dict[int, list[tuple[int, int]]] = {}
    for j, definition in enumerate(definitions):
        if isinstance(definition, Drive) or joints.kind[j] in (DISTANCE, GEAR, SCREW):
            continue
        a, b = (node(i) for i in joints.body[j])
        ra, rb = root(a), root(b)
        if ra == rb:
            continue
        group[max(ra, rb)] = min(ra, rb)
        edges.setdefault(a, []).append((j, b))
        edges.setdefault(b, []).append((j, a))
    moving = [i for i in range(len(kinds)) if kinds[i] == DYNAMIC]
    if name is not None:
        if name not in world.names:
            raise InputError("mechanism", name, f"there is no body of this name; there are {', '.join(world.names)}")
        mine = root(node(world.names.index(name)))
        if node(world.names.index(name)) < 0:
            raise InputError("mechanism", name, "does not move by the laws of motion")
        moving = [i for i in moving if root(i) == mine]
        if mine == -1:  # what else hangs on the world is another mechanism
            start = world.names.index(name)
            moving = _reached(start, edges)
    links: list[Link] = []
    place: dict[int, int] = {-1: -1}

    def hang(i: int, above: int, j: int) -> None:
        links.append(_link(world, definitions, i, place[above], j))
        place[i] = len(links) - 1
        for other, far in sorted(edges.get(i, ()), key=lambda edge: edge[1]):
            if far not in place:
                hang(far, i, other)

    chosen = set(moving)
    on_world = {i: j for j, i in edges.get(-1, ())}
    for i in moving:
        if i not in place and (i in on_world or not (_reached(i, edges) & on_world.keys())):
            hang(i, -1, on_world.get(i, -1))
    links = [link for link in links if link.body in chosen]
    q = v = 0
    for link in links:
        link.q, link.v = q, v
        q, v = q + link.nq, v + link.nv
    return links


def loop_of(world: Any, joint: int) -> list[str]:
    """Names of the joints of the smallest loop that this one closes, itself first; empty where it closes none."""
    kinds = world.model.bodies.kind
    ends = [[int(i) if i >= 0 and kinds[i] == DYNAMIC else -1 for i in pair] for pair in world.model.joints.body.tolist()]
    start, goal = ends[joint]
    came: dict[int, tuple[int, int]] = {}  # body: the one before it, by which joint
    left = [start]
    while left and goal not in came:
        here = left.pop(0)
        for j, pair in enumerate(ends):
            if j != joint and here in pair:
                far = pair[1 - pair.index(here)]
                if far != start and far not in came:
                    came[far] = here, j
                    left.append(far)
    loop = [joint]
    while goal in came and goal != start:
        goal, j = came[goal]
        loop.append(j)
    return [world.joints[j].name for j in loop] if len(loop) > 1 else []


def _reached(start: int, edges: dict[int, list[tuple[int, int]]]) -> set[int]:
    """The bodies that joints connect with this one, not counting by way of the world."""
    found, left = {start}, [start]
    while left:
        for _, far in edges.get(left.pop(), ()):
            if far >= 0 and far not in found:
                found.add(far)
                left.append(far)
    return found


def _link(world: Any, definitions: list[Any], i: int, parent: int, j: int) -> Link:
    if j < 0:
        name = world.names[i]
        names = [f"{name}.{c}" for c in ("x", "y", "z", "turn_x", "turn_y", "turn_z")]
        coordinates = [Coordinate(n, TRAVEL if k < 3 else TURN, k % 3) for k, n in enumerate(names)]
        return Link(i, parent, j, False, True, coordinates, free=True)
    joints, d = world.model.joints, definitions[j]
    flipped = int(joints.body[j, 0]) == i
    kind, coordinates = joints.kind[j], []
    if kind in (HINGE, SLIDER):
        coordinates = [Coordinate(d.name, TURN if kind == HINGE else TRAVEL, 2, 1.0, j, d.reference, d.armature)]
    elif kind == POINT:
        coordinates = [Coordinate(f"{d.name}.{c}", TURN, k) for k, c in enumerate(("turn_x", "turn_y", "turn_z"))]
    elif kind == GENERAL:
        if flipped:
            raise InputError(f"joint {d.name}", d.b, f"must be the body that hangs on {d.a}: give the two the other way round")
        coordinates = _general(world, definitions, j)
    return Link(i, parent, j, flipped, kind == POINT, coordinates, carrier=int(joints.body[j, 1 if flipped else 0]))


def _general(world: Any, definitions: list[Any], j: int) -> list[Coordinate]:
    """Coordinates of a general joint: first travels, then turns in their order; each by the drive that is along it."""
    joints, d = world.model.joints, definitions[j]
    names = ("x", "y", "z", "turn_x", "turn_y", "turn_z")
    free = [k for k in range(6) if not joints.rigid[j, k]]
    found: dict[int, Coordinate] = {}
    order: list[int] = []
    for row, other in enumerate(definitions):
        if joints.axis[row] < 0 or not (row == j or isinstance(other, Drive)) or (joints.body[row] != joints.body[j]).any():
            continue
        for k in free:
            along = joints.axis[row] == k if k >= 3 and sum(f >= 3 for f in free) > 1 else None
            mine = joints.frame[j, 0][:, k % 3]
            its = joints.frame[row, 0][:, joints.axis[row] % 3] * joints.length[row]
            if (joints.axis[row] >= 3) != (k >= 3) or k in found or along is False or abs(abs(mine @ its) - 1) > 1e-9:
                continue
            sign = float(np.sign(mine @ its))
            found[k] = Coordinate(other.name, int(k >= 3), k % 3, sign, row, other.reference, other.armature)
            order.append(k)
            break
    for k in free:
        if k not in found:
            found[k] = Coordinate(f"{d.name}.{names[k]}", int(k >= 3), k % 3)
            order.append(k)
    order.sort(key=lambda k: k if k >= 3 else 0)  # travels in the order of their drives, turns in that in which they follow
    return [found[k] for k in order]


def rotation_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """(3, 3) turn about a unit vector."""
    c, s = np.cos(angle), np.sin(angle)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return c * np.eye(3) + s * k + (1 - c) * np.outer(axis, axis)


def link_turn(link: Link, q: np.ndarray) -> np.ndarray:
    """(3, 3) of the turns of a link that has coordinates ``q``, its joint's b against a."""
    r = np.eye(3)
    for c, value in zip(link.coordinates, q, strict=True):
        if c.kind == TURN:
            r = r @ rotation_about(UNIT_AXES[c.axis], c.sign * (value - c.reference))
    return r


def angles(link: Link, r: np.ndarray) -> np.ndarray:
    """(3,) the angles about x, y, z of b's frame against a's."""
    if [c.axis for c in link.coordinates if c.kind == TURN] == [2]:
        return np.array([0.0, 0.0, np.arctan2(r[1, 0] - r[0, 1], r[0, 0] + r[1, 1])])
    return angles_of(r)
