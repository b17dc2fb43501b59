"""The renderers there are."""

from __future__ import annotations

import shutil

import pytest

from render import context
from render.errors import RenderError


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
