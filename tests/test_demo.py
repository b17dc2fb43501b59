"""`tumble demo`, the command behind `make demo`: its artefacts are opened and looked at."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
import xarray
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("two_cuboids", "dropped_cuboids")
SIZE, FPS = (320, 180), 20


NO_FIGURES = "from tumble.render.figures import plots; plots.energy_momentum = lambda run, path: path; "


def run_demo(out: Path, size: tuple[int, int] = SIZE, fps: int = FPS, before: str = "") -> subprocess.CompletedProcess:
    program = [sys.executable, "-c", before + "import sys; from tumble.scenarios.cli import main; sys.exit(main())"]
    options = ["demo", "--out", str(out), "--size", f"{size[0]}x{size[1]}", "--fps", str(fps), "--preset", "fast"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(program + options, cwd=out.parent, env=environment, capture_output=True, text=True, timeout=500)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "runs"
    answer = run_demo(out)
    assert answer.returncode == 0, answer.stderr
    return out, answer


def decode(path: Path) -> tuple[list[np.ndarray], float]:
    """Frames and duration [s] of a film."""
    with av.open(str(path)) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
        return frames, film.duration / av.time_base


def blank(pixels: np.ndarray) -> bool:
    """One colour, or hardly more: fewer than 1 pixel in 500 differs from the commonest colour by more than noise."""
    flat = pixels.reshape(-1, pixels.shape[-1])[:, :3].astype(int)
    commonest = np.bincount(flat // 8 @ (1024, 32, 1)).argmax()
    common = np.array([commonest // 1024, commonest // 32 % 32, commonest % 32]) * 8 + 4
    return bool((np.abs(flat - common).max(axis=1) > 24).mean() < 1 / 500)


def test_blank_knows_blank():
    random = np.random.default_rng(1)
    noise = 200 + random.integers(-3, 4, (90, 160, 3))
    assert blank(noise)
    noise[40:60, 40:60] = (200, 30, 30)
    assert not blank(noise)


@pytest.mark.parametrize("name", NAMES)
def test_film(demo, name):
    frames, duration = decode(demo[0] / name / "film.mp4")
    seconds = json.loads((demo[0] / name / "summary.json").read_text())["duration"]
    assert len(frames) == round(seconds * FPS)
    assert duration == pytest.approx(seconds, abs=0.01)
    assert frames[0].shape == (SIZE[1], SIZE[0], 3)
    assert not any(blank(frame) for frame in frames)
    half = len(frames) // 2
    assert np.abs(frames[half].astype(int) - frames[0]).max() > 60  # something moved


@pytest.mark.parametrize("name", NAMES)
def test_film_plays_in_browsers(demo, name):
    """H.264, 4:2:0, with the index before the data, so that a browser starts at once."""
    path = demo[0] / name / "film.mp4"
    with av.open(str(path)) as film:
        assert film.streams.video[0].codec_context.name == "h264"
        assert film.streams.video[0].codec_context.pix_fmt == "yuv420p"
    data = path.read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


@pytest.mark.parametrize("name", NAMES)
def test_figure(demo, name):
    pixels = np.asarray(Image.open(demo[0] / name / "energy.png").convert("RGB"))
    assert min(pixels.shape[:2]) >= 400
    assert not blank(pixels)
    hues = np.ptp(pixels.astype(int), axis=2) > 60  # coloured: curves, not just axes and text
    assert hues.sum() > 500


@pytest.mark.parametrize("name", NAMES)
def test_trajectory_and_summary_agree(demo, name):
    summary = json.loads((demo[0] / name / "summary.json").read_text())
    with xarray.open_zarr(demo[0] / name / "trajectory.zarr") as data:
        assert data.attrs["complete"]
        assert float(data.energy[0]) == summary["energy_start"]
        assert float(data.energy[-1]) == summary["energy_end"]
        assert float(data.penetration.max()) == summary["worst_penetration"]
        assert int(data.step[-1]) == summary["steps"]
        assert summary["duration"] == pytest.approx(summary["steps"] * summary["dt"])


def test_two_cuboids_conserve(demo):
    """The collision changes momentum by rounding only; energy falls, by what the ledger says."""
    summary = json.loads((demo[0] / "two_cuboids" / "summary.json").read_text())
    assert summary["statistics"]["impacts"] >= 1
    assert summary["momentum_drift_relative"] <= 1e-14
    assert summary["angular_momentum_drift_relative"] <= 1e-12
    assert summary["energy_drift_relative"] <= 1e-4
    assert summary["energy_end"] < 0.95 * summary["energy_start"]


def test_dropped_cuboids_come_to_rest(demo):
    """They slide and tip, lose energy to friction and restitution, never gain any, and end at rest on the floor."""
    with xarray.open_zarr(demo[0] / "dropped_cuboids" / "trajectory.zarr") as data:
        energy = data.energy.values
        rise = float((energy - np.minimum.accumulate(energy)).max())
        assert rise <= 1e-3 * energy[0]
        assert float(data.ledger_friction[-1]) > 1
        assert float(data.ledger_restitution[-1]) > 1
        assert float(np.abs(data.velocity[-1]).max()) < 1e-3
        cuboids = data.position.sel(xyz="z").values[:, 1:]
        assert (cuboids[-1] > 0.06).all()
        assert (cuboids[-1] < cuboids[0]).all()
        assert float(data.penetration.max()) < 2e-3


def test_table_and_paths(demo):
    out, answer = demo
    rows = {line[:30].strip(): line[30:].split() for line in answer.stdout.splitlines() if line}
    for title in ("energy: error of method [J]", "momentum: error [kg m/s]", "deepest overlap [m]", "steps per second [1/s]"):
        assert len(rows[title]) == 2
        assert all(float(value) >= 0 for value in rows[title])
    for name in NAMES:
        for file in ("trajectory.zarr", "film.mp4", "energy.png", "summary.json"):
            assert str(out / name / file) in answer.stdout
            assert (out / name / file).exists()


def test_second_run_compiles_nothing(demo, tmp_path):
    """In the place of the first one, of small films and without new figures: what is compiled is what simulates and records."""
    again = run_demo(Path(shutil.copytree(demo[0], tmp_path / "runs")), (64, 36), 2, NO_FIGURES)
    assert again.returncode == 0
    assert "Compil" not in again.stderr
