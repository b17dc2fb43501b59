"""Which renderer is found, and what is said when it is the lesser one."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.render.known_flights import flight, frame_of, two_cuboids, zoo
from tumble.render.camera import Camera
from tumble.render.errors import RenderError, RendererWarning
from tumble.render.films.video import picture
from tumble.render.opengl import context

ROOT = Path(__file__).resolve().parents[2]
CAMERA = Camera((1.4, -2.0, 1.1), (0.1, 0.0, 0.1))


@pytest.fixture
def no_gl(monkeypatch):
    """A machine without OpenGL."""

    def missing():
        raise OSError("libGL.so not loaded")

    monkeypatch.setattr(context, "_OPEN", {"egl": missing, "osmesa": missing})
    monkeypatch.setattr(context, "_found", None)
    monkeypatch.setattr(context, "_failed", {})
    monkeypatch.setattr(context, "_warned", False)
    monkeypatch.delenv("TUMBLE_RENDERER", raising=False)


def test_without_gl_the_painter_draws_and_says_once_how_to_get_more(no_gl):
    with pytest.warns(RendererWarning) as told:
        assert context.open_renderer((64, 48)).backend == "painter"
    assert len(told) == 1
    for word in ("libegl1", "libgl1", "libgl1-mesa-dri", "libGL.so not loaded"):
        assert word in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert context.open_renderer((64, 48)).backend == "painter"
    assert context.describe()["backend"] == "painter"
    assert "libGL.so not loaded" in context.describe()["reason"]


def test_a_renderer_that_is_asked_for_and_missing_is_an_error(no_gl, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "egl")
    with pytest.raises(RenderError, match="libGL.so not loaded.*libegl1"):
        context.open_renderer((64, 48))


def test_the_painter_can_be_asked_for(monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert context.open_renderer((64, 48)).backend == "painter"


def test_an_unknown_renderer_is_named(monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "vulkan")
    with pytest.raises(RenderError, match="TUMBLE_RENDERER = 'vulkan': must be one of auto, egl, osmesa, painter"):
        context.open_renderer((64, 48))


def test_gl_is_taken_where_there_is_some(gl, monkeypatch):
    monkeypatch.delenv("TUMBLE_RENDERER", raising=False)
    with context.open_renderer((64, 48)) as renderer:
        assert renderer.backend in ("egl", "osmesa", "native")
    assert context.describe()["renderer"]


def test_renderers_can_live_side_by_side(gl, monkeypatch):
    """Two at once, closed in the order they were opened: each still draws its own picture."""
    monkeypatch.setenv("TUMBLE_RENDERER", "egl")
    a, b = context.open_renderer((64, 48)), context.open_renderer((80, 60))
    first = a.draw(frame_of(zoo()), CAMERA)
    assert b.draw(frame_of(two_cuboids()), CAMERA).shape == (60, 80, 4)
    assert a.draw(frame_of(zoo()), CAMERA).tobytes() == first.tobytes()
    a.close()
    assert b.draw(frame_of(zoo()), CAMERA).std() > 5
    b.close()


def test_importing_render_loads_nothing_heavy():
    code = (
        "import sys, tumble.render\n"
        "heavy = {'matplotlib', 'moderngl', 'pygame', 'av', 'numba', 'scipy', 'xarray'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nothing_greets_on_the_standard_output():
    code = "from tumble.render.opengl.context import open_renderer; open_renderer((64, 48))"
    import os

    environment = {**os.environ, "TUMBLE_RENDERER": "painter"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_osmesa_is_next_where_egl_finds_nothing(gl, tmp_path):
    """In a process of its own, which has no driver of EGL: found by itself, and it draws what EGL draws here."""
    code = """
import numpy as np
from tumble.render import picture
from tumble.render.opengl import context
from tests.render.known_flights import flight, zoo
print(context.describe())
np.save("osmesa.npy", picture(flight(zoo(), 0.2), (320, 180), time=0.1))
"""
    environment = {**os.environ, "__EGL_VENDOR_LIBRARY_FILENAMES": "/none", "PYTHONPATH": str(ROOT)}
    environment.pop("TUMBLE_RENDERER", None)
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    if "libOSMesa.so.8 not found" in answer.stdout:
        pytest.skip("libOSMesa.so.8 not found: apt-get install libosmesa6")
    assert "'backend': 'osmesa'" in answer.stdout, answer.stderr
    here = picture(flight(zoo(), 0.2), (320, 180), time=0.1).astype(int)
    there = np.load(tmp_path / "osmesa.npy")
    assert (np.abs(here - there).max(axis=2) > 24).mean() < 0.002  # drivers round differently
    assert (np.abs(np.roll(here, 2, axis=1) - there).max(axis=2) > 24).mean() > 0.002
