"""Runs as files of other programs: tables in CSV and Parquet, a log of poses and energies in MCAP for Foxglove.

Written a block of samples at a time: memory does not grow with the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.shapes.definitions import Box, ConvexHull, Cylinder, Ellipsoid, Sphere, convex_parts
from tumble.scenarios.runs.column_files import BLOCK, TABLES, file_beside, kind_of
from tumble.scenarios.runs.instrument_files import SCHEMA_OF_NUMBERS, export_readings, log_file, log_readings
from tumble.sim.files import whole
from tumble.sim.ledger.readings import CONTACT_ROW
from tumble.sim.recording.recorded_contacts import CONTACT_AXES
from tumble.sim.recording.run import Run

AXES = {"xyz": "xyz", "wxyz": "wxyz"}
SCHEMA_OF_ROWS = {"type": "object"}
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
    Contacts and impacts, where they were recorded, have files of their own beside it, ``F.contacts.csv`` and ``F.impacts.csv``,
    with a row for each, and the bodies by name: see :func:`table_paths`.
    MCAP: topics ``/tf`` (foxglove.FrameTransforms), ``/scene`` (foxglove.SceneUpdate), ``/energy``, ``/ledger``, ``/contacts``
    and ``/impacts``, as JSON, and one for each instrument, whose tables are ``F.NAME.csv``.
    InputError: another kind of file. MissingExtra: the library for it is missing.
    """
    path = Path(path)
    kind, progress = kind_of(path), progress or (lambda done, total: None)
    if kind == ".mcap":
        with whole(path) as part:
            _mcap(run, part, progress)
        return path
    for table, file in table_paths(run, path).items():
        with whole(file) as part:
            TABLES[kind](table_rows(run, table), part, {}, lambda done: None)
    export_readings(run.readings, path)
    with whole(path) as part:
        TABLES[kind](blocks(run), part, run.attributes, lambda done: progress(min(done, len(run)), len(run)))
    return path


def reading_paths(run: Run, path: str | Path) -> list[Path]:
    """The files of what instruments have read that belong to a table."""
    path = Path(path)
    return [] if path.suffix.lower() == ".mcap" else [file_beside(path, name) for name in run.readings]


def table_paths(run: Run, path: str | Path) -> dict[str, Path]:
    """The files of contacts and impacts that belong to a table: "contact" and "impact" -> path, where they were recorded."""
    path = Path(path)
    return {} if path.suffix.lower() == ".mcap" else {table: file_beside(path, f"{table}s") for table in held(run)}


def held(run: Run) -> list[str]:
    """Which of the two tables was recorded."""
    return [table for table, name in (("contact", "contact_count"), ("impact", "impact_time")) if name in run._arrays]


def table_rows(run: Run, table: str) -> Iterator[dict[str, np.ndarray]]:
    """Columns of the contacts or impacts, a block at a time: name -> (k,). Contacts have the time and step of their sample."""
    partners = np.array([*run.partners, ""], dtype=object)  # the last for -1: a body that came later
    total = len(run.impacts) if table == "impact" else len(run)
    for begin in range(0, max(total, 1), BLOCK):
        stop = min(begin + BLOCK, total)
        if table == "impact":
            rows, out = run.impacts[begin:stop], {}
        else:
            each = [run.contacts(k) for k in range(begin, stop)]
            sample = np.repeat(np.arange(begin, stop), [len(r) for r in each])
            rows = np.concatenate([np.zeros(0, CONTACT_ROW), *each])
            out = {"time": run.times[sample], "step": run.steps[sample]}
        for field in rows.dtype.names:
            if field in ("body_a", "body_b"):
                out[field] = partners[rows[field]]
            elif rows[field].ndim == 1:
                out[field] = rows[field]
            else:
                axes = CONTACT_AXES if (table, field) == ("contact", "impulse") else "xyz"
                out |= {f"{field}.{axis}": rows[field][:, k] for k, axis in enumerate(axes)}
        yield out


def blocks(run: Run) -> Iterator[dict[str, np.ndarray]]:
    """Columns of the samples, a block of them at a time: name -> (k,)."""
    from tumble.sim.recording.recorded_variables import VARIABLES

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


def _mcap(run: Run, path: Path, progress: Callable[[int, int], None]) -> None:
    with log_file(path) as writer:
        writer.add_metadata("run", {key: str(value) for key, value in run.attributes.items()})

        def topic(name: str, schema: str, body: dict[str, Any]) -> int:
            known = writer.register_schema(schema, "jsonschema", json.dumps(body).encode())
            return writer.register_channel(name, "json", known)

        poses = topic("/tf", "foxglove.FrameTransforms", SCHEMA_OF_POSES)
        scene = topic("/scene", "foxglove.SceneUpdate", {"type": "object"})
        energy = topic("/energy", "tumble.Energy", SCHEMA_OF_NUMBERS)
        ledger = topic("/ledger", "tumble.Ledger", SCHEMA_OF_NUMBERS)
        tables = {table: topic(f"/{table}s", f"tumble.{table.title()}s", SCHEMA_OF_ROWS) for table in held(run)}

        def send(channel: int, t: float, message: dict[str, Any], k: int) -> None:
            now = round(t * 1e9)
            writer.add_message(channel, log_time=now, data=json.dumps(message).encode(), publish_time=now, sequence=k)

        still = [b for b in run.scene.bodies if b.kind == "static" and b.name not in run.names]  # known all the same
        if len(run):
            entities = [e for b in (*run.bodies, *still) for e in _entity(b)]
            send(scene, float(run.times[0]), {"deletions": [], "entities": entities}, 0)
        standing = [(b.name, np.array(b.position), np.array(b.orientation)) for b in still]
        for k, t in enumerate(map(float, run.times)):
            stamp = {"sec": int(t // 1), "nsec": round(t % 1 * 1e9)}
            transforms = [
                {
                    "timestamp": stamp, "parent_frame_id": "world", "child_frame_id": name,
                    "translation": _named("xyz", x), "rotation": _named("wxyz", q),
                }
                for name, x, q in (*zip(run.names, run.positions[k], run.orientations[k], strict=True), *standing)
                if np.isfinite(x).all()
            ]  # fmt: skip
            send(poses, t, {"transforms": transforms}, k)
            parts = ("kinetic_linear", "kinetic_angular", "potential", "energy")
            send(energy, t, {name: float(getattr(run, name)[k]) for name in parts}, k)
            send(ledger, t, {name: float(values[k]) for name, values in run.ledger.items()}, k)
            if "contact" in tables:
                send(tables["contact"], t, {"contacts": _records(run, run.contacts(k))}, k)
            if k % 100 == 0:
                progress(k, len(run))
        if "impact" in tables:
            for k, row in enumerate(_records(run, run.impacts)):
                send(tables["impact"], row["time"], row, k)
        log_readings(writer, run.readings)


def _records(run: Run, rows: np.ndarray) -> list[dict[str, Any]]:
    """Contacts or impacts as JSON has them, bodies by name."""
    partners = (*run.partners, "")
    plain = [dict(zip(rows.dtype.names, (column.tolist() for column in row), strict=True)) for row in rows]
    return [{**row, "body_a": partners[row["body_a"]], "body_b": partners[row["body_b"]]} for row in plain]


def _named(axes: str, values: Any) -> dict[str, float]:
    return dict(zip(axes, map(float, values), strict=True))


def _entity(body: Any) -> Iterator[dict[str, Any]]:
    """What Foxglove draws of a body, in the body's frame: its boxes, balls, cylinders and hulls."""
    color = dict(zip("rgba", (*(body.color or (0.6, 0.65, 0.7)), 1.0), strict=True))
    out: dict[str, Any] = {"frame_id": body.name, "id": body.name, "frame_locked": True}
    for part, pose in convex_parts(body.shape):
        at, turn = _named("xyz", pose.position), _named("wxyz", pose.orientation)
        place = {"pose": {"position": at, "orientation": turn}, "color": color}
        if isinstance(part, Box):
            kind, more = "cubes", {"size": _named("xyz", [2 * h for h in part.half_extents])}
        elif isinstance(part, Sphere | Ellipsoid):
            radii = (part.radius,) * 3 if isinstance(part, Sphere) else part.radii
            kind, more = "spheres", {"size": _named("xyz", [2 * r for r in radii])}
        elif isinstance(part, Cylinder):
            size = _named("xyz", (2 * part.radius, 2 * part.radius, 2 * part.half_length))
            kind, more = "cylinders", {"size": size, "bottom_scale": 1.0, "top_scale": 1.0}
        elif isinstance(part, ConvexHull) and len(part.vertices) > 3:
            from scipy.spatial import ConvexHull as Hull

            corners = [_named("xyz", p) for p in part.vertices]
            kind, more = "triangles", {"points": corners, "indices": Hull(part.vertices).simplices.ravel().tolist()}
        else:
            continue
        out.setdefault(kind, []).append(place | more)
    if len(out) > 3:
        yield out
