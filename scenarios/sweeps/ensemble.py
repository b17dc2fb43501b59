"""What an ensemble is: the members of a sweep, each a scene and its numbers; and the store that keeps them.

The store is one Zarr group with a dimension ``member``: ``status`` (0 to do, 1 done, 2 failed), ``error``, the parameters and
what was measured. It grows row by row while xarray, or anything else, reads it.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, check_number, need
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.fields import Real
from tumble.scenarios.files.limits import MOST_MEMBERS, STRICT, Reading, read_toml
from tumble.scenarios.registry import Scenario, load
from tumble.sim.errors import RecordingError
from tumble.sim.files import read_recorded, settle_folder, whole

SAMPLINGS = ("grid", "random", "lhs")
TODO, DONE, FAILED = 0, 1, 2
SCHEMA = 1
KEYS = ("scenario", "sampling", "members", "seed", "seconds", "dt", "every", "nudge", "measure", "parameters", "fixed")


@dataclass(frozen=True)
class Plan:
    """A sweep: a scenario and what is varied.

    scenario : a name of the catalog, or a file: a scene in TOML with parameters, or Python with a @scenario.
    parameters : name -> a list of values, or {"low": a, "high": b} with "log": true for a logarithmic one; on a grid "count" too.
    sampling : "grid" (every combination), "random", or "lhs", a Latin hypercube: each of ``members`` strips of each range is
        drawn from once.
    members : how many, of "random" and "lhs"; with a grid each combination is run so often, nudged differently.
    seed : of the sample and of the nudges.
    nudge : each dynamic body starts off by up to so much [m, m/s] in each coordinate.
    seconds, dt, every : of each run, as of ``tumble run``.
    fixed : other parameters of the scenario.
    measure : "file.py:function" of a function of a Run that gives a dict of numbers, beside the summary's.
    """

    scenario: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sampling: str = "grid"
    members: int = 1
    seed: int = 0
    nudge: float = 0.0
    seconds: float | None = None
    dt: float | None = None
    every: int = 1
    fixed: Mapping[str, Any] = field(default_factory=dict)
    measure: str = ""

    def __post_init__(self) -> None:
        scenario = load(self.scenario)
        if self.sampling not in SAMPLINGS:
            raise InputError("sampling", self.sampling, f"must be one of {', '.join(SAMPLINGS)}")
        for name, least in (("members", 1), ("seed", 0), ("every", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(name, value, f"must be a whole number of at least {least}")
        for name in ("parameters", "fixed"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(name, getattr(self, name), f"must be a table of the scenario's parameters, [{name}]")
        check_number("nudge", self.nudge, least=0)
        for name in ("seconds", "dt"):
            if getattr(self, name) is not None:
                check_number(name, Real(unit="s").read(name, getattr(self, name)), above=0)
        for name, value in self.fixed.items():
            scenario.parameter(name, value).field.read(name, value)
            if name in self.parameters:
                raise InputError(name, value, "is fixed and varied: only one of them can hold")
        spans = {name: _read_span(scenario, name, span, self.sampling) for name, span in self.parameters.items()}
        object.__setattr__(self, "parameters", spans)  # in SI units; the record is frozen
        if not self.parameters and self.members == 1:
            raise InputError("parameters", {}, "nothing is varied: name a parameter, or ask for members with a nudge")

    @property
    def count(self) -> int:
        """How many members it has."""
        spans = self.parameters.values() if self.sampling == "grid" else ()
        return self.members * math.prod(span["count"] if isinstance(span, Mapping) else len(span) for span in spans)

    def sample(self) -> list[dict[str, Any]]:
        """The parameters of each member, by name; the same for the same plan."""
        scenario, names = load(self.scenario), list(self.parameters)
        if self.sampling == "grid":
            axes = [_values(self.parameters[name]) for name in names]
            rows = [row for row in itertools.product(*axes) for _ in range(self.members)]
        else:
            from scipy.stats import qmc

            if not names:
                units = np.zeros((self.members, 0))
            elif self.sampling == "lhs":
                units = qmc.LatinHypercube(len(names), rng=np.random.default_rng(self.seed)).random(self.members)
            else:
                units = np.random.default_rng(self.seed).random((self.members, len(names)))
            rows = [[_at(self.parameters[name], u) for name, u in zip(names, row, strict=True)] for row in units]
        out = []
        for row in rows:
            drawn = dict(zip(names, row, strict=True))
            whole = {name: scenario.parameters[name].field.type == "whole number" for name in names}
            drawn = {name: round(v) if whole[name] and isinstance(v, float) else v for name, v in drawn.items()}
            out.append({name: scenario.parameters[name].field.read(name, value) for name, value in drawn.items()})
        return out


def load_plan(path: str | Path, reading: Reading = STRICT) -> Plan:
    """The plan in a TOML file. InputError names the file and the key. ``reading``: whether it may name files elsewhere."""
    path = Path(path)
    data = read_toml(path, "sweep")
    for key in data:
        if key not in KEYS:
            raise InputError(key, data[key], f"unknown key in {path}{did_you_mean(key, KEYS)}; a sweep has {', '.join(KEYS)}")
    if "scenario" not in data:
        raise InputError("scenario", None, f"is missing in {path}: a name of `tumble list`")
    given = str(data["scenario"])
    if "\0" in given:
        raise InputError("scenario", given, "can not be the name of a file")
    if given.partition(":")[0].endswith((".toml", ".py")) or "/" in given or os.sep in given:
        data["scenario"] = str(reading.inside("scenario", path.parent / given, path.parent).resolve())
    if "measure" in data:
        file, colon, function = str(data["measure"]).rpartition(":")
        if not colon or "\0" in file or not (path.parent / file).is_file():
            raise InputError("measure", data["measure"], "must be file.py:function, the file relative to the sweep's")
        data["measure"] = f"{reading.inside('measure', path.parent / file, path.parent).resolve()}:{function}"
    for key in ("seconds", "dt"):
        if key in data:
            data[key] = Real(unit="s", above=0).read(key, data[key])
    plan = Plan(**data)
    if plan.count > MOST_MEMBERS:
        raise InputError("members", plan.members, f"makes {plan.count} members, more than {MOST_MEMBERS} in all")
    return plan


def _read_span(scenario: Scenario, name: str, span: Any, sampling: str) -> Any:
    """What a parameter may be, checked: a list of values, or a range."""
    parameter = scenario.parameter(name, span)
    if isinstance(span, Sequence) and not isinstance(span, str):
        if not span:
            raise InputError(name, span, "must hold a value at least")
        return [parameter.field.read(name, value) for value in span]
    if not isinstance(span, Mapping) or not {"low", "high"} <= set(span) <= {"low", "high", "log", "count"}:
        raise InputError(name, span, "must be a list of values, or { low = ..., high = ... } with log = true and count as wanted")
    low, high = (parameter.field.read(name, span[end]) for end in ("low", "high"))
    if not isinstance(low, int | float) or isinstance(low, bool) or not low < high:
        raise InputError(name, dict(span), "low must be below high, both numbers")
    if span.get("log") and low <= 0:
        raise InputError(name, dict(span), "a logarithmic range must be positive")
    if sampling == "grid" and not (isinstance(span.get("count"), int) and span["count"] >= 2):
        raise InputError(name, dict(span), "needs count, at least 2, on a grid")
    return {**span, "low": low, "high": high}


def _values(span: Any) -> list[Any]:
    if isinstance(span, Mapping):
        return [_at(span, u) for u in np.linspace(0, 1, span["count"])]
    return list(span)


def _at(span: Any, unit: float) -> Any:
    """A value of a range, or of a list, at ``unit`` in [0, 1]."""
    if not isinstance(span, Mapping):
        return span[min(int(unit * len(span)), len(span) - 1)]
    low, high = float(span["low"]), float(span["high"])
    if span.get("log"):
        return math.exp(math.log(low) + unit * (math.log(high) - math.log(low)))
    return low + float(unit) * (high - low)


# ---------------------------------------------------------------------- the store


class Store:
    """Rows of members on disk. Written by one process; rows go out whole, their status last."""

    def __init__(self, path: str | Path, mode: str = "r"):
        zarr, files = _zarr()
        self.path = Path(path)
        try:
            self.group = zarr.open_group(files(self.path, read_only=mode == "r"), mode=mode, use_consolidated=False)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise RecordingError(self.path, "is not the store of a sweep") from None
        if "tumble_sweep" not in self.group.attrs:
            raise RecordingError(self.path, "is not the store of a sweep")
        if self.group.attrs["tumble_sweep"] > SCHEMA:
            newer = f"has layout {self.group.attrs['tumble_sweep']}, this version reads up to {SCHEMA}"
            raise RecordingError(self.path, f"is a sweep of a newer tumble: it {newer}")
        self.status = self.group["status"][:]
        self.said = json.loads(self.group.attrs["plan"])
        self.waiting: dict[int, dict[str, Any]] = {}

    @cached_property
    def plan(self) -> Plan:
        """The plan that it is of, which may name programs: they are run where it is asked for."""
        return Plan(**self.said)

    def is_of(self, plan: Plan) -> bool:
        return self.said == json.loads(json.dumps(asdict(plan)))

    @classmethod
    def create(cls, path: str | Path, plan: Plan, members: Sequence[Mapping[str, Any]]) -> Store:
        """A new store, nothing done yet. What is there is replaced where it is a sweep, else RecordingError."""
        zarr, files = _zarr()
        path = Path(path)
        settle_folder(path)
        if path.exists() and not is_store(path):
            raise RecordingError(path, "is there already and is not a sweep; it is left as it is")
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path, folder=True) as part:
            group = zarr.create_group(files(part), attributes={"tumble_sweep": SCHEMA, "plan": json.dumps(asdict(plan))})
            n = len(members)
            for name, kind in (("status", "i1"), ("error", str), ("state_hash", str)):
                _column(group, name, n, kind)
            for name in plan.parameters:
                kind = (str, object) if isinstance(members[0][name], str) else ("f8", "f8")
                _column(group, f"parameter_{name}", n, kind[0])[:] = np.array([_plain(m[name]) for m in members], kind[1])
        return cls(path, "r+")

    @property
    def pending(self) -> list[int]:
        return [int(k) for k in np.flatnonzero(self.status == TODO)]

    def put(self, member: int, row: Mapping[str, Any]) -> None:
        """Keep the outcome of a member; on disk with the next flush."""
        self.waiting[member] = dict(row)

    def flush(self) -> None:
        """Write what waits: numbers first, then what says that they are there."""
        if not self.waiting:
            return
        rows = sorted(self.waiting)
        names = sorted({name for row in self.waiting.values() for name in row} - {"status"})
        for name in names:
            if name not in self.group:
                _column(self.group, name, len(self.status), "f8")
            values = [self.waiting[k].get(name, "" if name in ("error", "state_hash") else math.nan) for k in rows]
            column = self.group[name]
            column.oindex[rows] = np.array(values, dtype=object if name in ("error", "state_hash") else "f8")
        self.status[rows] = [self.waiting[k]["status"] for k in rows]
        self.group["status"].oindex[rows] = self.status[rows]
        self.waiting.clear()

    def close(self) -> None:
        zarr, files = _zarr()
        self.flush()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Consolidated metadata")
            zarr.consolidate_metadata(files(self.path))

    def dataset(self) -> Any:
        """All of it as an xarray Dataset along ``member``, as far as it has come."""
        need("data")
        import xarray

        from tumble.sim.recording.storage.zarr_files import files

        return xarray.open_zarr(files(self.path, read_only=True), consolidated=False)


def _zarr() -> tuple[Any, Any]:
    """The library of arrays on disk, and what it keeps them by."""
    need("data")
    import zarr

    from tumble.sim.recording.storage.zarr_files import files

    return zarr, files


def is_store(path: Path) -> bool:
    try:
        return "tumble_sweep" in json.loads(read_recorded(path / "zarr.json"))["attributes"]
    except (OSError, ValueError, KeyError):
        return False


def _column(group: Any, name: str, n: int, kind: Any) -> Any:
    empty = {"i1": 0, "f8": np.nan}.get(kind, "")
    return group.create_array(
        name, shape=(n,), chunks=(min(max(n, 1), 1024),), dtype=kind, fill_value=empty, dimension_names=("member",)
    )


def _plain(value: Any) -> Any:
    return float(value[0]) if isinstance(value, tuple) else value if isinstance(value, str) else float(value)
