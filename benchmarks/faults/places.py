"""Disks that are full, homes that can not be written, files of the future, folders that go while they are written."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.faults.__main__ import load
from benchmarks.faults.trials import FILM, RUN, asked, child, ended, look_at_film, look_at_run, prepared
from tumble.scenarios import cli

WHOLE = (*RUN, *FILM)


def full_disks(count: int, folder: Path, show: Callable[..., None] = print) -> list[str]:
    """A run with film on disks of each ``count``-th part of what it needs; afterwards the disk grows, and it goes on.

    Each disk is a file system in memory of its own, which only root can mount. What was wrong, a sentence each.
    """
    load()
    base, found, codes = folder / "base", [], {}
    if not base.exists():
        prepared(base)
    place = folder / "disk"
    place.mkdir()
    mount(place, 200 << 20)
    work = place / "work"
    work.mkdir()
    ended(child(work, WHOLE))
    vfs = os.statvfs(place)
    need = (vfs.f_blocks - vfs.f_bfree) * vfs.f_frsize
    unmount(place)
    for k in range(1, count):
        mount(place, max(need * k // count, 4096))
        work = place / "work"
        try:
            work.mkdir()
            log = folder / "work.log"
            log.write_text("")
            os.symlink(log, place / "work.log")
            code = ended(child(work, WHOLE))
        except OSError:  # not even room for that
            unmount(place)
            continue
        codes[code] = codes.get(code, 0) + 1
        wrong = asked(look_at_run(base / "r"), work, True)
        told = [line for line in log.read_text().splitlines() if line.startswith("tumble:")]
        if code not in (0, cli.FAILED) or (code and not any("disk is full" in line or "No space" in line for line in told)):
            wrong.append(f"exit code {code}: {log.read_text()[-300:]}")
        subprocess.run(["mount", "-o", f"remount,size={200 << 20}", str(place)], check=True)
        again = ended(child(work, (*WHOLE, "--resume")))
        wrong += (
            [f"afterwards: exit code {again}: {log.read_text()[-2500:]}"]
            if again
            else asked(look_at_film(base / "r"), work, False)
        )
        if wrong:
            found.append(f"disk of {k}/{count}: {wrong}")
            show(found[-1])
        elif k % 10 == 0:
            show(f"disk of {k}/{count}: as it should be")
        unmount(place)
    show(f"disks of {need >> 10} KB by {count}ths: exit codes {codes}, {len(found)} wrong")
    return found


def mount(place: Path, size: int) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)


def unmount(place: Path) -> None:
    subprocess.run(["umount", str(place)], check=True)


def states(folder: Path, show: Callable[..., None] = print) -> list[str]:
    """One by one: what the world may be like. What was wrong, a sentence each."""
    load()
    base, found = folder / "base", []
    if not base.exists():
        prepared(base)

    def tell(what: str, wrong: list[str]) -> None:
        show(f"{what}: {wrong or 'as it should be'}")
        found.extend(f"{what}: {text}" for text in wrong)

    place = folder / "future"
    place.mkdir()
    shutil.copytree(base / "half", place / "r")
    ahead = time.time() + 4e7
    for file in place.rglob("*"):
        os.utime(file, (ahead, ahead))
    code = ended(child(place, (*RUN, "--resume")))
    tell(
        "a clock that was set back by a year, resume",
        [f"exit code {code}"] if code else asked(look_at_run(base / "r"), place, False),
    )

    rng = random.Random(1)
    for k in range(10):
        place = folder / f"gone-{k}"
        place.mkdir()
        pid = child(place, WHOLE)
        time.sleep(rng.uniform(0.02, 1.5))
        shutil.rmtree(place / "r", ignore_errors=True)
        code = ended(pid)
        log = (folder / f"gone-{k}.log").read_text()
        last = [line for line in log.splitlines() if line.startswith("tumble:")]
        wrong = (
            [] if code == 0 or (code in (cli.FAILED, cli.BAD_INPUT) and len(last) == 1) else [f"exit code {code}: {log[-400:]}"]
        )
        tell(f"a folder that is deleted on the way, {k}: exit code {code}", wrong)

    for what, variables in (
        ("a home that can not be written", {"HOME": "/proc/1", "XDG_CACHE_HOME": "/proc/1", "MPLCONFIGDIR": "/proc/1"}),
    ):
        place = folder / "home"
        place.mkdir()
        environment = {**os.environ, **variables}
        words = ["run", "bouncing_ball", "--seconds", "0.05", "--out", "r"]
        # kernels are compiled in memory there: a run without them shows the way, not the time
        environment["NUMBA_DISABLE_JIT"] = "1"
        done = subprocess.run(["tumble", *words], cwd=place, env=environment, capture_output=True, text=True)
        wrong = (
            []
            if done.returncode == 0 and (place / "r" / "summary.json").exists()
            else [f"{done.returncode}: {done.stderr[-400:]}"]
        )
        tell(what, wrong)
    return found
