"""Reports, their replay in a real browser, and glTF files: what is in them is what was recorded."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from tests.render.known_flights import flight, two_cuboids, zoo
from tumble import render
from tumble.collision.errors import InputError
from tumble.render.films.video import camera_for
from tumble.render.frames.recorded import RunFrames
from tumble.render.rotation import rotate
from tumble.render.web.replay import POSES, replay, replay_times
from tumble.scenarios.runs.scene_run import run_scene
from tumble.scenarios.showing.page import trajectory_hash
from tumble.scenarios.showing.report import write_report
from tumble.sim.recording.run import Run
from tumble.sim.recording.summary import energy_statement


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    from tumble.scenarios.registry import load

    return run_scene(load("dropped_cuboids")(), tmp_path_factory.mktemp("run"), seconds=1.0, quiet=True).run


@pytest.fixture(scope="module")
def made(recorded, tmp_path_factory):
    return write_report(recorded, tmp_path_factory.mktemp("report") / "report.html", quiet=True, size=(160, 90), fps=10.0)


def test_the_page_is_whole_and_needs_nothing_else(recorded, made):
    text = made.read_text(encoding="utf-8")
    assert len(text) > 500_000  # three.js is inside
    links = re.findall(r'(?:src|href)="([^"]{0,40})', text)
    assert len(links) >= 4
    assert all(link.startswith("data:") for link in links)
    assert "$" not in re.sub(r"<script>.*?</script>", "", text, flags=re.S)  # nothing left to fill in
    for said in (
        "dropped cuboids",
        recorded.attributes["started"],
        trajectory_hash(recorded),
        "every joule is booked under a cause, up to rounding",
        recorded.scene.about.splitlines()[0],
        "count = 6",
        energy_statement(recorded.summary()).replace("'", "&#x27;"),
        "numba",
        "squares of 0.5 m",
    ):
        assert said in text
    film = base64.b64decode(re.search(r'data:video/mp4;base64,([^"]+)', text)[1])
    assert film[4:8] == b"ftyp"
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    poses = np.frombuffer(base64.b64decode(data["poses"]), "<f4").reshape(-1, len(recorded.names), 7)
    times = np.frombuffer(base64.b64decode(data["times"]), "<f4")
    frames = RunFrames(recorded)
    for k in (0, 17, len(times) - 1):
        assert poses[k, :, :3] == pytest.approx(frames.at(float(times[k])).positions, abs=1e-5)
        assert poses[k, :, 3:] == pytest.approx(frames.at(float(times[k])).orientations, abs=1e-5)


def test_hash_of_the_trajectory(recorded):
    """The same run again has the same hash; a bit changed in one velocity is another."""
    again = recorded.scene.build().run(1.0)
    full = Run.open(recorded.path)
    assert trajectory_hash(full) == trajectory_hash(recorded)
    assert len(again) == len(full)
    assert trajectory_hash(again) == trajectory_hash(full)
    arrays = dict(flight(two_cuboids())._arrays)
    before = trajectory_hash(Run(arrays, ("a", "b"), {}))
    arrays["velocity"] = arrays["velocity"].copy()
    arrays["velocity"][3, 1, 2] = np.nextafter(arrays["velocity"][3, 1, 2], np.inf)
    assert trajectory_hash(Run(arrays, ("a", "b"), {})) != before


def test_a_long_recording_does_not_make_a_large_page():
    class Long:
        cast, start, stop = range(1000), 0.0, 3600.0

    assert len(replay_times(Long)) * 1000 <= POSES


def test_odd_input_is_named(recorded, tmp_path):
    with pytest.raises(InputError, match="a report is an .html file"):
        write_report(recorded, tmp_path / "a.pdf")
    with pytest.raises(InputError, match="is a .glb file"):
        render.export(recorded, tmp_path / "a.obj")
    for rate in (1e9, 1e300):
        with pytest.raises(InputError, match="rate = .* poses of each body: at most 1e.07 of all together"):
            render.export(recorded, tmp_path / "a.glb", rate=rate)
    with pytest.raises(InputError, match="body = 'nobody': must be one of"):
        render.plots.trajectory(recorded, "nobody", tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------- in a browser

HOSTILE = (
    "</script><script>hit('script')</script>",
    "<img src=x onerror=\"hit('image')\">",
    "\"><svg onload=hit('svg')>",
    "'><a href=\"javascript:hit('link')\" autofocus onfocus=hit('focus')>",
    "<!--<script>",
    "<iframe src='http://example.invalid/frame'></iframe>",
    "<link rel=stylesheet href='http://example.invalid/a.css'>",
    "$body ${viewer} {{x}} \\u003cscript>hit('escape')</script>",
)
LISTENER = """
window.hits = [];
window.hit = (what) => window.hits.push(what);
for (const name of ['alert', 'confirm', 'prompt', 'open', 'fetch']) window[name] = () => window.hits.push(name);
window.addEventListener('securitypolicyviolation', (event) => window.hits.push(event.blockedURI));
"""


def seen(browser, page) -> tuple[list[str], list[str], int]:
    """(what scripts of others did, requests beyond the page itself, script elements) of a page in the browser."""
    browser.get_log("performance")
    browser.get(page.as_uri())
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60).until(lambda _: browser.execute_script("return document.readyState") == "complete")
    for element in browser.find_elements("css selector", "[autofocus]"):
        element.click()
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    asked = [url for url in asked if not url.startswith(("data:", "blob:")) and url != page.as_uri()]
    return browser.execute_script("return window.hits"), asked, browser.execute_script("return document.scripts.length")


def test_hostile_names_in_a_browser(browser, made, tmp_path):
    """Whatever bodies, scene and parameters are called: no script of theirs runs, nothing is asked for, the replay works."""
    from tumble.collision import HalfSpace, Sphere
    from tumble.sim import Scene

    scene = Scene(name=HOSTILE[0], about="\n\n".join(HOSTILE), duration=0.1, allow_overlap=True)
    scene.parameters = dict.fromkeys(HOSTILE, HOSTILE[0])
    scene.add(HalfSpace(), kind="static", name="floor")
    for k, name in enumerate(HOSTILE):
        scene.add(Sphere(0.1), name=name, position=(0.3 * k, 0, 0.3), velocity=(1, 0, 0))
    page = write_report(run_scene(scene, tmp_path / "run", quiet=True).run, tmp_path / "report.html", film=False, quiet=True)
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LISTENER})
    hits, asked, scripts = seen(browser, page)
    assert (hits, asked) == ([], [])
    assert scripts == seen(browser, made)[2]  # as many as in a page whose names are plain
    assert browser.execute_script("return typeof replay.position(0)") == "object"

    twin = tmp_path / "twin.html"  # the listener hears what is not escaped
    twin.write_text("<body>" + "".join(HOSTILE[k] for k in (1, 2, 5)) + "</body>")
    hits, asked, _ = seen(browser, twin)
    assert {"image", "svg"} <= set(hits)
    assert asked  # the picture, at least


def test_the_replay_in_a_browser(browser, made, recorded):
    """Opened from disk without a network: scrubbed to the end and back, played, orbited; bodies are where they were recorded."""
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get_log("browser")  # what earlier pages asked for
    browser.get(made.as_uri() + "#t=0.5")
    place = browser.find_element("class name", "replay")
    WebDriverWait(browser, 60).until(lambda _: place.get_attribute("data-ready"))
    assert place.get_attribute("data-ready") == "yes", place.text
    now = lambda: float(place.get_attribute("data-time"))  # noqa: E731

    def shot() -> bytes:
        """The picture, once it is drawn: the browser does so when it comes to it."""
        pictures = [b""]

        def is_drawn(_) -> bool:
            pictures.append(place.find_element("css selector", "canvas").screenshot_as_png)
            return pictures[-1] == pictures[-2]

        WebDriverWait(browser, 60).until(is_drawn)
        return pictures[-1]

    frames = RunFrames(recorded)

    def where():
        return np.array([browser.execute_script(f"return replay.position({k})") for k in range(len(recorded.names))])

    assert now() == pytest.approx(0.5)
    assert where() == pytest.approx(frames.at(0.5).positions, abs=2e-3)
    slider = browser.find_element("css selector", ".replay input")
    slider.send_keys(Keys.END)
    assert now() == pytest.approx(1.0)
    at_end = shot()
    assert where() == pytest.approx(frames.at(1.0).positions, abs=1e-5)
    slider.send_keys(Keys.HOME)
    assert now() == 0.0
    at_start = shot()
    assert at_start != at_end
    assert where() == pytest.approx(frames.at(0.0).positions, abs=1e-5)
    slider.send_keys(Keys.END)
    assert shot() == at_end  # the same instant, the same picture
    eye = browser.execute_script("return replay.camera()")
    canvas = browser.find_element("css selector", ".replay canvas")
    ActionChains(browser).move_to_element(canvas).click_and_hold().move_by_offset(120, 0).release().perform()
    assert np.abs(np.subtract(browser.execute_script("return replay.camera()"), eye)).max() > 0.1
    assert shot() != at_end
    button = browser.find_element("css selector", ".replay button")
    button.click()  # from the end: plays from the beginning
    WebDriverWait(browser, 30).until(lambda _: 0.0 < now() < 1.0)
    button.click()
    assert button.text == "Play"
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name.slice(0, 5))")
    assert set(asked) <= {"data:"}
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


# ---------------------------------------------------------------------- glTF


def arrays_of(path):
    """The file and a function that reads its accessors, by another reader than the writer."""
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    assert data[:4] == b"glTF"
    tree, blob = json.loads(data[20 : 20 + length]), data[28 + length :]

    def read(number):
        accessor = tree["accessors"][number]
        view = tree["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        return np.frombuffer(blob, kind, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)

    return tree, read


def test_an_exported_run_moves_as_it_was_recorded(recorded, tmp_path):
    path = render.export(recorded, tmp_path / "a.glb", rate=30)
    tree, read = arrays_of(path)
    frames = RunFrames(recorded)
    (animation,) = tree["animations"]
    moving = [i for i, kind in enumerate(frames.cast.kinds) if kind == "dynamic"]
    assert len(animation["channels"]) == 2 * len(moving)
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        times, values = read(sampler["input"])[:, 0], read(sampler["output"])
        assert times == pytest.approx(np.arange(31) / 30, abs=1e-6)
        row = recorded.names.index(tree["nodes"][channel["target"]["node"]]["name"])
        for k in (0, 12, 30):
            frame = frames.at(float(times[k]))
            if channel["target"]["path"] == "translation":
                assert values[k] == pytest.approx(frame.positions[row], abs=1e-5)
            else:
                turned = rotate(values[k][[3, 0, 1, 2]], np.eye(3))
                assert turned == pytest.approx(rotate(frame.orientations[row], np.eye(3)), abs=1e-5)
        if channel["target"]["path"] == "rotation":
            assert (np.einsum("ki,ki->k", values[1:], values[:-1]) > 0).all()  # the short way each time
    up = tree["nodes"][tree["scenes"][0]["nodes"][0]]["rotation"]
    assert rotate(np.array(up)[[3, 0, 1, 2]], np.array([0, 0, 1.0])) == pytest.approx([0, 1, 0], abs=1e-12)


def test_exported_shapes_are_where_they_are_seen(tmp_path):
    """All shapes, read by trimesh: each body's box is that of the shape at its pose, in axes with y up."""
    import trimesh

    run = flight(zoo(), 0.2)
    scene = trimesh.load(render.export(run, tmp_path / "zoo.glb"))
    frame = RunFrames(run).at(0.0)
    lo, hi = frame.boxes()
    for row, name in enumerate(frame.cast.names):
        if not np.isfinite(lo[row]).all():
            continue
        nodes = [n for n in scene.graph.nodes_geometry if _below(scene.graph, n, name)]
        corners = np.concatenate(
            [trimesh.transform_points(scene.geometry[scene.graph[n][1]].vertices, scene.graph[n][0]) for n in nodes]
        )
        corners = corners @ np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # y up back to z up
        size = (hi[row] - lo[row]).max()
        assert corners.min(axis=0) == pytest.approx(lo[row], abs=0.01 * size)
        assert corners.max(axis=0) == pytest.approx(hi[row], abs=0.01 * size)


def _below(graph, node, name):
    while node != graph.base_frame:
        if node == name:
            return True
        node = graph.transforms.parents[node]
    return False


def test_a_trajectory_is_plotted(recorded, tmp_path):
    path = render.plots.trajectory(recorded, "cuboid_1", tmp_path / "a.png")
    assert path.stat().st_size > 20_000


def test_replay_of_all_shapes():
    frames = RunFrames(flight(zoo(), 0.2))
    data = replay(frames, camera_for(frames, (320, 180)))
    assert len(data["planes"]) == 1
    assert len(data["bodies"]) == 9
    assert sum(len(body["parts"]) for body in data["bodies"]) == 9  # the cross has two
    for mesh in data["meshes"]:
        points = np.frombuffer(base64.b64decode(mesh["points"]), "<f4").reshape(-1, 3)
        triangles = np.frombuffer(base64.b64decode(mesh["triangles"]), "<u4")
        assert triangles.max() < len(points)
        assert len(base64.b64decode(mesh["tones"])) == 4 * len(points)
