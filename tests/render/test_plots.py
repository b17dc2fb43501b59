"""Figures: what is drawn in them is what the run holds, and it can be read."""

from __future__ import annotations

import os

import numpy as np
import pytest
from PIL import Image

from tests.render.known_flights import flight, two_cuboids
from tumble.collision.errors import InputError
from tumble.render.errors import RenderError
from tumble.render.figures import plots


def panel(figure, title):
    return next(ax for ax in figure.axes if ax.get_title("left").startswith(title))


def curve(ax, label):
    return next(line for line in ax.lines if line.get_label() == label).get_ydata()


def test_a_figure_is_written_and_not_blank(tmp_path):
    run = flight(two_cuboids())
    path = plots.energy_momentum(run, tmp_path / "a.png")
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape == (960, 1400, 3)
    assert len(np.unique(pixels @ np.array([65536, 256, 1]))) > 200  # colours
    for column in np.split(pixels, 2, axis=1):  # all six panels hold dark ink
        for row in np.split(column, 3, axis=0):
            assert (row.min(axis=2) < 100).sum() > 300
    assert os.listdir(tmp_path) == ["a.png"]
    again = plots.energy_momentum(run, tmp_path / "b.png")  # the same run: a sum over other memory may round otherwise
    assert again.read_bytes() == path.read_bytes()


def test_curves_are_the_runs(tmp_path):
    run = flight(two_cuboids())
    figure = plots.energy_momentum(run)
    energy = panel(figure, "Energy")
    assert curve(energy, "total") == pytest.approx(run.energy)
    assert curve(energy, "potential") == pytest.approx(run.potential)
    momentum = panel(figure, "Momentum")
    assert curve(momentum, "$p_z$") == pytest.approx(run.momentum[:, 2])
    for ax in figure.axes:
        assert ax.get_ylabel().startswith("[") or ax.get_yscale() == "log"
    assert figure.axes[-1].get_xlabel() == "time [s]"


def test_a_constant_is_a_straight_line_and_its_noise_is_told_apart():
    """Momentum with rounding noise: the axis shows the value, without an offset, and the drift stands on a scale of its own."""
    run = flight(two_cuboids(), gravity=(0, 0, 0))
    run.scene.gravity = (0.0, 0.0, 0.0)
    noise = 1e-13 * np.sin(np.arange(len(run.times)))[:, None]
    run.momentum = run.momentum + noise
    figure = plots.energy_momentum(run)
    figure.canvas.draw()
    momentum = panel(figure, "Momentum")
    low, high = momentum.get_ylim()
    assert high - low > 1e3 * noise.max()
    for ax in figure.axes:
        assert ax.yaxis.get_offset_text().get_text() == ""
    drift = panel(figure, "Drift")
    assert drift.get_yscale() == "log"
    size = np.linalg.norm(run.momentum, axis=1).max()
    assert curve(drift, "momentum").max() == pytest.approx(np.sqrt(3) * 2e-13 / size, rel=0.2)


def test_books_that_do_not_close_are_seen():
    run = flight(two_cuboids(), gravity=(0, 0, 0))
    closed = curve(panel(plots.energy_momentum(run), "Drift"), "energy: not in the books")
    assert closed.max() < 1e-12
    lost = 0.25 * (run.times > 0.5)
    run.energy = run.energy - lost
    open_ = curve(panel(plots.energy_momentum(run), "Drift"), "energy: not in the books")
    assert open_.max() > 1e-2
    run.ledger = {**run.ledger, "friction": lost}
    figure = plots.energy_momentum(run)
    assert curve(panel(figure, "Drift"), "energy: not in the books").max() < 1e-12
    assert curve(panel(figure, "Where the energy went"), "friction") == pytest.approx(-lost)


def test_small_numbers_get_a_power_of_ten_in_the_unit():
    run = flight(two_cuboids())
    run.penetration = run.penetration + 3e-7
    ax = panel(plots.energy_momentum(run), "Deepest overlap")
    assert ax.get_ylabel() == "[10$^{-9}$ m]"
    assert ax.yaxis.get_major_formatter()(3e-7, 0) == "300"


def test_odd_input_is_named(tmp_path):
    with pytest.raises(InputError, match="a figure is a .png, .svg or .pdf file"):
        plots.energy_momentum(flight(two_cuboids()), tmp_path / "a.bmp")
    with pytest.raises(RenderError, match="there is no folder"):
        plots.energy_momentum(flight(two_cuboids()), tmp_path / "no" / "a.png")
    empty = flight(two_cuboids())
    empty.times = empty.times[:0]
    with pytest.raises(InputError, match="holds no sample"):
        plots.energy_momentum(empty)


def test_no_window_and_no_global_state(monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)  # another test may have asked for it
    plots.energy_momentum(flight(two_cuboids()))
    assert "matplotlib.pyplot" not in sys.modules


def test_a_power_of_ten_is_told(tmp_path):
    """Small numbers on the axis have their power beside the unit, in every figure; nothing else would tell a nanojoule."""
    from tumble.render.figures.curves import Panel, panels

    x = np.linspace(0, 1, 5)
    fields = [
        Panel("a", "x", "J", {"a": (x, 3e-9 * x)}),
        Panel("b", "x", "", {"b": (x, 3e-9 * x)}),
        Panel("c", "x", "m", {"c": (x, x)}),
    ]
    text = panels("all", fields, tmp_path / "a.svg").read_text()
    shown = [part.split("-->")[0].strip() for part in text.split("<!--")[1:]]
    assert [label for label in shown if label.startswith("[")] == [r"[10$^{-9}$ J]", r"[10$^{-9}$]", "[m]"]
