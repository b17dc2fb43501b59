"""What is done while it is killed, and what must be true of the folder afterwards.

A trial runs a verb in a child process, forked from a program that has loaded all it needs, and sends it a signal at a random
instant. Samples go to disk and worlds are saved every 0.4 s, not every 5 and 20 as for users, so that an
instant strikes something.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tumble.scenarios import cli
from tumble.scenarios.runs import scene_run as runner
from tumble.sim.files import whole
from tumble.sim.recording.storage import sample_stores
from tumble.sim.recording.storage.checksums import CHECKSUM_TABLE

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SECONDS = "1.6"  # of the run: two chunks of samples
RUN = ("run", "bouncing_ball", "--seconds", SECONDS, "--contacts", "--out", "r")
FILM = ("--video", "--size", "64x48", "--fps", "10", "--preset", "fast")
PLAN = 'scenario = "bouncing_ball"\nseconds = 0.2\n[parameters]\nheight = [0.1, 0.3, 0.5, 0.7, 0.9, 0.95]\n'
PATIENCE, HANGS = 600, -99  # s, even on a busy machine; and the exit code of what takes longer


class Outcome(NamedTuple):
    """``struck``: whether it was still at work; ``code``: exit code, or minus the signal; ``wrong``: what must not be."""

    struck: bool
    code: int
    wrong: list[str]


class Trial(NamedTuple):
    """``prepare(folder)`` fills a folder; ``words``: of the verb that is killed; ``mend``: of that which is run afterwards;
    ``look(folder, killed)`` tells what is wrong in it."""

    prepare: Callable[[Path], None]
    words: tuple[str, ...]
    mend: tuple[str, ...]
    look: Callable[[Path, bool], list[str]]


# ---------------------------------------------------------------------- children


def child(folder: Path, words: Sequence[str], terminal: int | None = None) -> int:
    """Run a verb in a folder in a child process, in front at a terminal if one is given (its end for programs); its id, once it
    hears signals and has the terminal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # until the child is ready to hear them
    ready, told = os.pipe()
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
        os.close(told)
        os.read(ready, 1)  # ends when the child closes it, or is gone
        os.close(ready)
        return pid
    code = 70
    try:
        if terminal is None:
            os.setsid()
        else:
            os.login_tty(terminal)
        os.chdir(folder)
        out = os.open(folder.parent / f"{folder.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(out, 1), os.dup2(out, 2)
        faulthandler.enable(file=2)  # of what crashes, where
        faulthandler.register(signal.SIGUSR1, file=2)  # asked of what hangs: where it is, in all threads
        for sign in (signal.SIGINT, signal.SIGTERM):  # before the verb has begun, and once it has ended
            signal.signal(sign, lambda *_: os._exit(cli.INTERRUPTED))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
        os.close(told)
        if words[0] != "report":
            often()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
        code = cli.main(words)
        signal.signal(signal.SIGINT, lambda *_: os._exit(cli.INTERRUPTED))
    except SystemExit as stop:
        code = stop.code
    except KeyboardInterrupt:  # when the verb has ended
        code = cli.INTERRUPTED
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 70)


def often() -> None:
    """Flush and save ten times as often than users need, and draw no figure: that is most of the time of a short run. A blank
    one is written as slowly as one that is drawn."""
    from tumble.render.figures import plots

    def blank(run: Any, path: Path) -> Path:
        with whole(path) as part, open(part, "wb") as file:
            for _ in range(8):
                file.write(bytes(4096))
                time.sleep(0.02)
        return path

    plots.energy_momentum = blank
    sample_stores.FLUSH_SECONDS = 0.4
    plain = runner.Checkpoints
    runner.Checkpoints = lambda path, recorder, seconds: plain(path, recorder, 0.4)


def ended(pid: int, patience: float = PATIENCE) -> int:
    """Its exit code, or minus the signal; one that hangs tells where, is killed, and gives HANGS."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    for sign in (signal.SIGUSR1, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        time.sleep(1.0)
    os.waitpid(pid, 0)
    return HANGS


def left(pid: int, patience: float = 30.0) -> list[str]:
    """Wait for all programs that a child started, such as the workers of a sweep, which end with it; a text if some do not."""
    until = time.monotonic() + patience
    with contextlib.suppress(ProcessLookupError):  # there is none
        while time.monotonic() < until:
            os.killpg(pid, 0)
            time.sleep(0.01)
        os.killpg(pid, signal.SIGKILL)
        return [f"still at work {patience:g} s after their parent"]
    return []


def answers(function: Callable[[Any], Any], of: Sequence[Any], jobs: int) -> list[Any]:
    """``function`` of each, by so many child processes, each of which takes what is next."""
    queue, tickets = os.pipe()
    os.write(tickets, bytes(range(len(of))))
    os.close(tickets)

    def work() -> list[tuple[int, Any]]:
        return [(ticket[0], function(of[ticket[0]])) for ticket in iter(lambda: os.read(queue, 1), b"")]

    rows = [row for answer in [begun(work) for _ in range(jobs)] for row in answer()]
    os.close(queue)
    if len(rows) != len(of):
        raise RuntimeError(f"not all gave an answer: {rows}")
    return [row for _, row in sorted(rows)]


def asked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives in a child process, so that nothing of it stays with this program; a text where it fails."""
    return begun(function, *arguments)()


def begun(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """A function at work in a child process; what waits for its answer."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        try:
            said = json.dumps(function(*arguments))
        except BaseException as error:
            said = json.dumps([f"{type(error).__name__}: {error}"])
        with os.fdopen(write, "w") as pipe:
            pipe.write(said)
        os._exit(0)
    os.close(write)

    def answer() -> Any:
        with os.fdopen(read) as pipe:
            said = pipe.read()
        os.waitpid(pid, 0)
        return json.loads(said) if said else ["no answer"]

    return answer


# ---------------------------------------------------------------------- looking


@functools.cache
def expected(base: Path) -> dict[str, np.ndarray]:
    """The arrays of what nobody killed, read once."""
    return arrays(base)


def arrays(path: Path) -> dict[str, np.ndarray]:
    from tumble.sim import Run

    run = Run.open(path)
    return {name: run.part(name, slice(None)) for name in run._arrays if not name.startswith(CHECKSUM_TABLE)}


def look_at_run(base: Path, name: str = "r") -> Callable[[Path, bool], list[str]]:
    """The recording opens; its samples are the first of those of a run that nobody killed, and in the end all of them."""
    expected(base)

    def look(folder: Path, killed: bool) -> list[str]:
        from tumble.sim import Run
        from tumble.sim.files import standing_folder

        if not standing_folder(folder / name / "trajectory.zarr").exists():
            return [] if killed else ["there is no recording"]
        run = Run.open(folder / name)
        wrong = run.damages()
        found, all_of_it = arrays(folder / name), expected(base)
        for key, values in all_of_it.items():
            n = len(found[key])
            if not np.array_equal(found[key], values[:n], equal_nan=values.dtype.kind == "f"):
                wrong.append(f"{key} is other")
        if not killed:
            if len(found["time"]) != len(all_of_it["time"]):
                wrong.append(f"{len(all_of_it['time']) - len(found['time'])} samples lost")
            wrong += litter(folder)
            wrong += beside(folder / name)
        return wrong

    return look


def look_at_film(base: Path) -> Callable[[Path, bool], list[str]]:
    inner = look_at_run(base)

    def look(folder: Path, killed: bool) -> list[str]:
        import av

        wrong = inner(folder, killed)
        for file in (folder / "r").glob("[!.]*.mp4"):  # what is not done yet has a name of its own, which ends as litter
            with av.open(str(file)) as film:
                wrong += [] if sum(1 for _ in film.decode(video=0)) > 5 else ["film is cut"]
        if not killed and not list((folder / "r").glob("[!.]*.mp4")):
            wrong.append("there is no film")
        return wrong

    return look


def look_at_sweep(base: Path) -> Callable[[Path, bool], list[str]]:
    """Members that are said to be done have the bits that they have elsewhere, and in the end all are done."""

    def look(folder: Path, killed: bool) -> list[str]:
        from tumble.scenarios.sweeps.ensemble import DONE, Store
        from tumble.scenarios.sweeps.sweep import columns
        from tumble.sim.files import standing_folder

        path = standing_folder(folder / "s" / "sweep.zarr")
        if not path.exists():
            return [] if killed else ["there is no sweep"]
        found, expected = columns(Store(path)), columns(Store(base / "sweep.zarr"))
        done = found["status"] == DONE
        wrong = [] if (found["state_hash"][done] == expected["state_hash"][done]).all() else ["members are other"]
        if not killed:
            wrong += [] if done.all() else [f"{(~done).sum()} members lost"]
            wrong += litter(folder)
        return wrong

    return look


def litter(folder: Path) -> list[str]:
    return [f"left behind: {path.relative_to(folder)}" for names in (".*", "*.part*") for path in folder.rglob(names)]


def beside(folder: Path) -> list[str]:
    from tumble.scenarios.runs.manifest import harms

    return harms(folder)


# ---------------------------------------------------------------------- the trials


def trials(base: Path) -> dict[str, Trial]:
    """By what is killed; ``base`` holds what nobody killed: see :func:`prepared`."""
    nothing = lambda folder: None  # noqa: E731
    copied = lambda folder: shutil.copytree(base / "r", folder / "r")  # noqa: E731

    def half(folder: Path) -> None:
        shutil.copytree(base / "half", folder / "r")

    def plan(folder: Path) -> None:
        (folder / "s.toml").write_text(PLAN)

    run, film = look_at_run(base / "r"), look_at_film(base / "r")
    sweep = ("sweep", "s.toml", "--out", "s", "--workers", "1")
    return {
        "run": Trial(nothing, RUN, (*RUN, "--resume"), run),
        "run again over a run": Trial(copied, RUN, (*RUN, "--resume"), run),
        "run --video": Trial(nothing, (*RUN, *FILM), (*RUN, *FILM, "--resume"), film),
        "resume": Trial(half, (*RUN, "--resume"), (*RUN, "--resume"), run),
        "film": Trial(copied, ("film", "r", "--out", "r/f.mp4", *FILM[1:]), ("film", "r", "--out", "r/f.mp4", *FILM[1:]), film),
        "report": Trial(
            copied, ("report", "r", "--no-film", "--out", "r/p.html"), ("report", "r", "--no-film", "--out", "r/p.html"), run
        ),
        "check --repair": Trial(lambda folder: torn(base, folder), ("check", "r", "--repair"), ("check", "r", "--repair"), run),
        "sweep": Trial(plan, sweep, (*sweep, "--resume"), sweep_look(base)),
    }


def sweep_look(base: Path) -> Callable[[Path, bool], list[str]]:
    return look_at_sweep(base / "s")


def torn(base: Path, folder: Path) -> None:
    """A recording that has lost a chunk."""
    shutil.copytree(base / "r", folder / "r")
    shutil.rmtree(folder / "r" / "trajectory.zarr" / "position" / "c" / "1")


def prepared(base: Path) -> None:
    """A run, half a run and a sweep that nobody killed."""
    base.mkdir(parents=True)
    (base / "s.toml").write_text(PLAN)
    for words in (RUN, ("sweep", "s.toml", "--out", "s", "--workers", "1")):
        if ended(child(base, words), 600):
            raise RuntimeError(f"{words} failed: {(base.parent / 'base.log').read_text()}")
    words = [*RUN]
    words[words.index(SECONDS)], words[words.index("r")] = "0.8", "half"
    if ended(child(base, words), 600):
        raise RuntimeError("half a run failed")


def struck(trial: Trial, folder: Path, seconds: float, sign: int) -> Outcome:
    """One trial: killed after so many seconds by a signal, looked at, mended, looked at again."""
    folder.mkdir()
    trial.prepare(folder)
    torn_before = "--repair" in trial.words
    hand, terminal = pty.openpty() if sign == signal.SIGINT else (None, None)
    pid = child(folder, trial.words, terminal)
    if terminal is not None:
        os.close(terminal)  # the child's alone
    time.sleep(seconds)
    alive = not os.waitpid(pid, os.WNOHANG)[0] if seconds else True
    if alive and hand is not None:
        os.write(hand, b"\x03")  # Ctrl-C: to all that is in front, workers too
    elif alive:
        os.kill(pid, sign)
    code = ended(pid) if alive else 0
    wrong = left(pid)
    if hand is not None:
        os.close(hand)
    if not alive:
        shutil.rmtree(folder)
        return Outcome(False, 0, wrong)
    wrong += [] if torn_before else asked(trial.look, folder, True)
    if sign != signal.SIGKILL and code not in (0, cli.INTERRUPTED):
        wrong.append(f"exit code {code}")
    again = ended(child(folder, trial.mend))
    wrong += [f"afterwards: exit code {again}"] if again else asked(trial.look, folder, False)
    if wrong:
        wrong.append((folder.parent / f"{folder.name}.log").read_text()[-2500:])
    shutil.rmtree(folder)
    return Outcome(code in (-signal.SIGKILL, cli.INTERRUPTED), code, wrong)


def two_at_once(base: Path, folder: Path, rng: random.Random, length: float) -> Outcome:
    """Two runs into one folder; one of them is killed. One of them is refused, or comes after the other."""
    folder.mkdir()
    pids = [child(folder, RUN)]
    time.sleep(rng.uniform(0, length / 4))
    pids.append(child(folder, RUN))
    time.sleep(rng.uniform(0, length))
    victim = rng.choice(pids)
    gone = os.waitpid(victim, os.WNOHANG)
    if not gone[0]:
        os.kill(victim, signal.SIGKILL)
    codes = [os.waitstatus_to_exitcode(gone[1]) if pid == victim and gone[0] else ended(pid) for pid in pids]
    wrong = asked(look_at_run(base / "r"), folder, True)
    wrong += [f"exit codes {codes}"] if not set(codes) <= {0, cli.BAD_INPUT, -signal.SIGKILL} else []
    again = ended(child(folder, (*RUN, "--resume")))
    wrong += [f"afterwards: exit code {again}"] if again else asked(look_at_run(base / "r"), folder, False)
    if wrong:
        wrong.append((folder.parent / f"{folder.name}.log").read_text()[-2500:])
    shutil.rmtree(folder)
    return Outcome(not gone[0], codes[pids.index(victim)], wrong)


# ---------------------------------------------------------------------- the cache of kernels

KERNELS = """from tumble.collision.kernels.jit import kernel

@kernel
def factor():
    return 3.0

@kernel
def answer(x):
    return x * factor()
"""
ASK = "from tumble.collision.caller import answer\nprint(answer(2.0))\n"


def cache_filled(folder: Path, seconds: float | None, both: bool) -> Outcome:
    """A program, or two, that fills a cache of kernels and is killed after so many seconds (None: not at all); the next has the
    right answer, and keeps it."""
    package = folder / "tumble" / "collision"
    shutil.copytree(ROOT / "collision" / "kernels", package / "kernels")
    for each in (package, package.parent):
        (each / "__init__.py").write_text("")
    (package / "caller.py").write_text(KERNELS)
    environment = {**os.environ, "TUMBLE_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    start = lambda: subprocess.Popen(  # noqa: E731
        [sys.executable, "-c", ASK], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    programs = [start() for _ in range(2 if both else 1)]
    if seconds is not None:
        time.sleep(seconds)
    else:
        programs[0].wait()
    hit = programs[0].poll() is None
    programs[0].kill()
    said = [program.communicate(timeout=PATIENCE)[0] for program in programs]
    wrong = [f"said {text!r}" for text in said[1:] if text != "6.0\n"]
    for _ in range(2):
        text = start().communicate(timeout=PATIENCE)[0]
        wrong += [f"afterwards {text!r}"] if text != "6.0\n" else []
    wrong += [f"left behind: {path.name}" for path in (folder / "cache").rglob("*") if "part" in path.name]
    shutil.rmtree(folder)
    return Outcome(hit, -signal.SIGKILL, wrong)
