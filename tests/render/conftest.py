"""The renderers there are."""

from __future__ import annotations

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
