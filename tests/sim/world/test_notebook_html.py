"""What a notebook shows: well-formed, with the numbers of the world, a picture only where the program draws."""

from __future__ import annotations

import pickle
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.sim import InputError, RecordingError, SimulationError, World
from tumble.sim.words import count, few


def falling() -> World:
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    world.add(Box((0.5, 0.5, 0.5)), name="<crate> & co", position=(0, 0, 2))
    for k in range(20):
        world.add(Sphere(0.1), position=(3 + k, 0, 5))
    world.step(10)
    return world


def cells(text: str) -> list[str]:
    return [cell.text or "" for cell in xml.fromstring(text.replace('alt=""', 'alt="-"').replace("><", ">\n<")).iter("td")]


def drawn(text: str) -> str:
    """The text with its picture closed, as XML wants it."""
    before, image, after = text.partition("<img")
    return text if not image else before + image + after.replace('">', '"/>', 1)


def test_world_body_and_run():
    world = falling()
    found = cells(drawn(world._repr_html_()))
    assert "<crate> & co" in found  # escaped, and read back
    assert f"{world.energy().total:.6g}" in found
    assert "and 10 more" in world._repr_html_()
    crate = world["<crate> & co"]
    assert "1000" in cells(drawn(crate._repr_html_()))
    run = world.run(0.1)
    assert f"{run.energy[-1]:.6g}" in cells(drawn(run._repr_html_()))
    world.remove(crate)
    assert "removed" in crate._repr_html_()


def test_one_of_each():
    world = World()
    world.add(Sphere(0.1), name="ball")
    assert "World: 1 body, t = 0 s" in world._repr_html_()
    assert repr(world).startswith("<World: 1 body, ")
    assert "1 sample of 1 body, 0 s" in repr(world.run(0.0))
    world.add(Sphere(0.1), name="other", position=(1, 0, 0))
    assert "2 samples of 2 bodies" in world.run(world.dt)._repr_html_()
    assert [count(1, "step"), count(0, "step"), count(1, "body"), count(2, "body")] == ["1 step", "0 steps", "1 body", "2 bodies"]
    assert (few("abc"), few(list("abcd"), 2), few([])) == ("a, b, c", "a, b and 2 more", "none")


def test_body_from_near():
    """The picture of a body: its middle is the body, which fills a good part of it; of a half-space, the world."""
    import numpy as np

    from tumble.render import picture

    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    for k in range(3):
        world.add(Box((0.1, 0.1, 0.1)), name=f"box {k}", position=(40.0 * k, 0, 0.1), color=(1, 0, 0))
    far, near = picture(world, size=(160, 120)), picture(world["box 1"], size=(160, 120))
    red = lambda p: ((p[..., 0] > 90) & (p[..., 1] < 0.6 * p[..., 0])).mean()  # noqa: E731
    assert red(near) > 0.05 > 10 * red(far)
    assert red(near[50:70, 70:90]) > 0.9
    assert np.array_equal(picture(world["floor"], size=(160, 120)), far)


def test_errors_tell_in_fields():
    from tumble.render.errors import RenderError

    world = World()
    ball = world.add(Sphere(0.1), name="ball")
    world.add_force(lambda t, x, q, v, w: ((0, 0, 0), (0, 0, 0)) if t < 0.1 else None)
    with pytest.raises(SimulationError) as caught:
        world.step(100)
    error = caught.value
    assert (error.step, error.names) == (world.step_count + 1, (world.forces[0].name,))
    assert error.time == world.time
    assert str(error) == f"step {error.step} (t = {error.time:.9g} s): {error.reason}"
    for kept in (error, RecordingError("a", "is gone"), InputError("x", 1, "must be 2"), RenderError("no room", "a.png")):
        again = pickle.loads(pickle.dumps(kept))
        assert (str(again), vars(again)) == (str(kept), vars(kept))
    assert ball.world is world


def test_picture_only_where_the_program_draws():
    code = "import tests.sim.world.test_notebook_html as t\nw = t.falling()\nassert '<img' not in w._repr_html_()\n"
    code += "from tumble import render\nassert 'data:image/png;base64,iVBOR' in w._repr_html_()\n"
    code += "assert '<img' in w.run(0.1)._repr_html_()\n"
    code += "assert '<img' in w['<crate> & co']._repr_html_() and '<img' in w['floor']._repr_html_()\n"
    code += "render.picture = None\nassert 'no picture: TypeError' in w._repr_html_()"
    code = code.replace("tests.sim.world.test_notebook_html", "test_notebook_html")
    folder = __file__.rpartition("test_notebook_html.py")[0]
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r})\n{code}"], check=True, timeout=300)


def test_a_notebook_shows_a_picture_without_being_asked_for_it():
    """Nobody has imported render there."""
    code = "import sys, types\nsys.modules['ipykernel'] = types.ModuleType('ipykernel')\n"
    code += "from tumble.sim import World\nfrom tumble.collision import Sphere\nw = World()\nw.add(Sphere(0.5))\nr = w.run(0.1)\n"
    code += "assert 'tumble.render' not in sys.modules\nassert '<img' in r._repr_html_()\n"
    subprocess.run([sys.executable, "-c", code], check=True)
