"""How a case is handed over: each way is what a user does, in this process; what must not happen is found by the guard."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.inputs.cases import Case, odd, somewhere
from benchmarks.inputs.guard import SECONDS, Guard, caches
from benchmarks.inputs.stored_files import BALL
from tumble.collision import HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios import cli
from tumble.scenarios.files.json_schema import json_schema
from tumble.scenarios.files.scene_files import load_scene, scene_to_toml
from tumble.scenarios.importing.models import load_model
from tumble.scenarios.sweeps.ensemble import load_plan
from tumble.sim import Recorder, Run, World
from tumble.sim.errors import RecordingError, SimulationError
from tumble.sim.files import remove
from tumble.sim.recording.storage.checksums import ROOT_DIGEST, SEALED, digest

LONGEST = 2000  # letters of an error
MOST_STEPPED = 8  # bodies of a scene that is stepped too


class Hands:
    """A folder with a place for inputs, one for outputs, which is where the program stands, and one that is another's."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.inside, self.out, self.elsewhere, self.base = (folder / name for name in ("in", "out", "elsewhere", "base"))
        for place in (self.inside, self.out, self.elsewhere, self.base):
            place.mkdir(parents=True)
        for end in (".toml", ".stl", ".py"):
            (self.elsewhere / f"secret{end}").write_text(BALL if end == ".toml" else "")
        self._record()
        self.schema: Any = None
        self.guard = Guard(
            [self.out, self.inside / "run", *caches()],  # a report is written beside its run
            [self.elsewhere, Path("/etc/passwd"), Path("/dev/zero")],
        )
        self.code: int | None = None

    def __call__(self, case: Case) -> list[str]:
        """What went wrong with a case; nothing for most."""
        for place in (self.inside, self.out):
            for entry in os.scandir(place):
                remove(Path(entry.path))
        for name, data in case.files.items():
            (self.inside / name).write_bytes(data)
        hand = getattr(self, f"_{case.do}")
        self.code = None
        here = os.getcwd()
        os.chdir(self.out)
        try:
            return hand(case)
        finally:
            os.chdir(here)

    # ------------------------------------------------------------------ each way

    def _scene(self, case: Case) -> list[str]:
        """Each first one by the command line, the others by the call behind it; small ones take two steps."""
        faults = self._main("show", "../in/scene.toml") if case.words[0] == 0 else []
        with self.guard():
            self.code = cli.BAD_INPUT
            try:
                scene = load_scene(self.inside / "scene.toml")
                self.code = 0
                if len(scene) <= MOST_STEPPED and case.words[0] % 4 == 0:
                    scene.build().step(2)
            except (InputError, SimulationError) as error:
                self._one_line(str(error))
        return faults + self.guard.faults

    def _schema(self, case: Case) -> list[str]:
        """What the reader takes, the schema takes too."""
        import tomllib

        import jsonschema

        if self.schema is None:
            self.schema = jsonschema.Draft202012Validator(json_schema())
        with self.guard():
            try:
                load_scene(self.inside / "scene.toml")
                self.code = 0
            except InputError:
                self.code = cli.BAD_INPUT
        faults = self.guard.faults
        if self.code == 0:
            wrong = next(self.schema.iter_errors(tomllib.loads(case.files["scene.toml"].decode())), None)
            faults += [f"read, but not of the schema: {wrong.json_path} {wrong.message[:200]}"] if wrong else []
        return faults

    def _import(self, case: Case) -> list[str]:
        name, k = case.words
        if k == 0:
            return self._main("import", f"../in/{name}", "--out", "model.toml")
        with self.guard():
            self.code = cli.BAD_INPUT
            try:
                found = load_model(f"../in/{name}")
                found.lines(), scene_to_toml(found.scene)
                self.code = 0
            except (InputError, OSError) as error:  # OSError: a name that is too long
                self._one_line(str(error))
        return self.guard.faults

    def _sweep(self, case: Case) -> list[str]:
        with self.guard():
            try:
                load_plan(self.inside / case.words[0]).sample()
                self.code = 0
            except InputError as error:
                self.code = cli.BAD_INPUT
                self._one_line(str(error))
        return self.guard.faults

    def _line(self, case: Case) -> list[str]:
        shutil.copytree(self.base / "run", self.inside / "run")
        shutil.copytree(self.base / "run", self.out / "run")
        faults = self._main(*case.words)
        meant = [f"read {word}" for word in case.words if word == "/dev/zero"]  # what a user names is opened, to see what it is
        long = case.words[0] == "view" or "--video" in case.words  # a window is there until it is closed; films take their time
        meant += [f"took more than {SECONDS} s"] if long else []
        return [fault for fault in faults if fault not in meant]

    def _store(self, case: Case) -> list[str]:
        """Everything that can be read of a harmed recording, and going on with it."""
        store = self.out / "a.zarr"
        shutil.copytree(self.base / "run" / "trajectory.zarr", store)
        harms, sealed = case.words
        for which, how, seed, value in harms:
            self._harm_file(store, which, how, Random(seed), value)
        if sealed:
            self._seal(store)
        with self.guard():
            self.code = cli.BAD_INPUT
            try:
                run = Run.open(store)
                run.damages()
                for read in ("times", "positions", "energy", "ledger", "impacts", "asleep", "scene", "bodies", "partners"):
                    getattr(run, read)
                run.contacts(0), run.summary(), run.complete, run.precision, repr(run)
                self.code = 0
            except (RecordingError, InputError) as error:
                self._one_line(str(error))
        return self.guard.faults

    def _checkpoint(self, case: Case) -> list[str]:
        file = self.out / "world.npz"
        with np.load(self.base / "world.npz") as whole:
            arrays = {name: whole[name] for name in whole.files}
        header = json.loads(arrays.pop("header").item())
        for which, how, seed, value in case.words[0]:
            rng, name = Random(seed), sorted(arrays)[which % len(arrays)]
            if how == "array":
                arrays[name] = np.zeros((rng.randrange(3), rng.randrange(4)))
            elif how == "type":
                with contextlib.suppress(ValueError), np.errstate(invalid="ignore"):  # texts that are no numbers
                    arrays[name] = arrays[name].astype(rng.choice(("S4", "f4", "i1", "U2")))
            else:
                change(header, rng, value, drop=how == "drop")
        np.savez(file, header=np.array(json.dumps(header)), **arrays)
        with self.guard():
            self.code = cli.BAD_INPUT
            try:
                World.load(file).step(1)
                self.code = 0
            except (RecordingError, InputError, SimulationError) as error:
                self._one_line(str(error))
        return self.guard.faults

    # ------------------------------------------------------------------ helpers

    def _main(self, *words: str) -> list[str]:
        """Run a verb; what it says must be one line where it fails, and nothing that a terminal would obey."""
        out, err = io.StringIO(), io.StringIO()
        before = sys.argv
        sys.argv = ["tumble"]
        with self.guard(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                self.code = cli.main(words)
            except SystemExit as stop:
                self.code = stop.code
        sys.argv = before
        faults = list(self.guard.faults)
        if self.code not in (0, cli.FAILED, cli.BAD_INPUT) and not faults:
            faults.append(f"exit code {self.code}")
        told = err.getvalue()
        if self.code not in (0, None):
            last = told.splitlines()[-1] if told.strip() else out.getvalue().strip()
            if not last or len(last) > LONGEST:
                faults.append(f"{len(last)} letters told: {last[:100]}")
        odd = {c for c in told + out.getvalue() if not (c.isprintable() or c in "\n\t\r")}
        if odd - {"\x1b"} or ("\x1b" in odd and "\x1b[31m" in told):
            faults.append(f"control characters told: {odd}")
        return faults

    def _one_line(self, text: str) -> None:
        if "Traceback" in text:
            self.guard.faults.append(f"tells {text[:200]!r}")

    def _record(self) -> None:
        """A small run with contacts and impacts, and its world."""
        world = World(dt=1 / 60)
        world.add(HalfSpace(), kind="static", name="floor")
        world.add(Sphere(0.1), position=(0, 0, 0.15), restitution=0.5, name="a")
        folder = self.base / "run"
        folder.mkdir()
        world.run(0.3, [Recorder(folder / "trajectory.zarr", contacts=True, impacts=True)])
        world.save(folder / "checkpoint.npz")
        world.save(self.base / "world.npz")

    def _harm_file(self, store: Path, which: int, how: str, rng: Random, value: Any) -> None:
        files = sorted(file for file in store.rglob("*") if file.is_file() and not file.is_symlink())
        if how in ("value", "drop"):  # of metadata
            files = [file for file in files if file.name == "zarr.json"]
            files = files[-1:] if which % 2 else files  # the root's as often as all others
        file = files[which % len(files)]
        data = file.read_bytes()
        if how == "delete":
            file.unlink()
        elif how == "pipe" and hasattr(os, "mkfifo"):
            file.unlink()
            os.mkfifo(file)
        elif how == "link":  # to the same, where nothing may be read
            place = self.elsewhere / "linked"
            place.write_bytes(data)
            file.unlink()
            file.symlink_to(place)
        elif how == "swap":
            other = rng.choice(files)
            file.write_bytes(other.read_bytes())
            other.write_bytes(data)
        elif how == "cut":
            file.write_bytes(data[: rng.randint(0, len(data))])
        elif how == "flip" and data:
            at = rng.randrange(len(data))
            file.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
        elif how == "junk":
            file.write_bytes(rng.randbytes(rng.randrange(64)))
        elif how in ("value", "drop"):
            with contextlib.suppress(ValueError):
                root = json.loads(data)
                change(root, rng, value, drop=how == "drop")
                file.write_text(json.dumps(root))

    def _seal(self, store: Path) -> None:
        """Make the digest fit, as somebody would who means it."""
        file = store / "zarr.json"
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            root = json.loads(file.read_text())
            root["attributes"][ROOT_DIGEST] = digest({**root, "attributes": {SEALED: [], **root["attributes"]}})
            file.write_text(json.dumps(root))


def change(tree: Any, rng: Random, value: Any, drop: bool) -> None:
    """Put a value somewhere into a tree, into texts that hold JSON too, or take something away."""
    parent, key = somewhere(tree, rng)
    if parent is None:
        return
    inner = None
    if isinstance(parent[key], str) and parent[key].startswith("{"):
        with contextlib.suppress(ValueError):
            inner = json.loads(parent[key])
    if inner:
        change(inner, rng, value, drop)
        parent[key] = json.dumps(inner)
    elif drop:
        del parent[key]
    else:
        parent[key] = value if rng.random() < 0.7 else odd(rng)


def hands() -> Hands:
    """In memory where that can be: files come and go by the million."""
    memory = Path("/dev/shm")
    return Hands(Path(tempfile.mkdtemp(prefix="tumble-inputs-", dir=memory if memory.is_dir() else None)))
