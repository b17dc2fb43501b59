"""Sweeps: the members of a plan run on processes of this machine, or on a Dask cluster; nothing is lost on the way.

Each member is a function of the plan and its number alone, so it gives the same bits wherever it runs and however often. If a
worker is killed, others run its members again. A member that fails is recorded with its error. A sweep that was interrupted goes
on with the members that are left.
"""

from __future__ import annotations

import concurrent.futures as futures
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, need
from tumble.scenarios.progress import Bar
from tumble.scenarios.sweeps.ensemble import DONE, FAILED, Plan, Store, is_store, load_plan

FLUSH_SECONDS = 2.0
TRIES = 3  # of a member whose worker dies: then it is what kills them
UNITS = {
    "energy_start": "J", "energy_end": "J", "energy_scale": "J", "energy_drift": "J", "momentum_drift": "kg m/s",
    "worst_penetration": "m",
}  # fmt: skip
SUMMED = (*UNITS, "steps_per_second")
ERRORS = ("energy_drift", "momentum_drift", "ledger_residual", "unsolved", "worst_penetration", "energy_scale")
TIMES = ("wall", "steps_per_second")
ENERGIES = ("energy_", "ledger_")
ROUNDING = 1e-12  # of the largest energy: below it, a work is what rounding left
BOOKED = ("external", "friction", "restitution", "residual")


def sweep(
    plan: Plan | str | Path,
    out: str | Path,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    quiet: bool = False,
    started: Callable[[list[int]], None] | None = None,
) -> Store:
    """Run the members of a plan, or of a TOML file, into the store ``out``.

    ``workers``: processes here, by default one for each processor; ``scheduler``: address of a Dask scheduler instead, where
    tumble is installed too. ``resume``: go on with the store that is there, which must be of the same plan. ``started`` is told
    the process ids of the workers. Interrupted, it leaves the store as far as it came.
    """
    plan = plan if isinstance(plan, Plan) else load_plan(plan)
    members = plan.sample()
    _measure(plan)  # what is wrong with it is said before anything runs
    path = Path(out)
    if resume and is_store(path):
        store = Store(path, "r+")
        if not store.is_of(plan):
            raise InputError("resume", str(path), "is of another plan: sweep into another folder")
    else:
        store = Store.create(path, plan, members)
    todo = store.pending
    jobs = [(k, members[k]) for k in todo]
    if jobs:
        from tumble.scenarios.runs.scene_run import warm

        warm(quiet=quiet)  # once, here: else every worker compiles
    here = workers or os.cpu_count() or 1
    run = _on_processes(plan, jobs, here, started) if scheduler is None else _on_dask(plan, jobs, scheduler)
    flushed, failed = time.monotonic(), int((store.status == FAILED).sum())
    try:
        with Bar(f"Sweeping {plan.scenario}", total=len(members), counted=True, quiet=quiet) as bar:
            for done, (member, row) in enumerate(run, start=len(members) - len(todo) + 1):
                store.put(member, row)
                failed += row["status"] == FAILED
                bar.update(done, note=f"{failed} failed" if failed else "")
                if time.monotonic() - flushed > FLUSH_SECONDS:
                    store.flush()
                    flushed = time.monotonic()
    finally:
        run.close()
        store.close()
    return store


def member(plan: Plan, number: int, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Run one member; its row of the store. Errors of the simulation are an outcome, not an exception."""
    from tumble.scenarios.registry import load
    from tumble.scenarios.runs.scene_run import nudge

    begun = time.perf_counter()
    try:
        scene = load(plan.scenario)(**plan.fixed, **parameters)
        if plan.dt is not None:
            scene.dt = plan.dt
        if plan.nudge:
            nudge(scene, plan.nudge, np.random.default_rng([plan.seed, number]))
        run = scene.build().run(scene.duration if plan.seconds is None else plan.seconds, every=plan.every)
        summary = run.summary()
        row = {name: summary[name] for name in SUMMED if summary.get(name) is not None}
        row |= {f"ledger_{name}": summary["ledger"][name] for name in BOOKED}
        row |= {name: summary["statistics"][name] for name in ("impacts", "unsolved")}
        row |= {name: float(value) for name, value in _measure(plan)(run).items()}
        return {**row, "status": DONE, "state_hash": run.attributes["state_hash"], "wall": time.perf_counter() - begun}
    except Exception as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return {"status": FAILED, "error": said, "wall": time.perf_counter() - begun}


def _measure(plan: Plan) -> Callable[[Any], Mapping[str, float]]:
    """What is measured beside the summary: of the plan, else of the scenario, else nothing."""
    from tumble.scenarios.registry import load, module_of_file

    if plan.measure:
        file, _, function = plan.measure.rpartition(":")
        found = getattr(module_of_file(Path(file)), function, None)
        if not callable(found):
            raise InputError("measure", plan.measure, f"{file} has no function {function}")
        return found
    return load(plan.scenario).function.__globals__.get("measure", lambda run: {})  # of the file that the scenario is in


# ---------------------------------------------------------------------- where members run


def _job(plan: Plan, number: int, parameters: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    return number, member(plan, number, parameters)


def _on_processes(
    plan: Plan, jobs: Sequence[tuple[int, Any]], workers: int, started: Callable[[list[int]], None] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Outcomes as they come. A few jobs wait for each worker, no more: memory does not grow with the sweep.

    One death breaks a pool of the standard library whole: those on the way then run again in a new one, each death counted
    against all of them, since nobody knows whose it was. The first try after a death is one at a time, so it can be known.
    """
    spawn = multiprocessing.get_context("spawn")  # forks of a program with threads may hang
    left, tries = list(reversed(jobs)), dict.fromkeys((k for k, _ in jobs), 0)
    suspects: list[tuple[int, Any]] = []
    while left or suspects:
        alone = bool(suspects)
        queue, width = (suspects, 1) if alone else (left, workers)
        on_the_way: dict[futures.Future, tuple[int, Any]] = {}
        pool = futures.ProcessPoolExecutor(width, mp_context=spawn, initializer=_go_with_parent)
        try:
            while queue or on_the_way:
                while queue and len(on_the_way) < (1 if alone else 2 * width):
                    job = queue.pop()
                    on_the_way[pool.submit(_job, plan, *job)] = job
                if started is not None:
                    started([p.pid for p in list(pool._processes.values())])
                finished, _ = futures.wait(on_the_way, return_when=futures.FIRST_COMPLETED)
                for future in finished:
                    outcome = future.result()
                    del on_the_way[future]
                    yield outcome
        except BrokenProcessPool:
            for number, parameters in on_the_way.values():
                tries[number] += 1
                if tries[number] >= TRIES:
                    yield number, {"status": FAILED, "error": f"its worker died, {TRIES} times"}
                else:
                    suspects.append((number, parameters))
        finally:
            if on_the_way:  # interrupted: nobody waits for members that may take minutes
                for process in list((pool._processes or {}).values()):
                    process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)


def _go_with_parent() -> None:
    """In a worker: end when the program that started it does, even where that was killed; else it would wait for ever.

    Its worlds are stepped by one thread each: there are as many workers as cores.
    """
    os.environ.setdefault("TUMBLE_THREADS", "1")

    def watch() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_dask(plan: Plan, jobs: Sequence[tuple[int, Any]], scheduler: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Outcomes as they come from a Dask cluster; what a lost worker had is run by the others."""
    need("dask")
    from distributed import Client, KilledWorker, wait

    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError("scheduler", scheduler, f"there is no Dask scheduler: {error}") from None
    with client:
        left, on_the_way = list(reversed(jobs)), {}
        while left or on_the_way:
            most = 4 * max(1, sum(client.nthreads().values()))
            while left and len(on_the_way) < most:
                job = left.pop()
                on_the_way[client.submit(_job, plan, *job, pure=False, retries=TRIES)] = job
            finished, _ = wait(list(on_the_way), return_when="FIRST_COMPLETED")
            for future in finished:
                job = on_the_way.pop(future)
                try:
                    yield future.result()
                except (KilledWorker, futures.CancelledError) as error:
                    if isinstance(error, KilledWorker):
                        yield job[0], {"status": FAILED, "error": f"its worker died, {error.allowed_failures + 1} times"}
                    else:
                        left.append(job)  # the result went with its worker


# ---------------------------------------------------------------------- what came out


def statistics(store: Store | str | Path) -> dict[str, dict[str, float]]:
    """Of each number that was measured: mean, standard deviation, extremes, median, and Spearman's correlation with each
    parameter, over the members that are done."""
    from scipy.stats import spearmanr

    store = store if isinstance(store, Store) else Store(store)
    data = columns(store)
    done = data["status"] == DONE
    parameters = {name: data[f"parameter_{name}"][done] for name in store.plan.parameters}
    out = {}
    for name in sorted(data):
        if name in ("status", "error", "state_hash") or name.startswith("parameter_"):
            continue
        values = data[name][done]
        seen = np.isfinite(values)
        values = values[seen]
        if len(values) == 0:
            continue
        row = {
            "mean": float(values.mean()), "std": float(values.std()), "min": float(values.min()),
            "median": float(np.median(values)), "max": float(values.max()), "count": float(len(values)),
        }  # fmt: skip
        for parameter, given in parameters.items():
            given = given[seen]
            if given.dtype.kind == "f" and len(values) > 2 and np.ptp(given) > 0 and np.ptp(values) > 0:
                row[f"rank correlation with {parameter}"] = float(spearmanr(given, values).statistic)
        out[name] = row
    return out


def ranked(found: Mapping[str, Mapping[str, float]], parameter: str | None) -> list[str]:
    """Names of what was measured and varies, that which goes most with a parameter first.

    What tells of the method (its errors, solves that did not end, times) comes after what tells of the scene. An entry of the
    ledger that is the rounding of larger energies does not vary.
    """
    key = f"rank correlation with {parameter}"
    largest = {n: max(abs(row.get("min", 0)), abs(row.get("max", 0))) for n, row in found.items() if n.startswith(ENERGIES)}
    least = ROUNDING * max(largest.values(), default=0.0)
    rounded = {name for name, size in largest.items() if size < least}
    varying = [name for name, row in found.items() if row["std"] > 0 and name not in TIMES and name not in rounded]
    return sorted(varying, key=lambda name: (name in ERRORS, -abs(found[name].get(key, 0.0)) if parameter else 0.0))


def depends(on: np.ndarray, values: np.ndarray) -> bool:
    """Whether a parameter has a say in a number: on a grid, means over the members of each of its values differ."""
    seen = np.isfinite(values)
    on, values = on[seen], values[seen]
    means = [values[on == one].mean() for one in np.unique(on)]
    return len(means) == len(values) or bool(np.ptp(means) > ROUNDING * np.abs(values).max())


def columns(store: Store) -> dict[str, np.ndarray]:
    """What the store holds, by name, one value for each member."""
    return {name: array[:] for name, array in store.group.arrays()}


def table(store: Store, found: Mapping[str, Mapping[str, float]]) -> str:
    """The statistics as a text, and the members that failed."""
    names = list(store.plan.parameters)
    head = f"{'':20} {'mean':>11} {'std':>11} {'min':>11} {'median':>11} {'max':>11}" + "".join(f"  {n[:12]:>12}" for n in names)
    lines = [head + ("   (rank correlations)" if names else "")]
    for key, row in found.items():
        line = f"{key:20} " + " ".join(f"{row[k]:11.4g}" for k in ("mean", "std", "min", "median", "max"))
        for name in names:
            value = row.get(f"rank correlation with {name}")
            line += f"  {'-' if value is None else f'{value:+.2f}':>12}"
        lines.append(line)
    failed = np.flatnonzero(store.status == FAILED)
    counts = f"{int((store.status == DONE).sum())} done, {len(failed)} failed, {len(store.pending)} to do"
    errors = store.group["error"]
    lines += ["", counts, *(f"  member {k}: {errors[int(k)]}" for k in failed[:5])]
    return "\n".join(lines)
