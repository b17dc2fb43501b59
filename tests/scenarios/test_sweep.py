"""Sweeps: samples are what they should be; nothing is lost when workers die, members fail, or the sweep is interrupted."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray

import tumble.scenarios.sweeps.sweep as module
from tests.programs import started
from tumble.collision.errors import InputError
from tumble.scenarios.cli import parser
from tumble.scenarios.sweeps.ensemble import DONE, FAILED, TODO, Plan, Store, load_plan
from tumble.scenarios.sweeps.sweep import columns, depends, member, ranked, statistics, sweep
from tumble.sim.errors import RecordingError

TOML = """
scenario = "bouncing_ball"
sampling = "lhs"
members = 10
seed = 3
seconds = "100 ms"
measure = "mine.py:measure"
[parameters]
height = { low = "1 cm", high = 0.02 }
restitution = [0.2, 0.9]
[fixed]
radius = 0.05
"""
MEASURE = """
def measure(run):
    if run.scene.parameters["height"] > 0.0185:
        raise ValueError("too high")
    return {"lowest": run.positions[:, 1, 2].min()}
"""


def plan_in(folder: Path) -> Plan:
    (folder / "mine.py").write_text(MEASURE)
    (folder / "sweep.toml").write_text(TOML)
    return load_plan(folder / "sweep.toml")


@pytest.fixture
def plan(tmp_path) -> Plan:
    return plan_in(tmp_path)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> list[dict]:
    """Every member, run here, by itself."""
    plan = plan_in(tmp_path_factory.mktemp("alone"))
    return [member(plan, k, p) for k, p in enumerate(plan.sample())]


def check(store: Store, alone: list[dict]) -> None:
    """The store has exactly what the members gave by themselves, to the last bit."""
    assert store.pending == []
    data = columns(store)
    for k, row in enumerate(alone):
        assert data["status"][k] == row["status"]
        assert data["error"][k] == row.get("error", "")
        assert data["state_hash"][k] == row.get("state_hash", "")
        for name in ("energy_end", "lowest", "ledger_restitution"):
            assert data[name][k] == row.get(name, np.nan) or np.isnan(row.get(name, np.nan))


class TestSamples:
    def test_latin_hypercube(self):
        """Each of n strips of each range holds one member."""
        plan = Plan(
            "bouncing_ball", {"height": {"low": 1, "high": 3}, "radius": {"low": 0.01, "high": 1, "log": True}}, "lhs", 40, seed=1
        )
        rows = plan.sample()
        height = np.array([row["height"] for row in rows])
        radius = np.array([row["radius"] for row in rows])
        assert sorted(np.floor((height - 1) / 2 * 40)) == list(range(40))
        assert sorted(np.floor((np.log10(radius) + 2) / 2 * 40)) == list(range(40))
        assert rows == plan.sample()
        assert rows != Plan("bouncing_ball", plan.parameters, "lhs", 40, seed=2).sample()

    def test_random_is_no_hypercube(self):
        rows = Plan("bouncing_ball", {"height": {"low": 1, "high": 3}}, "random", 40, seed=1).sample()
        strips = np.floor((np.array([row["height"] for row in rows]) - 1) / 2 * 40)
        assert 15 < len(set(strips)) < 38
        assert strips.min() >= 0
        assert strips.max() < 40

    def test_grid(self):
        plan = Plan("dominoes", {"friction": {"low": 0.1, "high": 0.3, "count": 3}, "count": [2, 5]}, members=2, nudge=1e-9)
        rows = plan.sample()
        assert len(rows) == 12
        assert rows[0] == rows[1] == {"friction": 0.1, "count": 2}
        assert rows[-1] == {"friction": pytest.approx(0.3), "count": 5}

    def test_whole_numbers(self):
        rows = Plan("dominoes", {"count": {"low": 2, "high": 9}}, "random", 30).sample()
        assert {type(row["count"]) for row in rows} == {int}

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"scenario": "domino"}, "did you mean dominoes?"),
            ({"sampling": "sobol"}, "sampling = 'sobol': must be one of grid, random, lhs"),
            ({"parameters": {"hight": [1]}}, "did you mean height?"),
            ({"parameters": {"height": [-1]}}, "height = -1: must be positive"),
            ({"parameters": {"height": 3}}, "must be a list of values, or { low"),
            ({"parameters": {"height": {"low": 2, "high": 1}}}, "low must be below high"),
            ({"parameters": {"height": {"low": 1, "high": 2}}}, "needs count"),
            ({"parameters": {"restitution": {"low": 0, "high": 1, "log": True}}, "sampling": "lhs"}, "must be positive"),
            ({"parameters": {}}, "nothing is varied"),
            ({"parameters": {"height": [1]}, "fixed": {"height": 2}}, "is fixed and varied"),
            ({"members": 0}, "members = 0"),
            ({"nudge": -1.0}, "nudge = -1.0"),
        ],
    )
    def test_bad_plans(self, given, says):
        with pytest.raises(InputError) as caught:
            Plan(**{"scenario": "bouncing_ball", "parameters": {"height": [1, 2]}, **given})
        assert says in str(caught.value)

    def test_bad_files(self, tmp_path):
        for text, says in (
            ("sampling = 1", "scenario = None: is missing"),
            ("scenari = 1", "did you mean scenario"),
            ("[", "TOML"),
        ):
            (tmp_path / "a.toml").write_text(text)
            with pytest.raises(InputError, match=says):
                load_plan(tmp_path / "a.toml")


@pytest.mark.slow
def test_processes_one_of_them_killed(plan, alone, tmp_path):
    killed: list[int] = []

    def kill_the_first(pids: list[int]) -> None:
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    store = sweep(plan, tmp_path / "s.zarr", workers=2, quiet=True, started=kill_the_first)
    assert killed
    check(store, alone)
    assert 0 < (store.status == FAILED).sum() < 10
    assert "ValueError: too high" in columns(store)["error"][int(np.argmax(store.status == FAILED))]
    with xarray.open_zarr(tmp_path / "s.zarr", consolidated=False) as data:
        assert data.lowest.dims == ("member",)
        assert float(data.lowest.min()) == pytest.approx(0.05, abs=1e-3)
    found = statistics(store)
    assert found["energy_start"]["rank correlation with height"] == pytest.approx(1)
    assert found["energy_start"]["count"] == (store.status == DONE).sum()


KILLED = """
import sys
from tumble.scenarios.sweeps.ensemble import Plan
from tumble.scenarios.sweeps.sweep import sweep
if __name__ == "__main__":
    plan = Plan("bouncing_ball", {"height": [1, 2]}, seconds=1e6)
    sweep(plan, sys.argv[1], workers=1, quiet=True, started=lambda pids: print(*pids, flush=True))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks up processes in /proc")
def test_workers_go_with_a_sweep_that_is_killed(tmp_path):
    """They would wait for ever, and one that is interrupted would wait for its members. Both sweeps at once: they wait alike."""
    (tmp_path / "a.py").write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent)}
    command, ends = [sys.executable, str(tmp_path / "a.py")], {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 1}
    with contextlib.ExitStack() as at_once:
        sweeps = {
            kind: at_once.enter_context(
                started([*command, str(tmp_path / f"{kind}.zarr")], env=environment, stdout=subprocess.PIPE)
            )
            for kind in ends
        }
        workers = {kind: int(process.stdout.readline()) for kind, process in sweeps.items()}
        until = time.monotonic() + 30
        while min(map(spent, workers.values())) < 1.0 and time.monotonic() < until:  # what they load takes less
            time.sleep(0.05)
        for kind, code in ends.items():
            assert running(workers[kind])
            sweeps[kind].send_signal(kind)
            until = time.monotonic() + 300
            while running(workers[kind]) and time.monotonic() < until:
                time.sleep(0.05)
            assert not running(workers[kind])
            assert sweeps[kind].wait(300) in (code, -kind)


def spent(pid: int) -> float:
    """Seconds that a process has computed."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def listeners(pid: int) -> list[str]:
    """Addresses on which a process and those below it listen."""
    import psutil

    found = []
    for process in (whole := psutil.Process(pid), *whole.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [c.laddr.ip for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    return found


def loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


@pytest.mark.validate
@pytest.mark.parametrize("open_to_all", [False, True])
def test_dask_as_the_docs_have_it_listens_here_alone(open_to_all, tmp_path):
    """The commands of the page, on free ports; the twin leaves out what binds them to this machine."""
    pytest.importorskip("distributed")
    text = (Path(__file__).resolve().parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    commands = [line.split() for line in text.splitlines() if line.startswith("dask ")]
    assert [words[1] for words in commands] == ["scheduler", "worker"]
    programs, found = [], []
    try:
        for words in commands:
            words = [word.replace("8786", "28786").replace("8787", "28787") for word in words]
            if open_to_all:
                words = [word for a, word in zip(["", *words], words, strict=False) if "--host" not in (a, word)]
                words = [word for a, word in zip(["", *words], words, strict=False) if "--dashboard-address" not in (a, word)]
            programs.append(subprocess.Popen([sys.executable, "-m", *words], stderr=subprocess.DEVNULL, cwd=tmp_path))
        until = time.monotonic() + 120
        while len(found) < 4 and time.monotonic() < until:  # scheduler and its page, worker and its page, and the nanny
            time.sleep(0.5)
            found = [address for process in programs for address in listeners(process.pid)]
    finally:
        for process in reversed(programs):  # a worker whose scheduler has gone may wait for it for minutes
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    assert len(found) >= 4
    assert all(map(loopback, found)) == (not open_to_all)


@pytest.mark.slow
def test_dask_one_worker_killed(plan, alone, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0"
    ) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        assert all(loopback(address) for address in listeners(os.getpid()))
        run = module._on_dask

        def killing(*arguments):
            for k, outcome in enumerate(run(*arguments)):
                if k == 2:
                    os.kill(victim, signal.SIGKILL)
                yield outcome

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_on_dask", killing)
            store = sweep(plan, tmp_path / "d.zarr", scheduler=cluster.scheduler_address, quiet=True)
    check(store, alone)


def test_interrupted_and_resumed(plan, alone, tmp_path, monkeypatch):
    def here(plan, jobs, workers, started, stop=None):
        for n, (k, parameters) in enumerate(jobs):
            if n == stop:
                raise KeyboardInterrupt
            yield k, member(plan, k, parameters)

    monkeypatch.setattr(module, "_on_processes", lambda *a: here(*a, stop=4))
    with pytest.raises(KeyboardInterrupt):
        sweep(plan, tmp_path / "s.zarr", quiet=True)
    half = Store(tmp_path / "s.zarr")
    assert (half.status != TODO).tolist() == [True] * 4 + [False] * 6
    done: list[int] = []
    monkeypatch.setattr(module, "_on_processes", lambda *a: (done.append(r[0]) or r for r in here(*a)))
    check(sweep(plan, tmp_path / "s.zarr", resume=True, quiet=True), alone)
    assert done == [4, 5, 6, 7, 8, 9]
    sweep(plan, tmp_path / "s.zarr", resume=True, quiet=True)  # nothing to do
    assert done == [4, 5, 6, 7, 8, 9]
    other = Plan(plan.scenario, plan.parameters, "lhs", 11)
    with pytest.raises(InputError, match="is of another plan"):
        sweep(other, tmp_path / "s.zarr", resume=True, quiet=True)
    (tmp_path / "precious").mkdir()
    with pytest.raises(RecordingError, match="is not a sweep; it is left as it is"):
        sweep(other, tmp_path / "precious", quiet=True)

    # the same by the command, which finds nothing left to do, and draws
    chosen = parser().parse_args(["sweep", str(tmp_path / "sweep.toml"), "--out", str(tmp_path), "--resume"])
    (tmp_path / "s.zarr").rename(tmp_path / "sweep.zarr")
    assert chosen.verb(chosen) == 0
    assert (tmp_path / "sweep.png").stat().st_size > 10_000


def test_a_member_that_kills_its_worker_is_given_up(tmp_path, monkeypatch):
    """One that dies each time is told from those that were beside it."""

    class Pool:
        """As that of the standard library, but a job numbered 1 breaks it."""

        def __init__(self, width, mp_context, initializer):
            self._processes, self.broken = {}, False

        def submit(self, job, plan, number, parameters):
            future = module.futures.Future()
            self.broken |= number == 1
            if self.broken:
                future.set_exception(module.BrokenProcessPool())
            else:
                future.set_result((number, {"status": DONE}))
            return future

        def shutdown(self, **_):
            pass

    monkeypatch.setattr(module.futures, "ProcessPoolExecutor", Pool)
    plan = Plan("bouncing_ball", {"height": [1, 2, 3, 4]})
    out = dict(module._on_processes(plan, [(k, {}) for k in range(4)], 2, None))
    assert {k: row["status"] for k, row in out.items()} == {0: DONE, 1: FAILED, 2: DONE, 3: DONE}
    assert out[1]["error"] == "its worker died, 3 times"


def test_domino_wave(tmp_path):
    """The catalog's own measure: all fall, and the wave is about as fast as sqrt(g h)."""
    plan = Plan("dominoes", {"friction": [0.3]}, members=2, nudge=1e-9, seconds=1.2)
    rows = [member(plan, k, p) for k, p in enumerate(plan.sample())]
    assert [row["fallen"] for row in rows] == [12, 12]
    assert 0.5 < rows[0]["wave_speed"] / np.sqrt(9.81 * 0.048) < 2.5
    assert rows[0]["state_hash"] != rows[1]["state_hash"]


def test_figures_show_what_goes_with_a_parameter_before_errors_of_the_method():
    row = lambda std, rank: {"std": std, "rank correlation with friction": rank}  # noqa: E731
    found = {
        "unsolved": row(1.0, 0.99), "ledger_residual": row(1e-15, -1.0), "wall": row(1.0, 1.0), "fallen": row(2.0, 0.4),
        "speed": row(0.1, -0.9), "same": row(0.0, 0.0),
    }  # fmt: skip
    assert ranked(found, "friction") == ["speed", "fallen", "ledger_residual", "unsolved"]


def test_figures_show_no_rounding_and_nothing_that_does_not_depend():
    """A work of 1e-15 J beside 40 J has a rank correlation, which means nothing; the start knows nothing of the restitution."""
    row = lambda low, high, rank: {"std": high - low, "min": low, "max": high, "rank correlation with e": rank}  # noqa: E731
    found = {"energy_end": row(4, 30, 0.9), "ledger_friction": row(-2e-14, 7e-15, -0.4), "ledger_restitution": row(12, 41, -0.8)}
    assert ranked(found, "e") == ["energy_end", "ledger_restitution"]
    restitution = np.array([0.2, 0.4, 0.2, 0.4])
    assert not depends(restitution, np.array([24.5, 24.5, 45.2, 45.2]))
    assert depends(restitution, np.array([4.1, 4.3, 4.1, 4.2]))
    assert depends(np.array([0.1, 0.2, np.nan]), np.array([1.0, 1.0, np.nan]))
