"""What a notebook shows: well-formed, with the numbers of the world, a picture only where the program draws."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as xml

from collision import Box, HalfSpace, Sphere
from sim import World


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
    assert "1000" in cells(crate._repr_html_())
    run = world.run(0.1)
    assert f"{run.energy[-1]:.6g}" in cells(drawn(run._repr_html_()))
    world.remove(crate)
    assert "removed" in crate._repr_html_()


def test_picture_only_where_the_program_draws():
    code = "import tests.sim.test_html as t\nw = t.falling()\nassert '<img' not in w._repr_html_()\n"
    code += "import render\nassert 'data:image/png;base64,iVBOR' in w._repr_html_()\nassert '<img' in w.run(0.1)._repr_html_()\n"
    code += "render.picture = None\nassert 'no picture: TypeError' in w._repr_html_()"
    code = code.replace("tests.sim.test_html", "test_html")
    folder = __file__.rpartition("test_html.py")[0]
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r})\n{code}"], check=True, timeout=300)
