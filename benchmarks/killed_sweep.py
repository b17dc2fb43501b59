"""A thousand members on a Dask cluster of two workers, one of which is killed on the way: python -m benchmarks.killed_sweep.

The store must hold every member, with the bits that each gives by itself; a sample of them is run again here.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import tempfile
import time
from pathlib import Path

import tumble.scenarios.sweeps.sweep as sweeps
from tumble.scenarios.sweeps.ensemble import DONE, FAILED, Plan
from tumble.scenarios.sweeps.sweep import columns, member, statistics, sweep, table


def main(members: int, out: Path) -> int:
    from distributed import LocalCluster

    plan = Plan(
        "dominoes",
        {"friction": {"low": 0.05, "high": 0.9}, "spacing": {"low": 0.015, "high": 0.04}},
        "lhs",
        members,
        seed=1,
        seconds=0.8,
        dt=1 / 240,
        fixed={"count": 5},
    )
    begun = time.perf_counter()
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0"
    ) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        plain = sweeps._on_dask

        def killing(*arguments):
            for k, outcome in enumerate(plain(*arguments)):
                if k == members // 3:
                    print(f"killing worker {victim} after {k} members", flush=True)
                    os.kill(victim, signal.SIGKILL)
                yield outcome

        sweeps._on_dask = killing
        store = sweep(plan, out / "sweep.zarr", scheduler=cluster.scheduler_address)
    seconds = time.perf_counter() - begun
    print(table(store, statistics(store)))
    data, drawn = columns(store), plan.sample()
    again = range(0, members, max(1, members // 20))
    same = all(data["state_hash"][k] == member(plan, k, drawn[k]).get("state_hash", "") for k in again)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{members} members in {seconds:.0f} s, {(store.status == DONE).sum()} done, {(store.status == FAILED).sum()} failed")
    print(f"{len(again)} of them run again here: {'the same bits' if same else 'OTHER BITS'}; {memory:.0f} MB at most")
    return 0 if same and not store.pending else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    raise SystemExit(main(given.members, given.out or Path(tempfile.mkdtemp(prefix="tumble-sweep-"))))
