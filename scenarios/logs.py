"""Runs as files of other programs: tables in CSV and Parquet, a log of poses and energies in MCAP for Foxglove.

Written a block of samples at a time: memory does not grow with the run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from collision.errors import InputError
from collision.shapes import Box, Compound, ConvexHull, Cylinder, Ellipsoid, Sphere, convex_parts
from sim.run import Run

BLOCK = 1024  # samples
AXES = {"xyz": "xyz", "wxyz": "wxyz"}
SCHEMA_OF_NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
_VECTOR = {"type": "object", "properties": {axis: {"type": "number"} for axis in "xyz"}}
_TIME = {"type": "object", "title": "time", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}
_TURN = {"type": "object", "properties": {axis: {"type": "number"} for axis in "xyzw"}}
_TRANSFORM = {
    "type": "object",
    "properties": {
        "timestamp": _TIME, "parent_frame_id": {"type": "string"}, "child_frame_id": {"type": "string"},
        "translation": _VECTOR, "rotation": _TURN,
    },
}  # fmt: skip
SCHEMA_OF_POSES = {"type": "object", "properties": {"transforms": {"type": "array", "items": _TRANSFORM}}}


def write_log(run: Run, path: str | Path, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write a run to a .csv, .parquet or .mcap file, under a temporary name first; the path.

    CSV and Parquet: a row for each sample; columns as in the recording, those of bodies and axes as in ``crate.position.x``.
    MCAP: topics ``/tf`` (foxglove.FrameTransforms), ``/scene`` (foxglove.SceneUpdate), ``/energy`` and ``/ledger``, as JSON.
    InputError: another kind of file, or the library for it is missing.
    """
    path = Path(path)
    writers = {".csv": _csv, ".parquet": _parquet, ".mcap": _mcap}
    if path.suffix.lower() not in writers:
        raise InputError("path", str(path), f"must end in one of {', '.join(writers)}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    part = path.with_name(f".{path.name}.part")
    try:
        writers[path.suffix.lower()](run, part, progress or (lambda done, total: None))
        os.replace(part, path)
    except ImportError as error:
        raise InputError("path", str(path), f'needs {error.name}: pip install "tumble[export]"') from None
    finally:
        part.unlink(missing_ok=True)
    return path


def blocks(run: Run) -> Iterator[dict[str, np.ndarray]]:
    """Columns of the samples, a block of them at a time: name -> (k,)."""
    from sim.recorded_variables import VARIABLES

    kept = [v for v in VARIABLES if v.name in run._arrays]
    for begin in range(0, len(run), BLOCK):
        out = {}
        for v in kept:
            values = run.part(v.name, slice(begin, min(begin + BLOCK, len(run))))
            if v.dims == ():
                out[v.name] = values
            elif v.dims == ("body",):
                out |= {f"{body}.{v.name}": values[:, i] for i, body in enumerate(run.names)}
            elif v.dims[0] == "body":
                for i, body in enumerate(run.names):
                    out |= {f"{body}.{v.name}.{axis}": values[:, i, k] for k, axis in enumerate(AXES[v.dims[1]])}
            else:
                out |= {f"{v.name}.{axis}": values[:, k] for k, axis in enumerate(AXES[v.dims[0]])}
        yield out


def _csv(run: Run, path: Path, progress: Callable[[int, int], None]) -> None:
    import pandas

    for k, block in enumerate(blocks(run)):
        pandas.DataFrame(block).to_csv(path, mode="a" if k else "w", header=k == 0, index=False)  # all digits, by repr
        progress(min((k + 1) * BLOCK, len(run)), len(run))


def _parquet(run: Run, path: Path, progress: Callable[[int, int], None]) -> None:
    import pyarrow
    import pyarrow.parquet

    writer = None
    try:
        for k, block in enumerate(blocks(run)):
            table = pyarrow.table(block)
            if writer is None:
                attributes = {
                    key: value if isinstance(value, str) else json.dumps(value) for key, value in run.attributes.items()
                }
                writer = pyarrow.parquet.ParquetWriter(path, table.schema.with_metadata(attributes), compression="zstd")
            writer.write_table(table)
            progress(min((k + 1) * BLOCK, len(run)), len(run))
    finally:
        if writer is not None:
            writer.close()


def _mcap(run: Run, path: Path, progress: Callable[[int, int], None]) -> None:
    from mcap.writer import Writer

    with open(path, "wb") as file:
        writer = Writer(file)
        writer.start(profile="", library="tumble")
        writer.add_metadata("run", {key: str(value) for key, value in run.attributes.items()})

        def topic(name: str, schema: str, body: dict[str, Any]) -> int:
            known = writer.register_schema(schema, "jsonschema", json.dumps(body).encode())
            return writer.register_channel(name, "json", known)

        poses = topic("/tf", "foxglove.FrameTransforms", SCHEMA_OF_POSES)
        scene = topic("/scene", "foxglove.SceneUpdate", {"type": "object"})
        energy = topic("/energy", "tumble.Energy", SCHEMA_OF_NUMBERS)
        ledger = topic("/ledger", "tumble.Ledger", SCHEMA_OF_NUMBERS)

        def send(channel: int, t: float, message: dict[str, Any], k: int) -> None:
            now = round(t * 1e9)
            writer.add_message(channel, log_time=now, data=json.dumps(message).encode(), publish_time=now, sequence=k)

        if len(run):
            send(scene, float(run.times[0]), {"deletions": [], "entities": [e for b in run.bodies for e in _entity(b)]}, 0)
        for k, t in enumerate(map(float, run.times)):
            stamp = {"sec": int(t // 1), "nsec": round(t % 1 * 1e9)}
            transforms = [
                {
                    "timestamp": stamp, "parent_frame_id": "world", "child_frame_id": name,
                    "translation": dict(zip("xyz", map(float, x), strict=True)),
                    "rotation": dict(zip("wxyz", map(float, q), strict=True)),
                }
                for name, x, q in zip(run.names, run.positions[k], run.orientations[k], strict=True)
                if np.isfinite(x).all()
            ]  # fmt: skip
            send(poses, t, {"transforms": transforms}, k)
            parts = ("kinetic_linear", "kinetic_angular", "potential", "energy")
            send(energy, t, {name: float(getattr(run, name)[k]) for name in parts}, k)
            send(ledger, t, {name: float(values[k]) for name, values in run.ledger.items()}, k)
            if k % 100 == 0:
                progress(k, len(run))
        writer.finish()


def _entity(body: Any) -> Iterator[dict[str, Any]]:
    """What Foxglove draws of a body, in the body's frame: its boxes, balls, cylinders and hulls."""
    color = dict(zip("rgba", (*(body.color or (0.6, 0.65, 0.7)), 1.0), strict=True))
    out: dict[str, Any] = {"frame_id": body.name, "id": body.name, "frame_locked": True}
    for part, pose in convex_parts(body.shape) if isinstance(body.shape, Compound) else [(body.shape, None)]:
        at = {"x": 0.0, "y": 0.0, "z": 0.0} if pose is None else dict(zip("xyz", map(float, pose.position), strict=True))
        turn = (1, 0, 0, 0) if pose is None else pose.orientation
        place = {"pose": {"position": at, "orientation": dict(zip("wxyz", map(float, turn), strict=True))}, "color": color}
        if isinstance(part, Box):
            kind, more = "cubes", {"size": dict(zip("xyz", (2 * h for h in part.half_extents), strict=True))}
        elif isinstance(part, Sphere | Ellipsoid):
            radii = (part.radius,) * 3 if isinstance(part, Sphere) else part.radii
            kind, more = "spheres", {"size": dict(zip("xyz", (2 * r for r in radii), strict=True))}
        elif isinstance(part, Cylinder):
            size = (2 * part.radius, 2 * part.radius, 2 * part.half_length)
            kind, more = "cylinders", {"size": dict(zip("xyz", size, strict=True)), "bottom_scale": 1.0, "top_scale": 1.0}
        elif isinstance(part, ConvexHull) and len(part.vertices) > 3:
            from scipy.spatial import ConvexHull as Hull

            corners = [dict(zip("xyz", map(float, p), strict=True)) for p in part.vertices]
            kind, more = "triangles", {"points": corners, "indices": Hull(part.vertices).simplices.ravel().tolist()}
        else:
            continue
        out.setdefault(kind, []).append(place | more)
    if len(out) > 3:
        yield out
