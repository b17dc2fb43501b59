"""Replays and films in notebooks: whole pages of HTML, and run in a kernel where one is installed."""

from __future__ import annotations

import ast
import html
import json
import re
from pathlib import Path

import pytest

from tests.render.known_flights import flight, two_cuboids, zoo
from tumble import render
from tumble.collision import Box, HalfSpace
from tumble.collision.errors import InputError
from tumble.sim import World

ROOT = Path(__file__).resolve().parents[2]
CELL = """
from tumble.collision import Box, HalfSpace
from tumble.sim import World
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
    page, data = data_of(world.show())
    hidden = ".controls{display:none}"
    assert hidden in page  # there is nothing to play
    assert hidden not in data_of(world.run(0.01).replay())[0]
    assert data["bodies"][1]["name"] == "crate"
    assert data["planes"]


def test_a_film_is_in_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    run = flight(two_cuboids(), 0.2)
    for name, tag in (("a.mp4", "<video"), ("a.webp", "<img")):
        assert render.show(render.film(run, tmp_path / name, (64, 48)))._repr_html_().startswith(tag)


def test_in_a_browser(browser, tmp_path):
    """As a notebook puts them into its page: replays that fit their frames and answer, a film that plays, and no network."""
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.support.ui import WebDriverWait

    run = flight(two_cuboids(), 1.0)
    parts = [run.replay(height=400), render.show(run, height=300), render.show(render.film(run, tmp_path / "a.mp4", (64, 48)))]
    page = tmp_path / "notebook.html"
    page.write_text("<body>" + "".join(f"<div>{part._repr_html_()}</div>" for part in parts) + "</body>", encoding="utf-8")
    browser.get_log("performance")
    browser.get(page.as_uri())
    film = browser.find_element("tag name", "video")
    WebDriverWait(browser, 60).until(lambda _: browser.execute_script("return arguments[0].readyState", film) >= 2)
    assert browser.execute_script("return [arguments[0].videoWidth, arguments[0].error]", film) == [64, None]
    for frame in browser.find_elements("tag name", "iframe"):
        browser.switch_to.frame(frame)
        place = browser.find_element("class name", "replay")
        WebDriverWait(browser, 60).until(lambda _, place=place: place.get_attribute("data-ready"))
        assert place.get_attribute("data-ready") == "yes"
        assert browser.execute_script("return document.documentElement.scrollHeight - innerHeight") == 0  # nothing to scroll
        edge = "return document.querySelector('{}').getBoundingClientRect().right"
        inner, outer = (browser.execute_script(edge.format(what)) for what in (".controls select", ".replay"))
        assert inner < outer  # nothing is cut off
        browser.find_element("css selector", ".replay input").send_keys(Keys.END)
        assert float(place.get_attribute("data-time")) == pytest.approx(1.0)
        eye = browser.execute_script("return replay.camera()")
        canvas = browser.find_element("css selector", ".replay canvas")
        ActionChains(browser).move_to_element(canvas).click_and_hold().move_by_offset(80, 0).release().perform()
        assert browser.execute_script("return replay.camera()") != eye
        button = browser.find_element("css selector", ".replay button")
        button.click()  # from the end: plays from the beginning
        WebDriverWait(browser, 30).until(lambda _, place=place: 0.0 < float(place.get_attribute("data-time")) < 1.0)
        button.click()
        browser.switch_to.default_content()
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if not url.startswith(("data:", "blob:", "about:")) and url != page.as_uri()} == set()


def test_odd_input_is_named(tmp_path):
    with pytest.raises(InputError, match="what = .*there is no such file"):
        render.show(tmp_path / "none.mp4")
    with pytest.raises(InputError, match="what = 5: must be a run, a world"):
        render.show(5)
    with pytest.raises(InputError, match=r"what = .*a film or picture is a \.mp4"):
        render.show("a.avi")


NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))
FILMED = "size=(480, 270)"  # as the film of a notebook is made


def code_of(page: Path) -> list[str]:
    return [
        "".join(cell["source"]) for cell in json.loads(page.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"
    ]


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_notebooks_of_the_docs_run(page, tmp_path, monkeypatch):
    """Cell by cell; what stands at the end of one shows itself. Films are smaller than the page has them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    names: dict[str, object] = {}
    code = code_of(page)
    assert any(FILMED in text for text in code)
    for text in code:
        *lines, last = ast.parse(text.replace(FILMED, "size=(64, 36), fps=10")).body
        exec(compile(ast.Module(lines, []), page.name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), page.name, "eval"), names)
            assert shown is not None
            html_of = getattr(shown, "_repr_html_", None)
            assert html_of is None or len(html_of()) > 100
        else:
            exec(compile(ast.Module([last], []), page.name, "exec"), names)


def test_notebooks_of_the_docs_are_kept_empty():
    """Without what they gave when they were run last: that would be megabytes of replay in each change."""
    assert NOTEBOOKS
    for page in NOTEBOOKS:
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        assert [cell["outputs"] for cell in cells if cell["cell_type"] == "code"] == [[] for _ in code_of(page)]


def executed(notebook, folder):
    """A notebook, run by a kernel; skipped where none is installed: ``pip install 'tumble[notebook]'``."""
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def test_in_a_notebook(tmp_path):
    """Run by a kernel, the cells leave the replay in the notebook, whole."""
    nbformat = pytest.importorskip("nbformat")
    cells = [nbformat.v4.new_code_cell(text) for text in (CELL, "run.replay()", "world.show()", "run")]
    outputs = executed(nbformat.v4.new_notebook(cells=cells), tmp_path)
    shown = [output[-1]["data"]["text/html"] for output in outputs[1:]]
    assert "srcdoc" in shown[0]
    assert "srcdoc" in shown[1]
    assert "every joule is booked" in shown[2]


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_notebooks_of_the_docs_in_a_kernel(page, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(page, as_version=4)
    outputs = executed(notebook, tmp_path)
    assert all(output for output in outputs)
    assert "".join(str(output) for output in outputs).count("srcdoc") >= 3
