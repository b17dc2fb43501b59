"""The renderers there are, a browser, and windows."""

from __future__ import annotations

import shutil

import pytest

from tests.render.driven import SIZE
from tumble.render.errors import RenderError
from tumble.render.films.video import camera_for
from tumble.render.opengl import context
from tumble.render.windows.window import Window
from tumble.scenarios.showing.stages import stage_of
from tumble.scenarios.showing.window_loop import Loop


@pytest.fixture(params=["egl", "painter"])
def backend(request, monkeypatch):
    """Each renderer in turn, forced by TUMBLE_RENDERER. EGL is skipped, with its reason, where there is none."""
    if request.param == "egl":
        need_gl()
    monkeypatch.setenv("TUMBLE_RENDERER", request.param)
    return request.param


def need_gl() -> None:
    try:
        context.standalone(("egl",))
    except RenderError as error:
        pytest.skip(str(error))


@pytest.fixture
def gl():
    need_gl()


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium without a network."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    paths = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not found: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = paths["chromium"]
    for word in (
        "headless=new", "no-sandbox", "disable-quic", "no-first-run", "disable-background-networking", "disable-sync",
        "disable-component-update", "use-angle=swiftshader", "enable-unsafe-swiftshader", "window-size=1000,900",
        "host-resolver-rules=MAP * ~NOTFOUND",
    ):  # fmt: skip
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(paths["chromedriver"]))
    yield driver
    driver.quit()


@pytest.fixture
def open_loop(monkeypatch, tmp_path):
    """A function that puts a source on stage in a small window, painted in software; closes it in the end."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("TUMBLE_RENDERER", "painter")
    made = []

    def start(source, overlays=("text", "joints"), size=SIZE):
        stage = stage_of(source)
        seen = stage.frames if stage.span else stage.frame()
        made.append(Window(size, "fast", "test", camera_for(seen, size), overlays))
        loop = Loop(stage, made[-1], tmp_path)
        loop.turn(0.0)
        return loop

    yield start
    for window in made:
        window.close()
