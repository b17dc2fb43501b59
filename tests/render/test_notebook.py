"""Replays and films in notebooks: whole pages of HTML, and run in a kernel where one is installed."""

from __future__ import annotations

import html
import json
import re

import pytest

import render
from collision import Box, HalfSpace
from collision.errors import InputError
from sim import World
from tests.render.known_flights import flight, two_cuboids, zoo

CELL = """
from collision import Box, HalfSpace
from sim import World
world = World()
world.add(HalfSpace(), kind="static")
world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.5))
run = world.run(0.1)
"""


def data_of(shown):
    """The page inside the frame, and the data of its replay."""
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', shown._repr_html_())[1])
    return page, json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_a_run_is_played_in_place():
    run = flight(zoo(), 0.5)
    page, data = data_of(run.replay(height=300))
    assert [body["name"] for body in data["bodies"]] == list(run.names)
    assert 'class="controls"' in page
    assert "$" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert not re.findall(r'(?:src|href)="(?!data:)', page)  # offline
    assert "height:300px" in run.replay(height=300).markup
    _, aimed = data_of(render.show(run, camera={"position": (9, 0, 1), "target": (0, 0, 0)}))
    assert aimed["camera"]["position"] == [9, 0, 1] != data["camera"]["position"]


def test_a_world_is_shown_as_it_stands():
    world = World()
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.1, 0.2, 0.3)), position=(0, 0, 1), name="crate")
    _, data = data_of(world.show())
    assert data["bodies"][1]["name"] == "crate"
    assert data["planes"]


def test_a_film_is_in_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    run = flight(two_cuboids(), 0.2)
    for name, tag in (("a.mp4", "<video"), ("a.webp", "<img")):
        assert render.show(render.film(run, tmp_path / name, (64, 48)))._repr_html_().startswith(tag)


def test_odd_input_is_named(tmp_path):
    with pytest.raises(InputError, match="what = .*there is no such file"):
        render.show(tmp_path / "none.mp4")
    with pytest.raises(InputError, match="what = 5: must be a run, a world"):
        render.show(5)
    with pytest.raises(InputError, match=r"what = .*a film or picture is a \.mp4"):
        render.show("a.avi")


def test_in_a_notebook(tmp_path):
    """Run by a kernel, the cells leave the replay in the notebook, whole."""
    client, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(text) for text in (CELL, "run.replay()", "world.show()", "run")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [cell.outputs[-1]["data"]["text/html"] for cell in notebook.cells[1:]]
    assert "srcdoc" in shown[0]
    assert "srcdoc" in shown[1]
    assert "every joule is booked" in shown[2]
