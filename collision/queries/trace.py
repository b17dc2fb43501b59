"""What a distance query does, iteration by iteration, as JSON.

The compiled kernel keeps no record of its search. So the one that is written down is that of `tumble.collision.reference` on the
same pair, and the answer of the kernel stands beside its answer. ``tumble trace FILE`` draws it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.hints import Numbers
from tumble.collision.pose import Pose
from tumble.collision.reference import Answer, Body, body, directions, signed_distance
from tumble.collision.shapes.definitions import Compound, HalfSpace, Shape

FORMAT, VERSION = "tumble-trace", 1
MOST_TRACE_BYTES = 200_000_000  # of a file that is read


class Trace:
    """A recorded search in the Minkowski difference A - B.

    ``data`` is plain: ``dimension``; ``a``, ``b`` what they were; ``margin`` [m], the radii that are added to the cores
    (the search runs on cores: a signed distance is the core's less this); ``outline``, points all over the boundary of A - B;
    ``steps``; ``reference``, the answer of the search written down; ``kernel``, that of the compiled one, and ``agree``.

    Each step has ``stage`` (gjk or epa), ``closest`` (the point nearest to the origin so far), ``direction`` (searched
    along, unit), ``support`` (the point of A - B found there, null where the search ends before), ``support_a`` and
    ``support_b`` (of which it is the difference), ``lower`` and ``upper`` (bounds of the signed distance of the cores);
    gjk: ``simplex``, its corners; epa: ``vertices``, ``faces`` (corner numbers), ``distances`` of their planes,
    ``nearest`` (a number of a face).
    """

    def __init__(self, data: dict[str, Any] | None = None):
        self.data: dict[str, Any] = data or {}

    @property
    def steps(self) -> list[dict[str, Any]]:
        return self.data.get("steps", [])

    def record(
        self, a: Body, b: Body, origin: Numbers | None = None, tolerance: float = 0.0, header: dict[str, Any] | None = None
    ) -> Answer:
        """Search for the distance of two bodies and keep all that happens. ``origin`` is added to the points of the answer."""
        steps: list[dict[str, Any]] = []
        found = signed_distance(a, b, tolerance, steps=steps)
        origin = np.zeros(len(a.center)) if origin is None else np.asarray(origin)
        self.data = {
            "format": FORMAT,
            "version": VERSION,
            "dimension": len(a.center),
            **(header or {}),
            "margin": a.margin + b.margin,
            "outline": outline(a, b).tolist(),
            "steps": steps,
            "reference": answer_dict(found, origin),
        }
        return found

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the JSON file. Raises OSError where that can not be."""
        path = Path(path)
        path.write_text(json.dumps(self.data, indent=1), encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trace:
        """Read what `save` wrote; InputError for anything else."""
        path = Path(path)
        if path.exists() and not path.is_dir() and not (path.is_file() and path.stat().st_size <= MOST_TRACE_BYTES):
            raise InputError("trace", str(path), f"is not a regular file of at most {MOST_TRACE_BYTES // 1_000_000} MB")
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError("trace", str(path), f"can not be read: {error.strerror}") from None
        except ValueError:
            raise InputError("trace", str(path), "is no JSON file") from None
        wanted = "must be a file written by Proximity(..., trace=path)"
        if not isinstance(data, dict) or data.get("format") != FORMAT or not data.get("steps"):
            raise InputError("trace", str(path), wanted)
        if data.get("version") != VERSION:
            raise InputError("trace", str(path), f"has version {data.get('version')}; this program reads version {VERSION}")
        return cls(data)


def trace_query(trace: Trace, a: Shape, pose_a: Pose, b: Shape, pose_b: Pose, kernel: Any) -> None:
    """Fill a trace with the search for the distance of two shapes; ``kernel``: the `Distance` that the kernel gave."""
    origin = np.array(pose_a.position)  # near A, where coordinates have all their digits
    bodies = body(a, pose_a, origin), body(b, pose_b, origin)
    size = bodies[0].size + bodies[1].size + sum(x.margin for x in bodies)
    sides = {
        name: {"shape": shape.to_dict(), "position": list(pose.position), "orientation": list(pose.orientation)}
        for name, shape, pose in (("a", a, pose_a), ("b", b, pose_b))
    }
    found = trace.record(*bodies, origin, 1e-9 * size, sides)
    trace.data["kernel"] = {"status": kernel.status.name, **answer_dict(kernel, np.zeros(3))}
    slack = 256 * np.finfo(float).eps * (size + np.linalg.norm(origin - pose_b.position) + np.linalg.norm(origin))
    trace.data["agree"] = bool(found.lower <= kernel.upper + slack and kernel.lower <= found.upper + slack)


def check_traceable(name: str, shape: Shape) -> None:
    """InputError for shapes without a bounded convex Minkowski difference."""
    if isinstance(shape, HalfSpace | Compound):
        raise InputError(name, shape, "a trace needs convex shapes with an end: no half-space, no compound")


def answer_dict(found: Any, origin: np.ndarray) -> dict[str, Any]:
    """An answer as plain data, its points moved to where the origin is."""
    bounds = {name: getattr(found, name) for name in ("distance", "lower", "upper")}
    points = {name: (getattr(found, name) + origin).tolist() for name in ("point_a", "point_b")}
    return {**bounds, "normal": found.normal.tolist(), **points, "iterations": int(found.iterations)}


def outline(a: Body, b: Body) -> np.ndarray:
    """Points on the boundary of A - B, for pictures: support points along the face normals and 2000 even directions."""
    n = np.concatenate([directions(2000, len(a.center)), a.normals, -b.normals])
    return np.unique(a.support(n) - b.support(-n), axis=0)
